"""The weights of one step of advection, and a pulse that the wind carries over a periodic field."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "One step of a cell, and many steps of a field"
HEIGHT = {"wide": 270, "narrow": 560}
COURANT = 0.25  # the same along x and along y
CELL, SIDE = 42, 200  # pixels per cell, and pixels per side of the square
MOVED = 0.625  # distance of the pulse from its start, along x and along y, in sides of the square
ALTERNATIVE = (
    "First: nine neighbouring cells with their weights, from 0.88 in the middle to −0.09 on the right and below, "
    "and an arrow to one cell of the next field. Second: a square pulse that the wind has carried across two "
    "edges, so it appears in all four corners.")
CAPTION = (
    "First: the weights of one step for c = 0.25 along x and y; each is a weight along x times a weight along y. Before "
    "rounding, all nine add up to 1. Second: the exact solution for a square pulse. The dashed square is the initial pulse, and "
    "the green areas are the moved pulse.")


def weights():
    """The weights along one direction, of the neighbours at -1, 0 and +1."""
    return COURANT * (COURANT + 1) / 2, 1 - COURANT * COURANT, COURANT * (COURANT - 1) / 2


def draw_step(canvas):
    """Draws nine cells and the new cell that is computed from them."""
    canvas.text(170, 12, "one step of one cell", bold=True)
    here = canvas.part(40, 76)
    for j, name in enumerate(("j − 1", "j", "j + 1")):
        here.text(CELL * (j + 0.5), -10, name, SMALL)
    for i, name in enumerate(("i − 1", "i", "i + 1")):
        here.text(-8, CELL * (i + 0.5), name, SMALL, ha="right")
        for j in range(3):
            weight = f"{weights()[i] * weights()[j]:.2f}".replace("-", "−")
            here.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 2, weight, ORANGE if i == j == 1 else BLUE,
                     0.4 if i == j == 1 else 0.2, edge=0.5)
    here.arrow((CELL * 3 + 8, CELL * 1.5), (CELL * 3 + 66, CELL * 1.5), INK, 1.4)
    here.text(CELL * 3 + 36, CELL * 1.5 - 14, "add up", SMALL)
    here.box(CELL * 3 + 74, CELL + 1, CELL - 2, CELL - 2, "", GREEN, 0.4, edge=0.5)
    here.text(CELL * 1.5, CELL * 3 + 18, "field u", SMALL)
    here.text(CELL * 3.5 + 74, CELL * 3 + 18, "next field", SMALL)


def draw_field(canvas):
    """Draws the pulse at the start and at a later time."""
    canvas.text(170, 12, "many steps of the field", bold=True)
    here = canvas.part(70, 40)
    here.box(0, 0, SIDE, SIDE, edge=1)
    side = SIDE / 4
    parts = ((0, SIDE * (0.5 + MOVED) - SIDE), (SIDE * (0.25 + MOVED), SIDE))
    for left, right in parts:
        for top, bottom in parts:
            here.box(left, top, right - left, bottom - top, colour=GREEN, fill=0.4, edge=0.5)
    here.box(side, side, side, side, edge=1, dashed=True)
    here.arrow((1.5 * side, 1.5 * side), (SIDE, SIDE), ORANGE, 1.6)
    here.text(2.9 * side, 2.4 * side, "wind", SMALL)
    here.text(SIDE / 2, SIDE + 14, "x, along a row", SMALL)
    here.text(-14, SIDE / 2, "y, along a column", SMALL, rotation=90)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_step, draw_field)):
        draw_one(panel)
