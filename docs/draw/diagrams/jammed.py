"""The pairs of a thread of stage 06 of the bodies, which holds four bodies."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Four bodies per thread, and sixteen pairs per turn of the loop"
HEIGHT = {"wide": 320, "narrow": 650}
HELD, UNROLLED = 4, 4
ALTERNATIVE = (
    "First: the pairs of a block and a tile, 512 bodies from top to bottom by 128 others from left to right, in four squares of 128 "
    "by 128 below each other. A thread has one row of pairs in each square, at the same height. A narrow column, four others wide, "
    "crosses the four rows. Second: these sixteen pairs. Four others come from shared memory, one above each column; an arrow goes "
    "from each down through the pairs with all four bodies of the thread, which are in registers.")
CAPTION = (
    "First: what a block does with a tile; the rows are those of thread t, drawn thicker than they are. Second: the pairs where the "
    "column crosses them. Each load serves four pairs, and one counter, comparison and branch serve sixteen.")


def draw_block(canvas):
    """The pairs of a block and a tile, and a thread's rows."""
    canvas.text(170, 12, "a block and a tile, and thread t", bold=True)
    left, top, side = 120, 64, 56
    canvas.box(left, top - 22, 2 * side, 16, "tile: 128 others", GREEN, 0.4, size=SMALL)
    for h in range(HELD):
        canvas.box(left, top + side * h, 2 * side, side - 2, colour=BLUE, fill=0.08, edge=0.6)
        canvas.box(left - 24, top + side * h, 16, side - 2, colour=ORANGE, fill=0.15, edge=0.6)
        canvas.text(left - 32, top + side * (h + 0.5), "128 bodies", SMALL, ha="right")
        canvas.box(left - 24, top + side * h + 16, 16, 4, colour=ORANGE, fill=1, edge=0)
        canvas.box(left, top + side * h + 16, 2 * side, 4, colour=ORANGE, fill=0.6, edge=0)
        canvas.text(left + 2 * side + 6, top + side * h + 18, f"body t + {128 * h}" if h else "body t", SMALL, ha="left")
    canvas.box(left + 40, top - 4, 5, side * HELD + 10, colour=GREEN, fill=0.5)
    canvas.text(left + 42, top + side * HELD + 16, "four others", SMALL)


def draw_pairs(canvas):
    """Sixteen pairs, with what is loaded and what is held."""
    canvas.text(170, 12, "a turn of the thread's loop", bold=True)
    left, top, across, down = 112, 106, 50, 38
    canvas.text(left + across * UNROLLED / 2, 40, "others j, from shared memory", SMALL)
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
    """Two panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_block, draw_pairs)):
        draw_one(panel)
