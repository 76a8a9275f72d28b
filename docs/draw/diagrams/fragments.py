"""Which lane holds which numbers of a product of 16 × 8 by 8 × 8, by the rule in mma.hpp."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "The fragments of m16n8k8"
HEIGHT = {"wide": 416, "narrow": 416}
MARKED = 13
ALTERNATIVE = (
    "Three matrices with the number of the lane that holds each element. X, 16 by 8: rows g and g + 8 "
    "belong to lanes 4g to 4g + 3, twice in a row. Y, 8 by 8: column g belongs to lanes 4g to 4g + 3, "
    "twice from top to bottom. C, 16 by 8: rows g and g + 8 belong to lanes 4g to 4g + 3, each with two "
    "neighbours. Marked is lane 13: four elements of X, two of Y, four of C.")
CAPTION = (
    f"A number is the lane that holds the element. Orange: lane {MARKED}, group 3 and member 1, with four "
    "numbers of X, two of Y and four of C. Shaded: the group's lanes.")

CELL_X, CELL_Y = 20, 15


def matrix(canvas, left, top, name, rows, columns, lane_of):
    """A matrix of lane numbers."""
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
    """X on the left of C, Y above it."""
    here = canvas.part((canvas.width - 336) / 2, 0)
    matrix(here, 0, 166, "X, 16 × 8", 16, 8, lambda row, column: 4 * (row % 8) + column % 4)
    matrix(here, 176, 22, "Y, 8 × 8", 8, 8, lambda row, column: 4 * column + row % 4)
    matrix(here, 176, 166, "C, 16 × 8", 16, 8, lambda row, column: 4 * (row % 8) + column // 2)
    here.text(80, 60, "C += X Y", 13, bold=True)
    here.text(80, 84, "lane = 4 group + member", SMALL)
    here.text(80, 104, "32 lanes, 10 numbers each", SMALL)
