"""What a step of Durbin and Levinson waits for in stages 04, 07, 08 and 10."""

from drawing import BLUE, GREEN, ORANGE, SMALL

TITLE = "Launches, nodes and barriers"
HEIGHT = {"wide": 330, "narrow": 370}
ALTERNATIVE = (
    "Four timelines. Stage 04: the host launches two kernels a step, and the GPU idles until the next launch. Stage 07: one "
    "launch of a graph; its nodes follow each other with short gaps. Stage 08: one launch, one kernel; a thin barrier ends "
    "each step. Stage 10: a kernel for 64 steps, so a gap only after each 64.")
CAPTION = "Drawn to no scale: who launches what, and where all have to wait for each other."


def rows(canvas, top, name):
    """The name of a stage, and a line for host and GPU."""
    canvas.text(0, top - 14, name, ha="left", bold=True)
    canvas.text(0, top + 8, "host", SMALL, ha="left")
    canvas.text(0, top + 34, "GPU", SMALL, ha="left")
    return canvas.part(38, top)


def draw(canvas):
    """A timeline a stage; a step is so wide in each."""
    wide = canvas.is_wide
    across = canvas.width - 42
    for n, (name, launch, work, gap) in enumerate((
            ("04: two launches a step", 40, ("inner\nproduct", "update") if wide else ("i. p.", "upd."), 22),
            ("07: a graph of 128 steps, two nodes each", 0, ("inner\nproduct", "update") if wide else ("i. p.", "upd."), 8),
            ("08: one kernel, a barrier a step", 0, ("step",), 0),
            ("10: a kernel for 64 steps", 40, ("64 steps",), 8))):
        here = rows(canvas, 28 + n * (canvas.height - 20) / 4, name)
        x, k, width = 30, 0, 62 if wide else 44
        if n == 3:
            width = 180 if wide else 112
        while x + width <= across:
            if launch or k == 0:  # the host of stage 10 is ahead
                here.box(2 + 28 * k if n == 3 else x - 28, 0, 24, 16, colour=GREEN, fill=0.5)
            here.box(x, 20, width, 28, work[k % len(work)], BLUE, 0.16, edge=0.5, size=SMALL)
            x += width
            here.box(x, 18, 3, 32, colour=ORANGE, fill=0.9, edge=0)
            x += gap + 3
            k += 1
