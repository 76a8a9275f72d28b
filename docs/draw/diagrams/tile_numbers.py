"""The numbers that blocks of stage 11 of Cholesky draw, and whom a tile waits for."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Numbers of tiles, and whom one of them waits for"
HEIGHT = {"wide": 256, "narrow": 380}
SIDE, CELL = 6, 34
MARKED = (4, 2)
ALTERNATIVE = (
    "The lower triangle of six by six tiles, numbered column by column from the diagonal down: 0 to 5 in the first column, 6 to 10 in the second, and "
    "so on. Tile 13, in the fifth row and the third column, needs the tiles to its left, 4 and 9, those of row three to the left of the diagonal, 2 and "
    "7, and the tile on the diagonal of its column, 11. All these have smaller numbers.")
CAPTION = ("Whoever draws 13 waits for 2, 4, 7, 9 and 11, and for nobody else. All numbers below 13 have been drawn before, by blocks that run or "
           "have ended.")


def number(row, column):
    """Column by column, from the diagonal down."""
    return sum(SIDE - before for before in range(column)) + row - column


def draw(canvas):
    """The triangle, and what colours mean."""
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
