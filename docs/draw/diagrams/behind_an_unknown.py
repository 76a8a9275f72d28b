"""Two links of the chain of unknowns, in stages 07 and 08 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "What comes behind an unknown"
HEIGHT = {"wide": 262, "narrow": 262}
BEGIN, UNIT = {"wide": 66, "narrow": 44}, {"wide": 29, "narrow": 12}
LOAD, TIMES, TRIP = 4, 2, 3  # lengths as drawn; what a thread asks for is there before an unknown has made its trip
ALTERNATIVE = (
    "Two timelines of blocks 5 and 6. In both the unknowns of block 4 come to both blocks at the same moment. Stage 07: each loads L "
    "only then, and multiplies; block 5 multiplies by its inverse and tells its unknowns, which travel to block 6, and this loads L "
    "again before it multiplies. Stage 08: the loads are done before the unknowns come, so that behind them there are only products. "
    "Both links are shorter by a load.")
CAPTION = (
    "Blocks 5 and 6 from the moment at which the unknowns of block 4 come, to no scale: L x multiplies by them, inv by the inverse. "
    "In stage 07 each of two links has a load of L in it; in stage 08 what is loaded travels at the same time as unknowns do.")


def draw_stage(canvas, name, unit, is_ahead):
    """Two lanes, and the unknowns between them; returns when the last are known."""
    begin = BEGIN["wide" if canvas.is_wide else "narrow"]
    canvas.text(0, 0, name, ha="left", bold=True)
    wait = 0 if is_ahead else LOAD  # behind an unknown, until it can be used
    told = LOAD + wait + 2 * TIMES
    known = told + TRIP
    own = LOAD + wait + TIMES
    load = (0, LOAD, "load L", ORANGE) if is_ahead else (LOAD, LOAD, "load L", ORANGE)
    canvas.lane(30, "block 5", begin, unit, load, (LOAD + wait, TIMES, "L x", BLUE), (own, TIMES, "inv", GREEN))
    again = (own, LOAD, "load L", ORANGE) if is_ahead else (known, LOAD, "load L", ORANGE)
    canvas.lane(74, "block 6", begin, unit, load, (LOAD + wait, TIMES, "L x", BLUE), again, (known + wait, TIMES, "L x", BLUE),
                (known + wait + TIMES, TIMES, "inv", GREEN))
    at = begin + unit * LOAD - 1
    canvas.text(at + 5, 20, "x of block 4", SMALL, ha="left")
    canvas.line((at, 14), (at, 102), colour=PURPLE, width=2)
    canvas.arrow((begin + unit * told - 2, 54), (begin + unit * known - 2, 74), PURPLE, 1.6)
    canvas.text(begin + unit * told + 2, 42, "x of block 5", SMALL, ha="left")
    return begin + unit * (known + wait + 2 * TIMES) - 2


def draw(canvas):
    """Stage 07 above stage 08, and what colours mean."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(30 if canvas.is_wide else 4, 14)
    late = draw_stage(here, "07: wait, then load", unit, False)
    soon = draw_stage(here.part(0, 118), "08: load, then wait", unit, True)
    for end in (late, soon):
        here.line((end, 60 if end == late else 182), (end, 240), colour=INK, dashed=True)
    here.arrow((late, 234), (soon, 234), both=True)
    here.text((late + soon) / 2, 225, "gained", SMALL)
