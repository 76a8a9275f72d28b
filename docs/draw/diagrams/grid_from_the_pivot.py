"""Stage 05 of Cholesky: the threads of an iteration, and the elements that a warp of the kernel `update` reads."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The two grids of an iteration, and a warp of the second"
HEIGHT = {"wide": 326, "narrow": 652}
ROWS, CELL, TURN = 9, 24, 3
LANES = 8  # number of lanes drawn, out of 32
ALTERNATIVE = (
    "First: a matrix of nine columns in iteration 3. The grid of update covers the square from the pivot to the "
    "last element, and the threads above the diagonal return at once. Second: the lanes of a warp share one "
    "factor, but each of their other factors is in a row of its own.")
CAPTION = (
    "First: iteration k = 3 of nine columns. The grid of update also contains the rest of column k, but the threads there do nothing. Second: a "
    "warp, drawn with 8 lanes instead of 32. The elements of its lanes are neighbours, but each factor l(j, k) is in a different row, and "
    "in a different cache line.")


def draw_grids(canvas):
    """Draws the elements that each kernel writes in iteration TURN."""
    canvas.text(170, 12, f"the threads of iteration k = {TURN}", bold=True)
    here = canvas.part(62, 44)
    for i in range(ROWS):
        for j in range(ROWS):
            if j > i and min(i, j) < TURN:
                continue
            colour, fill = BLUE, 0.35
            if j < TURN or j > i:
                colour, fill = INK, 0.15 if j < TURN else 0
            elif j == TURN:
                colour, fill = (PURPLE, 0.6) if i == TURN else (ORANGE, 0.6)
            here.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0.4, dashed=j > i)
    here.box(CELL * TURN - 2, CELL * TURN - 2, CELL * (ROWS - TURN) + 4, CELL * (ROWS - TURN) + 4, colour=BLUE, edge=1.6)
    here.text(CELL * (TURN + ROWS) / 2, CELL * TURN - 14, "grid of update", SMALL)
    here.text(CELL * TURN / 2, CELL * ROWS + 11, "finished", SMALL)
    here.text(CELL * (TURN + 0.5), CELL * ROWS + 11, "k", bold=True)
    canvas.key(14, 290, (ORANGE, 0.6, "divide"), (PURPLE, 0.6, "the root, by update"), (BLUE, 0.35, "update"))
    canvas.key(14, 310, (INK, 0, "above the diagonal: returns at once"))


def draw_warp(canvas):
    """Draws the elements of a warp, and their factors in column k."""
    canvas.text(170, 12, "a warp of update: which factors it reads", bold=True)
    left, top, cell, down = 108, 52, 23, 21
    column, bottom = 52, top + down * LANES + 26
    canvas.text(column, 36, "column k", SMALL)
    for n in range(LANES):
        y = top + down * (n + 0.5)
        x = left + cell * (n + 0.5)
        canvas.line((column + 16, y), (x, y), colour=GREEN, width=1)
        canvas.arrow((x, y), (x, bottom - 2), GREEN, 1)
        canvas.box(column - 16, y - 8, 32, 16, colour=GREEN, fill=0.5, edge=0.5)
        canvas.text(column - 22, y, f"j + {n}" if n else "row j", SMALL, ha="right")
        canvas.box(x - cell / 2 + 1, bottom, cell - 2, 20, colour=BLUE, fill=0.35, edge=0.5)
    canvas.box(column - 16, bottom, 32, 20, colour=PURPLE, fill=0.5, edge=0.5)
    canvas.arrow((column + 16, bottom + 10), (left - 1, bottom + 10), PURPLE, 1.4)
    canvas.text(column, bottom + 32, "one for all", SMALL)
    canvas.text(column - 22, bottom + 10, "row i", SMALL, ha="right")
    canvas.text(left + cell * LANES / 2, bottom + 32, "columns j to j + 7: side by side", SMALL)
    canvas.text(left + cell * 3.1, top + down * 2.5, "diagonal", SMALL, ha="left")
    canvas.line((left, top), (left + cell * LANES, top + down * LANES), width=0.8, dashed=True)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_grids, draw_warp)):
        draw_one(panel)
