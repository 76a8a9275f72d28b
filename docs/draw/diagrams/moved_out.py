"""What stage 14 of local volatility takes out of the loops of stage 13."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Where a sweep computes what"
HEIGHT = {"wide": 376, "narrow": 752}
ALTERNATIVE = (
    "The loops of a sweep as frames: in front of the steps, in each step, and, inside that, at each point. Stage 13: the exp of the "
    "variance, coefficients and pivots along x, and coefficients and pivots along y are all at each point. Stage 14: the variance's "
    "factor of x and coefficients and pivots along y are in front of the steps, its factor of y and time is in each step, and only "
    "coefficients and pivots along x are left at each point.")
CAPTION = (
    "Colours say what a thing depends on: green on i or j alone, orange on j and the step's time t, blue on i, j and t. Each goes as "
    "far out as that lets it; the exp of stage 13 becomes a product of two.")
OF_X = (("coefficients along x", BLUE, "i, j, t"), ("pivots along x", BLUE, "i, j, t"))
OF_Y = (("coefficients along y", GREEN, "j"), ("pivots along y", GREEN, "j"))
LEVELS = ((6, 28, 328, 338, "in front of the steps"), (16, 140, 308, 218, "in each step"), (26, 196, 288, 154, "at each point"))


def draw_level(canvas, level, things):
    """A loop as a frame, with what is computed in it."""
    left, top, width, height, name = LEVELS[level]
    canvas.box(left, top, width, height, fill=0.05 if level else 0)
    canvas.text(left + width / 2, top + 14, name)
    for n, (words, colour, of) in enumerate(things):
        y = top + 27 + 25 * n
        canvas.box(52, y, 172, 21, words, colour, 0.3, edge=0.5, size=SMALL)
        canvas.text(234, y + 10.5, f"of {of}", SMALL, ha="left")


def draw(canvas):
    """Stage 13 on the left or above, stage 14 beside or below it."""
    before = (), (), (("variance along x: exp", BLUE, "i, j, t"), *OF_X, *OF_Y)
    after = (("variance, factor of x: exp", GREEN, "i"), *OF_Y), (("factor of y and time: exp", ORANGE, "j, t"),), OF_X
    names = "13: all of it at each point", "14: as far out as it goes"
    for panel, name, levels in zip(canvas.panels(2), names, (before, after)):
        panel.text(170, 12, name, bold=True)
        for level, things in enumerate(levels):
            draw_level(panel, level, things)
