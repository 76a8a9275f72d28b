"""Stage 10 of Cholesky: the work of a thread block's eight warps on a sub-tile."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A sub-tile of a tile on the diagonal, and of a tile below it"
HEIGHT = {"wide": 372, "narrow": 744}
SLICES, CELL, SLICE = 8, 31, 2
ALTERNATIVE = (
    "Two tiles of eight by eight squares, in which each warp has a row of squares. On the diagonal, warp 2 "
    "factorises and inverts a square, and the warps below multiply by the inverse. Below the diagonal, all eight "
    "warps multiply by the same inverse.")
CAPTION = (
    "Sub-tile 2 of eight, after the products of all columns to its left. A square has 16 × 16 elements. Green and blue squares are in "
    "registers. Their factors, drawn above their columns, are in shared memory: \"3, 2\" is the square of warp 3 in the tile on the "
    "diagonal. Pale squares are above the diagonal, and their updates are not used.")


def look(warp, column, is_below):
    """The colour and opacity of a square in the step of sub-tile SLICE."""
    if column < SLICE:
        return INK, 0.15 if is_below or warp >= column else 0
    if is_below or warp > SLICE:
        return (GREEN, 0.45) if column == SLICE else (BLUE, 0.3 if is_below or column <= warp else 0.08)
    return (ORANGE, 0.65) if warp == column == SLICE else (INK, 0)


def draw_tile(canvas, name, is_below):
    """Draws the squares of a tile, and their factors."""
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
    here.text(CELL * SLICE / 2 - 8, CELL * SLICES + 10, "finished", SMALL)
    here.text(CELL * (SLICE + 0.5) + 5, CELL * SLICES + 10, f"sub-tile {SLICE}", SMALL)


def draw(canvas):
    """Draws two panels: a tile on the diagonal, and a tile below the diagonal."""
    keys = (((ORANGE, 0.65, "factorised, inverted"), (GREEN, 0.45, "solved")), ((GREEN, 0.45, "solved"),))
    for is_below, (panel, key) in enumerate(zip(canvas.panels(2), keys)):
        draw_tile(panel, "a tile below it" if is_below else "the tile on the diagonal", is_below)
        panel.key(94 if is_below else 14, 358, *key, (BLUE, 0.3, "updated"), gap=10)
