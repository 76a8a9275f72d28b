"""The order in which stages 14 and 15 of local volatility eliminate along x."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "One system after the other, and one row of all systems"
HEIGHT = {"wide": 262, "narrow": 530}
ROWS, SYSTEMS, LANES = 6, 8, 2
ROW, SYSTEM = 3, 3  # the row and the system that are being computed
AT, SIDE, LEFT, TOP = 28, 22, 44, 58
ALTERNATIVE = (
    "A grid with rows downwards and systems to the right, twice. In stage 14, one system after the other is "
    "eliminated, each with its column of pivots. In stage 15, one row of all systems is computed at a time, in "
    "vectors of two.")
CAPTION = (
    "Elimination along x. Blue points are finished, orange points are being computed, and a black arrow leads to the row that waits "
    "for the row above it. A frame is a vector of two values in f64. Stage 14 goes down and up one system before the next system; "
    "stage 15 goes down all systems and then up all systems.")


def x(j):
    """The left edge of a system in pixels."""
    return LEFT + AT * j


def grid(canvas, is_done, is_at_work):
    """Draws rows of systems, and arrows to those that are being computed."""
    for n in range(max(ROWS, SYSTEMS)):
        if n < ROWS:
            canvas.text(LEFT - 10, TOP + AT * n + SIDE / 2, f"{n}", SMALL, ha="right")
        canvas.text(x(n) + SIDE / 2, TOP - 12, f"{n}", SMALL)
    canvas.text(x(SYSTEMS / 2) - 3, TOP - 28, "system j", SMALL)
    canvas.text(LEFT - 30, TOP + AT * ROWS / 2, "row i", SMALL, rotation=90)
    for i in range(ROWS):
        for j in range(SYSTEMS):
            colour, fill = (ORANGE, 0.65) if is_at_work(i, j) else (BLUE, 0.35 if is_done(i, j) else 0)
            canvas.box(x(j), TOP + AT * i, SIDE, SIDE, colour=colour, fill=fill, edge=0.5)
            if is_at_work(i, j):
                canvas.arrow((x(j) + SIDE / 2, TOP + AT * (i - 1) + SIDE / 2), (x(j) + SIDE / 2, TOP + AT * i + 6), width=1.2)


def kept(canvas, systems, size, words):
    """Draws the pivots that are stored."""
    for i in range(ROWS):
        for j in range(systems):
            canvas.box(size * j, AT * i + (SIDE - size) / 2, size - 1, size, colour=GREEN, fill=0.4 if i < ROW else 0, edge=0.4)
    canvas.text(size * systems / 2, AT * ROWS + 12, words, SMALL)


def draw_systems(canvas):
    """Draws stage 14."""
    canvas.text(170, 12, "14: down one system, then the next", bold=True)
    grid(canvas, lambda i, j: (j, i) < (SYSTEM, ROW), lambda i, j: (i, j) == (ROW, SYSTEM))
    kept(canvas.part(x(SYSTEMS) + 22, TOP), 1, SIDE, "pivots stored")


def draw_rows(canvas):
    """Draws stage 15."""
    canvas.text(170, 12, "15: a row of all systems, then the next", bold=True)
    grid(canvas, lambda i, j: i < ROW, lambda i, j: i == ROW)
    for j in range(0, SYSTEMS, LANES):
        canvas.box(x(j) - 2, TOP + AT * ROW - 2, AT + SIDE + 4, SIDE + 4, colour=PURPLE, edge=1.6)
    kept(canvas.part(x(SYSTEMS) + 8, TOP), SYSTEMS, 7, "pivots stored")


def draw(canvas):
    """Draws stage 14 on the left or above, and stage 15 beside or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_systems, draw_rows)):
        draw_one(panel)
