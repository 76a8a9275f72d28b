"""The contents of shared memory of a block in stage 12 of advection."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A tile, its frame, and its row sums"
HEIGHT = {"wide": 222, "narrow": 640}
ROWS, COLS, CELL = 4, 8, 20
ALTERNATIVE = (
    "Three grids of the same tile with barriers between them: the cells that a block loads, with a frame of one "
    "cell; the row sums of three cells each; and the results, each of which is the sum of three row sums.")
CAPTION = (
    "A tile of 4 × 8 cells instead of 16 × 32. The orange cells show where one result comes from: three row sums of three "
    "cells each. The results above and below this result use two of the same sums.")


def grid(canvas, rows, cols, colour, marked):
    """Draws a grid of cells with the given ranges of rows and columns; the halo around the results is pale."""
    for i in range(*rows):
        for j in range(*cols):
            is_marked, is_own = (i, j) in marked, 0 <= i < ROWS and 0 <= j < COLS
            canvas.box(CELL * (j + 1), CELL * (i + 1), CELL - 2, CELL - 2, colour=ORANGE if is_marked else colour,
                       fill=0.7 if is_marked else 0.32 if is_own else 0.1, edge=0.4)


def draw(canvas):
    """Draws the cells, the sums and the results."""
    at = (1, 3)
    around = [(i, j) for i in range(at[0] - 1, at[0] + 2) for j in range(at[1] - 1, at[1] + 2)]
    left = 0 if canvas.is_wide else (canvas.width - CELL * (COLS + 2)) / 2
    panels = [panel.part(left, 44) for panel in canvas.panels(3, CELL * (COLS + 2))]
    for panel, name, words, rows, cols, colour, marked in (
            (panels[0], "cells", "loaded once, with a frame", (-1, ROWS + 1), (-1, COLS + 1), BLUE, around),
            (panels[1], "sums along x", "with the rows above and below", (-1, ROWS + 1), (0, COLS), GREEN,
             [(i, at[1]) for i in range(at[0] - 1, at[0] + 2)]),
            (panels[2], "results", "stored", (0, ROWS), (0, COLS), PURPLE, [at])):
        middle = CELL * (COLS + 2) / 2
        panel.text(middle, -22, name, bold=True)
        grid(panel, rows, cols, colour, marked)
        panel.text(middle, CELL * (ROWS + 2) + 14, words, SMALL)
    for panel, words in ((panels[0], "a barrier, then sums of three cells"), (panels[1], "a barrier, then sums of three sums")):
        panel.text(CELL * (COLS + 2) / 2, CELL * (ROWS + 2) + 34, words, SMALL)
