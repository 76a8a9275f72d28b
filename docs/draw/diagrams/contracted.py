"""The arrays that stage 07 of local volatility stores for each option, and the arrays that stage 08 stores once."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Arrays of each option, and arrays that all options share"
HEIGHT = {"wide": 286, "narrow": 572}
OWN = ("R", "U", "V")
ALIKE = ("σ²x", "µx", "σ²y", "µy")
CELL, CELLS = 9, 4
SIDE, PITCH = CELL * CELLS, 44
ALTERNATIVE = (
    "Stage 07: each of three options has seven arrays of all points; three arrays differ between options, and "
    "four are the same. Stage 08: each option has four arrays, R, U, V and w. The factors of the variance along x "
    "and along y exist only once.")
CAPTION = (
    "Orange arrays differ between options, and blue arrays are the same for all options. In stage 07 the array of µx also stores e of"
    " the elimination along x; in stage 08, e has the array w. Grids of 4 × 4 points represent grids of all points.")


def array(canvas, x, y, colour, fill):
    """Draws an array of all points."""
    canvas.box(x, y, SIDE, SIDE, colour=colour, fill=fill)
    for n in range(1, CELLS):
        canvas.line((x + CELL * n, y), (x + CELL * n, y + SIDE), width=0.4, opacity=0.5)
        canvas.line((x, y + CELL * n), (x + SIDE, y + CELL * n), width=0.4, opacity=0.5)


def options(canvas, names):
    """Draws three options with their arrays; the arrays whose names are in ALIKE have the same contents."""
    for n, name in enumerate(names):
        canvas.text(PITCH * n + SIDE / 2, -10, name, SMALL)
        for k in range(3):
            array(canvas, PITCH * n, 56 * k, *((BLUE, 0.3) if name in ALIKE else (ORANGE, 0.22)))


def draw_each(canvas):
    """Draws stage 07."""
    canvas.text(170, 12, "07: each option has all arrays", bold=True)
    here = canvas.part(32, 56)
    options(here, OWN + ALIKE)
    for k in range(3):
        here.text(-14, 56 * k + SIDE / 2, f"k = {k}", SMALL, rotation=90)
    here.text(3.5 * PITCH, 172, "for each option", SMALL)
    canvas.key(60, 254, (ORANGE, 0.22, "differs"), (BLUE, 0.3, "the same for each k"), gap=24)


def draw_once(canvas):
    """Draws stage 08."""
    canvas.text(170, 12, "08: shared data once", bold=True)
    options(canvas.part(2, 56), (*OWN, "w"))
    canvas.text(84, 228, "for each option", SMALL)
    here = canvas.part(240, 84)
    cell, at = 18, (2, 1)
    for n in range(CELLS):
        here.box(-22, cell * n, 14, cell, colour=BLUE, fill=0.6 if n == at[0] else 0.3, edge=0.5)
        here.box(cell * n, -22, cell, 14, colour=BLUE, fill=0.6 if n == at[1] else 0.3, edge=0.5)
        for m in range(CELLS):
            here.box(cell * m, cell * n, cell, cell, edge=0.4, dashed=True)
    x, y = cell * (at[1] + 0.5), cell * (at[0] + 0.5)
    here.arrow((-8, y), (x - 5, y), GREEN, 1.3)
    here.arrow((x, -8), (x, y - 5), GREEN, 1.3)
    here.dot(x, y, 4, GREEN)
    here.text(-33, cell * 2, "of x, by i", SMALL, rotation=90)
    here.text(cell * 2, -34, "of y, by j", SMALL)
    here.text(38, 88, "σ²x = product,\ntimes a factor of t", SMALL)
    here.box(-22, 118, 116, 40, "σ²y, µx, µy, Δt:\na scalar each", BLUE, 0.3, edge=0.5, size=SMALL)


def draw(canvas):
    """Draws stage 07 on the left or above, and stage 08 beside or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_each, draw_once)):
        draw_one(panel)
