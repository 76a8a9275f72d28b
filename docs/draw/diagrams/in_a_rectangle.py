"""Tiles of Cholesky that are at work at a time, column by column and four columns at a time, and what they read."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Tiles at work in a column, and in a rectangle"
HEIGHT = {"wide": 330, "narrow": 660}
TILES, FIRST, AT_WORK, SIDE = 16, 4, 12, 15  # the first column that is not done, and pixels of a tile
ALTERNATIVE = (
    "Two lower triangles of 16 by 16 tiles, of which the first four columns are done. On the left the twelve tiles from the diagonal "
    "down in the fifth column are at work: they read twelve rows of tiles in the columns that are done, one for each of them. On "
    "the right twelve tiles are at work in rows 9 to 11 of four columns: they read three rows of their own, each for four tiles, and "
    "the four rows of the diagonal tiles of their columns, each for three tiles: seven rows.")
CAPTION = (
    "The first four columns are done. What twelve tiles at work read of these: on the left twelve rows, on the right three of their own "
    "(orange) and four of their columns (green).")


def draw_order(canvas, name, at_work, words):
    """The triangle, the tiles at work, and the rows that they read."""
    side = TILES * SIDE
    canvas.text(side / 2, -22, name, bold=True)
    rows, columns = ({tile[axis] for tile in at_work} for axis in (0, 1))
    for i in range(TILES):
        for j in range(i + 1):
            read = ORANGE if i in rows else GREEN if i in columns else None
            if (i, j) in at_work:
                colour, fill = BLUE, 0.75
            elif j < FIRST and read:
                colour, fill = read, 0.5
            else:
                colour, fill = INK, 0.12 if j < FIRST else 0
            canvas.box(SIDE * j, SIDE * i, SIDE, SIDE, colour=colour, fill=fill, edge=0.4)
    canvas.text(side / 2, side + 16, words, SMALL)


def draw(canvas):
    """Stage 20 on the left or above, stage 22 beside or below it."""
    column = {(i, FIRST) for i in range(FIRST, FIRST + AT_WORK)}
    rectangle = {(i, j) for i in range(9, 12) for j in range(FIRST, 2 * FIRST)}
    for panel, name, at_work, words in zip(
            canvas.panels(2, 330), ("20: column by column", "22: four columns, row by row"), (column, rectangle),
            ("12 rows, each for a tile", "3 + 4 rows, each for four tiles or three")):
        draw_order(panel.part(45, 40), name, at_work, words)
