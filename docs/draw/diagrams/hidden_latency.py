"""How a scheduler hides latency by switching between warps."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Latency and its hiding"
HEIGHT = {"wide": 208, "narrow": 208}
ALTERNATIVE = (
    "Two timelines of one scheduler. With one warp it issues an instruction in every sixth cycle and is idle between them, since the next "
    "instruction of the warp waits for the previous result. With six warps it issues an instruction of another warp in each cycle and is "
    "never idle.")
CAPTION = (
    "Orange: an instruction is issued; blue: its warp waits for the result. The latency is the same in both halves, six cycles here. One "
    "warp (above) uses every sixth issue slot; six warps (below) use all of them.")

CYCLES, LATENCY = 24, 6


def draw_warp(canvas, left, top, unit, name, first):
    """Draws the line of one warp."""
    canvas.text(left - 8, top + 8, name, SMALL, ha="right")
    for cycle in range(first, CYCLES, LATENCY):
        end = min(cycle + LATENCY, CYCLES)
        canvas.box(left + unit * cycle, top, unit, 16, colour=ORANGE, fill=0.8, edge=0.5)
        canvas.box(left + unit * (cycle + 1), top, unit * (end - cycle - 1), 16, colour=BLUE, fill=0.2, edge=0.5)


def draw(canvas):
    """Draws one warp above six warps."""
    unit = 10.5 if canvas.is_wide else 10
    left = (canvas.width - unit * CYCLES) / 2 + 25
    draw_warp(canvas, left, 14, unit, "warp 0", 0)
    for n in range(LATENCY):
        draw_warp(canvas, left, 58 + 20 * n, unit, f"warp {n}", n)
    canvas.arrow((left, 190), (left + unit * CYCLES, 190))
    canvas.text(left + unit * CYCLES / 2, 201, "cycles", SMALL)
