"""The warps of a tile on the diagonal in stages 15 and 16 of Cholesky: who waits for whom."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Two meetings per square, and a warp that goes ahead"
HEIGHT = {"wide": 346, "narrow": 346}
WARPS = 4  # drawn of 8, with a square each
SQUARE, DIVISION, PRODUCT = 3, 1.5, 1  # lengths as drawn: a square, rows of a slice, products with one square
BEGIN, UNIT = {"wide": 90, "narrow": 48}, {"wide": 30, "narrow": 12.8}
ALTERNATIVE = (
    "Two timelines of four warps. Stage 15: warp 0 factorises its square while the others wait; all meet; warps 1 to 3 divide; all "
    "meet again; each takes products off all squares behind, and only then warp 1 begins with its square, and so on. Stage 16: only "
    "warps below wait for a square, and only those that are not next wait for what others divide. The next warp divides, takes "
    "products off one square, its own, and begins with it at once, while warps further down still take products off. The fourth "
    "square ends sooner than in stage 15.")
CAPTION = (
    "Four warps in place of eight, to no scale; a number is that of the slice, and a dashed line goes through those who wait there. "
    "In f64 a square takes far more of the time than it does here, and the page tells what is gained then.")


def meeting():
    """What each warp does in stage 15, as (warp, slice, begin, length, colour), and when all meet."""
    now, work, meetings = 0, [], []
    for p in range(WARPS):
        work.append((p, p, now, SQUARE, ORANGE))
        meetings += [now + SQUARE, now + SQUARE + DIVISION]
        for w in range(p + 1, WARPS):
            work.append((w, p, now + SQUARE, DIVISION, GREEN))
            work.append((w, p, now + SQUARE + DIVISION, PRODUCT * (WARPS - 1 - p), BLUE))
        now += SQUARE + DIVISION + PRODUCT * (WARPS - 1 - p)
    return work, meetings[:-2]  # behind the last square nothing is left to do


def going_ahead():
    """The same for stage 16, and from when on which warps wait no longer: (time, first warp)."""
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
    """Stage 15 above stage 16."""
    begin, unit = (sizes["wide" if canvas.is_wide else "narrow"] for sizes in (BEGIN, UNIT))
    (before, meetings), (after, waits) = meeting(), going_ahead()
    ends = [begin + unit * max(start + length for _, _, start, length, _ in work) - 1 for work in (before, after)]
    for n, (name, work) in enumerate((("15: all meet, twice per square", before), ("16: each waits for what it needs", after))):
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
               (BLUE, 0.32, "takes products off" if canvas.is_wide else "products"))
