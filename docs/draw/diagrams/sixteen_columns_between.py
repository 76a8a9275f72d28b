"""The tiles of a thread block and the elements of a thread in stage 04 of the sliced product."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Tiles of a slice, and two elements of a thread"
HEIGHT = {"wide": 326, "narrow": 672}
SIDE = 118  # pixels per side of a matrix, and of a tile
GAP, LEFT, TOP = 20, 36, 46
FAR = SIDE + GAP  # distance from A to C, and from B to C
TILE, PART = 32, 4  # rows of a tile, and tiles of a matrix that are drawn
ROW, COLUMN, STEP = 1, 2, 1  # row and column of the tile of C, and the step
Y, X, K = 20, 5, 11  # row and column of the thread, and an iteration of its loop
ALTERNATIVE = (
    "A on the left, B above and C in the corner, twice. First: a thread block computes one tile of C. One tile of "
    "A and one tile of B are in shared memory. Second: a thread reads one element of A and two elements of B, 16 "
    "columns apart, for two elements of C.")
CAPTION = (
    f"First: a thread block visits k in steps of 32; the green tiles are in shared memory, between two barriers. Second: thread y = {Y}, "
    f"x = {X} with k = {K} of a step. One element of A serves two multiply-adds. Elements are drawn larger than to scale.")


def matrix(canvas, left, top, name, words):
    """Draws the outline of a matrix or a tile, with its name and a label."""
    canvas.box(left, top, SIDE, SIDE)
    canvas.text(left + SIDE / 2, top - 10 if top < 100 else top + SIDE + 12, f"{name}{words}", SMALL)


def draw_block(canvas):
    """Draws a tile of C, and the tiles from which it is computed."""
    canvas.text(170, 12, "a thread block", bold=True)
    here, size = canvas.part(LEFT, TOP), SIDE / PART
    matrix(here, 0, FAR, "rows of A", ", k →")
    matrix(here, FAR, 0, "columns of B", ", k ↓")
    matrix(here, FAR, FAR, "slice of C", "")
    for k in range(PART):
        for left, top in ((size * k, FAR + size * ROW), (FAR + size * COLUMN, size * k)):
            here.box(left + 1, top + 1, size - 2, size - 2, colour=GREEN if k == STEP else BLUE, fill=0.6 if k == STEP else 0.2, edge=0.4)
    here.box(FAR + size * COLUMN + 1, FAR + size * ROW + 1, size - 2, size - 2, colour=ORANGE, fill=0.6, edge=0.4)
    here.arrow((size * 1.5, FAR + size * 1.5), (size * 2.7, FAR + size * 1.5))
    here.arrow((FAR + size * 2.5, size * 1.5), (FAR + size * 2.5, size * 2.7))
    here.text(SIDE - 4, 62, "tiles of 32 × 32:\none of A and one of B\nare in shared memory", SMALL, ha="right")


def draw_thread(canvas):
    """Draws the three elements that a thread reads, and its two sums."""
    canvas.text(170, 12, f"a thread, for k = {K} of a step", bold=True)
    here, size = canvas.part(LEFT, TOP), SIDE / TILE
    matrix(here, 0, FAR, "a_tile", "")
    matrix(here, FAR, 0, "b_tile", "")
    matrix(here, FAR, FAR, "tile of C", "")
    y, k = FAR + size * (Y + 0.5), size * (K + 0.5)
    xs = [FAR + size * (X + 0.5 + 16 * h) for h in range(2)]
    here.line((k, y), (xs[1], y), colour=GREEN)
    for h, x in enumerate(xs):
        here.line((x, k), (x, y - 5), colour=BLUE)
        here.box(x - 4, k - 4, 8, 8, colour=BLUE, fill=1, edge=0)
        here.box(x - 4, y - 4, 8, 8, colour=ORANGE, fill=1, edge=0)
        here.text(x, k - 14, "x + 16" if h else "x", SMALL)
        here.text(x, y + 14, f"sum[{h}]", SMALL)
    here.box(k - 4, y - 4, 8, 8, colour=GREEN, fill=1, edge=0)
    here.text(-5, y, "y", SMALL, ha="right")
    here.text(k, FAR - 8, "k", SMALL)
    here.text(FAR - 6, k, "k", SMALL, ha="right")
    here.line((0, y), (k - 6, y), colour=INK, width=0.5, dashed=True)
    here.line((k, FAR), (k, y - 6), colour=INK, width=0.5, dashed=True)
    here.line((FAR, k), (xs[0] - 6, k), colour=INK, width=0.5, dashed=True)
    here.text(SIDE - 4, 62, "three loads from\nshared memory,\ntwo multiply-adds", SMALL, ha="right")


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_block, draw_thread)):
        draw_one(panel)
