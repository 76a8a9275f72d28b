"""Two threads of stage 05 of Durbin-Levinson exchange their partial sums."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A sum that is a barrier"
HEIGHT = {"wide": 236, "narrow": 236}
ALTERNATIVE = (
    "Two threads over two steps. Each updates its part of the row, stores its partial sum in its own slot and "
    "loads the slot of the other thread. The thread that finishes first waits for the other one. Successive steps "
    "use different sets of slots.")
CAPTION = (
    "Two steps of two threads, not to scale. Green arrows are stores, and orange arrows are loads. A thread waits only for the slot "
    "of the other thread. Successive steps alternate between two sets of slots.")
TOP, BOTTOM = 18, 188  # vertical positions of the lanes of the two threads


def step(canvas, begin, ends, name):
    """Draws a step: the work of two threads, which end at different times, and the slots of the step between their lanes."""
    meeting = max(ends)
    canvas.text(meeting - 2, 116, name, SMALL, ha="right")
    for thread, (end, lane) in enumerate(zip(ends, (TOP, BOTTOM))):
        canvas.box(begin, lane, end - begin, 26, "update", BLUE, 0.18, edge=0.5, size=SMALL)
        canvas.box(meeting + 6, lane, 32, 26, "sum", ORANGE, 0.18, edge=0.5, size=SMALL)
        if end < meeting:
            canvas.text((end + meeting + 6) / 2, lane + 13, "waits", SMALL)
        slot = 76 + 52 * thread
        canvas.box(meeting - 26, slot, 24, 26, str(thread), GREEN, 0.22, edge=0.5, size=SMALL)
        lane_side = lane + (0 if thread else 26)
        canvas.arrow((min(end, meeting - 14), lane_side), (meeting - 14, slot + (26 if thread else 0)), GREEN)
        other = (BOTTOM, TOP)[thread] + (26 if thread else 0)
        canvas.arrow((meeting - 2, slot + 13), (meeting + 22, other), ORANGE)


def draw(canvas):
    """Draws two steps, one after the other; the slower thread changes."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    here.text(0, TOP + 13, "thread 0", SMALL, ha="left")
    here.text(0, BOTTOM + 13, "thread 1", SMALL, ha="left")
    step(here, 50, (108, 150), "slots of step k")
    step(here, 192, (292, 246), "of step k + 1")
