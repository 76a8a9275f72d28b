"""The values that a time step of local volatility reads and writes in stages 09 and 10."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A new R, and an increment of R"
HEIGHT = {"wide": 324, "narrow": 640}
PASSES = ("down each column: elimination", "up each column: substitution", "along each row: a system")
BAND, PITCH, VALUE = 26, 78, 24  # heights of a pass and of a value, and the distance between two passes, in pixels
COLUMNS = (70, 170, 270)
ALTERNATIVE = (
    "Both stages pass over the points three times: down each column, up each column, and along each row. In stage "
    "09, the passes read and write eight arrays. In stage 10, they read and write seven, and R goes unchanged "
    "past the first two passes.")
CAPTION = (
    "One time step. An arrow stands for a value that is read or written for each point. In stage 10, d and W are small, and "
    "so are their rounding errors. Only the last addition rounds a value as large as R.")


def top_of(gap):
    """The vertical position of the values in the gap before a pass, or after the last pass."""
    return PITCH * (gap - 1) + BAND + 14


def value(canvas, column, gap, words, colour):
    """Draws a value in memory, in a gap between two passes, before the first one, or after the last one."""
    canvas.box(COLUMNS[column] - 26, top_of(gap), 52, VALUE, words, colour, 0.4, edge=0.6)


def written(canvas, column, number):
    """Draws an arrow out of a pass."""
    canvas.arrow((COLUMNS[column], PITCH * number + BAND), (COLUMNS[column], top_of(number + 1)))


def read(canvas, column, number, gap):
    """Draws an arrow into a pass from a value in an earlier gap, past the passes in between."""
    canvas.arrow((COLUMNS[column], top_of(gap) + VALUE), (COLUMNS[column], PITCH * number))


def draw_passes(canvas):
    """Draws the three passes as bands."""
    for number, words in enumerate(PASSES):
        canvas.box(20, PITCH * number, 300, BAND, colour=BLUE, fill=0.1, edge=0.6)
        canvas.text(170, PITCH * number + BAND / 2, words, SMALL)


def draw_anew(canvas):
    """Draws stage 09."""
    draw_passes(canvas)
    for column, gap, words, colour in ((0, 0, "R", ORANGE), (0, 1, "d", ORANGE), (2, 1, "V", GREEN), (0, 2, "U′", ORANGE),
                                       (0, 3, "R′", ORANGE)):
        value(canvas, column, gap, words, colour)
    for column, number, gap in ((0, 0, 0), (0, 1, 1), (0, 2, 2), (2, 2, 1)):
        read(canvas, column, number, gap)
    for column, number in ((0, 0), (2, 0), (0, 1), (0, 2)):
        written(canvas, column, number)


def draw_added(canvas):
    """Draws stage 10."""
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
    """Draws stage 09 on the left or above, and stage 10 beside or below it."""
    names = "09: all of R, eight values per point", "10: the increment, seven values"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_anew, draw_added)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part(0, 64))
    canvas.key(20, canvas.height - 10, (ORANGE, 0.4, "as large as R"), (GREEN, 0.4, "a change, or a rate of change"))
