"""Tiles of Cholesky that run at the same time in two orders (column by column, and in strips of four columns), and
the rows that they read."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Concurrent tiles in a column, and in a rectangle"
HEIGHT = {"wide": 330, "narrow": 660}
TILES, FIRST, AT_WORK, SIDE = 16, 4, 12, 15  # tiles per side, the first incomplete column, tiles that run, and pixels
                                             # per tile
ALTERNATIVE = (
    "Two triangles of 16 by 16 tiles with four complete columns. On the left, twelve tiles of one column run at "
    "the same time and read twelve rows of tiles. On the right, twelve tiles in three rows and four columns read "
    "only seven rows.")
CAPTION = (
    "The first four columns are complete. Twelve tiles run at the same time (blue) and read rows of these columns. On the left, they "
    "read twelve rows. On the right, they read three rows of their own (orange) and the four rows of their columns (green).")


def draw_order(canvas, name, at_work, words):
    """Draws the triangle, the tiles that run, and the rows that they read."""
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
    """Draws stage 20 on the left or above, and stage 22 on the right or below."""
    column = {(i, FIRST) for i in range(FIRST, FIRST + AT_WORK)}
    rectangle = {(i, j) for i in range(9, 12) for j in range(FIRST, 2 * FIRST)}
    for panel, name, at_work, words in zip(
            canvas.panels(2, 330), ("20: column by column", "22: four columns, row by row"), (column, rectangle),
            ("12 rows, each for one tile", "3 + 4 rows, each for four or three tiles")):
        draw_order(panel.part(45, 40), name, at_work, words)
