"""How long loads of blocks of L may be in flight, in stages 16 and 17 of the triangular solve."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Two blocks in flight, and three"
HEIGHT = {"wide": 226, "narrow": 226}
BEGIN, UNIT = {"wide": 96, "narrow": 20}, {"wide": 66, "narrow": 50}
STEPS, ROW = 5, 15
ALTERNATIVE = (
    "Two timelines of steps, with a bar for each block of L in flight. In stage 16, a block is requested two steps before its "
    "product, so two bars overlap at any time. In stage 17, it is requested three steps before, and three bars overlap.")
CAPTION = (
    "The blocks of L of which a thread loads its segments, not to scale. A bar is the time in which a block has to arrive. At its "
    "end, the thread multiplies the block by the unknowns of that step. In stage 16, the bars are registers, and in stage 17, they "
    "are slots in shared memory.")


def draw_stage(canvas, name, ahead):
    """Draws the steps, and below them the blocks of L whose loads are in flight."""
    kind = "wide" if canvas.is_wide else "narrow"
    begin, unit = BEGIN[kind], UNIT[kind]
    canvas.text(0, 0, name, ha="left", bold=True)
    for step in range(STEPS):
        canvas.box(begin + unit * step, 12, unit - 2, ROW, f"step {step}", BLUE, 0.4, edge=0.4, size=SMALL)
    for number in range(1, STEPS + 1):
        first = max(0, number - ahead)
        row = (number - 1) % ahead
        canvas.box(begin + unit * first, 32 + ROW * row, unit * (number - first) - 2, ROW - 3, f"L{number}", ORANGE, 0.5,
                   edge=0.4, size=SMALL)
    canvas.line((begin + unit * STEPS - 1, 10), (begin + unit * STEPS - 1, 32 + ROW * ahead), colour=INK, width=0.6, dashed=True)


def draw(canvas):
    """Draws stage 16 above stage 17."""
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    draw_stage(here, "16: two, in registers", 2)
    draw_stage(here.part(0, 96), "17: three, in shared memory", 3)
