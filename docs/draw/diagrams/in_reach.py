"""The outputs to which eight input rows contribute in one iteration of stage 15 of advection."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Eight input rows contribute to 32 output rows"
HEIGHT = {"wide": 306, "narrow": 330}
ROWS, TAPS = 8, 25  # rows that are processed at once, and taps of the filter along y
OUTPUTS = ROWS + TAPS - 1
ALTERNATIVE = (
    "A grid with the eight input rows of an iteration and 32 output rows. Each input row contributes to 25 "
    "outputs, which form a slanting band. After the iteration, eight outputs are complete, and the other 24 move "
    "up by eight positions.")
CAPTION = (
    "One iteration. Each input row contributes to 25 output rows, from twelve rows above it to twelve rows below it. After "
    "the iteration, no later row contributes to the first eight outputs, and the next eight input rows repeat the picture.")


def draw(canvas):
    """Draws input rows against outputs, and the state of the outputs afterwards."""
    left, unit, line = (72, 18, 15) if canvas.is_wide else (26, 9.6, 15)
    here = canvas.part(left, 46)
    here.text(OUTPUTS * unit / 2, -30, "outputs, with partial sums in registers", SMALL)
    for output in (0, 7, 24, 31):
        here.text(unit * (output + 0.5), -10, f"{output}", SMALL)
    for row in range(ROWS):
        here.text(-6, line * (row + 0.5), f"row {row}" if canvas.is_wide else f"{row}", SMALL, ha="right")
        for output in range(OUTPUTS):
            adds = row <= output < row + TAPS
            here.box(unit * output, line * row, unit - 1.5, line - 1.5, colour=BLUE if adds else INK, fill=0.4 if adds else 0, edge=0.3)
    below = here.part(0, line * ROWS + 14)
    for output in range(OUTPUTS):
        is_complete = output < ROWS
        below.box(unit * output, 0, unit - 1.5, 18, colour=GREEN if is_complete else ORANGE, fill=0.5 if is_complete else 0.25, edge=0.3)
    after = below.part(0, 60)
    for output in range(OUTPUTS):
        is_new = output >= OUTPUTS - ROWS
        after.box(unit * output, 0, unit - 1.5, 18, colour=PURPLE if is_new else ORANGE, fill=0.15 if is_new else 0.25, edge=0.3)
    for output in (ROWS, OUTPUTS - 1):
        below.arrow((unit * (output + 0.5), 20), (unit * (output - ROWS + 0.5), 58), ORANGE)
    below.text(unit * (OUTPUTS / 2 + 1), 40, "move by eight positions", SMALL)
    key = after.part(110 if canvas.is_wide else -14, 40)
    key.key(0, 0, (BLUE, 0.4, "row contributes"), (GREEN, 0.5, "complete, written"))
    key.key(0, 20, (ORANGE, 0.25, "waits for more rows"), (PURPLE, 0.15, "begins at zero"))
