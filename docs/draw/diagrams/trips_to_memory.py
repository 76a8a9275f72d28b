"""How the first two blocks of L are loaded, in stages 15 and 16 of the triangular solve."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Four waits for memory, and one"
HEIGHT = {"wide": 222, "narrow": 222}
BEGIN, UNIT = {"wide": 96, "narrow": 62}, {"wide": 44, "narrow": 19}
TRIP, WRITE, INVERT, ROW = 2, 0.5, 4, 13
ALTERNATIVE = (
    "Two timelines of one thread. In stage 15, it requests a few elements, waits for them, and stores them in shared memory, four "
    "times, before it inverts. In stage 16, it requests all elements at once and waits only once.")
CAPTION = (
    "One thread, not to scale. Each bar is a load in flight, and there are more loads than drawn. The compiler unrolls the loop of "
    "stage 15 by four, so the loads of four iterations are in flight together. In stage 16, all loads are in flight together.")


def draw_stage(canvas, name, unit, trips, loads):
    """Draws loads in flight, in `trips` trips to memory. Returns the time at which the block is inverted."""
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
    """Draws stage 15 above stage 16, and the gain."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    late = draw_stage(here, "15: some, and then some more", unit, 4, 3)
    soon = draw_stage(here.part(0, 80), "16: all at once", unit, 1, 7)
    here.line((late, 54), (late, 190), colour=INK, width=0.6, dashed=True)
    here.line((soon, 174), (soon, 190), colour=INK, width=0.6, dashed=True)
    here.arrow((late, 186), (soon, 186), both=True)
    here.text((late + soon) / 2, 176, "gained", SMALL)
