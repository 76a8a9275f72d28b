"""An order of stage 04 of durbin_levinson_batched: the pairs of each thread, and the sum over the block."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "One block per system: pairs distributed cyclically, one sum"
HEIGHT = {"wide": 256, "narrow": 512}
COLOURS = (BLUE, GREEN, PURPLE, ORANGE)
THREADS, NUMBERS, SHOWN = len(COLOURS), 16, 1
ALTERNATIVE = (
    "First: a row y of sixteen elements, whose eight pairs are distributed cyclically over four threads. Second: "
    "each warp adds up its partial sums with shuffles and stores one value in shared memory. After one barrier, "
    "every thread reads all of these values and computes alpha.")
CAPTION = (
    "The figure shows one order of one system, with two warps of two threads instead of up to eight warps of 32. The digit "
    "in a box of y is the index of its thread. Thread 0 writes α, the new last element. The sums of the warps have two sets "
    "of slots, for even and for odd orders.")


def draw_deal(canvas):
    """Draws the row, and the pairs of one thread."""
    canvas.text(170, 12, "pairs of y, in shared memory", bold=True)
    left, cell, top = 9, 19, 66
    for begin, end, words in ((0, 4, "first"), (4, 12, "second iteration"), (12, 16, "first")):
        canvas.line((left + cell * begin + 3, top - 10), (left + cell * end - 5, top - 10), width=1)
        canvas.text(left + cell * (begin + end) / 2 - 1, top - 20, words, SMALL)
    for i in range(NUMBERS):
        thread = min(i, NUMBERS - 1 - i) % THREADS
        canvas.box(left + cell * i, top, cell - 2, 24, f"{thread}", COLOURS[thread], 0.6 if thread == SHOWN else 0.2, edge=0.5,
                   size=SMALL)
    canvas.box(left + cell * NUMBERS, top, cell - 2, 24, "α", COLOURS[0], 0.2, edge=0.5, size=SMALL)
    canvas.box(80, 156, 180, 44, f"thread {SHOWN}: update the pair,\nmultiply it for the next sum", COLOURS[SHOWN], 0.3, edge=0.6,
               size=SMALL)
    for pair in (SHOWN, SHOWN + THREADS):
        for i in (pair, NUMBERS - 1 - pair):
            x = left + cell * i + 9
            to = 170 + (x - 160) * 0.52
            canvas.arrow((x, top + 25), (to, 155), COLOURS[SHOWN], 1.2, both=True, dashed=pair > SHOWN)
    canvas.arrow((170, 201), (170, 226), COLOURS[SHOWN], 1.4)
    canvas.text(170, 236, "its partial sum for the next order", SMALL)


def draw_sum(canvas):
    """Draws the path from the partial sums to the coefficient, which all threads compute."""
    canvas.text(170, 12, "one sum, one barrier", bold=True)
    xs = [70, 124, 216, 270]
    for thread, (x, colour) in enumerate(zip(xs, COLOURS)):
        canvas.box(x - 23, 34, 46, 26, f"part {thread}", colour, 0.3, edge=0.5, size=SMALL)
        middle = 97 if thread < 2 else 243
        canvas.arrow((x, 61), (middle + (x - middle) * 0.3, 95), width=1.1)
        canvas.box(x - 23, 202, 46, 26, "α", colour, 0.3, edge=0.5)
        for source in (97, 243):
            canvas.arrow((source, 161), (x, 201), width=0.9)
    for warp, x in enumerate((97, 243)):
        canvas.box(x - 30, 96, 60, 26, f"warp {warp}", edge=0.8, size=SMALL)
        canvas.arrow((x, 123), (x, 141), width=1.1)
    canvas.text(170, 78, "shuffles", SMALL)
    canvas.text(170, 109, "sums", SMALL, bold=True)
    canvas.box(40, 142, 260, 18, "the barrier of this order", INK, 0.2, edge=0, size=SMALL)
    canvas.text(170, 241, "each thread adds up the same values", SMALL)


def draw(canvas):
    """Draws the pairs on the left or at the top, and the sum to their right or below."""
    for panel, draw_one in zip(canvas.panels(2), (draw_deal, draw_sum)):
        draw_one(panel)
