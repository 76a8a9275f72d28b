"""The load of a warp in an iteration of stage 04 of the workload nbody."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One thread per body, and one source body for all lanes"
HEIGHT = {"wide": 286, "narrow": 590}
BLOCKS, BLOCK, SIDE = 4, 40, 160  # number of thread blocks drawn, their height, and their width, in pixels
BODIES, LANES, MARKED = 12, 8, 7
ALTERNATIVE = (
    "First: all pairs as a square, with bodies from top to bottom and source bodies from left to right. A warp is "
    "a thin band that moves to the right. Second: all lanes of a warp read the same source body, but each keeps a "
    "different body in registers.")
CAPTION = (
    "First: each row of pairs belongs to a thread, which visits all source bodies from left to right. Second: iteration j of a warp, "
    "with eight of its 32 lanes. The lanes keep different bodies in registers, but they read the same source body, so each load requests "
    "one sector instead of 32.")


def draw_threads(canvas):
    """Draws all pairs, and the position of a warp."""
    canvas.text(170, 12, "rows of pairs, one thread each", bold=True)
    left, top, j = 122, 62, 70
    canvas.text(left + SIDE / 2, 46, "source bodies j →", SMALL)
    for n in range(BLOCKS):
        canvas.box(left, top + BLOCK * n, SIDE, BLOCK - 2, colour=BLUE, fill=0.1, edge=0.5)
        canvas.text(left - 8, top + BLOCK * (n + 0.5), "128 threads", SMALL, ha="right")
    warp = top + BLOCK + BLOCK / 4
    canvas.box(left, warp, j, BLOCK / 4, colour=ORANGE, fill=0.25, edge=0)
    canvas.box(left + j, warp - 3, 6, BLOCK / 4 + 6, colour=ORANGE, fill=1, edge=0)
    canvas.arrow((left + j + 8, warp + BLOCK / 8), (left + j + 34, warp + BLOCK / 8), ORANGE, 1.6)
    canvas.line((left + j + 3, top + BLOCK * BLOCKS + 4), (left + j + 3, warp + 14), colour=GREEN, dashed=True)
    canvas.text(left + j + 3, top + BLOCK * BLOCKS + 14, "body j", SMALL)
    canvas.text(left + j + 40, warp + BLOCK / 8, "a warp", SMALL, ha="left")
    canvas.text(170, 268, "a warp is in one column at a time", SMALL)


def draw_warp(canvas):
    """Draws one load of a warp."""
    canvas.text(170, 12, "iteration j of a warp", bold=True)
    left, cell, pitch = 26, 24, 36
    for n in range(BODIES):
        is_read = n == MARKED
        canvas.box(left + cell * n, 58, cell - 2, 24, "j" if is_read else "", GREEN if is_read else BLUE, 0.6 if is_read else 0.08,
                   edge=0.5)
    canvas.text(left, 46, "bodies in memory, 32 bytes each in f32", SMALL, ha="left")
    source = left + cell * (MARKED + 0.5) - 1
    canvas.arrow((source, 83), (source, 121), GREEN, 1.8)
    canvas.text(source + 8, 100, "one sector", SMALL, ha="left")
    canvas.box(left, 122, pitch * LANES - 4, 20, "the same for all lanes", GREEN, 0.3, edge=0.5, size=SMALL)
    for lane in range(LANES):
        x = left + pitch * (lane + 0.5) - 2
        canvas.arrow((x, 143), (x, 177), GREEN)
        canvas.dot(x, 190, 9, ORANGE, hollow=True)
        canvas.text(x, 190, f"{lane}", SMALL)
        canvas.arrow((x, 221), (x, 202), ORANGE)
        canvas.box(x - 16, 222, 32, 24, f"i + {lane}" if lane else "i", ORANGE, 0.4, edge=0.5, size=SMALL)
    canvas.text(left - 6, 190, "lane", SMALL, ha="right")
    canvas.text(170, 268, "bodies of the lanes, in registers", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_threads, draw_warp)):
        draw_one(panel)
