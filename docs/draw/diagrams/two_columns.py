"""The columns of A from which an element of C is computed, in AᵀA."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Two columns of A give two elements of C"
HEIGHT = {"wide": 236, "narrow": 236}
ROWS, COLS, CELL = 12, 8, 15
I, J = 2, 5
ALTERNATIVE = (
    "A matrix A of twelve rows and eight columns, with columns i = 2 and j = 5 marked. Beside it, C has eight rows and eight columns. "
    "Marked are its elements (2, 5) above the diagonal and (5, 2) below it. They lie symmetrically about the diagonal.")
CAPTION = (
    "The inner product of columns i and j of A is the element in row i and column j of C, and also the element in row j and "
    "column i. A thread needs two columns of A for one element.")


def draw_matrix(canvas, name, rows, colour_of):
    """Draws a matrix of cells, with a name above it."""
    canvas.text(CELL * COLS / 2, -28, name, bold=True)
    for k in range(rows):
        for j in range(COLS):
            colour, fill = colour_of(k, j)
            canvas.box(CELL * j, CELL * k, CELL - 1, CELL - 1, colour=colour, fill=fill, edge=0.4)
    for words, j in (("i", I), ("j", J)):
        canvas.text(CELL * (j + 0.5), -9, words, SMALL)


def draw(canvas):
    """Draws A and C side by side."""
    left = (canvas.width - 300) / 2
    a = canvas.part(left, 46)
    draw_matrix(a, "A", ROWS, lambda k, j: (GREEN, 0.6) if j == I else (BLUE, 0.6) if j == J else (BLUE, 0.05))
    a.text(-8, CELL * ROWS / 2, "k", SMALL, ha="right")
    a.arrow((-4, CELL * 1.5), (-4, CELL * (ROWS - 1.5)))
    c = canvas.part(left + 176, 46)
    draw_matrix(c, "C", COLS, lambda i, j: (ORANGE, 0.8) if {i, j} == {I, J} else (BLUE, 0.12 if i == j else 0.05))
    for words, i in (("i", I), ("j", J)):
        c.text(-8, CELL * (i + 0.5), words, SMALL, ha="right")
