"""What one thread of stage 11 of local volatility holds of the grid of medium, along x and along y."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "The points of one thread, along x and along y"
HEIGHT = {"wide": 372, "narrow": 744}
NUM_X, NUM_Y = 256, 32
HELD_X, HELD_Y = 32, 8
THREADS, THREAD = 256, 70
LEFT, TOP, DOWN, ACROSS = 66, 56, 1.05, 7  # pixels, and those of a row and of a column
ALTERNATIVE = (
    "The grid of medium twice, 256 rows of 32 points. Along x each of the 32 columns is cut into eight pieces of 32 points; thread 70 "
    "has one of them, rows 64 to 95 of column 6. Along y each row is cut into four pieces of 8 points; thread 70 has four of them, "
    "columns 16 to 23 of rows 17, 81, 145 and 209. None of its points along y is one of its points along x.")
CAPTION = (
    "Medium in one block of 256 threads; rows are drawn lower than columns are wide. Orange is what thread 70 holds, 32 points either "
    "way. Along x the eight pieces of a column lie in eight warps, along y the four pieces of a row in neighbouring lanes.")


def grid(canvas, name, pieces_x, pieces_y, words):
    """The grid, cut into pieces; what a thread holds comes on top of it."""
    canvas.text(170, 12, name, bold=True)
    width, height = ACROSS * NUM_Y, DOWN * NUM_X
    for m in range(pieces_x):
        for n in range(pieces_y):
            canvas.box(LEFT + width / pieces_y * n, TOP + height / pieces_x * m, width / pieces_y, height / pieces_x, colour=BLUE,
                       fill=0.2 if (m if pieces_y == 1 else n) % 2 else 0.08, edge=0.4)
    canvas.box(LEFT, TOP, width, height)
    canvas.text(LEFT + width / 2, TOP + height + 16, words, SMALL)


def mark(canvas, rows, columns, high=0.0):
    """Points of the thread, from a row and a column on, so high at least, and where they lie."""
    (i, i_end), (j, j_end) = rows, columns
    canvas.box(LEFT + ACROSS * j, TOP + DOWN * i, ACROSS * (j_end - j), max(DOWN * (i_end - i), high), colour=ORANGE, fill=0.85, edge=0)


def draw_columns(canvas):
    """Along x: a piece of a column."""
    piece, j = divmod(THREAD, NUM_Y)
    pieces = NUM_X // HELD_X
    grid(canvas, "along x: one piece of a column", pieces, 1, "a warp holds 32 rows, each lane a column of them")
    mark(canvas, (HELD_X * piece, HELD_X * (piece + 1)), (j, j + 1))
    canvas.text(LEFT + ACROSS * (j + 0.5), TOP - 10, f"j = {j}", SMALL)
    for m in range(pieces):
        canvas.text(LEFT - 8, TOP + DOWN * HELD_X * (m + 0.5), f"piece {m}", SMALL, ha="right")


def draw_rows(canvas):
    """Along y: pieces of rows, 64 rows apart."""
    pieces = NUM_Y // HELD_Y
    row, piece = divmod(THREAD, pieces)
    grid(canvas, "along y: a piece of each of four rows", 1, pieces, "four lanes hold a row, each 8 points of it")
    for i in range(row, NUM_X, THREADS // pieces):
        mark(canvas, (i, i + 1), (HELD_Y * piece, HELD_Y * (piece + 1)), 3)
        canvas.text(LEFT - 8, TOP + DOWN * i + 2, f"i = {i}", SMALL, ha="right")
    for n in range(pieces):
        canvas.text(LEFT + ACROSS * HELD_Y * (n + 0.5), TOP - 10, f"piece {n}", SMALL)


def draw(canvas):
    """Two panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_columns, draw_rows)):
        draw_one(panel)
