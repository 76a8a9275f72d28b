"""Dependency chains of pivots and of right-hand sides in stages 08 and 09 of local volatility."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Pivots for each option, or once for all"
HEIGHT = {"wide": 330, "narrow": 650}
ROWS, PITCH, LEFT = 6, 42, 82
ALTERNATIVE = (
    "A system along x with six rows for three options. In stage 08, each option has two dependency chains, one "
    "for pivots and one for right-hand sides, and both divide in each row. In stage 09, all options share one "
    "chain of pivots, and their own chains only multiply and add.")
CAPTION = (
    "Elimination in the systems of one j and one time step, for three options k. An arrow leads to the value that waits. The orange "
    "values depend only on the matrix, which is the same for each k.")


def x(i):
    """The horizontal centre of a row of the system."""
    return LEFT + PITCH * i


def chain(canvas, y, colour, sign, name):
    """Draws a dependency chain of rows, each of which waits for the previous row."""
    canvas.text(LEFT - 18, y, name, SMALL, ha="right")
    for i in range(ROWS):
        canvas.box(x(i) - 9, y - 9, 18, 18, sign, colour, 0.3, edge=0.6)
        if i:
            canvas.arrow((x(i - 1) + 9, y), (x(i) - 9, y), colour, 1.2)


def draw_each(canvas):
    """Draws stage 08."""
    for k in range(3):
        y = 66 + 88 * k
        chain(canvas, y, ORANGE, "÷", "pivots")
        chain(canvas, y + 40, BLUE, "÷", f"d, k = {k}")
        for i in range(ROWS):
            canvas.arrow((x(i), y + 9), (x(i), y + 31), ORANGE)


def draw_once(canvas):
    """Draws stage 09."""
    chain(canvas, 66, ORANGE, "÷", "pivots")
    for k in range(3):
        y = 106 + 88 * k
        chain(canvas, y, BLUE, "×", f"d, k = {k}")
        for i in range(ROWS):
            canvas.arrow((x(i) + 15, y - 22), (x(i) + 4, y - 9), ORANGE)
    for i in range(ROWS):
        canvas.line((x(i) + 9, 72), (x(i) + 15, 78), (x(i) + 15, 260), colour=ORANGE)


def draw(canvas):
    """Draws stage 08 on the left or above, and stage 09 beside or below it."""
    names = "08: each option factorises", "09: factorised once, for all"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_each, draw_once)):
        panel.text(170, 12, name, bold=True)
        panel.text(LEFT - 18, 38, "row i", SMALL, ha="right")
        for i in range(ROWS):
            panel.text(x(i), 38, f"{i}", SMALL)
        draw_one(panel)
        panel.text(170, 308, "pivots three times" if draw_one is draw_each else "pivots once, their inverses for each k", SMALL)
