"""The waits of a step of Durbin-Levinson in stages 07, 10, 11, 13 and 14."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Launches, nodes and barriers"
HEIGHT = {"wide": 330, "narrow": 370}
ALTERNATIVE = (
    "Four timelines of host and GPU. In stage 07, the host launches two kernels per step. In stage 10, it "
    "launches a graph once, and in stage 11, one kernel with a barrier per step. In stages 13 and 14, there is "
    "one kernel for 64 steps.")
CAPTION = "Not to scale. Green boxes are launches by the host, blue boxes are work, and orange bars are points at which all threads wait."


def rows(canvas, top, name):
    """Draws the name of a stage, and one line each for the host and the GPU."""
    canvas.text(0, top - 14, name, ha="left", bold=True)
    canvas.text(0, top + 8, "host", SMALL, ha="left")
    canvas.text(0, top + 34, "GPU", SMALL, ha="left")
    return canvas.part(38, top)


def draw(canvas):
    """Draws one timeline per stage. The host launches each kernel separately, launches once, or launches ahead of the
    GPU."""
    step = ("inner\nproduct", "update") if canvas.is_wide else ("i. p.", "upd.")
    short, long = (62, 180) if canvas.is_wide else (44, 112)
    for n, (name, launches, kernels, width, gap) in enumerate((
            ("07: two launches per step", "each", step, short, 22),
            ("10: a graph of 128 steps, two nodes each", "once", step, short, 8),
            ("11: one kernel, one barrier per step", "once", ("step",), short, 0),
            ("13 and 14: a kernel for 64 steps", "ahead", ("64 steps",), long, 8))):
        here = rows(canvas, 28 + n * (canvas.height - 20) / 4, name)
        for k in range(int((canvas.width - 72) / (width + 3 + gap))):
            x = 30 + k * (width + 3 + gap)
            if k == 0 or launches != "once":
                here.box(2 + 28 * k if launches == "ahead" else x - 28, 0, 24, 16, colour=GREEN, fill=0.5)
            here.box(x, 20, width, 28, kernels[k % len(kernels)], BLUE, 0.16, edge=0.5, size=SMALL)
            here.box(x + width, 18, 3, 32, colour=ORANGE, fill=0.9, edge=0)
