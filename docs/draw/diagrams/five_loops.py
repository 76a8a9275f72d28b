"""The chunk, the block and the tile that the loops of stage 17 of the matrix product select."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A chunk, a block of C and a tile"
HEIGHT = {"wide": 300, "narrow": 300}
TALL, BROAD, DEEP = 128, 176, 96  # pixels: rows of C, columns of C, and columns of A, which are rows of B
CHUNK, FROM = 24, 36              # size and position of the chunk
BLOCK = (40, 32, 88, 64)          # left, top, width, height of the block in C
TILE = (84, 56, 22, 8)            # the same for the tile
ALTERNATIVE = (
    "C with A to its left and B above it. A chunk is a strip of columns in A and a strip of rows in B. A block of C selects "
    "rows of the strip in A and columns of the strip in B. A tile of the block selects a thin part of each strip.")
CAPTION = (
    "The loop over k selects a chunk of 256 columns of A and 256 rows of B. The next two loops select a block of C (light). The last two loops "
    "select a tile (dark blue) with its narrow micro-panel of A (green) and its wide micro-panel of B (orange).")


def draw(canvas):
    """Draws C in the corner between A and B."""
    left, top = (canvas.width - DEEP - 14 - BROAD) / 2 + DEEP + 14, DEEP + 34
    for x, y, width, height in (left, top, BROAD, TALL), (left - 14 - DEEP, top, DEEP, TALL), (left, top - 14 - DEEP, BROAD, DEEP):
        canvas.box(x, y, width, height, edge=0.8)
    a, b = left - 14 - DEEP + FROM, top - 14 - DEEP + FROM
    canvas.box(a, top, CHUNK, TALL, colour=GREEN, fill=0.1, edge=0.5)
    canvas.box(left, b, BROAD, CHUNK, colour=ORANGE, fill=0.1, edge=0.5)
    x, y, width, height = BLOCK
    canvas.box(a, top + y, CHUNK, height, colour=GREEN, fill=0.35, edge=0.6)
    canvas.box(left + x, b, width, CHUNK, colour=ORANGE, fill=0.35, edge=0.6)
    canvas.box(left + x, top + y, width, height, colour=BLUE, fill=0.2, edge=0.6)
    x, y, width, height = TILE
    canvas.box(a, top + y, CHUNK, height, colour=GREEN, fill=0.9, edge=0.6)
    canvas.box(left + x, b, width, CHUNK, colour=ORANGE, fill=0.9, edge=0.6)
    canvas.box(left + x, top + y, width, height, colour=BLUE, fill=0.9, edge=0.6)
    canvas.text(left - 14 - DEEP / 2, top + TALL + 12, "A", bold=True)
    canvas.text(left + BROAD / 2, top + TALL + 12, "C", bold=True)
    canvas.text(left + BROAD / 2, top - 14 - DEEP - 10, "B", bold=True)
    canvas.text(a + CHUNK / 2, top - 8, "chunk", SMALL)
