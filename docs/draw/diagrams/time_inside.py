"""The location of a grid in stages 10 and 11 of local volatility, over three time steps."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A grid that goes through memory in each step, and one that stays in a block"
HEIGHT = {"wide": 396, "narrow": 396}
STEPS = 3
ALTERNATIVE = (
    "Two timelines of three steps below a bar of memory. In stage 10, two kernels per step read and write arrays "
    "in memory. In stage 11, one kernel reads R before the first step and writes it after the last one; between "
    "them, it reads only inverse pivots.")
CAPTION = (
    "Three time steps of one option, not to scale. Each orange arrow carries an array of all points. Thin arrows carry inverse pivots, "
    "which all options share; stage 10 reads them, too. Green bars are barriers of the block, four per step.")


def memory(canvas, width):
    """Draws a bar above a timeline."""
    canvas.box(0, 26, width, 22, "memory", fill=0.1, edge=0.5, size=SMALL)


def both_kernels(canvas, width, is_wide):
    """Draws a step of stage 10: the arrays that its kernels read and write."""
    half = width / 2
    for n, (name, traffic) in enumerate((("along x", ("R↓", "d↑", "d↓", "W↑")), ("along y", ("W↓", "R↓", "R↑")))):
        left = half * n
        canvas.box(left + 1, 106, half - 4, 28, name if is_wide else name[-1], BLUE, 0.22, edge=0.8, size=SMALL)
        for m, (array, way) in enumerate(traffic):
            x = left + (half - 2) * (m + 0.5) / len(traffic)
            ends = ((x, 49), (x, 105))
            canvas.arrow(*(ends if way == "↓" else ends[::-1]), ORANGE, 1.6)
            if is_wide:
                canvas.text(x + 4, 92 if way == "↓" else 62, array, SMALL, ha="left")


def one_kernel(canvas, width, is_wide):
    """Draws a step of stage 11."""
    half = width / 2
    for n, name in enumerate(("along x", "along y")):
        canvas.box(half * n + 5, 112, half - 10, 28, name if is_wide else name[-1], BLUE, 0.22, edge=0.8, size=SMALL)
        canvas.box(half * n - 2, 108, 4, 36, colour=GREEN, fill=0.85, edge=0)
    for part in (0.24, 0.76):  # the exchanges between the threads of a column's segments
        canvas.box(half * part - 2, 108, 4, 36, colour=GREEN, fill=0.85, edge=0)
    canvas.arrow((half / 2, 49), (half / 2, 111), width=0.7)


def draw(canvas):
    """Draws stage 10 above stage 11."""
    left, width = (30, 740) if canvas.is_wide else (4, 332)
    step = (width - 40) / STEPS
    for n, (name, draw_step) in enumerate((("10: two kernels per step", both_kernels), ("11: one kernel for all steps", one_kernel))):
        here = canvas.part(left, 190 * n)
        here.text(0, 10, name, ha="left", bold=True)
        memory(here, width)
        for g in range(STEPS):
            draw_step(here.part(20 + step * g, 0), step, canvas.is_wide)
            here.text(20 + step * (g + 0.5), 156 if n == 0 else 200, f"step {g}", SMALL)
    here.box(12, 100, width - 24, 86)
    here.box(20, 152, width - 40, 26, "R and W in the shared memory of a block", ORANGE, 0.22, edge=0.6, size=SMALL)
    here.arrow((16, 49), (16, 100), ORANGE, 1.6)
    here.arrow((width - 16, 100), (width - 16, 49), ORANGE, 1.6)
    here.text(22, 64, "R", SMALL, ha="left")
    here.text(width - 22, 64, "R", SMALL, ha="right")
