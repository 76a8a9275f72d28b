"""Stage 12 of advection on many processes: the rows that the segments of a sweep load and store at the seam of two
GPUs."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A sweep of six steps at the seam of two GPUs"
HEIGHT = {"wide": 314, "narrow": 314}
STEPS, SHOWN = 6, 18  # steps, and rows shown of each GPU
LEVEL = 14
ALTERNATIVE = (
    "Rows around the seam between two GPUs during six steps, from top to bottom. The trapezoid of each edge loads "
    "six rows of the halo and twelve of its own, and stores six rows. The trapezoid of the interior loads no row "
    "of the halo.")
CAPTION = (
    "The rows around a seam during the six steps of a sweep. Only the edges read the halo, so only they wait for "
    "copies. Rows in two overlapping trapezoids are computed twice, in registers. Only the last line of a trapezoid is stored.")


def draw_gpu(canvas, row, is_left):
    """Draws the trapezoids of a GPU's edge and of its interior; `row` maps the distance of a row from the seam to its
    position."""
    side = -1 if is_left else 1

    def x(behind):
        return row(side * behind)

    bottom = LEVEL * STEPS
    for step in range(STEPS + 1):
        canvas.line((x(-STEPS), LEVEL * step), (x(SHOWN), LEVEL * step), width=0.4, opacity=0.5)
    canvas.shape([(x(0), 0), (x(SHOWN), 0), (x(SHOWN), bottom), (x(STEPS), bottom)], BLUE, 0.2)
    canvas.shape([(x(-STEPS), 0), (x(2 * STEPS), 0), (x(STEPS), bottom), (x(0), bottom)], ORANGE, 0.3)
    canvas.line((x(0), bottom), (x(STEPS), bottom), colour=ORANGE, width=4)
    canvas.line((x(STEPS), bottom), (x(SHOWN), bottom), colour=BLUE, width=4)
    canvas.line((x(-STEPS), 0), (x(0), 0), colour=GREEN, width=4)
    canvas.text(x(2.4), bottom - 16, "edge", SMALL)
    canvas.text(x(14), bottom / 2, "interior", SMALL)
    canvas.text(x(-STEPS / 2), -10, "halo", SMALL)
    for step, words in ((0, "loaded"), (STEPS, "stored")):
        canvas.text(x(-STEPS) + 8 * -side, LEVEL * step, words, SMALL, ha="left" if is_left else "right")


def draw(canvas):
    """Draws GPU 0 above and GPU 1 below; the same row has the same horizontal position in both drawings."""
    cell = canvas.width / (2 * SHOWN) * 0.9
    middle = canvas.width / 2

    def row(behind):
        return middle + cell * behind

    tops = 44, 44 + LEVEL * STEPS + 60
    for top, name, is_left in zip(tops, ("GPU 0", "GPU 1"), (True, False)):
        here = canvas.part(0, top)
        draw_gpu(here, row, is_left)
        here.text(row(-SHOWN if is_left else SHOWN), -10, name, ha="left" if is_left else "right", bold=True)
    canvas.line((middle, 20), (middle, tops[0] + LEVEL * STEPS), colour=INK, dashed=True)
    canvas.line((middle, tops[1] - 16), (middle, tops[1] + LEVEL * STEPS), colour=INK, dashed=True)
    canvas.text(middle, 10, "seam", SMALL)
    for at, top, words in ((-3, tops[0], "to GPU 1, its next halo"), (3, tops[1], "to GPU 0, its next halo")):
        end = top + LEVEL * STEPS
        canvas.arrow((row(at), end + 4), (row(at), end + 34), GREEN, 1.6)
        canvas.text(row(at) + 9, end + 18, words, SMALL, ha="left")
