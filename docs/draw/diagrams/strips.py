"""Which part of C each strip of columns of A makes possible, in stage 11 of AᵀA."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Strips of columns of A, and what they make of C"
STRIPS = 4
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
HEIGHT = {"wide": 290, "narrow": 570}
ALTERNATIVE = (
    "Two squares. A is cut into four strips of columns, numbered in the order in which they come. C is cut into "
    "corners that nest: the first strip makes the first square on the diagonal, strip 2 the columns above and "
    "on the diagonal beside it and their mirror image below, and so on. While strip 3 comes, strip 2 is computed "
    "and corner 1 leaves. The last corner holds 7 of 16 parts of C.")
CAPTION = (
    "What strip n makes possible are the tiles of its own columns on and above the diagonal (strong), and with them "
    "their mirror image (pale). Corner n leaves while later strips come; the last one, 7 of 16 parts here, has none "
    "to wait for.")


def draw(canvas):
    """A on the left or above, C beside or below it."""
    cell = 56
    side = cell * STRIPS
    left = 0 if canvas.is_wide else (canvas.width - side) / 2
    a, c = (panel.part(left, 36) for panel in canvas.panels(2, side))
    for here, name, below in ((a, "A", "comes from left to right"), (c, "C = AᵀA", "leaves corner by corner")):
        here.text(side / 2, -22, name, bold=True)
        here.box(0, 0, side, side)
        here.text(side / 2, side + 14, below, SMALL)
    for n in range(STRIPS):
        a.box(cell * n, 0, cell, side, f"strip {n + 1}", COLOURS[n], 0.3)
    for i in range(STRIPS):
        for j in range(STRIPS):
            n = max(i, j)
            c.box(cell * j, cell * i, cell, cell, f"{n + 1}", COLOURS[n], 0.34 if i <= j else 0.12, 0.3)
