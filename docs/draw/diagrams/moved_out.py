"""The computations that stage 14 of local volatility hoists out of the loops of stage 13."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "The loop in which each quantity is computed"
HEIGHT = {"wide": 376, "narrow": 752}
ALTERNATIVE = (
    "The loops of a sweep as frames: before the steps, in each step, and at each point. In stage 13, all "
    "quantities are computed at each point. In stage 14, some are computed before the steps and some in each "
    "step; only coefficients and pivots along x remain at each point.")
CAPTION = (
    "A green quantity depends on i or j alone, an orange one on j and the time t of the step, a blue one on i, j and t. Each quantity"
    " is computed in the outermost loop that its dependences permit. The exp of stage 13 becomes a product of two factors.")
OF_X = (("coefficients along x", BLUE, "i, j, t"), ("pivots along x", BLUE, "i, j, t"))
OF_Y = (("coefficients along y", GREEN, "j"), ("pivots along y", GREEN, "j"))
LEVELS = ((6, 28, 328, 338, "before the steps"), (16, 140, 308, 218, "in each step"), (26, 196, 288, 154, "at each point"))


def draw_level(canvas, level, things):
    """Draws a loop as a frame, with the quantities that are computed in it."""
    left, top, width, height, name = LEVELS[level]
    canvas.box(left, top, width, height, fill=0.05 if level else 0)
    canvas.text(left + width / 2, top + 14, name)
    for n, (words, colour, of) in enumerate(things):
        y = top + 27 + 25 * n
        canvas.box(52, y, 172, 21, words, colour, 0.3, edge=0.5, size=SMALL)
        canvas.text(234, y + 10.5, f"of {of}", SMALL, ha="left")


def draw(canvas):
    """Draws stage 13 on the left or above, and stage 14 beside or below it."""
    before = (), (), (("variance along x: exp", BLUE, "i, j, t"), *OF_X, *OF_Y)
    after = (("variance, factor of x: exp", GREEN, "i"), *OF_Y), (("factor of y and time: exp", ORANGE, "j, t"),), OF_X
    names = "13: everything at each point", "14: as far out as possible"
    for panel, name, levels in zip(canvas.panels(2), names, (before, after)):
        panel.text(170, 12, name, bold=True)
        for level, things in enumerate(levels):
            draw_level(panel, level, things)
