"""Stage 14 of AᵀA: a block of C, with its narrow and wide micro-panels."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A block of C and its micro-panels"
HEIGHT = {"wide": 300, "narrow": 300}
ROWS, COLS, TALL, BROAD, DEPTH = 6, 4, 18, 54, 64
CURRENT = 1  # the column of tiles that is being computed
ALTERNATIVE = (
    "A block of six by four tiles. To its left, six narrow micro-panels, one per row of tiles, and above it, four wide "
    "micro-panels, one per column of tiles. The second wide micro-panel and the second column of tiles are emphasised.")
CAPTION = (
    "Tiles of a block (blue), narrow micro-panels (green) and wide micro-panels (orange). The kernel computes the dark column of tiles from "
    "top to bottom. Meanwhile, the dark wide micro-panel stays in the L1 cache, and all narrow micro-panels stay in the L2 cache.")


def draw(canvas):
    """Draws the block in the corner between its micro-panels."""
    left, top = (canvas.width - DEPTH - 12 - COLS * BROAD) / 2 + DEPTH + 12, DEPTH + 40
    for j in range(COLS):
        canvas.box(left + BROAD * j, top - DEPTH - 12, BROAD - 3, DEPTH, colour=ORANGE, fill=0.75 if j == CURRENT else 0.25, edge=0.6)
    for i in range(ROWS):
        canvas.box(left - DEPTH - 12, top + TALL * i, DEPTH, TALL - 3, colour=GREEN, fill=0.35, edge=0.6)
        for j in range(COLS):
            canvas.box(left + BROAD * j, top + TALL * i, BROAD - 3, TALL - 3, colour=BLUE, fill=0.6 if j == CURRENT else 0.15, edge=0.6)
    canvas.text(left + BROAD * COLS / 2, top - DEPTH - 24, "wide micro-panels, 256 rows of A", SMALL)
    canvas.text(left - DEPTH / 2 - 12, top - 10, "narrow", SMALL)
    canvas.text(left + BROAD * COLS / 2, top + TALL * ROWS + 14, "block of C", SMALL)
    canvas.arrow((left + BROAD * CURRENT + BROAD / 2, top + 4), (left + BROAD * CURRENT + BROAD / 2, top + TALL * ROWS - 6), width=1.4)
