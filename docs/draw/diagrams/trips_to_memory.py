"""How the first two blocks of L come, in stages 15 and 16 of the triangular solve."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Four trips to memory, and one"
HEIGHT = {"wide": 222, "narrow": 222}
BEGIN, UNIT = {"wide": 96, "narrow": 62}, {"wide": 44, "narrow": 19}
TRIP, WRITE, INVERT, ROW = 2, 0.5, 4, 13
ALTERNATIVE = (
    "Two timelines of one thread. Stage 15: it asks for a few numbers, waits for a trip to memory, writes them to shared memory, and "
    "asks for the next ones, four times; then it inverts. Stage 16: it asks for all numbers at once, waits for one trip, writes all of "
    "them, and inverts.")
CAPTION = (
    "One thread, to no scale. Each bar is a load on its way; there are more of them than drawn. The compiler unrolls the loop of stage "
    "15 by four, so that loads of four rounds are under way together; in stage 16 all are.")


def draw_stage(canvas, name, unit, trips, loads):
    """Loads on their way, in so many trips; returns when the block is inverted."""
    begin = BEGIN["wide" if canvas.is_wide else "narrow"]
    canvas.text(0, 0, name, ha="left", bold=True)
    canvas.text(0, 32, "loads", SMALL, ha="left")
    for trip in range(trips):
        start = begin + unit * trip * (TRIP + WRITE)
        for n in range(loads):
            canvas.box(start, 14 + ROW * n, unit * TRIP - 2, ROW - 3, colour=ORANGE, fill=0.5, edge=0.4)
        canvas.box(start + unit * TRIP, 14, unit * WRITE - 2, ROW * loads - 3, colour=BLUE, fill=0.3, edge=0.4)
    end = trips * (TRIP + WRITE)
    canvas.box(begin + unit * end, 14, unit * INVERT - 2, ROW * loads - 3, "invert", BLUE, 0.5, edge=0.4, size=SMALL)
    return begin + unit * (end + INVERT) - 1


def draw(canvas):
    """Stage 15 above stage 16, and what is gained."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    late = draw_stage(here, "15: some, and then some more", unit, 4, 3)
    soon = draw_stage(here.part(0, 80), "16: all at once", unit, 1, 7)
    here.line((late, 54), (late, 190), colour=INK, width=0.6, dashed=True)
    here.line((soon, 174), (soon, 190), colour=INK, width=0.6, dashed=True)
    here.arrow((late, 186), (soon, 186), both=True)
    here.text((late + soon) / 2, 176, "gained", SMALL)
