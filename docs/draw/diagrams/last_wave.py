"""The waves of thread blocks of a large cluster, in stages 10 and 11 of the workload nbody."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Long blocks, and blocks with partial sums"
HEIGHT = {"wide": 224, "narrow": 430}
PLACES = 8  # number of slots for thread blocks, as drawn
BLOCKS = 3 * PLACES + 1
PIECES = 4
ALTERNATIVE = (
    "Two timelines of eight slots for blocks. On the left, 25 long blocks make three full waves and a fourth with "
    "a single block. On the right, 100 short blocks make twelve full waves and a short one with four blocks, and "
    "they end sooner.")
CAPTION = (
    "The figure shows a simplified example with 8 slots, 25 blocks and 4 partial sums, instead of the 660 slots and 2048 "
    "blocks of a million bodies. The last wave is orange. In reality, blocks that share their SM with fewer blocks are "
    "faster, which the example neglects.")


def draw_rounds(canvas, name, count, pieces):
    """Draws blocks of equal length, each in the slot that becomes free first, with time to the right."""
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
    """Draws stage 10 on the left or at the top, and stage 11 to its right or below."""
    whole, cut = canvas.panels(2, 330)
    draw_rounds(whole, "10: 25 blocks", BLOCKS, 1)
    draw_rounds(cut, "11: 100 shorter blocks", BLOCKS * PIECES, PIECES)
