"""A turn of the blocked factorisation, by tiles."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A turn of the blocked factorisation"
HEIGHT = {"wide": 256, "narrow": 390}
BLOCKS, SIDE = 6, 32
ALTERNATIVE = (
    "The lower triangle in tiles. One column of tiles on the left is done. The next tile on the diagonal is factorised; the tiles below it are "
    "solved with it; from every tile to the right the product of two solved tiles is taken off, one in its row and one in the row of its "
    "column. For one tile these two are marked.")
CAPTION = ("The second turn, of six tiles a side: first the tile on the diagonal, then those below it, then all to the right. Marked is what one "
           "of these needs: the solved tiles in its row and in its column's row.")


def draw_triangle(canvas, turn=1):
    """The tiles of L."""
    for row in range(BLOCKS):
        for column in range(row + 1):
            if column < turn:
                colour, fill, words = BLUE, 0.06, ""
            elif column == turn:
                colour, fill, words = (ORANGE, 0.6, "1") if row == turn else (GREEN, 0.4, "2")
            else:
                colour, fill, words = BLUE, 0.25, "3"
            canvas.box(SIDE * column, SIDE * row, SIDE - 2, SIDE - 2, words, colour, fill, edge=0.4, size=SMALL)
    for row, column in ((4, 1), (3, 1), (4, 3)):
        canvas.box(SIDE * column, SIDE * row, SIDE - 2, SIDE - 2, colour=PURPLE, edge=2.2)


def draw(canvas):
    """The triangle, and what each colour does."""
    left = (canvas.width - (BLOCKS * SIDE + 300)) / 2 if canvas.is_wide else (canvas.width - BLOCKS * SIDE) / 2
    draw_triangle(canvas.part(left, 30))
    words = canvas.part(left + BLOCKS * SIDE + 40, 60) if canvas.is_wide else canvas.part(40, 260)
    for n, (colour, fill, text) in enumerate((
            (BLUE, 0.06, "done in turns before"), (ORANGE, 0.6, "1: factorised"), (GREEN, 0.4, "2: solved with 1"),
            (BLUE, 0.25, "3: loses a product of two of 2"))):
        words.key(0, 26 * n, (colour, fill, text))
    words.box(0, 26 * 4 - 5, 10, 10, colour=PURPLE, edge=2)
    words.text(15, 26 * 4, "two factors and what loses them", SMALL, ha="left")
