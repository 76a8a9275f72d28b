"""The same memory, read by the program of stage 09 of the sliced product and by cuBLAS."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One memory, read as rows and as columns"
HEIGHT = {"wide": 330, "narrow": 690}
ROWS, DEPTH, COLS = 2, 3, 4
ROW, COLUMN = 1, 2  # row and column of the element that is marked
CELL, GAP = 24, 22
ALTERNATIVE = (
    "The elements of A, B and C with their positions in memory, twice. In the first part, positions increase "
    "along rows; in the second part, down columns, and the former B is the left factor. In both, the same "
    "elements determine position 6 of C.")
CAPTION = (
    "The boxes show positions in memory, and no element moves. Read column by column, A, B and C are their transposes. With B as the "
    "first factor, cuBLAS writes the element to position 6 that the program expects there.")


def matrix(canvas, name, colour, shape, place_of, marked):
    """Draws a matrix in which each element shows its position in memory; some elements are marked."""
    rows, cols = shape
    canvas.text(-10, CELL * rows / 2, name, ha="right", bold=True)
    for i in range(rows):
        for j in range(cols):
            canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, f"{place_of(i, j)}", colour, 0.65 if marked(i, j) else 0.15, edge=0.4,
                       size=SMALL)


def draw_memory(canvas, words):
    """Draws the memory of B below the matrices, in parts with names."""
    left, cell = 26, 24
    for place in range(DEPTH * COLS):
        canvas.box(left + cell * place, 284, cell - 2, 22, f"{place}", BLUE, 0.65 if place % COLS == COLUMN else 0.15, edge=0.4, size=SMALL)
    for piece in range(DEPTH + 1):
        x = left + cell * COLS * piece - 1
        canvas.line((x, 278), (x, 312), width=1.8)
        if piece < DEPTH:
            canvas.text(x + cell * COLS / 2, 320, f"{words} {piece}", SMALL)
    canvas.text(170, 268, "memory of B", SMALL)


def draw_rows(canvas):
    """Draws the operands of the program: A on the left of C, and B above C."""
    canvas.text(170, 12, "the program, row by row: C = A B", bold=True)
    left, top = 66 + CELL * DEPTH + 40, 50
    matrix(canvas.part(left, top), "B", BLUE, (DEPTH, COLS), lambda i, j: COLS * i + j, lambda i, j: j == COLUMN)
    below = top + CELL * DEPTH + GAP
    matrix(canvas.part(66, below), "A", GREEN, (ROWS, DEPTH), lambda i, j: DEPTH * i + j, lambda i, j: i == ROW)
    matrix(canvas.part(left, below), "C", ORANGE, (ROWS, COLS), lambda i, j: COLS * i + j, lambda i, j: (i, j) == (ROW, COLUMN))
    draw_memory(canvas, "row")


def draw_columns(canvas):
    """Draws the operands of cuBLAS: Bᵀ on the left of Cᵀ, and Aᵀ above Cᵀ."""
    canvas.text(170, 12, "cuBLAS, column by column: Cᵀ = Bᵀ Aᵀ", bold=True)
    left, top = 86 + CELL * DEPTH + 40, 50
    matrix(canvas.part(left, top), "Aᵀ", GREEN, (DEPTH, ROWS), lambda i, j: DEPTH * j + i, lambda i, j: j == ROW)
    below = top + CELL * DEPTH + GAP
    matrix(canvas.part(86, below), "Bᵀ", BLUE, (COLS, DEPTH), lambda i, j: COLS * j + i, lambda i, j: i == COLUMN)
    matrix(canvas.part(left, below), "Cᵀ", ORANGE, (COLS, ROWS), lambda i, j: COLS * j + i, lambda i, j: (j, i) == (ROW, COLUMN))
    draw_memory(canvas, "column")


def draw(canvas):
    """Draws the program on the left or above, and cuBLAS beside or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_rows, draw_columns)):
        draw_one(panel)
