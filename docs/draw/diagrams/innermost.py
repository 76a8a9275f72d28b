"""Stage 00 of AᵀA: the elements of A and C that each choice of the innermost loop accesses."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Elements that each innermost loop touches"
HEIGHT = {"wide": 350, "narrow": 690}
ROWS, COLS, LINE = 8, 16, 8  # rows and columns of A, and elements per cache line
CELL = 9
I, J, K = 3, 11, 5
ALTERNATIVE = (
    "A with eight rows and C, three times, with cache lines of eight elements. With j innermost, the loop uses "
    "all elements of its cache lines. With k innermost, each element that it reads in A is in a different line. "
    "With i innermost, this is true of its elements in C.")
CAPTION = (
    "The figure shows all iterations of the innermost loop; the fixed indices are i = 3, j = 11 and k = 5. A row has two "
    "cache lines of eight elements. Grey elements are fetched with their line, but this loop does not use them.")


def draw_matrix(canvas, name, rows, touched, of_rows, of_columns):
    """Draws a matrix with the elements that the loop accesses, their cache lines, and names of rows and columns."""
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
    """All elements of a row."""
    return {(i, j): (colour, 0.6) for j in range(COLS)}


def column(j, rows, colour):
    """All elements of a column."""
    return {(i, j): (colour, 0.6) for i in range(rows)}


LOOPS = (
    ("j", "a row of A, a row of C", (row(K, BLUE) | {(K, I): (GREEN, 1)}, {"k": K}, {"i": I}), (row(I, ORANGE), {"i": I}, {})),
    ("k", "two columns of A", (column(I, ROWS, BLUE) | column(J, ROWS, BLUE), {}, {"i": I, "j": J}),
     ({(I, J): (GREEN, 1)}, {"i": I}, {"j": J})),
    ("i", "a row of A, a column of C", (row(K, BLUE) | {(K, J): (GREEN, 1)}, {"k": K}, {"j": J}),
     (column(J, COLS, ORANGE), {}, {"j": J})))


def draw(canvas):
    """Draws one panel per loop: A above C, or A next to C if the page is narrow."""
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
    entries = ((GREEN, 1, "stays the same"), (BLUE, 0.6, "read"), (ORANGE, 0.6, "read and written"), (INK, 0.22, "fetched, not used"))
    if canvas.is_wide:
        key.key(20, -4, *entries, gap=30)
    else:
        key.key(0, -26, *entries[:2])
        key.key(0, -4, *entries[2:])
