"""The rounds of blocks of a large cluster, by stage 10 of Bodies and by stage 11."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Whole blocks, and blocks cut into pieces"
HEIGHT = {"wide": 224, "narrow": 430}
PLACES = 8  # drawn for those of a GPU
BLOCKS = 3 * PLACES + 1
PIECES = 4
ALTERNATIVE = (
    "Two timelines of eight places for blocks. On the left there are 25 whole blocks: three rounds of eight, and in a "
    "fourth, as long as the others, one block and seven empty places. On the right each block is cut into four pieces: "
    "100 of them make twelve full rounds, each a quarter as long, and a last one with four pieces. It ends sooner, "
    "after 13 quarters of a round in place of 16.")
CAPTION = (
    "A scheme, with 8 places and 25 blocks for the 660 places and 2048 blocks of a million bodies, and with 4 pieces. Orange is "
    "the last round. It also simplifies: blocks whose neighbours are gone are faster.")


def draw_rounds(canvas, name, count, pieces):
    """Blocks of a length, each in the place that is free first; time runs to the right."""
    left, top, unit, row = 8, 40, 76, 14
    canvas.text(left + 2 * unit, 14, name, bold=True)
    rounds = -(-count // PLACES)
    length = unit / pieces
    for n in range(count):
        when, place = divmod(n, PLACES)
        is_last = when == rounds - 1
        canvas.box(left + when * length, top + row * place, length - 1.5, row - 3, colour=ORANGE if is_last else BLUE,
                   fill=0.5 if is_last else 0.25, edge=0.4)
    bottom = top + row * PLACES + 4
    end = left + rounds * length
    canvas.line((end, top - 8), (end, bottom + 6), width=1, dashed=True)
    canvas.arrow((left, bottom + 12), (left + 4 * unit + 8, bottom + 12), width=0.8)
    canvas.text(left + 2 * unit, bottom + 28, "time", SMALL)


def draw(canvas):
    """Stage 10 on the left or above, stage 11 beside or below it."""
    whole, cut = canvas.panels(2, 330)
    draw_rounds(whole, "10: 25 blocks", BLOCKS, 1)
    draw_rounds(cut, "11: their 100 pieces", BLOCKS * PIECES, PIECES)
