"""Stage 06 of AᵀA: the tile of C that each thread block computes, and the transposed copy of this tile."""

import math

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Tiles of the upper triangle, indexed column by column"
SIDE = 6
HEIGHT = {"wide": 292, "narrow": 292}
ALTERNATIVE = (
    "A square of six by six tiles. The tiles on and above the diagonal are indexed column by column: 0; 1, "
    "2; 3, 4, 5; and so on up to 20. Tile 13, in row 3 and column 4, has an arrow to its transposed tile in "
    "row 4 and column 3, which has no index and no block.")
CAPTION = (
    "Each tile on or above the diagonal shows the index of its block. Tiles below the diagonal have no block: the block of the "
    "transposed tile stores them, too, as block 13 shows.")


def tile_of_triangle(index):
    """The row and the column of the tile with an index, computed as in the kernel."""
    q = int((math.sqrt(8 * index + 1) - 1) / 2)
    return index - q * (q + 1) // 2, q


def draw(canvas):
    """Draws C as one square of tiles."""
    cell = 44
    here = canvas.part((canvas.width - cell * SIDE) / 2, 24)
    for n in range(SIDE):
        here.text(cell * (n + 0.5), -10, f"q = {n}" if n == 0 else f"{n}", SMALL)
        here.text(-8, cell * (n + 0.5), f"p = {n}" if n == 0 else f"{n}", SMALL, ha="right")
    here.box(0, 0, cell * SIDE, cell * SIDE)
    for index in range(SIDE * (SIDE + 1) // 2):
        p, q = tile_of_triangle(index)
        here.box(cell * q, cell * p, cell, cell, f"{index}", ORANGE if index == 13 else BLUE,
                 0.4 if index == 13 else 0.28 if p == q else 0.14, size=12)
        if p != q:
            here.box(cell * p, cell * q, cell, cell, edge=0.3)
    p, q = tile_of_triangle(13)
    here.box(cell * p, cell * q, cell, cell, "13ᵀ", ORANGE, 0.15, dashed=True, size=12)
    here.arrow((cell * (q + 0.3), cell * (p + 0.72)), (cell * (p + 0.72), cell * (q + 0.3)), ORANGE, 1.5)
