"""The copies of stage 02 of the sliced product, before a slice is computed and after it."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "A slice in contiguous buffers"
HEIGHT = {"wide": 280, "narrow": 556}
ROWS, COLS, DEPTH = 4, 6, 4  # rows and columns of C, and the number of terms of a sum
FIRST_ROW, FIRST_COL, SIDE = 2, 2, 2  # the slice: its first row and column, and its two rows and two columns
CELL = 13
COLOUR_OF = {FIRST_COL: BLUE, FIRST_COL + 1: ORANGE}
ALTERNATIVE = (
    "First: B in memory, row after row, and a buffer in which columns 2 and 3 of B are contiguous. Second: two "
    "rows of A and two rows of the buffer are multiplied into four sums, which are then copied to their positions "
    "in C.")
CAPTION = (
    "A slice of 2 × 2 with sums of four products. First: serialising turns columns of B into rows of the buffer; the boxes show k. "
    "Second: the slice is computed in buffers, then deserialised to its position in C.")


def cell(canvas, n, y, words, colour):
    """Draws the n-th position of a row, filled if it has a colour."""
    canvas.box(CELL * n, y, CELL, CELL + 2, words, colour or INK, 0.4 if colour else 0, edge=0.5, size=SMALL)


def draw_memory(canvas):
    """Draws B row by row, and the buffer."""
    canvas.text(170, 12, "serialise: columns of B become rows", bold=True)
    left = (340 - CELL * COLS * DEPTH) / 2
    source, buffer = canvas.part(left, 70), canvas.part((340 - CELL * SIDE * DEPTH) / 2, 190)
    for k in range(DEPTH):
        source.text(CELL * COLS * (k + 0.5), -16, f"row {k} of B", SMALL)
        source.line((CELL * COLS * k, -8), (CELL * COLS * k, CELL + 10), width=1.6)
        for j in range(COLS):
            colour, place = COLOUR_OF.get(j), DEPTH * (j - FIRST_COL) + k
            cell(source, COLS * k + j, 0, f"{k}" if colour else "", colour)
            if colour:
                cell(buffer, place, 0, f"{k}", colour)
                source.arrow((CELL * (COLS * k + j + 0.5), 17), (buffer.left - source.left + CELL * (place + 0.5), 118), colour, 0.8)
    source.line((CELL * COLS * DEPTH, -8), (CELL * COLS * DEPTH, CELL + 10), width=1.6)
    for n in range(SIDE):
        buffer.text(CELL * DEPTH * (n + 0.5), 28, f"column {FIRST_COL + n}", SMALL)
    canvas.text(170, 238, "buffer of the slice", SMALL)


def rows_of(canvas, name, y, colours):
    """Draws a buffer of two rows, each with one element per term of a sum."""
    canvas.text(CELL * DEPTH / 2, y, name, SMALL)
    for n, colour in enumerate(colours):
        for k in range(DEPTH):
            cell(canvas, k, (CELL + 6) * n, f"{k}", colour)


def draw_turn(canvas):
    """Draws buffers, the slice, and its position in C."""
    canvas.text(170, 12, "compute, then deserialise", bold=True)
    rows_of(canvas.part(18, 74), "rows of A", -12, (GREEN, GREEN))
    rows_of(canvas.part(18, 160), "columns of B", 48, (BLUE, ORANGE))
    for y in (95, 181):
        canvas.arrow((74, y), (128, 138), width=1)
    canvas.text(91, 138, "multiply", SMALL)
    place = canvas.part(230, 104)
    for i in range(ROWS):
        for j in range(COLS):
            colour = PURPLE if 0 <= i - FIRST_ROW < SIDE and 0 <= j - FIRST_COL < SIDE else None
            for where in (place, canvas.part(136 - CELL * FIRST_COL, 123 - 15 * FIRST_ROW))[:2 if colour else 1]:
                cell(where, j, 15 * i, "", colour)
    place.text(CELL * COLS / 2, -12, "C", bold=True)
    canvas.text(149, 168, "the slice", SMALL)
    canvas.arrow((164, 139), (253, 149))
    canvas.text(198, 126, "deserialise", SMALL)
    canvas.text(170, 238, "both factors of a sum are read along a row", SMALL)


def draw(canvas):
    """Draws the copy before the computation, and the copy after it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_memory, draw_turn)):
        draw_one(panel)
