"""Stage 08 of Cholesky: the products of a warp, and the factors that the warp reads."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Eight warps in a tile, and sixteen products in a warp"
HEIGHT = {"wide": 322, "narrow": 644}
TILE, WARPS_I, WARPS_J, STEP = 128, 2, 4, 16
KEPT = 4  # products of a warp, along rows and along columns
WARP = 5
ALTERNATIVE = (
    "First: a tile of 128 by 128 elements, divided among eight warps, and the 16 columns of factors to its left "
    "and above. Warp 5 needs half of the factors on the left and a quarter of those above. Second: its part as "
    "four by four products.")
CAPTION = (
    "Both parts are for f64, in which a step has 16 columns k. Second: eight of these columns. The highlighted product is one instruction, "
    "which reads the two highlighted factors. The elements of the tile stay in registers during all steps.")


def draw_tile(canvas):
    """Draws the tile, its warps, and their rows in shared memory."""
    canvas.text(170, 12, "a tile of 128 × 128, and a step", bold=True)
    left, top, scale = 86, 82, 1.6
    row, column = divmod(WARP, WARPS_J)
    high, wide, depth = scale * TILE / WARPS_I, scale * TILE / WARPS_J, scale * STEP
    for warp in range(WARPS_I * WARPS_J):
        i, j = divmod(warp, WARPS_J)
        canvas.box(left + wide * j, top + high * i, wide - 2, high - 2, f"warp {warp}", ORANGE, 0.6 if warp == WARP else 0.12, edge=0.5,
                   size=SMALL)
    for i in range(WARPS_I):
        canvas.box(left - depth - 8, top + high * i, depth, high - 2, colour=BLUE, fill=0.45 if i == row else 0.1, edge=0.5)
    for j in range(WARPS_J):
        canvas.box(left + wide * j, top - depth - 8, wide - 2, depth, colour=GREEN, fill=0.45 if j == column else 0.1, edge=0.5)
    canvas.text(left - 8, top - depth / 2 - 8, "16 columns k", SMALL, ha="right")
    canvas.text(left - depth - 14, top + high, "rows i", SMALL, ha="right")
    canvas.text(left + 2 * wide, top - depth - 19, "rows j", SMALL)
    canvas.text(left + 2 * wide, top + 2 * high + 14, "tile: in registers; rows: in shared memory", SMALL)


def draw_products(canvas):
    """Draws the products of a warp, with their factors."""
    canvas.text(170, 12, f"warp {WARP}, and eight columns k", bold=True)
    left, top, across, down, deep = 122, 108, 46, 42, 38
    for m in range(KEPT):
        for n in range(KEPT):
            is_marked = (m, n) == (1, 2)
            canvas.box(left + across * n, top + down * m, across - 2, down - 2, "16 × 8", ORANGE, 0.65 if is_marked else 0.2, edge=0.5,
                       size=SMALL, bold=is_marked)
        canvas.box(left - deep - 10, top + down * m, deep, down - 2, "16 × 8", BLUE, 0.6 if m == 1 else 0.25, edge=0.5, size=SMALL)
        canvas.box(left + across * m, top - deep - 10, across - 2, deep, "8 × 8", GREEN, 0.6 if m == 2 else 0.25, edge=0.5, size=SMALL)
    canvas.text(left + 2 * across, top - deep - 24, "four factors of rows j", SMALL)
    canvas.text(left - deep - 18, top + 2 * down, "four\nfactors\nof rows i", SMALL, ha="right")
    canvas.text(left + 2 * across, top + 4 * down + 14, "16 products from 8 factors", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_tile, draw_products)):
        draw_one(panel)
