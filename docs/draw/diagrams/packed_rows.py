"""Eight rows of a slice as stage 11 of Cholesky keeps them and as stage 14 packs them."""

from draw.canvas import BLUE, GREEN, SMALL

TITLE = "Eight rows of a slice, row by row and packed"
HEIGHT = {"wide": 262, "narrow": 524}
ROWS, PAIRS = 8, 4  # of a square
ALTERNATIVE = (
    "First: eight rows of a slice of 16 columns, in two squares of eight by eight numbers. A cell is two neighbours and has the number "
    "of the lane that loads them: lanes 0 to 3 have row 0, lanes 4 to 7 row 1, and so on to lanes 28 to 31, in the left square and "
    "again in the right one. Second: the same rows in shared memory. In stage 11 each row has 64 bytes of the left square and 64 of the "
    "right one, then comes a gap of 64; a warp that reads the left square reads from eight places. In stage 14 the left square lies in "
    "one piece of 512 bytes, followed by the right one.")
CAPTION = (
    "In f64. A warp reads a square at a time, here the left one. In L, from which stage 11 copies, the next row is a whole row of the "
    "matrix away; packed numbers have the same order there as in shared memory.")


def draw_squares(canvas):
    """The lanes of both squares."""
    canvas.text(160, -24, "8 rows of a slice, by lanes", bold=True)
    for square, colour in enumerate((BLUE, GREEN)):
        left = 164 * square
        canvas.text(left + 78, -6, f"columns {8 * square} to {8 * square + 7}", SMALL)
        for row in range(ROWS):
            for pair in range(PAIRS):
                canvas.box(left + 39 * pair, 8 + 22 * row, 37, 20, f"{PAIRS * row + pair}", colour, 0.15 + 0.2 * (row % 2),
                           edge=0.4, size=SMALL)
    canvas.text(160, 200, "a cell: 2 neighbours of a row, 16 bytes", SMALL)


def draw_memory(canvas):
    """The same rows along memory: pieces of 64 bytes in two orders."""
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
    canvas.text(136, 70, "a warp reads 8 × 64 bytes, from 8 places", SMALL)
    canvas.line((1, 156), (1, 162), (width * ROWS - 1, 162), (width * ROWS - 1, 156), colour=BLUE)
    canvas.text(0, 174, "a warp reads 512 bytes in one piece", SMALL, ha="left")
    canvas.text(0, 200, "16 times these 1024 bytes: a slice of 128 rows", SMALL, ha="left")


def draw(canvas):
    """The squares on the left or above, memory beside or below them."""
    squares, memory = canvas.panels(2, 330)
    draw_squares(squares.part(4, 46))
    draw_memory(memory.part(8, 46))
