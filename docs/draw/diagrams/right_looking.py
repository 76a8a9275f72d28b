"""An iteration of the blocked right-looking factorisation, by tiles."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "An iteration of the blocked factorisation"
HEIGHT = {"wide": 256, "narrow": 390}
BLOCKS, SIDE = 6, 32
ALTERNATIVE = (
    "A triangle of tiles with one finished column. The next tile on the diagonal is factorised, and the tiles "
    "below it are solved. Tile (i, j) to the right is updated with two solved tiles, in rows i and j, which are "
    "outlined.")
CAPTION = ("The second iteration, with six tiles per side: first the tile on the diagonal (1), then the tiles below it (2), then all tiles to the "
           "right (3). The outlined tile (i, j) of kind 3 needs the two outlined tiles of kind 2 in rows i and j.")


def draw_triangle(canvas, turn=1):
    """Draws the tiles of L."""
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
    """Draws the triangle, and the meaning of the colours."""
    left = (canvas.width - (BLOCKS * SIDE + 300)) / 2 if canvas.is_wide else (canvas.width - BLOCKS * SIDE) / 2
    draw_triangle(canvas.part(left, 30))
    words = canvas.part(left + BLOCKS * SIDE + 40, 60) if canvas.is_wide else canvas.part(40, 260)
    for n, (colour, fill, text) in enumerate((
            (BLUE, 0.06, "finished before"), (ORANGE, 0.6, "1: factorised"), (GREEN, 0.4, "2: solved with 1"),
            (BLUE, 0.25, "3: updated with two tiles of 2"))):
        words.key(0, 26 * n, (colour, fill, text))
    words.box(0, 26 * 4 - 5, 10, 10, colour=PURPLE, edge=2)
    words.text(15, 26 * 4, "two factors, and the tile they update", SMALL, ha="left")
