"""Stage 11 of AᵀA: the part of C that can be computed as soon as each strip of columns of A has arrived."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Strips of columns of A, and the parts of C that they complete"
STRIPS = 4
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
HEIGHT = {"wide": 290, "narrow": 570}
ALTERNATIVE = (
    "A, cut into four strips of columns in the order of their arrival, and C, cut into nested corners. While "
    "strip 3 arrives, strip 2 is computed and corner 1 leaves. The last corner has 7 of 16 parts of C.")
CAPTION = (
    "When strip n has arrived, the tiles of its columns on and above the diagonal (strong colour) can be computed, and "
    "with them their transpose (pale). Corner n leaves while later strips arrive. The last corner, 7 of 16 parts here, "
    "leaves when no strip is left to arrive.")


def draw(canvas):
    """Draws A on the left or above, and C next to it or below."""
    cell = 56
    side = cell * STRIPS
    left = 0 if canvas.is_wide else (canvas.width - side) / 2
    a, c = (panel.part(left, 36) for panel in canvas.panels(2, side))
    for here, name, below in ((a, "A", "arrives from left to right"), (c, "C = AᵀA", "leaves corner by corner")):
        here.text(side / 2, -22, name, bold=True)
        here.box(0, 0, side, side)
        here.text(side / 2, side + 14, below, SMALL)
    for n in range(STRIPS):
        a.box(cell * n, 0, cell, side, f"strip {n + 1}", COLOURS[n], 0.3)
    for i in range(STRIPS):
        for j in range(STRIPS):
            n = max(i, j)
            c.box(cell * j, cell * i, cell, cell, f"{n + 1}", COLOURS[n], 0.34 if i <= j else 0.12, 0.3)
