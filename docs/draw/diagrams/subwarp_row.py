"""Stage 05 of durbin_levinson_batched: the row of pairs in the lanes of a sub-warp, and the order of the operations
in a step."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "One sub-warp per system: a row of pairs in registers"
HEIGHT = {"wide": 240, "narrow": 480}
LANES, HELD, STEP = 4, 4, 5
ALTERNATIVE = (
    "First: a row of sixteen pairs in the registers of four lanes, with four neighbouring positions per lane. The leading pair is in lane "
    "1. From the last position of each lane, an element u moves to the first position of the next lane. Second: a step updates the "
    "leading pair, the next pair and the last pair first. The division and the shuffles then overlap the other updates.")
CAPTION = (
    "The figure shows a step of one system, with four lanes of four positions instead of up to 32 lanes of 32 positions. Green pairs are (y, z), "
    "the orange pair leads, and blue pairs are (V, U). The lengths of the bars are not to scale.")


def draw_row(canvas):
    """Draws the positions of each lane, and the elements that move to the next lane."""
    canvas.text(170, 12, f"the row before step k = {STEP}", bold=True)
    left, cell, gap, top = 8, 18, 10, 74
    for lane in range(LANES):
        begin = left + lane * (HELD * cell + gap)
        for m in range(HELD):
            position = lane * HELD + m
            colour, fill = (GREEN, 0.25) if position < STEP else (ORANGE, 0.6) if position == STEP else (BLUE, 0.16)
            canvas.box(begin + m * cell, top, cell - 2, 26, f"{position}", colour, fill, edge=0.5, size=SMALL)
        canvas.line((begin, top + 36), (begin + HELD * cell - 2, top + 36), width=1)
        canvas.text(begin + HELD * cell / 2 - 1, top + 47, f"lane {lane}", SMALL)
        if lane + 1 < LANES:
            canvas.arrow((begin + HELD * cell - 10, top - 2), (begin + HELD * cell + gap + 8, top - 2), INK, 1.2)
            canvas.text(begin + HELD * cell + gap / 2 - 1, top - 14, "u", SMALL)
    canvas.arrow((left + 1.5 * cell + HELD * cell + gap - 2, top + 56), (left + 1.5 * cell + HELD * cell + gap - 2, 190), ORANGE, 1.2)
    canvas.text(170, 200, "lane 1 leads: its quotient goes to all lanes", SMALL)


def draw_step(canvas):
    """Draws the operations of one step of a warp, in time."""
    canvas.text(170, 12, "the operations of a step", bold=True)
    rows = ((48, ((6, 84, "3 updates", BLUE, 0.3), (94, 240, "29 other updates", BLUE, 0.16))),
            (100, ((94, 130, "reciprocal, quotient", ORANGE, 0.5), (228, 70, "shuffle α", ORANGE, 0.25))),
            (152, ((94, 70, "shuffle u", GREEN, 0.3),)))
    for y, bars in rows:
        for x, width, words, colour, fill in bars:
            canvas.box(x, y, width - 4, 30, words, colour, fill, edge=0.5, size=SMALL)
    canvas.arrow((6, 208), (334, 208), width=1)
    canvas.text(170, 220, "time", SMALL)


def draw(canvas):
    """Draws the row on the left or at the top, and the step to its right or below."""
    for panel, draw_one in zip(canvas.panels(2), (draw_row, draw_step)):
        draw_one(panel)
