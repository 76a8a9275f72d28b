"""Stage 11 of local volatility: the points of one thread along x and along y, in the grid of the data set medium."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "The points of one thread, along x and along y"
HEIGHT = {"wide": 372, "narrow": 744}
NUM_X, NUM_Y = 256, 32
HELD_X, HELD_Y = 32, 8
THREADS, THREAD = 256, 70
LEFT, TOP, DOWN, ACROSS = 66, 56, 1.05, 7  # pixels: the grid's position, the height of a row, and the width of a column
ALTERNATIVE = (
    "The grid of medium, 256 rows of 32 points, twice. Along x, thread 70 has one segment of 32 points in column "
    "6. Along y, it has four segments of 8 points in four different rows. No point belongs to it in both "
    "directions.")
CAPTION = (
    "The grid of medium in one block of 256 threads, not to scale. The orange points belong to thread 70; there are 32 in "
    "each direction. Along x, the eight segments of a column are in eight warps. Along y, the four segments of a row are in "
    "neighbouring lanes.")


def grid(canvas, name, pieces_x, pieces_y, words):
    """Draws the grid, cut into segments; the points of a thread are drawn on top of it."""
    canvas.text(170, 12, name, bold=True)
    width, height = ACROSS * NUM_Y, DOWN * NUM_X
    for m in range(pieces_x):
        for n in range(pieces_y):
            canvas.box(LEFT + width / pieces_y * n, TOP + height / pieces_x * m, width / pieces_y, height / pieces_x, colour=BLUE,
                       fill=0.2 if (m if pieces_y == 1 else n) % 2 else 0.08, edge=0.4)
    canvas.box(LEFT, TOP, width, height)
    canvas.text(LEFT + width / 2, TOP + height + 16, words, SMALL)


def mark(canvas, rows, columns, high=0.0):
    """Draws points of the thread in a range of rows and columns, with a minimum height, and labels their position."""
    (i, i_end), (j, j_end) = rows, columns
    canvas.box(LEFT + ACROSS * j, TOP + DOWN * i, ACROSS * (j_end - j), max(DOWN * (i_end - i), high), colour=ORANGE, fill=0.85, edge=0)


def draw_columns(canvas):
    """Draws a segment of a column, for the work along x."""
    piece, j = divmod(THREAD, NUM_Y)
    pieces = NUM_X // HELD_X
    grid(canvas, "along x: one segment of a column", pieces, 1, "a warp has 32 rows, each lane a column")
    mark(canvas, (HELD_X * piece, HELD_X * (piece + 1)), (j, j + 1))
    canvas.text(LEFT + ACROSS * (j + 0.5), TOP - 10, f"j = {j}", SMALL)
    for m in range(pieces):
        canvas.text(LEFT - 8, TOP + DOWN * HELD_X * (m + 0.5), f"segment {m}", SMALL, ha="right")


def draw_rows(canvas):
    """Draws segments of rows, 64 rows apart, for the work along y."""
    pieces = NUM_Y // HELD_Y
    row, piece = divmod(THREAD, pieces)
    grid(canvas, "along y: a segment of each of four rows", 1, pieces, "four lanes have a row, each 8 points")
    for i in range(row, NUM_X, THREADS // pieces):
        mark(canvas, (i, i + 1), (HELD_Y * piece, HELD_Y * (piece + 1)), 3)
        canvas.text(LEFT - 8, TOP + DOWN * i + 2, f"i = {i}", SMALL, ha="right")
    for n in range(pieces):
        canvas.text(LEFT + ACROSS * HELD_Y * (n + 0.5), TOP - 10, f"segment {n}" if n == 0 else f"{n}", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_columns, draw_rows)):
        draw_one(panel)
