"""The lane that contains each element of a product of 16 × 8 by 8 × 8, by the rule in mma.hpp."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "The fragments of m16n8k8"
HEIGHT = {"wide": 416, "narrow": 416}
MARKED = 13
ALTERNATIVE = (
    "Three matrices, X of 16 by 8, Y of 8 by 8 and C of 16 by 8, with the index of the lane that has each "
    "element. The fragment of lane 13 is marked: four elements of X, two of Y and four of C.")
CAPTION = (
    f"Each cell shows the lane that holds the element. Orange: lane {MARKED}, group 3 and member 1, with four "
    "elements of X, two of Y and four of C. Shaded: the other lanes of its group.")

CELL_X, CELL_Y = 20, 15


def matrix(canvas, left, top, name, rows, columns, lane_of):
    """Draws a matrix of lane indices."""
    for row in range(rows):
        for column in range(columns):
            lane = lane_of(row, column)
            in_group = lane // 4 == MARKED // 4
            colour, fill = (ORANGE, 0.6) if lane == MARKED else (BLUE, 0.25) if in_group else (INK, 0)
            canvas.box(left + CELL_X * column, top + CELL_Y * row, CELL_X, CELL_Y, f"{lane}", colour, fill,
                       edge=0, size=SMALL, bold=lane == MARKED)
    right, bottom = left + CELL_X * columns, top + CELL_Y * rows
    for y in range(top, bottom + 1, CELL_Y):
        canvas.line((left, y), (right, y), width=0.4, opacity=0.5)
    for x in range(left, right + 1, CELL_X):
        canvas.line((x, top), (x, bottom), width=0.4, opacity=0.5)
    canvas.box(left, top, right - left, bottom - top)
    canvas.text(left + CELL_X * columns / 2, top - 10, name, bold=True)


def draw(canvas):
    """Draws X on the left of C, and Y above it."""
    here = canvas.part((canvas.width - 336) / 2, 0)
    matrix(here, 0, 166, "X, 16 × 8", 16, 8, lambda row, column: 4 * (row % 8) + column % 4)
    matrix(here, 176, 22, "Y, 8 × 8", 8, 8, lambda row, column: 4 * column + row % 4)
    matrix(here, 176, 166, "C, 16 × 8", 16, 8, lambda row, column: 4 * (row % 8) + column // 2)
    here.text(80, 60, "C += X Y", 13, bold=True)
    here.text(80, 84, "lane = 4 group + member", SMALL)
    here.text(80, 104, "32 lanes, 10 elements each", SMALL)
