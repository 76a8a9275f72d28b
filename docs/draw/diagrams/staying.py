"""Rows that stay in registers, and the data that a step of stage 11 of Durbin-Levinson exchanges."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A step of a persistent kernel"
HEIGHT = {"wide": 246, "narrow": 246}
THREADS, CELL = 4, 74
ALTERNATIVE = (
    "Four threads with their elements of the rows y and z in registers. Each thread sends the last element of "
    "both rows to its right neighbour. One barrier per step follows, after which all threads have the inner "
    "product.")
CAPTION = ("Four threads of a block or a cluster. The rows are not in memory. One element of each row is sent to the right, and one "
           "barrier per step makes the inner product available to all threads.")


def draw(canvas):
    """Draws the threads, the barrier, and the arrow back to the start of the loop."""
    here = canvas.part((canvas.width - CELL * THREADS) / 2, 0)
    for thread in range(THREADS):
        x = CELL * thread + 4
        here.text(x + 33, 12, f"thread {thread}", SMALL)
        here.box(x, 24, 66, 74, edge=0.8)
        for y, name, colour in ((30, "y", BLUE), (66, "z", GREEN)):
            for n in range(3):
                here.box(x + 6 + 18 * n, y, 18, 24, name if n == 1 else "", colour, 0.3, size=SMALL)
            if thread + 1 < THREADS:
                here.arrow((x + 60, y + 12), (x + 84, y + 12), colour=ORANGE, width=1.5)
        here.arrow((x + 33, 99), (x + 33, 133))
    here.box(0, 134, CELL * THREADS, 24, "one barrier: partial sums are exchanged", ORANGE, 0.35, size=SMALL)
    for thread in range(THREADS):
        here.arrow((CELL * thread + 37, 159), (CELL * thread + 37, 191))
    here.text(CELL * THREADS / 2, 206, "every thread has α and continues with its own rows", SMALL)
    here.text(CELL * THREADS / 2, 228, "no kernel ends", SMALL, bold=True)
