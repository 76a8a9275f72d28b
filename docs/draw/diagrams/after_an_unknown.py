"""Two links of the critical path, in stages 07 and 08 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The work after an unknown arrives"
HEIGHT = {"wide": 262, "narrow": 262}
BEGIN, UNIT = {"wide": 66, "narrow": 44}, {"wide": 29, "narrow": 12}
LOAD, TIMES, TRIP = 4, 2, 3  # durations as drawn; a load ends before an unknown has arrived
ALTERNATIVE = (
    "Two timelines of blocks 5 and 6 after the unknowns of block 4 arrive. In stage 07, each block first loads L "
    "and then multiplies. In stage 08, the loads end before the unknowns arrive, so both links are shorter by a "
    "load.")
CAPTION = (
    "Thread blocks 5 and 6 from the arrival of the unknowns of thread block 4 on, not to scale. The boxes L x multiply by these "
    "unknowns, and the boxes inv multiply by the inverse. In stage 07, each of the two links contains a load of L. In stage 08, "
    "the loads overlap the transfer of the unknowns.")


def draw_stage(canvas, name, unit, is_ahead):
    """Draws two lanes, and the unknowns that are sent between them. Returns the time at which the last unknowns have
    been computed."""
    begin = BEGIN["wide" if canvas.is_wide else "narrow"]
    canvas.text(0, 0, name, ha="left", bold=True)
    wait = 0 if is_ahead else LOAD  # time from the arrival of an unknown until the thread block can use it
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
    """Draws stage 07 above stage 08, and the meaning of the colours."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(30 if canvas.is_wide else 4, 14)
    late = draw_stage(here, "07: wait, then load", unit, False)
    soon = draw_stage(here.part(0, 118), "08: load, then wait", unit, True)
    for end in (late, soon):
        here.line((end, 60 if end == late else 182), (end, 240), colour=INK, dashed=True)
    here.arrow((late, 234), (soon, 234), both=True)
    here.text((late + soon) / 2, 225, "gained", SMALL)
