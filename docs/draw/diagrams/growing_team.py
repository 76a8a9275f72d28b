"""Rows grow from step to step in stage 06 of Durbin-Levinson, and so does the team that shares them."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A team that doubles as rows grow"
HEIGHT = {"wide": 322, "narrow": 322}
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
N = 15000
TEAMS = ((1, 0, 4096), (2, 4096, 8192), (4, 8192, N))  # (number of threads, first step, last step)
TALL, LANE = 160, 18
ALTERNATIVE = (
    "A triangle with steps to the right and the length of a row upwards. At first, a row belongs to one thread. "
    "From step 4096 on, two threads share it, and from step 8192 on, four. Lines below show when each thread "
    "waits and when it works.")
CAPTION = (
    "Large in f64, with four threads or more. The height of a colour is the part of the row that a thread updates, not its "
    "position. Each time this part has grown to 32 KB, the team doubles. At the dashed lines, all threads synchronise at an OpenMP "
    "barrier.")


def draw(canvas):
    """Draws the triangle, and a line for each thread."""
    left = 64
    unit = (canvas.width - left - 24) / N
    here = canvas.part(left, 38)
    ground = TALL + 4

    def height(k):
        return TALL * k / N

    for team, first, last in TEAMS:
        here.text(unit * (first + last) / 2, -26, f"team of {team}" if first else "alone", SMALL, bold=True)
        for thread in range(team):
            low, high = thread / team, (thread + 1) / team
            here.shape([(unit * first, ground - height(first) * low), (unit * last, ground - height(last) * low),
                        (unit * last, ground - height(last) * high), (unit * first, ground - height(first) * high)],
                       COLOURS[thread], 0.32, 0.5)
    for k, words in ((4096, "32 KB"), (8192, "64 KB")):
        here.line((unit * k, -14), (unit * k, ground + 22 + LANE * 4), dashed=True)
        here.text(unit * k - 6, ground - height(k) - 10, words, SMALL, ha="right")
    here.text(-8, ground - 60, "length\nof a row", SMALL, ha="right")
    for thread, colour in enumerate(COLOURS):
        y = ground + 18 + LANE * thread
        here.text(-8, y + 6, f"thread {thread}", SMALL, ha="right")
        begins = next(first for team, first, _ in TEAMS if thread < team)
        if begins:
            here.box(0, y, unit * begins - 3, LANE - 5, edge=0.5, dashed=True)
            here.text(unit * 2048, y + 6, "waits", SMALL)
        here.box(unit * begins, y, unit * (N - begins), LANE - 5, colour=colour, fill=0.32, edge=0.5)
    for k in (1, 4096, 8192, N):
        here.text(unit * k, ground + 36 + LANE * 4, f"{k}" if k > 1 else "step 1", SMALL)
