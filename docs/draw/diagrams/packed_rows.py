"""Eight rows of a sub-tile as stage 11 of Cholesky stores them and as stage 14 packs them."""

from draw.canvas import BLUE, GREEN, SMALL

TITLE = "Eight rows of a sub-tile, row by row and packed"
HEIGHT = {"wide": 262, "narrow": 524}
ROWS, PAIRS = 8, 4  # rows of a square, and pairs per row
ALTERNATIVE = (
    "First: eight rows of a sub-tile as two squares of eight by eight elements, with the index of the lane that "
    "loads each pair. Second: the same rows in shared memory. In stage 11, a square is in eight separate "
    "positions; in stage 14, it is one contiguous segment.")
CAPTION = (
    "The order of elements in f64. A warp reads one square at a time, here the left one. Stage 11 copies from L, in which consecutive "
    "rows are a whole row of the matrix apart. Packed elements have the same order in device memory as in shared memory.")


def draw_squares(canvas):
    """Draws the lanes of both squares."""
    canvas.text(160, -24, "8 rows of a sub-tile, by lanes", bold=True)
    for square, colour in enumerate((BLUE, GREEN)):
        left = 164 * square
        canvas.text(left + 78, -6, f"columns {8 * square} to {8 * square + 7}", SMALL)
        for row in range(ROWS):
            for pair in range(PAIRS):
                canvas.box(left + 39 * pair, 8 + 22 * row, 37, 20, f"{PAIRS * row + pair}", colour, 0.15 + 0.2 * (row % 2),
                           edge=0.4, size=SMALL)
    canvas.text(160, 200, "a cell: 2 adjacent elements, 16 bytes", SMALL)


def draw_memory(canvas):
    """Draws the same rows along memory: segments of 64 bytes in two orders."""
    canvas.text(160, -24, "the same rows in shared memory", bold=True)
    width, gap = 13, 13
    canvas.text(0, 10, "11: row by row, with gaps of 64 bytes", ha="left")
    canvas.text(0, 114, "14: packed", ha="left")
    for row in range(ROWS):
        rows = (2 * width + gap) * row
        for square, colour in enumerate((BLUE, GREEN)):
            fill = 0.15 + 0.2 * (row % 2)
            canvas.box(rows + width * square, 26, width, 24, f"{row}", colour, fill, edge=0.4, size=SMALL)
            canvas.box(width * (ROWS * square + row), 130, width, 24, f"{row}", colour, fill, edge=0.4, size=SMALL)
        if row < ROWS - 1:
            canvas.line((rows + 2 * width, 38), (rows + 2 * width + gap, 38), dashed=True)
        canvas.line((rows + width / 2, 53), (rows + width / 2, 59), colour=BLUE)
    canvas.line((width / 2, 59), (7 * (2 * width + gap) + width / 2, 59), colour=BLUE)
    canvas.text(136, 70, "a warp reads 8 separate rows of 64 bytes", SMALL)
    canvas.line((1, 156), (1, 162), (width * ROWS - 1, 162), (width * ROWS - 1, 156), colour=BLUE)
    canvas.text(0, 174, "a warp reads 512 contiguous bytes", SMALL, ha="left")
    canvas.text(0, 200, "16 times these 1024 bytes: a sub-tile", SMALL, ha="left")


def draw(canvas):
    """Draws the squares on the left or above, and memory on the right or below."""
    squares, memory = canvas.panels(2, 330)
    draw_squares(squares.part(4, 46))
    draw_memory(memory.part(8, 46))
