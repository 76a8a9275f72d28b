"""The work that stage 16 of local volatility does before the sweep, and the threads of each kernel, for the data set large."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Pivots of all steps first, then the steps"
HEIGHT = {"wide": 290, "narrow": 290}
STEPS = 63
ALTERNATIVE = (
    "Two timelines. In stage 15, each step computes pivots and solves along y and x. In stage 16, one kernel "
    "computes the pivots of all 63 steps before the first step, with 16128 threads, and each step then has three "
    "kernels.")
CAPTION = (
    "The sweep of large, not to scale. Time runs to the right, and boxes above each other run at the same time. Only work "
    "that needs z remains in the steps. Two of their three kernels have one thread per row or per column.")
UNIT = {"wide": 28, "narrow": 21}
LINE = 11  # distance between the pivots of two successive steps, in pixels


def sequence(canvas, begin, y, unit, shown, parts):
    """Draws steps one after the other. Each step has the same parts: (units, words, colour)."""
    length = sum(units for units, *_ in parts)
    x = begin
    for g in (*shown, STEPS - 1):
        if g == STEPS - 1:
            canvas.text(x + 0.6 * unit, y + 14, "…")
            x += 1.2 * unit
        canvas.text(x + unit * length / 2, y + 42, f"step {g}", SMALL)
        for units, words, colour in parts:
            canvas.box(x, y, unit * units - 2, 28, words, colour, 0.32, edge=0.5, size=SMALL)
            x += unit * units


def draw(canvas):
    """Draws stage 15 above stage 16."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    shown = range(3) if canvas.is_wide else range(1)
    here = canvas.part(30 if canvas.is_wide else 4, 0)
    here.text(0, 12, "15: each step computes its pivots", ha="left", bold=True)
    sequence(here, 0, 30, unit, shown, ((2, "y", BLUE), (3, "x, pivots", ORANGE), (1, "+", GREEN)))
    here.text(0, 106, "16: the pivots of all steps, then the steps", ha="left", bold=True)
    for n, g in enumerate((0, 1, 2, None, STEPS - 3, STEPS - 2, STEPS - 1)):
        y = 124 + LINE * n
        if g is None:
            here.text(58, y + LINE / 2, "…", SMALL)
        else:
            here.box(34, y, 48, LINE - 2, colour=ORANGE, fill=0.32, edge=0.5)
    here.text(30, 124 + LINE / 2, "step 0", SMALL, ha="right")
    here.text(30, 124 + LINE * 6.5, f"{STEPS - 1}", SMALL, ha="right")
    here.line((86, 120), (86, 124 + LINE * 7), dashed=True)
    sequence(here, 92, 124 + LINE * 3.5 - 14, unit, shown, ((2, "y", BLUE), (2, "x", BLUE), (0.8, "+", GREEN)))
    entries = ((ORANGE, "factorise_all: 16128 threads, 256 divisions each"), (BLUE, "solve_y, solve_x: 256 threads, 512 points each"),
               (GREEN, "+ is add: 65536 threads, a point each"))
    for n, (colour, words) in enumerate(entries):
        here.key(0, 236 + 20 * n, (colour, 0.32, words))
