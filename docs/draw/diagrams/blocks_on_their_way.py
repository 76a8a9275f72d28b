"""How long blocks of L may be on their way, in stages 16 and 17 of the triangular solve."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Two blocks on their way, and three"
HEIGHT = {"wide": 226, "narrow": 226}
BEGIN, UNIT = {"wide": 96, "narrow": 20}, {"wide": 66, "narrow": 50}
STEPS, ROW = 5, 15
ALTERNATIVE = (
    "Two rows of steps of the chain, each with the blocks of L that are on their way. Stage 16: a block is asked for two steps before it "
    "is multiplied, so that two are on their way at any time. Stage 17: it is asked for three steps before, and three are on their way.")
CAPTION = (
    "A thread's part of blocks of L, over the steps of the chain, to no scale. A bar is the time that a block has to come; at its end it is "
    "multiplied with the unknowns of that step. In stage 16 the bars are registers, in stage 17 places in shared memory.")


def draw_stage(canvas, name, ahead):
    """Steps, and below them the blocks that are on their way."""
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
    """Stage 16 above stage 17."""
    here = canvas.part(8 if canvas.is_wide else 2, 14)
    draw_stage(here, "16: two, in registers", 2)
    draw_stage(here.part(0, 96), "17: three, in shared memory", 3)
