"""What a turn of stages 00 and 01 of Cholesky reads and writes, column by column."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The same column in two turns: taken off, or gathered for"
HEIGHT = {"wide": 366, "narrow": 736}
COLUMNS, CELL, TURN = 8, 25, 3
READ, WRITTEN, BOTH, KNOWN, OTHERS = (GREEN, 0.4), (ORANGE, 0.6), (PURPLE, 0.3), (BLUE, 0.25), (INK, 0.03)
ALTERNATIVE = (
    "Two lower triangles of eight columns, in the turn of column 3. Stage 00: column 3 becomes final and is taken off all four columns "
    "to its right, which are read and written; arrows lead from it to the right. Stage 01: rows 3 to 7 of the three columns to the left "
    "are read, column 3 alone is written, and all to its right is still that of A; arrows lead from the left to it. Below, how many "
    "times a number is written until the end: from once in column 0 to 8 times in column 7 in stage 00, once in every column in stage "
    "01.")
CAPTION = (
    "The turn of column 3. Strong frames: in stage 00 one of its products, two factors and what loses it; in stage 01 an element, with "
    "all of rows i and j that it gathers from. Below the columns: how many times their numbers are written in all.")


def triangle(canvas, name, look, framed, times):
    """A triangle whose elements look as their row and column say, and how many times numbers are written."""
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
    """Stage 00 on the left or above, stage 01 beside or below it."""
    before, now = (panel.part(70, 54) for panel in canvas.panels(2, 330))
    middle = CELL * (TURN + 0.5)
    triangle(before, f"00: column {TURN} is taken off", lambda i, j: KNOWN if j < TURN else WRITTEN if j == TURN else BOTH,
             ((6, 3), (4, 3), (6, 4)), lambda j: j + 1)
    triangle(now, f"01: column {TURN} gathers", lambda i, j: OTHERS if j > TURN else WRITTEN if j == TURN else READ if i >= TURN else KNOWN,
             [(6, j) for j in range(TURN + 1)] + [(3, j) for j in range(TURN)], lambda j: 1)
    for i in (5, 7):
        before.arrow((middle, CELL * (i + 0.5)), (CELL * (i + 0.4), CELL * (i + 0.5)), width=1.4)
        now.arrow((CELL * 0.3, CELL * (i + 0.5)), (middle, CELL * (i + 0.5)), width=1.4)
    for here, row, name in ((before, 4, "j"), (before, 6, "i"), (now, 3, "j"), (now, 6, "i")):
        here.text(-10, CELL * (row + 0.5), name, bold=True)
    before.key(-30, CELL * COLUMNS + 44, (*KNOWN, "known"), (*WRITTEN, "made final"), (*BOTH, "read and written"))
    now.key(-50, CELL * COLUMNS + 44, (*KNOWN, "known"), (*READ, "read"), (*WRITTEN, "written"), (*OTHERS, "still A"))
