"""What stands between an unknown that comes and one that goes, in stages 14 and 15 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "What is left behind the last unknowns"
HEIGHT = {"wide": 236, "narrow": 236}
BEGIN, UNIT = {"wide": 96, "narrow": 22}, {"wide": 34, "narrow": 16}
COMES, PRODUCT, SUM, MEETING = 9, 2, 2, 1  # when the last unknowns come, and lengths, as drawn
ALTERNATIVE = (
    "Two timelines of a block of threads. In both, products with unknowns that came before are done when the last unknowns come. "
    "Stage 14: behind them stand the product with M, its sum, a meeting, the product with the inverse, and another sum; only then is "
    "the block's own unknown told. Stage 15: the product with the inverse, its sum and the meeting stand before the last unknowns; "
    "behind them is one product with the folded block and one sum. The unknown is told sooner.")
CAPTION = (
    "A block of threads from the products with earlier unknowns on, to no scale: Σ sums over the threads of a row, m is a meeting of "
    "eight warps, L⁻¹ and L⁻¹M multiply. What is before the last unknowns come has time: it waits for them anyhow.")


def draw_stage(canvas, name, unit, before, behind):
    """What is done before the last unknowns come and behind them; returns when the own ones are told."""
    begin = BEGIN["wide" if canvas.is_wide else "narrow"]
    canvas.text(0, 0, name, ha="left", bold=True)
    at = COMES - sum(length for length, _, _ in before)
    canvas.lane(34, "a block" if canvas.is_wide else "", begin, unit, *place(before, at), *place(behind, COMES))
    told = COMES + sum(length for length, _, _ in behind)
    for when, words, colour in ((COMES, "x comes", PURPLE), (told, "x told", INK)):
        canvas.line((begin + unit * when - 1, 24), (begin + unit * when - 1, 66), colour=colour, width=1.6)
        canvas.text(begin + unit * when - 1, 16, words, SMALL)
    return begin + unit * told - 1


def place(parts, at):
    """Boxes of a lane, one behind the other."""
    for length, words, colour in parts:
        yield at, length, words, colour
        at += length


def draw(canvas):
    """Stage 14 above stage 15, and what is gained."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(12 if canvas.is_wide else 4, 14)
    earlier = (PRODUCT, "L x", BLUE)
    inverse = ((SUM, "Σ", ORANGE), (MEETING, "m", INK), (PRODUCT, "L⁻¹", GREEN))
    late = draw_stage(here, "14: the inverse comes last", unit, (earlier,), ((PRODUCT, "M x", BLUE), *inverse, (SUM, "Σ", ORANGE)))
    soon = draw_stage(here.part(0, 104), "15: the inverse comes first", unit, (earlier, *inverse),
                      ((PRODUCT, "L⁻¹M x", BLUE), (SUM, "Σ", ORANGE)))
    here.line((late, 66), (late, 208), colour=INK, width=0.6, dashed=True)
    here.line((soon, 170), (soon, 208), colour=INK, width=0.6, dashed=True)
    here.arrow((late, 202), (soon, 202), both=True)
    here.text((late + soon) / 2, 192, "gained", SMALL)
