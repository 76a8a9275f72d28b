"""A step of stage 18 of local volatility: the work between its two barriers and its two waits, and the data that the
barriers and waits make visible."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A step of the sweep, between barriers"
HEIGHT = {"wide": 258, "narrow": 258}
ALTERNATIVE = (
    "The parts of a step from top to bottom: rows along y, segments of columns along x, two scans that combine "
    "the columns, the ends of segments, and the update of z. Two barriers of the block and two waits for data from "
    "other blocks separate these parts.")
CAPTION = (
    "One step of stage 18, not to scale. At an orange bar, a block waits for data from other blocks. A green bar is a barrier "
    "for the threads of a block. The text below each bar names the data that become visible.")


def draw(canvas):
    """Draws the work as boxes, and barriers and waits as bars, from top to bottom."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    y = 6
    for words, bar, known in (
            ("along y: solve for q", GREEN, "q, in shared memory: rows become columns"),
            ("along x: f, g, h of 16 rows", ORANGE, "5 coefficients per segment, in one block"),
            ("combine: a scan down, a scan up", ORANGE, "d and x, at the segment of each"),
            ("finish: p = f + g d + h x", GREEN, "p, in shared memory: columns become rows"),
            ("z, in registers", None, "")):
        here.box(60, y, 220, 24, words, BLUE, 0.14)
        y += 24
        if bar:
            here.box(4, y + 7, 332, 4, colour=bar, fill=0.85, edge=0)
            here.text(170, y + 20, known, SMALL)
            y += 32
