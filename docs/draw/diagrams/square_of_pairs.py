"""The square of pairs that a block of stage 05 of the bodies works on."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A square of pairs"
HEIGHT = {"wide": 226, "narrow": 226}
ALTERNATIVE = (
    "A row of squares, each of 128 by 128 pairs. Down the left are the 128 bodies of a block, one in the registers of each thread. Above "
    "the squares are tiles of 128 others each, of which one is in shared memory. A thread goes along its row of pairs in one square, then "
    "all meet at a barrier, and the next tile is loaded.")
CAPTION = ("Bodies of a block from top to bottom, others from left to right. A square needs 256 bodies and has 16 384 pairs; at its left and right "
           "edges are the two barriers.")
SIDE = 84


def draw(canvas):
    """The squares of a block, of which one is at work."""
    count = 6 if canvas.is_wide else 3
    here = canvas.part((canvas.width - SIDE * count) / 2 + 30, 0)
    here.text(SIDE * count / 2, 12, "all others, in tiles of 128", bold=True)
    top = 74
    for n in range(count):
        now = n == 1
        here.box(SIDE * n, 30, SIDE - 4, 18, "shared memory" if now else "memory", GREEN if now else BLUE, 0.5 if now else 0.08, size=SMALL)
        here.box(SIDE * n, top, SIDE - 4, SIDE, "done" if n < 1 else "" if now else "later", ORANGE if now else BLUE,
                 0.35 if now else 0.06, size=SMALL)
        if now:
            here.arrow((SIDE * n + SIDE / 2 - 2, 49), (SIDE * n + SIDE / 2 - 2, top - 1), colour=GREEN)
            for x in (SIDE * n - 2, SIDE * (n + 1) - 2):
                here.line((x, top - 8), (x, top + SIDE + 8), colour=ORANGE, width=2)
            here.line((SIDE * n, top + 30), (SIDE * (n + 1) - 4, top + 30), width=1.5)
    here.box(-26, top, 18, SIDE, colour=ORANGE, fill=0.5)
    here.text(-17, top + SIDE + 14, "128", SMALL)
    here.text(SIDE * 1.5, top + SIDE + 18, "two barriers a tile", SMALL)
    here.text(SIDE * count / 2 - 16, top + SIDE + 46, "a thread: one body of the block in registers,\na row of each square", SMALL)
