"""What a look at unknowns stands behind, in stages 13 and 14 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A look behind a block of L, and a look beside it"
HEIGHT = {"wide": 296, "narrow": 296}
BEGIN, UNIT = {"wide": 100, "narrow": 66}, {"wide": 64, "narrow": 26}
STEP, FAR, NEAR = 2, 6, 2  # lengths as drawn: products of a step, a trip to memory, one to the second-level cache
ALTERNATIVE = (
    "Two timelines of two steps. Stage 13: warp 0 multiplies in step s, asks for the block of L of step s + 2 and then looks for the "
    "unknowns of step s + 1. L takes long; the look is short, but its answer stays behind L, and only then does step s + 1 begin. "
    "Stage 14: eight warps ask for L, and the ninth looks. Its answer comes long before L; it tells the eight, and their step s + 1 "
    "begins at once.")
CAPTION = (
    "Two steps, to no scale, of unknowns that other blocks have told before; L of step s + 1 is in registers already. If answers come "
    "in the order in which a warp asked, the look of stage 13 ends with L. That is the explanation that fits, and was not seen "
    "directly.")


def draw_stage(canvas, name, lanes, wait):
    """Products, a block of L on its way, and a look with what it waits for; returns when the next step begins."""
    begin, unit = (sizes["wide" if canvas.is_wide else "narrow"] for sizes in (BEGIN, UNIT))
    canvas.text(0, 0, name, ha="left", bold=True)
    products, loads, looks = lanes
    answer = STEP + NEAR + wait
    canvas.lane(16, products, begin, unit, (0, STEP, "step s", BLUE), (answer, STEP, "s + 1", BLUE))
    canvas.lane(48, loads, begin, unit, (STEP, FAR, "L of step s + 2", ORANGE))
    canvas.lane(80, looks, begin, unit, (STEP, NEAR, "x of s + 1" if canvas.is_wide else "x", GREEN))
    if wait:
        canvas.box(begin + unit * (STEP + NEAR), 80, unit * wait - 2, 24, "behind L", GREEN, 0.08, edge=0.5, dashed=True, size=SMALL)
    for when, colour in ((STEP, INK), (answer, GREEN)):
        for top, bottom in ((12, 46), (74, 108)):
            canvas.line((begin + unit * when - 1, top), (begin + unit * when - 1, bottom), colour=colour, width=1.2, dashed=True)
    return begin + unit * answer - 1


def draw(canvas):
    """Stage 13 above stage 14."""
    here = canvas.part(12 if canvas.is_wide else 4, 14)
    late = draw_stage(here, "13: a warp that loads and looks", ("warp 0", "its loads", "its look"), FAR - NEAR)
    soon = draw_stage(here.part(0, 142), "14: a warp that only looks", ("warps 0–7", "their loads", "ninth warp"), 0)
    here.line((late, 108), (late, 272), colour=GREEN, width=0.6, dashed=True)
    here.line((soon, 250), (soon, 272), colour=GREEN, width=0.6, dashed=True)
    here.arrow((late, 268), (soon, 268), both=True)
    here.text((late + soon) / 2, 258, "sooner", SMALL)
