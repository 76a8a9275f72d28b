"""Stage 05 of the workload nbody: the squares of pairs that a thread block computes."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A square of pairs"
HEIGHT = {"wide": 226, "narrow": 226}
ALTERNATIVE = (
    "A row of squares of 128 by 128 pairs. The bodies of a block are on the left, and a tile of source bodies, in "
    "shared memory, is above one of the squares. Barriers separate this square from the loads of the next tile.")
CAPTION = ("The bodies of a block are drawn from top to bottom, the source bodies from left to right. A square has 16 384 pairs and needs 256 "
           "bodies. The orange lines at its left and right edges are the two barriers.")
SIDE = 84


def draw(canvas):
    """Draws the squares of a block, one of which is being computed."""
    count = 6 if canvas.is_wide else 3
    here = canvas.part((canvas.width - SIDE * count) / 2 + 30, 0)
    here.text(SIDE * count / 2, 12, "all source bodies, in tiles of 128", bold=True)
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
    here.text(SIDE * 1.5, top + SIDE + 18, "two barriers per tile", SMALL)
    here.text(SIDE * count / 2 - 16, top + SIDE + 46, "a thread keeps one body of the block in registers\nand computes a row of each square", SMALL)
