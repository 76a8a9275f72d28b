"""Stage 11 of Cholesky: the indices that thread blocks claim, and the tiles that one thread block waits for."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Indices of tiles, and the tiles that one of them waits for"
HEIGHT = {"wide": 256, "narrow": 380}
SIDE, CELL = 6, 34
MARKED = (4, 2)
ALTERNATIVE = (
    "A triangle of six by six tiles with indices that run down each column from the diagonal. Tile 13 needs tiles "
    "4 and 9 to its left, tiles 2 and 7 of row three, and tile 11 on the diagonal. All of these have smaller "
    "indices.")
CAPTION = ("The thread block that claims tile 13 waits for tiles 2, 4, 7, 9 and 11, and for no other tile. All tiles below 13 have been claimed "
           "earlier, by thread blocks that are running or have ended.")


def number(row, column):
    """The index of a tile: tiles are counted column by column, from the diagonal down."""
    return sum(SIDE - before for before in range(column)) + row - column


def draw(canvas):
    """Draws the triangle, and the meaning of the colours."""
    left = (canvas.width - (SIDE * CELL + 290)) / 2 if canvas.is_wide else (canvas.width - SIDE * CELL) / 2
    here = canvas.part(left, 26)
    row, column = MARKED
    looks = {MARKED: (ORANGE, 0.65), (column, column): (PURPLE, 0.45)}
    looks |= {(row, k): (GREEN, 0.45) for k in range(column)} | {(column, k): (GREEN, 0.45) for k in range(column)}
    for i in range(SIDE):
        for j in range(i + 1):
            colour, fill = looks.get((i, j), (BLUE, 0.1))
            here.box(CELL * j, CELL * i, CELL - 2, CELL - 2, f"{number(i, j)}", colour, fill, edge=0.4, size=SMALL)
    words = canvas.part(left + SIDE * CELL + 40, 70) if canvas.is_wide else canvas.part(60, 266)
    for n, entry in enumerate(((ORANGE, 0.65, "the tile that is computed"), (GREEN, 0.45, "factors of its products"),
                               (PURPLE, 0.45, "it is solved with this one"), (BLUE, 0.1, "it does not wait for these"))):
        words.key(0, 26 * n, entry)
