"""The progress of the warps of a thread block at one moment, in stages 16 and 17 of Cholesky."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Eight warps with a barrier before each pair of sub-tiles, and eight without"
HEIGHT = {"wide": 328, "narrow": 656}
FIRST, BUFFERS, CELL, ROW = 12, 6, 32, 20
SLOW = 5
TOGETHER = (1, 1, 1, 0.8, 1, 0.4, 1, 0.7)  # number of sub-tiles that each warp has read since the first one
APART = (2.7, 1.4, 5.3, 3.6, 2.2, 0.4, 4.5, 3.1)
ALTERNATIVE = (
    "Two charts of the progress of eight warps over pairs of sub-tiles. In stage 16, no warp is beyond pair 12, "
    "where five of them wait at a barrier. In stage 17, the fastest warp is five pairs ahead of the slowest one. "
    "Below are the six slots of shared memory.")
CAPTION = (
    "The warps at one moment. In stage 16, the copy of pair 18 starts after the barrier of all warps. In stage 17, the ninth warp "
    "starts this copy as soon as all threads have signalled that slot 0 is empty.")


def chart(canvas, name, ends, who):
    """Draws bars of the warps over pairs of sub-tiles, and the slots of the pairs below."""
    bottom = ROW * len(ends)
    canvas.text(CELL * (BUFFERS + 1) / 2, -34, name, bold=True)
    canvas.text(-8, -10, "pair", SMALL, ha="right")
    canvas.text(-8, bottom + 24, "slot", SMALL, ha="right")
    for s in range(BUFFERS + 1):
        canvas.text(CELL * (s + 0.5), -10, f"{FIRST + s}", SMALL)
        canvas.line((CELL * s, 0), (CELL * s, bottom), width=0.4, opacity=0.4)
        is_next = s == BUFFERS
        canvas.box(CELL * s + 1, bottom + 12, CELL - 2, 24, f"{(FIRST + s) % BUFFERS}", INK if is_next else GREEN, 0 if is_next else 0.3,
                   edge=0.8 if is_next else 0.5, dashed=is_next, size=SMALL)
    for warp, end in enumerate(ends):
        y, colour = ROW * warp + 3, ORANGE if warp == SLOW else BLUE
        canvas.text(-8, y + 7, f"warp {warp}", SMALL, ha="right")
        canvas.box(0, y, CELL * end, ROW - 6, colour=colour, fill=0.5, edge=0.4)
    middle = CELL * (BUFFERS + 0.5)
    canvas.arrow((middle, bottom + 54), (middle, bottom + 38), ORANGE)
    canvas.text(middle + 16, bottom + 64, who, SMALL, ha="right")


def draw(canvas):
    """Draws stage 16 on the left or above, and stage 17 on the right or below."""
    together, apart = (panel.part(78, 54) for panel in canvas.panels(2, 330))
    chart(together, "16: a barrier before each pair", TOGETHER, "refilled after the next barrier")
    for s in (0, 1):
        together.line((CELL * s, -2), (CELL * s, ROW * 8 + 2), colour=ORANGE, width=3)
    together.text(CELL + 8, ROW * 4, "5 warps wait here\nfor 3, 5 and 7", SMALL, ha="left")
    chart(apart, "17: each warp by itself", APART, "the ninth warp waits until slot 0 is empty")
