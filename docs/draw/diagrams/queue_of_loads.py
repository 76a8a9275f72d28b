"""The loads that delay a poll for unknowns, in stages 13 and 14 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A poll after a block of L, and a separate poll"
HEIGHT = {"wide": 296, "narrow": 296}
BEGIN, UNIT = {"wide": 100, "narrow": 66}, {"wide": 64, "narrow": 26}
STEP, FAR, NEAR = 2, 6, 2  # durations as drawn: products of a step, a round trip to memory, a round trip to the L2 cache
ALTERNATIVE = (
    "Two timelines of two steps. In stage 13, the answer to the poll of warp 0 waits for the loads of L, so step "
    "s + 1 starts only when L has arrived. In stage 14, a ninth warp polls, and step s + 1 starts as soon as the "
    "unknowns have arrived.")
CAPTION = (
    "Two steps, not to scale. Other thread blocks have already published the unknowns, and L for step s + 1 is in registers. If "
    "loads return in the order of the requests, the poll of stage 13 ends only when L has arrived. This explanation agrees with "
    "the measurements, but we have not observed the queue directly.")


def draw_stage(canvas, name, lanes, wait):
    """Draws products, a load of a block of L in flight, and a poll with its wait. Returns the start of the next step."""
    begin, unit = (sizes["wide" if canvas.is_wide else "narrow"] for sizes in (BEGIN, UNIT))
    canvas.text(0, 0, name, ha="left", bold=True)
    products, loads, looks = lanes
    answer = STEP + NEAR + wait
    canvas.lane(16, products, begin, unit, (0, STEP, "step s", BLUE), (answer, STEP, "s + 1", BLUE))
    canvas.lane(48, loads, begin, unit, (STEP, FAR, "L of step s + 2", ORANGE))
    canvas.lane(80, looks, begin, unit, (STEP, NEAR, "x of s + 1" if canvas.is_wide else "x", GREEN))
    if wait:
        canvas.box(begin + unit * (STEP + NEAR), 80, unit * wait - 2, 24, "waits for L", GREEN, 0.08, edge=0.5, dashed=True, size=SMALL)
    for when, colour in ((STEP, INK), (answer, GREEN)):
        for top, bottom in ((12, 46), (74, 108)):
            canvas.line((begin + unit * when - 1, top), (begin + unit * when - 1, bottom), colour=colour, width=1.2, dashed=True)
    return begin + unit * answer - 1


def draw(canvas):
    """Draws stage 13 above stage 14."""
    here = canvas.part(12 if canvas.is_wide else 4, 14)
    late = draw_stage(here, "13: a warp that loads and polls", ("warp 0", "its loads", "its poll"), FAR - NEAR)
    soon = draw_stage(here.part(0, 142), "14: a warp that only polls", ("warps 0–7", "their loads", "ninth warp"), 0)
    here.line((late, 108), (late, 272), colour=GREEN, width=0.6, dashed=True)
    here.line((soon, 250), (soon, 272), colour=GREEN, width=0.6, dashed=True)
    here.arrow((late, 268), (soon, 268), both=True)
    here.text((late + soon) / 2, 258, "sooner", SMALL)
