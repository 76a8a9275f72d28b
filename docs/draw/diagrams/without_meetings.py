"""How far the warps of a block are at a moment, in stages 16 and 17 of Cholesky."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Eight warps that meet before each slice, and eight that do not"
HEIGHT = {"wide": 328, "narrow": 656}
FIRST, BUFFERS, CELL, ROW = 12, 6, 32, 20
SLOW = 5
TOGETHER = (1, 1, 1, 0.8, 1, 0.4, 1, 0.7)  # slices that each warp has read since it began with the first one
APART = (2.7, 1.4, 5.3, 3.6, 2.2, 0.4, 4.5, 3.1)
ALTERNATIVE = (
    "Two charts with a row for each of eight warps and a column for each slice, 12 to 18. On the left, in stage 16, no bar reaches "
    "beyond slice 12: five warps are done with it and stand at the line where all meet. On the right, in stage 17, the bars end "
    "anywhere from slice 12 to slice 17; warp 2, the fastest, is five slices ahead of warp 5, the slowest. Below each chart are the six "
    "places of shared memory, with slices 12 to 17; slice 18 wants place 0 again, which warp 5 still reads.")
CAPTION = (
    "A moment. In stage 16 slice 18 is asked for behind the meeting of all warps, in stage 17 by the ninth warp, as soon as all threads "
    "have said that place 0 is empty.")


def chart(canvas, name, ends, who):
    """Bars of the warps over slices, and the places of slices below."""
    bottom = ROW * len(ends)
    canvas.text(CELL * (BUFFERS + 1) / 2, -34, name, bold=True)
    canvas.text(-8, -10, "slice", SMALL, ha="right")
    canvas.text(-8, bottom + 24, "place", SMALL, ha="right")
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
    """Stage 16 on the left or above, stage 17 beside or below it."""
    together, apart = (panel.part(78, 54) for panel in canvas.panels(2, 330))
    chart(together, "16: before each slice all meet", TOGETHER, "filled behind the next meeting")
    for s in (0, 1):
        together.line((CELL * s, -2), (CELL * s, ROW * 8 + 2), colour=ORANGE, width=3)
    together.text(CELL + 8, ROW * 4, "5 warps wait here\nfor 3, 5 and 7", SMALL, ha="left")
    chart(apart, "17: each warp by itself", APART, "the ninth warp waits until place 0 is empty")
