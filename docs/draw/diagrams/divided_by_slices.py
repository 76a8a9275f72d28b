"""What the eight warps of a block of stage 10 of Cholesky do with a slice of their tile."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A slice of a tile on the diagonal, and of a tile below it"
HEIGHT = {"wide": 372, "narrow": 744}
SLICES, CELL, SLICE = 8, 31, 2
ALTERNATIVE = (
    "Two tiles of eight by eight squares; a warp has a row of squares. In both, slices 0 and 1 are known. First, on the diagonal: "
    "warp 2 factorises the square of slice 2 on the diagonal and inverts it; behind that, warps 3 to 7 multiply their squares of "
    "slice 2 by the inverse and take their products off slices 3 to 7. Second, below the diagonal: all eight warps do so with the "
    "same inverse, and with the squares of slice 2 of the tile on the diagonal, which stand above the columns that they belong to.")
CAPTION = (
    "Slice 2 of eight, when all products of columns further to the left are off. A square is 16 × 16 numbers. Green and blue ones are "
    "in registers; what they meet, above their columns, is in shared memory: \"3, 2\" is warp 3's square of the tile on the diagonal. "
    "Pale ones lie above the diagonal and lose products for nothing.")


def look(warp, column, is_below):
    """How a square looks in the turn of slice SLICE."""
    if column < SLICE:
        return INK, 0.15 if is_below or warp >= column else 0
    if is_below or warp > SLICE:
        return (GREEN, 0.45) if column == SLICE else (BLUE, 0.3 if is_below or column <= warp else 0.08)
    return (ORANGE, 0.65) if warp == column == SLICE else (INK, 0)


def draw_tile(canvas, name, is_below):
    """The squares of a tile, and the factors that they meet."""
    canvas.text(170, 12, name, bold=True)
    here = canvas.part(62, 78)
    here.text(CELL * SLICE - 8, -26, "factors", SMALL, ha="right")
    for column in range(SLICES):
        if column >= SLICE:
            is_inverse = column == SLICE
            here.box(CELL * column, -40, CELL - 2, CELL - 2, "L⁻¹" if is_inverse else f"{column}, {SLICE}", ORANGE if is_inverse else GREEN,
                     0.3, edge=0.5, size=SMALL)
        for warp in range(SLICES):
            colour, fill = look(warp, column, is_below)
            words = f"{warp}, {column}" if fill and column == SLICE and not is_below else ""
            here.box(CELL * column, CELL * warp, CELL - 2, CELL - 2, words, colour, fill, edge=0.4, size=SMALL)
    for warp in range(SLICES):
        here.text(-8, CELL * (warp + 0.5), f"warp {warp}", SMALL, ha="right")
    here.text(CELL * SLICE / 2, CELL * SLICES + 10, "known", SMALL)
    here.text(CELL * (SLICE + 0.5) - 1, CELL * SLICES + 10, f"slice {SLICE}", SMALL)


def draw(canvas):
    """The tile on the diagonal on the left or above, one below it beside or below that."""
    keys = (((ORANGE, 0.65, "factorised, inverted"), (GREEN, 0.45, "divided")), ((GREEN, 0.45, "divided"),))
    for is_below, (panel, key) in enumerate(zip(canvas.panels(2), keys)):
        draw_tile(panel, "a tile below it" if is_below else "the tile on the diagonal", is_below)
        panel.key(94 if is_below else 14, 358, *key, (BLUE, 0.3, "loses products"), gap=10)
