"""The warps of a tile on the diagonal in stages 15 and 16 of Cholesky, and the waits between them."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Two barriers per square, and a warp that goes ahead"
HEIGHT = {"wide": 346, "narrow": 346}
WARPS = 4  # warps drawn, out of 8, with one square each
SQUARE, DIVISION, PRODUCT = 3, 1.5, 1  # durations as drawn: a square, rows of a sub-tile, and products with one square
BEGIN, UNIT = {"wide": 90, "narrow": 48}, {"wide": 30, "narrow": 12.8}
ALTERNATIVE = (
    "Two timelines of four warps. In stage 15, all warps wait at two barriers for each square on the diagonal. In "
    "stage 16, a warp waits only for the squares and rows that it needs, and the next warp begins its own square "
    "at once, so the fourth square ends sooner.")
CAPTION = (
    "Four warps instead of eight, not to scale. A digit is the index of the sub-tile, and a dashed line crosses all warps that wait at "
    "a barrier. In f64, factorising a square takes a far larger share of the time than drawn here. The page states the gain.")


def meeting():
    """The steps of each warp in stage 15, as (warp, sub-tile, start, length, colour), and the times of the barriers."""
    now, work, meetings = 0, [], []
    for p in range(WARPS):
        work.append((p, p, now, SQUARE, ORANGE))
        meetings += [now + SQUARE, now + SQUARE + DIVISION]
        for w in range(p + 1, WARPS):
            work.append((w, p, now + SQUARE, DIVISION, GREEN))
            work.append((w, p, now + SQUARE + DIVISION, PRODUCT * (WARPS - 1 - p), BLUE))
        now += SQUARE + DIVISION + PRODUCT * (WARPS - 1 - p)
    return work, meetings[:-2]  # no work is left after the last square


def going_ahead():
    """The steps of each warp in stage 16, and the ends of the waits, as (time, first warp that waited)."""
    now, work, waits = [0] * WARPS, [], []
    for p in range(WARPS):
        work.append((p, p, now[p], SQUARE, ORANGE))
        inverted = now[p] + SQUARE
        begins = [max(now[w], inverted) for w in range(WARPS)]
        all_divided = max(begins[p + 1:], default=0) + DIVISION
        waits += [(when, w) for when, w in ((inverted, p + 1), (all_divided, p + 2)) if w < WARPS]
        for w in range(p + 1, WARPS):
            divided = begins[w] + DIVISION if w == p + 1 else all_divided
            now[w] = divided + PRODUCT * (w - p)
            work += [(w, p, begins[w], DIVISION, GREEN), (w, p, divided, PRODUCT * (w - p), BLUE)]
    return work, waits


def draw(canvas):
    """Draws stage 15 above stage 16."""
    begin, unit = (sizes["wide" if canvas.is_wide else "narrow"] for sizes in (BEGIN, UNIT))
    (before, meetings), (after, waits) = meeting(), going_ahead()
    ends = [begin + unit * max(start + length for _, _, start, length, _ in work) - 1 for work in (before, after)]
    names = "15: two barriers of all warps per square", "16: each warp waits only for what it needs"
    for n, (name, work) in enumerate(zip(names, (before, after))):
        here = canvas.part(4, 14 + 152 * n)
        here.text(0, 0, name, ha="left", bold=True)
        for w in range(WARPS):
            here.lane(18 + 29 * w, f"warp {w}", begin, unit,
                      *((start, length, f"{p}", colour) for warp, p, start, length, colour in work if warp == w))
        for when, first in waits if n else [(when, 0) for when in meetings]:
            here.line((begin + unit * when - 1, 14 + 29 * first), (begin + unit * when - 1, 134), width=1.2, dashed=True)
    bottom = canvas.part(4, 14)
    for end, top in zip(ends, (134, 286)):
        bottom.line((end, top - 8), (end, 306), colour=ORANGE, width=0.8, dashed=True)
    bottom.arrow(*((end, 300) for end in ends), both=True)
    bottom.text(sum(ends) / 2, 314, "sooner", SMALL)
    bottom.key(0, 322, (ORANGE, 0.32, "its square"), (GREEN, 0.32, "divides"),
               (BLUE, 0.32, "subtracts products" if canvas.is_wide else "products"))
