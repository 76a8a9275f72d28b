"""Stage 06 of the workload nbody: the pairs of a thread, which keeps four bodies in registers."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Four bodies per thread, and sixteen pairs per iteration"
HEIGHT = {"wide": 320, "narrow": 650}
HELD, UNROLLED = 4, 4
ALTERNATIVE = (
    "First: the pairs of 512 bodies and 128 source bodies. A thread has one row of pairs in each of four squares, "
    "and a narrow column of four source bodies crosses these rows. Second: the sixteen pairs at the crossings. "
    "Each source body is used for four of them.")
CAPTION = (
    "First: the pairs of a block and a tile. The orange rows belong to thread t and are drawn thicker than they are. Second: the pairs at "
    "which the green column crosses these rows. Each load is used for four pairs, and one counter, comparison and branch for sixteen.")


def draw_block(canvas):
    """Draws the pairs of a block and a tile, and a thread's rows."""
    canvas.text(170, 12, "a block and a tile, and thread t", bold=True)
    left, top, side = 120, 64, 56
    canvas.box(left, top - 22, 2 * side, 16, "128 sources", GREEN, 0.4, size=SMALL)
    for h in range(HELD):
        canvas.box(left, top + side * h, 2 * side, side - 2, colour=BLUE, fill=0.08, edge=0.6)
        canvas.box(left - 24, top + side * h, 16, side - 2, colour=ORANGE, fill=0.15, edge=0.6)
        canvas.text(left - 32, top + side * (h + 0.5), "128 bodies", SMALL, ha="right")
        canvas.box(left - 24, top + side * h + 16, 16, 4, colour=ORANGE, fill=1, edge=0)
        canvas.box(left, top + side * h + 16, 2 * side, 4, colour=ORANGE, fill=0.6, edge=0)
        canvas.text(left + 2 * side + 6, top + side * h + 18, f"body t + {128 * h}" if h else "body t", SMALL, ha="left")
    canvas.box(left + 40, top - 4, 5, side * HELD + 10, colour=GREEN, fill=0.5)
    canvas.text(left + 42, top + side * HELD + 16, "four source bodies", SMALL)


def draw_pairs(canvas):
    """Draws sixteen pairs, with the loaded source bodies and the bodies in registers."""
    canvas.text(170, 12, "an iteration of the thread's loop", bold=True)
    left, top, across, down = 112, 106, 50, 38
    canvas.text(left + across * UNROLLED / 2, 40, "source bodies j, from shared memory", SMALL)
    for n in range(UNROLLED):
        x = left + across * (n + 0.5)
        canvas.box(x - 21, 52, 42, 22, f"j + {n}" if n else "j", GREEN, 0.4, size=SMALL)
        canvas.arrow((x, 76), (x, top + down * HELD + 4), GREEN, 1.4)
        for h in range(HELD):
            canvas.dot(x, top + down * h + 14, 5, BLUE)
    for h in range(HELD):
        y = top + down * h
        canvas.box(left - 88, y + 3, 72, 22, f"body t + {128 * h}" if h else "body t", ORANGE, 0.4, size=SMALL)
        canvas.line((left - 14, y + 14), (left + across * UNROLLED - 10, y + 14), colour=ORANGE, width=1)
    canvas.text(left - 52, top + down * HELD + 12, "in registers", SMALL)
    canvas.text(left + across * UNROLLED / 2, top + down * HELD + 30, "16 pairs", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_block, draw_pairs)):
        draw_one(panel)
