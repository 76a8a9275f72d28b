"""The times at which requests are created and started, in stages 03 and 04 of advection on many processes."""

from draw.canvas import GREEN, ORANGE, SMALL

TITLE = "Requests made in every step, and two sets that alternate"
HEIGHT = {"wide": 300, "narrow": 320}
STEPS, BEGIN = 4, 66
ALTERNATIVE = (
    "Two timelines of four steps. In stage 03, each step makes four requests for rows and four for columns. In "
    "stage 04, all sixteen requests are made before the first step, started in every second step, and freed at "
    "the end.")
CAPTION = (
    "Four steps of one rank, not to scale. In stage 03, a request exists for half a step. In stage 04, a request "
    "exists from the first step to the last, and each step starts the requests of the array that it reads.")


def steps(canvas, unit, left, bottom):
    """Draws lines between steps, and the indices of the steps."""
    for step in range(STEPS + 1):
        canvas.line((left + unit * step, 22), (left + unit * step, bottom), width=0.5, dashed=True)
        if step < STEPS:
            canvas.text(left + unit * (step + 0.5), 22, f"step {step}", SMALL)


def active(canvas, x, y, width, words=""):
    """Draws the time from the start of four requests until their completion."""
    canvas.box(x, y, width, 20, words, ORANGE, 0.35, edge=0.5, size=SMALL)


def made(canvas, x, y):
    """Draws the creation of four requests."""
    canvas.box(x, y - 2, 4, 24, colour=GREEN, fill=0.9, edge=0)


def draw(canvas):
    """Draws stage 03 above stage 04."""
    unit = 143 if canvas.is_wide else 60
    first = BEGIN + 18  # the start of step 0
    half = 0.42 * unit
    rows, columns = ("rows", "columns") if canvas.is_wide else ("r", "c")
    canvas.text(0, 8, "03: made in every step", ha="left", bold=True)
    canvas.text(0, 46, "rows, columns" if canvas.is_wide else "rows, cols", SMALL, ha="left")
    steps(canvas, unit, first, 62)
    for step in range(STEPS):
        for part, words in enumerate((rows, columns)):
            x = first + unit * step + 3 + part * half
            made(canvas, x, 36)
            active(canvas, x + 5, 36, half - 9, words)
    here = canvas.part(0, 96)
    here.text(0, 8, "04: made once, started alternately", ha="left", bold=True)
    steps(here, unit, first, 158)
    for lane, name in enumerate(("u, rows", "u, columns", "next, rows", "next, columns")):
        y = 36 + 30 * lane + 6 * (lane // 2)
        here.text(0, y + 10, name if canvas.is_wide else name.replace("columns", "cols"), SMALL, ha="left")
        end = first + unit * STEPS + 6
        made(here, first - 10, y)
        idle = first - 5
        for step in range(lane // 2, STEPS, 2):
            x = first + unit * step + 3 + half * (lane % 2)
            here.line((idle, y + 10), (x, y + 10))
            active(here, x, y, half - 4)
            idle = x + half - 4
        here.line((idle, y + 10), (end, y + 10))
        here.dot(end + 3, y + 10, 3, hollow=True)
    draw_key(canvas.part(100, 280) if canvas.is_wide else canvas.part(0, 280))


def draw_key(canvas):
    """Draws the meaning of bars, boxes, lines and dots."""
    made(canvas, 2, -10)
    canvas.text(14, 0, "four made", SMALL, ha="left")
    canvas.key(112, 0, (ORANGE, 0.35, "from start to wait"))
    below = canvas.part(276, 0) if canvas.is_wide else canvas.part(0, 24)
    below.line((0, 0), (18, 0))
    below.text(24, 0, "inactive", SMALL, ha="left")
    below.dot(118, 0, 3, hollow=True)
    below.text(128, 0, "freed", SMALL, ha="left")
