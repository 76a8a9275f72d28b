"""How a thread of stage 19 of advection finds its pairs where a row has an odd number of columns."""

from draw.canvas import GREEN, ORANGE, SMALL

TITLE = "Pairs in rows of seven columns"
HEIGHT = {"wide": 226, "narrow": 250}
COLS, ROWS = 7, 4
ALTERNATIVE = (
    "Four rows of seven cells, moved so that dashed lines stand where even addresses are. Rows 0 and 2 begin at such "
    "a line: their pairs 0 and 1, 2 and 3, 4 and 5 lie between two lines and are loaded by one access each. Rows 1 "
    "and 3 begin half-way between two lines: each of their pairs lies across a line, and is loaded cell by cell. Cell "
    "6 is the last of each row, and alone.")
CAPTION = (
    "Dashed lines are even addresses, counted in cells; an access of two cells may begin nowhere else. With seven "
    "columns every other row begins between two of them.")


def draw(canvas):
    """Rows, each from its own address on."""
    cell = 40 if canvas.is_wide else 30
    here = canvas.part((canvas.width - cell * (COLS + 1)) / 2 + 20, 34)
    for address in range(0, COLS + 2, 2):
        here.line((cell * address, -8), (cell * address, 36 * ROWS + 2), width=0.9, dashed=True)
    for row in range(ROWS):
        offset = row * COLS % 2
        here.text(-10, 36 * row + 15, f"row {row}", SMALL, ha="right")
        for j in range(0, COLS, 2):
            is_pair = j + 1 < COLS
            x = cell * (j + offset)
            if is_pair and not offset:
                here.box(x + 2, 36 * row + 2, 2 * cell - 4, 26, f"{j} and {j + 1}", GREEN, 0.35, size=SMALL)
            else:
                for k in range(2 if is_pair else 1):
                    here.box(x + cell * k + 2, 36 * row + 2, cell - 4, 26, f"{j + k}", ORANGE, 0.3, size=SMALL)
    key = canvas.part((canvas.width - 330) / 2, 36 * ROWS + 56)
    key.key(0, 0, (GREEN, 0.35, "a pair, by one access"), (ORANGE, 0.3, "cells by themselves"))
