"""The filter of stage 17 of advection as a band matrix, and the loop of a block down its rows."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A filter as a matrix, and the loop down the rows"
HEIGHT = {"wide": 300, "narrow": 560}
ALTERNATIVE = (
    "First: a matrix of 16 rows and 56 columns, in which the taps form a slanting band of 41 columns; outside the "
    "band are zeros. Second: groups of eight rows of sums on the left and of outputs on the right. Group 6 of the "
    "sums contributes to output groups 1 to 6.")
CAPTION = (
    "First: along x, 16 outputs come from 56 cells. The tensor cores also multiply the zeros of the two triangles, without effect. "
    "Second: along y, eight rows of sums contribute to 48 rows of outputs, whose partial sums wait in registers.")

CELL = 5.6
BLOCKS = 7
OUTPUTS = 16
TAPS = 41


def draw_band(canvas):
    """Draws the matrix along x."""
    wide, high = CELL * 8 * BLOCKS, CELL * OUTPUTS
    canvas.text(170, 12, "16 outputs of 56 cells along x", bold=True)
    part = canvas.part(14, 60)
    taps = CELL * TAPS
    part.shape([(0, 0), (taps, 0), (wide, high), (wide - taps, high)], BLUE, 0.3)
    for block in range(BLOCKS):
        part.box(CELL * 8 * block, 0, CELL * 8, high, edge=0.6)
        part.text(CELL * (8 * block + 4), -12, f"{8 * block}", SMALL)
    part.text(wide / 2, high / 2, "41 taps in each row", SMALL)
    part.text(CELL * 4, high - 14, "zeros", SMALL)
    part.text(wide - CELL * 4, 14, "zeros", SMALL)
    part.text(wide / 2, high + 20, "8 columns are an operand of one product", SMALL)


def draw_march(canvas):
    """Draws the groups of outputs that a group of row sums contributes to."""
    canvas.text(170, 12, "eight rows of sums, 48 rows of outputs", bold=True)
    canvas.text(70, 36, "sums along x", SMALL)
    canvas.text(270, 36, "outputs", SMALL)
    for n in range(8):
        y = 48 + 26 * n
        canvas.box(30, y, 80, 22, f"{n}", ORANGE if n == 6 else INK, 0.4 if n == 6 else 0, 0.6)
        colour, fill = (GREEN, 0.4) if n < 2 else (BLUE, 0.2) if n < 7 else (INK, 0)
        canvas.box(230, y, 80, 22, f"{n}", colour, fill, 0.6)
        if 0 < n < 7:
            canvas.arrow((112, 48 + 26 * 6 + 11), (228, y + 11), GREEN if n == 1 else ORANGE, 1)
    canvas.key(30, 266, (ORANGE, 0.4, "now"), (GREEN, 0.4, "complete"), (BLUE, 0.2, "waiting"))


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_band, draw_march)):
        draw_one(panel)
