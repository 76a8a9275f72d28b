"""The contents of a thread's registers over time, in stages 11 and 12 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "One block of L in flight, and two"
HEIGHT = {"wide": 292, "narrow": 292}
BEGIN, UNIT = {"wide": 66, "narrow": 46}, {"wide": 23.5, "narrow": 9.8}
TRIP, USE = 6, 1  # durations as drawn: a round trip to memory, and the products of a step
NUMBER = 4  # the index of the block of equations, which is also its number of blocks of L
ALTERNATIVE = (
    "Two timelines of a thread with two sets of registers. In stage 11, one set receives four blocks of L one "
    "after the other, and the other one contains the inverse. In stage 12, both sets receive blocks, so two are "
    "in flight at once, and the thread ends sooner.")
CAPTION = (
    "A thread of thread block 4, not to scale. All earlier unknowns have been published. Dark boxes are products, after which the "
    "thread refills the set of registers. In stage 11, each step waits for memory once. In stage 12, two steps wait for memory at "
    "the same time.")


def at(canvas, when):
    """The horizontal position of a time."""
    form = "wide" if canvas.is_wide else "narrow"
    return BEGIN[form] + UNIT[form] * when


def lane(canvas, y, name, parts):
    """Draws a set of registers: its loads, contents and uses."""
    canvas.text(0, y + 13, name, SMALL, ha="left")
    for first, length, words, colour, fill in parts:
        x = at(canvas, first)
        canvas.box(x, y, at(canvas, first + length) - x - 1.5, 26, words, colour, fill, edge=0.5, size=SMALL)


def ended(canvas, when, top, bottom):
    """Draws a dashed line at the time at which all products end; returns its horizontal position."""
    x = at(canvas, when)
    canvas.line((x, top), (x, bottom), colour=INK, dashed=True)
    return x


def draw(canvas):
    """Draws stage 11 above stage 12."""
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    here.text(0, 0, "11: a set for L, a set for the inverse", ha="left", bold=True)
    turn, end = TRIP + USE, (TRIP + USE) * NUMBER
    of_l = [part for n in range(NUMBER) for part in ((turn * n, TRIP, f"L {n} comes", BLUE, 0.18), (turn * n + TRIP, USE, "", BLUE, 0.8))]
    lane(here, 18, "ahead", of_l)
    lane(here, 52, "inverse", ((0, end, "the inverse waits", GREEN, 0.18), (end, USE, "", GREEN, 0.8)))
    late = ended(here, end + USE, 12, 220)
    below = here.part(0, 116)
    below.text(0, 0, "12: two sets for L", ha="left", bold=True)
    even, odd = [], []
    for n in range(NUMBER // 2):
        used, begin = turn * n + TRIP, turn * n + (USE if n else 0)  # the loads of both sets begin at the same time;
                                                                     # the odd set is used after the even set
        even += [(turn * n, TRIP, f"L {2 * n} comes", BLUE, 0.18), (used, USE, "", BLUE, 0.8)]
        odd += [(begin, used + USE - begin, f"L {2 * n + 1} comes", ORANGE, 0.18), (used + USE, USE, "", ORANGE, 0.8)]
    lane(below, 18, "even", [*even, (2 * turn, USE, "", GREEN, 0.18), (2 * turn + USE, USE, "", GREEN, 0.8)])
    lane(below, 52, "odd", odd)
    soon = ended(below, 2 * turn + 2 * USE, 12, 104)
    here.arrow((late, 206), (soon, 206), both=True)
    here.text((late + soon) / 2, 194, "sooner", SMALL)
    arrival = at(canvas, 2 * turn + USE / 2)
    gap = " " if canvas.is_wide else "\n"
    below.text(arrival + 40, 4, f"the inverse, from{gap}shared memory", SMALL, ha="left")
    below.arrow((arrival + 36, 4), (arrival, 17), GREEN)
    words = canvas.part(8 if canvas.is_wide else 2, 254)
    entries = ((BLUE, 0.18, "pale: in flight, or waiting"), (BLUE, 0.8, "dark: used for products"))
    words.key(0, 0, *entries)
    words.text(0, 20, "a line is a set of registers, 32 in f64", SMALL, ha="left")
