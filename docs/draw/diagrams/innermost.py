"""What an iteration walks along in A and C, by the loop that is innermost, in stage 00 of AᵀA."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Three loops that may be the innermost, and what they walk along"
HEIGHT = {"wide": 350, "narrow": 690}
ROWS, COLS, LINE = 8, 16, 8  # of A, and numbers in a cache line
CELL = 9
I, J, K = 3, 11, 5
ALTERNATIVE = (
    "Three drawings of A, of eight rows and sixteen columns, and of C, sixteen by sixteen; a row is two cache lines of eight "
    "numbers. With j innermost, one number of A is held, a row of A is read and a row of C is read and written: all numbers of "
    "their lines are used. With k innermost, one number of C is held and two columns of A are read: each number comes from another "
    "line. With i innermost, one number of A is held, a row of A is read, and a column of C is read and written, each number "
    "in another line.")
CAPTION = (
    "All turns of the innermost loop, with i = 3, j = 11 and k = 5 where they stand still. A row has two cache lines of eight numbers; "
    "grey numbers are fetched with their line, and are not used by this loop.")


def draw_matrix(canvas, name, rows, touched, of_rows, of_columns):
    """A matrix, the numbers that the loop touches, the lines that come with them, and names of rows and columns."""
    canvas.text(4, -9, name, bold=True)
    for words, i in of_rows.items():
        canvas.text(-8, CELL * (i + 0.5), words, SMALL)
    for words, j in of_columns.items():
        canvas.text(CELL * (j + 0.5), -9, words, SMALL)
    lines = {(i, j // LINE) for i, j in touched}
    for i in range(rows):
        for j in range(COLS):
            colour, fill = touched.get((i, j), (INK, 0.22 if (i, j // LINE) in lines else 0.03))
            canvas.box(CELL * j + 0.5, CELL * i + 0.5, CELL - 1, CELL - 1, colour=colour, fill=fill, edge=0)
    canvas.box(0, 0, CELL * COLS, CELL * rows, edge=0.6)
    canvas.line((CELL * LINE, 0), (CELL * LINE, CELL * rows), width=0.6)


def row(i, colour):
    """All numbers of a row."""
    return {(i, j): (colour, 0.6) for j in range(COLS)}


def column(j, rows, colour):
    """All numbers of a column."""
    return {(i, j): (colour, 0.6) for i in range(rows)}


LOOPS = (
    ("j", "a row of A, a row of C", (row(K, BLUE) | {(K, I): (GREEN, 1)}, {"k": K}, {"i": I}), (row(I, ORANGE), {"i": I}, {})),
    ("k", "two columns of A", (column(I, ROWS, BLUE) | column(J, ROWS, BLUE), {}, {"i": I, "j": J}),
     ({(I, J): (GREEN, 1)}, {"i": I}, {"j": J})),
    ("i", "a row of A, a column of C", (row(K, BLUE) | {(K, J): (GREEN, 1)}, {"k": K}, {"j": J}),
     (column(J, COLS, ORANGE), {}, {"j": J})))


def draw(canvas):
    """A panel per loop: A above C, or beside it where room is short."""
    side, width, below = CELL * COLS, *((250, 24) if canvas.is_wide else (340, 46))
    matrices = canvas.part(0, 0, canvas.width, canvas.height - below)
    for panel, (loop, words, of_a, of_c) in zip(matrices.panels(3, width), LOOPS):
        left = (panel.width - side) / 2 + 8 if canvas.is_wide else 14
        panel.text(panel.width / 2, 12, f"{loop} innermost", bold=True)
        panel.text(panel.width / 2, 30, words, SMALL)
        draw_matrix(panel.part(left, 58), "A", ROWS, *of_a)
        c = panel.part(left, 58 + CELL * ROWS + 24) if canvas.is_wide else panel.part(left + side + 24, 58)
        draw_matrix(c, "C", COLS, *of_c)
    key = canvas.part(120 if canvas.is_wide else 10, canvas.height - 8)
    entries = ((GREEN, 1, "stands still"), (BLUE, 0.6, "read"), (ORANGE, 0.6, "read and written"), (INK, 0.22, "fetched, not used"))
    if canvas.is_wide:
        key.key(20, -4, *entries, gap=30)
    else:
        key.key(0, -26, *entries[:2])
        key.key(0, -4, *entries[2:])
