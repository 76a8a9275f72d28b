"""The work between receiving and publishing an unknown, in stages 14 and 15 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The work after the last unknowns arrive"
HEIGHT = {"wide": 236, "narrow": 236}
BEGIN, UNIT = {"wide": 96, "narrow": 22}, {"wide": 34, "narrow": 16}
COMES, PRODUCT, SUM, MEETING = 9, 2, 2, 1  # the time at which the last unknowns arrive, and durations, as drawn
ALTERNATIVE = (
    "Two timelines of a thread block around the arrival of the last unknowns. In stage 14, two products, two sums "
    "and a barrier follow the arrival. In stage 15, only one product and one sum follow, so the thread block "
    "publishes its unknowns sooner.")
CAPTION = (
    "A thread block from the products with earlier unknowns on, not to scale. Σ adds up over the threads of a row, b is a barrier "
    "of eight warps, and L⁻¹ and L⁻¹M multiply. Work before the last unknowns arrive costs no time, because the thread block waits "
    "for these unknowns anyway.")


def draw_stage(canvas, name, unit, before, behind):
    """Draws the work before and after the last unknowns arrive. Returns the time at which the block publishes its own
    unknowns."""
    begin = BEGIN["wide" if canvas.is_wide else "narrow"]
    canvas.text(0, 0, name, ha="left", bold=True)
    at = COMES - sum(length for length, _, _ in before)
    canvas.lane(34, "a block" if canvas.is_wide else "", begin, unit, *place(before, at), *place(behind, COMES))
    told = COMES + sum(length for length, _, _ in behind)
    for when, words, colour in ((COMES, "x arrives", PURPLE), (told, "x sent", INK)):
        canvas.line((begin + unit * when - 1, 24), (begin + unit * when - 1, 66), colour=colour, width=1.6)
        canvas.text(begin + unit * when - 1, 16, words, SMALL)
    return begin + unit * told - 1


def place(parts, at):
    """Draws boxes of a lane, one after the other."""
    for length, words, colour in parts:
        yield at, length, words, colour
        at += length


def draw(canvas):
    """Draws stage 14 above stage 15, and the gain."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(12 if canvas.is_wide else 4, 14)
    earlier = (PRODUCT, "L x", BLUE)
    inverse = ((SUM, "Σ", ORANGE), (MEETING, "b", INK), (PRODUCT, "L⁻¹", GREEN))
    late = draw_stage(here, "14: the inverse comes last", unit, (earlier,), ((PRODUCT, "M x", BLUE), *inverse, (SUM, "Σ", ORANGE)))
    soon = draw_stage(here.part(0, 104), "15: the inverse comes first", unit, (earlier, *inverse),
                      ((PRODUCT, "L⁻¹M x", BLUE), (SUM, "Σ", ORANGE)))
    here.line((late, 66), (late, 208), colour=INK, width=0.6, dashed=True)
    here.line((soon, 170), (soon, 208), colour=INK, width=0.6, dashed=True)
    here.arrow((late, 202), (soon, 202), both=True)
    here.text((late + soon) / 2, 192, "gained", SMALL)
