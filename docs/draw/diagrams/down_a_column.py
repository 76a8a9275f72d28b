"""What the sum of stage 00 of the matrix product reads of A and of B, in lines of the cache."""

from draw.canvas import BLUE, INK, ORANGE, PURPLE, SMALL

TITLE = "Along a row of A, down a column of B"
HEIGHT = {"wide": 276, "narrow": 514}
LINE = 16  # numbers of 4 bytes in 64 bytes
LINES, TOUCHED, NUMBER = 3, 1, 6  # lines of a row of B that are drawn, and where the column is
ALTERNATIVE = (
    "First: sixteen neighbours in row i of A, which are one cache line. An arrow leads from each to an addition below it, and from "
    "each addition to the next one, for they all go to one sum. Second: sixteen rows of B, in cache lines of sixteen numbers. The "
    "column j takes one number of each row, and so touches a line in each: sixteen lines, of each of which fifteen numbers are not "
    "used now.")
CAPTION = (
    "Sixteen steps of k in f32. Orange is what the sum reads, blue is what comes with it in the same line. Of A sixteen steps need "
    "one line, of B sixteen lines; and each addition waits for the one before.")


def draw_row(canvas):
    """A line of A, and the chain of additions."""
    canvas.text(170, 12, "A: sixteen steps, one line", bold=True)
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
    canvas.text(170, chain + 30, "the sum: each step adds a(i, k) b(k, j) to it,\nand waits for the addition before", SMALL)


def draw_column(canvas):
    """Rows of B, and the column through them."""
    canvas.text(170, 12, "B: sixteen steps, sixteen lines", bold=True)
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
    canvas.text(left, top + down * LINE + 10, "a line: 16 numbers", SMALL, ha="left")
    canvas.text(left + cell * LINE * LINES, top + down * LINE + 10, "one number used of each", SMALL, ha="right")


def draw(canvas):
    """A on the left or above, B beside or below it."""
    if canvas.is_wide:
        row, column = canvas.panels(2)
    else:
        row, column = canvas.part(0, 0), canvas.part(0, 224)
    draw_row(row)
    draw_column(column)
