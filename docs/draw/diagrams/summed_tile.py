"""What a block of stage 12 of advection has in shared memory."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A tile, its frame, and its sums"
HEIGHT = {"wide": 222, "narrow": 640}
ROWS, COLS, CELL = 4, 8, 20
ALTERNATIVE = (
    "Three grids of the same tile. First the cells that a block loads: the tile and a frame of one cell around it. Then the sums of three "
    "neighbours within a row, made of three cells side by side: as many columns as the tile has, but the frame's rows above and below, too. Last the "
    "results, each made of three sums below each other. Between the grids are barriers.")
CAPTION = ("A tile of 4 × 8 cells instead of 16 × 32. Marked is where one result comes from: three sums of three cells. Its neighbours below and "
           "above use two of the same sums.")


def grid(canvas, rows, cols, colour, marked):
    """Cells, from (rows[0], cols[0]) on; those of the frame are pale."""
    for i in range(*rows):
        for j in range(*cols):
            is_marked, is_own = (i, j) in marked, 0 <= i < ROWS and 0 <= j < COLS
            canvas.box(CELL * (j + 1), CELL * (i + 1), CELL - 2, CELL - 2, colour=ORANGE if is_marked else colour,
                       fill=0.7 if is_marked else 0.32 if is_own else 0.1, edge=0.4)


def draw(canvas):
    """Cells, sums, results."""
    at = (1, 3)
    around = [(i, j) for i in range(at[0] - 1, at[0] + 2) for j in range(at[1] - 1, at[1] + 2)]
    left = 0 if canvas.is_wide else (canvas.width - CELL * (COLS + 2)) / 2
    panels = [panel.part(left, 44) for panel in canvas.panels(3, CELL * (COLS + 2))]
    for panel, name, words, rows, cols, colour, marked in (
            (panels[0], "cells", "loaded once, with a frame", (-1, ROWS + 1), (-1, COLS + 1), BLUE, around),
            (panels[1], "sums along x", "also of the rows above and below", (-1, ROWS + 1), (0, COLS), GREEN,
             [(i, at[1]) for i in range(at[0] - 1, at[0] + 2)]),
            (panels[2], "results", "stored", (0, ROWS), (0, COLS), PURPLE, [at])):
        middle = CELL * (COLS + 2) / 2
        panel.text(middle, -22, name, bold=True)
        grid(panel, rows, cols, colour, marked)
        panel.text(middle, CELL * (ROWS + 2) + 14, words, SMALL)
    for panel, words in ((panels[0], "a barrier, then three cells make a sum"), (panels[1], "a barrier, then three sums make a result")):
        panel.text(CELL * (COLS + 2) / 2, CELL * (ROWS + 2) + 34, words, SMALL)
