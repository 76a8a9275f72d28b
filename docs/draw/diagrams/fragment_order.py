"""Stages 19 and 20 of Cholesky: how the four elements of a factor get into the registers of a lane."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Adjacent columns together, and even and odd columns apart"
HEIGHT = {"wide": 306, "narrow": 612}
CELL, LANE = 17, 1  # pixels of an element, and the lane's index among the four lanes that share a row
FIRST, SECOND = 2 * LANE, 2 * LANE + 1
WANTED = ((0, FIRST), (8, FIRST), (0, SECOND), (8, SECOND))  # (row after i, column) of each element, in the order of
                                                             # the registers of mma
REGISTER = 74
IN_REGISTERS = "as mma needs them: row, column"
ALTERNATIVE = (
    "Two paths from shared memory to registers. In stage 19, two loads of two elements fill adjacent registers, "
    "and two registers then have to be exchanged. In stage 20, even and odd columns are stored separately, and "
    "each of four loads fills the required register.")
CAPTION = (
    "The elements of one lane for a left factor, in adjacent registers. A load of two elements fills two adjacent registers. A load of "
    "one element may fill any register.")


def colour_of(row):
    """The colour of row r, or of row r + 8."""
    return ORANGE if row else BLUE


def row_name(row):
    """The name of a row: r or r + 8."""
    return "r + 8" if row else "r"


def strip(canvas, x, columns, row, words):
    """Draws adjacent elements of a row; returns the centre of each element of the lane."""
    canvas.text(x + CELL * len(columns) / 2, 22, words, SMALL)
    for n, column in enumerate(columns):
        is_own = column in (FIRST, SECOND)
        canvas.box(x + CELL * n, 36, CELL, 22, f"{column}", colour_of(row), 0.6 if is_own else 0.12, edge=0.5, size=SMALL, bold=is_own)
    return {(row, column): x + CELL * (n + 0.5) for n, column in enumerate(columns)}


def registers(canvas, y, numbers):
    """Draws registers of the lane with elements in them; returns the centre of each register."""
    for n, (row, column) in enumerate(numbers):
        canvas.box(12 + (REGISTER + 4) * n, y, REGISTER, 24, f"{row_name(row)}, {column}", colour_of(row), 0.4, size=SMALL)
    return {number: 12 + (REGISTER + 4) * n + REGISTER / 2 for n, number in enumerate(numbers)}


def draw_together(canvas):
    """Draws stage 19: two loads, then moves."""
    canvas.text(166, 0, "19: two loads of two elements", bold=True)
    places = strip(canvas, 12, range(8), 0, "row r") | strip(canvas, 184, range(8), 8, "row r + 8")
    loaded = registers(canvas, 118, sorted(WANTED))
    wanted = registers(canvas, 196, WANTED)
    for row in (0, 8):
        first, last = ((where[row, FIRST] + where[row, SECOND]) / 2 for where in (places, loaded))
        canvas.arrow((first, 60), (last, 116), colour_of(row), 2)
    for number, x in loaded.items():
        if x != wanted[number]:
            canvas.arrow((x, 144), (wanted[number], 194), GREEN, 1.4)
        else:
            canvas.line((x, 144), (x, 194), width=0.5, dashed=True)
    canvas.text(94, 169, "moves", SMALL)
    canvas.text(166, 234, IN_REGISTERS, SMALL)


def draw_apart(canvas):
    """Draws stage 20: four loads, and no moves."""
    canvas.text(166, 0, "20: four loads of one element", bold=True)
    wanted = registers(canvas, 196, WANTED)
    places = {}
    for row, x in ((0, 12), (8, 184)):
        places |= strip(canvas, x - 2, range(0, 8, 2), row, f"{row_name(row)}: even")
        places |= strip(canvas, x + 74, range(1, 8, 2), row, f"{row_name(row)}: odd")
    for number in WANTED:
        canvas.arrow((places[number], 60), (wanted[number], 194), colour_of(number[0]), 1.4)
    canvas.text(86, 150, "no moves", SMALL)
    canvas.text(166, 234, IN_REGISTERS, SMALL)


def draw(canvas):
    """Draws stage 19 on the left or above, and stage 20 on the right or below."""
    for panel, draw_one in zip(canvas.panels(2, 334), (draw_together, draw_apart)):
        draw_one(panel.part(0, 24))
