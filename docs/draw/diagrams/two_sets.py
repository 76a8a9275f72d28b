"""What the registers of a thread hold over time, in stages 11 and 12 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "One block of L under way, and two"
HEIGHT = {"wide": 292, "narrow": 292}
BEGIN, UNIT = {"wide": 66, "narrow": 46}, {"wide": 23.5, "narrow": 9.8}
TRIP, USE = 6, 1  # lengths as drawn: a trip to memory, and the products of a turn
NUMBER = 4  # of the block of equations, which has so many blocks of L
ALTERNATIVE = (
    "Two timelines of a thread with two sets of registers, which takes out four blocks of unknowns. Stage 11: one set receives "
    "blocks 0, 1, 2 and 3 of L one after the other, each asked for when the one before has been used; the other set holds the "
    "inverse all the time. Stage 12: the even set receives blocks 0 and 2, the odd set blocks 1 and 3, so that two are under way at "
    "once. Behind block 2 the inverse comes to the even set from shared memory, and waits there until block 3 has been used. The "
    "thread is done in little more than half the time.")
CAPTION = (
    "A thread of block 4, whose unknowns have long been told, to no scale. Dark boxes are products, behind which the set is filled "
    "again. Where one trip to memory served one turn, it now serves two.")


def at(canvas, when):
    """Where a time is."""
    form = "wide" if canvas.is_wide else "narrow"
    return BEGIN[form] + UNIT[form] * when


def lane(canvas, y, name, parts):
    """A set of registers: what it waits for, holds and is used for."""
    canvas.text(0, y + 13, name, SMALL, ha="left")
    for first, length, words, colour, fill in parts:
        x = at(canvas, first)
        canvas.box(x, y, at(canvas, first + length) - x - 1.5, 26, words, colour, fill, edge=0.5, size=SMALL)


def ended(canvas, when, top, bottom):
    """A dashed line at the end of all products; returns where it is."""
    x = at(canvas, when)
    canvas.line((x, top), (x, bottom), colour=INK, dashed=True)
    return x


def draw(canvas):
    """Stage 11 above stage 12."""
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    here.text(0, 0, "11: a set for L, a set for the inverse", ha="left", bold=True)
    turn, end = TRIP + USE, (TRIP + USE) * NUMBER
    of_l = [part for n in range(NUMBER) for part in ((turn * n, TRIP, f"L {n} comes", BLUE, 0.18), (turn * n + TRIP, USE, "", BLUE, 0.8))]
    lane(here, 18, "ahead", of_l)
    lane(here, 52, "inverse", ((0, end, "the inverse is held", GREEN, 0.18), (end, USE, "", GREEN, 0.8)))
    late = ended(here, end + USE, 12, 220)
    below = here.part(0, 116)
    below.text(0, 0, "12: two sets for L", ha="left", bold=True)
    even, odd = [], []
    for n in range(NUMBER // 2):
        used, begin = turn * n + TRIP, turn * n + (USE if n else 0)  # both sets begin at once; odd ones are used behind even ones
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
    entries = ((BLUE, 0.18, "pale: on its way, or held"), (BLUE, 0.8, "dark: used for products"))
    words.key(0, 0, *entries)
    words.text(0, 20, "a line is a set of registers, 32 in f64", SMALL, ha="left")
