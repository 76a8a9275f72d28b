"""Stage 15 of AᵀA: the parts of C that are computed, in units of rows along the diagonal and in blocks to the right."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "One triangle of C, in units and blocks"
HEIGHT = {"wide": 250, "narrow": 270}
UNITS, BLOCK, CELL = 8, 4, 24  # units of C in each direction, units of a block, pixels per unit
ALTERNATIVE = (
    "A square of eight by eight units, in two blocks of four rows. In each block, four rows of units begin at the diagonal and "
    "form a staircase. To the right of the upper block's square, all units are one rectangle.")
CAPTION = (
    "C with two blocks of rows. The squares on the diagonal are computed in units of 24 rows (orange), the rest as a block (blue). Nothing "
    "below the staircase is computed: the second pass copies it.")


def draw(canvas):
    """Draws the staircase, the rectangle, and a key."""
    left, top = (canvas.width - UNITS * CELL) / 2, 6
    canvas.box(left, top, UNITS * CELL, UNITS * CELL, edge=0.6, dashed=True)
    for first in range(0, UNITS, BLOCK):
        end = first + BLOCK
        for row in range(first, end):
            canvas.box(left + CELL * row + 1, top + CELL * row + 1, CELL * (end - row) - 2, CELL - 2, colour=ORANGE, fill=0.45, edge=0.6)
        if end < UNITS:
            canvas.box(left + CELL * end + 1, top + CELL * first + 1, CELL * (UNITS - end) - 2, CELL * BLOCK - 2, colour=BLUE, fill=0.3,
                       edge=0.6)
    canvas.text(left + CELL * 1.9, top + CELL * 6.4, "copied", SMALL)
    entries = (ORANGE, 0.45, "square on the diagonal"), (BLUE, 0.3, "block to its right")
    key = canvas.part(230 if canvas.is_wide else 60, top + UNITS * CELL + 24)
    for n, lines in enumerate((entries,) if canvas.is_wide else ((entries[0],), (entries[1],))):
        key.key(0, 20 * n, *lines)
