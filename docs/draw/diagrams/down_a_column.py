"""Stage 00 of the matrix product: the cache lines of A and of B that a sum reads."""

from draw.canvas import BLUE, INK, ORANGE, PURPLE, SMALL

TITLE = "Along a row of A, down a column of B"
HEIGHT = {"wide": 276, "narrow": 514}
LINE = 16  # elements of 4 bytes in a cache line of 64 bytes
LINES, TOUCHED, NUMBER = 3, 1, 6  # number of drawn lines in a row of B, and the position of the column
ALTERNATIVE = (
    "First: sixteen neighbours in a row of A, all in one cache line, each with an addition that waits for the "
    "previous one. Second: sixteen rows of B. Column j touches a different cache line in each row and uses one of "
    "its sixteen elements.")
CAPTION = (
    "Sixteen iterations of k in f32. The sum reads the orange elements; the blue ones are loaded with them in the same cache line. "
    "Sixteen iterations need one line of A, but sixteen lines of B. Each addition waits for the previous one.")


def draw_row(canvas):
    """Draws a line of A, and the dependency chain of additions."""
    canvas.text(170, 12, "A: sixteen iterations, one line", bold=True)
    left, cell, chain = 26, 18, 160 if canvas.is_wide else 138
    canvas.text(left, 44, "row i", SMALL, ha="left")
    canvas.text(left + cell * LINE, 44, "k →", SMALL, ha="right")
    for k in range(LINE):
        x = left + cell * (k + 0.5)
        canvas.box(left + cell * k, 56, cell, 24, f"{k}", ORANGE, 0.6, edge=0.5, size=SMALL)
        canvas.arrow((x, 81), (x, chain - 7), width=0.6)
        canvas.dot(x, chain, 6, PURPLE, hollow=True)
        canvas.text(x, chain, "+", SMALL)
        canvas.arrow((x - cell + 6, chain), (x - 6, chain), PURPLE)
    canvas.arrow((left + cell * LINE - 3, chain), (left + cell * LINE + 14, chain), PURPLE)
    canvas.text(170, chain + 30, "each iteration adds a(i, k) b(k, j) to the sum\nand waits for the previous addition", SMALL)


def draw_column(canvas):
    """Draws rows of B, and the column through them."""
    canvas.text(170, 12, "B: sixteen iterations, sixteen lines", bold=True)
    left, cell, down, top = 34, 6, 12, 56
    middle = left + cell * (LINE * TOUCHED + NUMBER + 0.5)
    canvas.text(middle, 44, "column j", SMALL)
    for k in range(LINE):
        if k % 5 == 0:
            canvas.text(left - 6, top + down * k + 4.5, f"{k}", SMALL, ha="right")
        for line in range(LINES):
            is_touched = line == TOUCHED
            canvas.box(left + cell * LINE * line, top + down * k, cell * LINE - 2, down - 3, colour=BLUE if is_touched else INK,
                       fill=0.3 if is_touched else 0, edge=0.4)
        canvas.box(middle - cell / 2, top + down * k, cell, down - 3, colour=ORANGE, fill=1, edge=0)
    canvas.text(left - 6, 44, "k", SMALL, ha="right")
    canvas.text(left, top + down * LINE + 10, "a line: 16 elements", SMALL, ha="left")
    canvas.text(left + cell * LINE * LINES, top + down * LINE + 10, "one element of each is used", SMALL, ha="right")


def draw(canvas):
    """Draws A on the left or above, and B beside or below it."""
    if canvas.is_wide:
        row, column = canvas.panels(2)
    else:
        row, column = canvas.part(0, 0), canvas.part(0, 224)
    draw_row(row)
    draw_column(column)
