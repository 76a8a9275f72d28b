"""The elements that an iteration of stages 00 and 01 of Cholesky reads and writes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Column 3 in the right-looking and in the left-looking order"
HEIGHT = {"wide": 366, "narrow": 736}
COLUMNS, CELL, TURN = 8, 25, 3
READ, WRITTEN, BOTH, KNOWN, OTHERS = (GREEN, 0.4), (ORANGE, 0.6), (PURPLE, 0.3), (BLUE, 0.25), (INK, 0.03)
ALTERNATIVE = (
    "Two triangles of eight columns in the iteration for column 3. In stage 00, the products of column 3 are "
    "subtracted from all columns to its right. In stage 01, the products of the columns to the left are "
    "subtracted from column 3, which alone is written.")
CAPTION = (
    "The iteration for column 3. In stage 00, strong frames mark two factors and the element from which their product is subtracted. In "
    "stage 01, they mark an element and all of its factors in rows i and j. The number below a column counts the writes of each element.")


def triangle(canvas, name, look, framed, times):
    """Draws a triangle. Row and column determine the look of an element and the number of times that it is written."""
    canvas.text(CELL * COLUMNS / 2, -38, name, bold=True)
    for j in range(COLUMNS):
        canvas.text(CELL * (j + 0.5), -10, f"{j}", SMALL)
        canvas.text(CELL * (j + 0.5), CELL * COLUMNS + 14, f"{times(j)}", SMALL)
        for i in range(j, COLUMNS):
            canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, "", *look(i, j), edge=0.4)
    for i, j in framed:
        canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, edge=2)
    canvas.text(-8, -10, "column", SMALL, ha="right")
    canvas.text(-8, CELL * COLUMNS + 14, "written", SMALL, ha="right")
    canvas.text(CELL * COLUMNS + 6, CELL * COLUMNS + 14, "times", SMALL, ha="left")


def draw(canvas):
    """Draws stage 00 on the left or above, and stage 01 beside or below it."""
    before, now = (panel.part(70, 54) for panel in canvas.panels(2, 330))
    middle = CELL * (TURN + 0.5)
    triangle(before, f"00: column {TURN} updates others", lambda i, j: KNOWN if j < TURN else WRITTEN if j == TURN else BOTH,
             ((6, 3), (4, 3), (6, 4)), lambda j: j + 1)
    triangle(now, f"01: column {TURN} is updated", lambda i, j: OTHERS if j > TURN else WRITTEN if j == TURN else READ if i >= TURN else KNOWN,
             [(6, j) for j in range(TURN + 1)] + [(3, j) for j in range(TURN)], lambda j: 1)
    for i in (5, 7):
        before.arrow((middle, CELL * (i + 0.5)), (CELL * (i + 0.4), CELL * (i + 0.5)), width=1.4)
        now.arrow((CELL * 0.3, CELL * (i + 0.5)), (middle, CELL * (i + 0.5)), width=1.4)
    for here, row, name in ((before, 4, "j"), (before, 6, "i"), (now, 3, "j"), (now, 6, "i")):
        here.text(-10, CELL * (row + 0.5), name, bold=True)
    before.key(-30, CELL * COLUMNS + 44, (*KNOWN, "finished"), (*WRITTEN, "finished now"), (*BOTH, "read and written"))
    now.key(-50, CELL * COLUMNS + 44, (*KNOWN, "finished"), (*READ, "read"), (*WRITTEN, "written"), (*OTHERS, "still A"))
