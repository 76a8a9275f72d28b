"""What a time step of local volatility reads and writes in stages 09 and 10."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "R made anew, and what is added to R"
HEIGHT = {"wide": 324, "narrow": 640}
PASSES = ("down each column: elimination", "up each column: substitution", "along each row: a system")
BAND, PITCH, VALUE = 26, 78, 24  # heights of a pass and of a value, and from pass to pass
COLUMNS = (70, 170, 270)
ALTERNATIVE = (
    "Three passes over the points below each other: down each column, up each column, along each row. Stage 09: the first reads R "
    "and writes V and d, the second reads d and writes U prime, the third reads U prime and V and writes R prime: eight arrows. "
    "Stage 10: the first reads R and writes d, the second reads d and writes W, the third reads W and R and writes R prime: seven "
    "arrows. R goes past the first two passes unchanged. In stage 09 d and U prime are of the size of R, in stage 10 d and W are of "
    "the size of a change.")
CAPTION = (
    "A time step. An arrow is a number that is read or written for each point. Where stage 10 rounds d and W, it rounds something "
    "small; only the last addition rounds a number as large as R.")


def top_of(gap):
    """Where values lie in the gap before a pass, or behind the last one."""
    return PITCH * (gap - 1) + BAND + 14


def value(canvas, column, gap, words, colour):
    """A value that lies in memory between two passes, or before all or behind them."""
    canvas.box(COLUMNS[column] - 26, top_of(gap), 52, VALUE, words, colour, 0.4, edge=0.6)


def written(canvas, column, number):
    """An arrow out of a pass."""
    canvas.arrow((COLUMNS[column], PITCH * number + BAND), (COLUMNS[column], top_of(number + 1)))


def read(canvas, column, number, gap):
    """An arrow into a pass, from what lies in a gap before it, past the passes between."""
    canvas.arrow((COLUMNS[column], top_of(gap) + VALUE), (COLUMNS[column], PITCH * number))


def draw_passes(canvas):
    """The three passes as bands."""
    for number, words in enumerate(PASSES):
        canvas.box(20, PITCH * number, 300, BAND, colour=BLUE, fill=0.1, edge=0.6)
        canvas.text(170, PITCH * number + BAND / 2, words, SMALL)


def draw_anew(canvas):
    """Stage 09."""
    draw_passes(canvas)
    for column, gap, words, colour in ((0, 0, "R", ORANGE), (0, 1, "d", ORANGE), (2, 1, "V", GREEN), (0, 2, "U′", ORANGE),
                                       (0, 3, "R′", ORANGE)):
        value(canvas, column, gap, words, colour)
    for column, number, gap in ((0, 0, 0), (0, 1, 1), (0, 2, 2), (2, 2, 1)):
        read(canvas, column, number, gap)
    for column, number in ((0, 0), (2, 0), (0, 1), (0, 2)):
        written(canvas, column, number)


def draw_added(canvas):
    """Stage 10."""
    draw_passes(canvas)
    for column, gap, words, colour in ((0, 0, "R", ORANGE), (2, 1, "d", GREEN), (2, 2, "W", GREEN), (0, 3, "R′", ORANGE)):
        value(canvas, column, gap, words, colour)
    for column, number, gap in ((0, 0, 0), (2, 1, 1), (2, 2, 2)):
        read(canvas, column, number, gap)
    canvas.arrow((COLUMNS[0] - 20, top_of(0) + VALUE), (COLUMNS[0] - 20, 2 * PITCH))
    for column, number in ((2, 0), (2, 1), (0, 2)):
        written(canvas, column, number)
    canvas.text(COLUMNS[0] + 36, top_of(3) + VALUE / 2, "the solution, added to R", SMALL, ha="left")


def draw(canvas):
    """Stage 09 on the left or above, stage 10 beside or below it."""
    names = "09: all of R, eight numbers per point", "10: what the step adds, seven numbers"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_anew, draw_added)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part(0, 64))
    canvas.key(20, canvas.height - 10, (ORANGE, 0.4, "as large as R"), (GREEN, 0.4, "a change, or a rate of change"))
