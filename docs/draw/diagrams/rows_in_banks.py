"""The banks from which eight lanes of stage 07 of Cholesky read a pack each, with and without padding of rows."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Eight packs, from the same banks or from all of them"
HEIGHT = {"wide": 252, "narrow": 504}
ROWS, BANKS, PACK = 8, 32, 4  # banks are 4 bytes wide, packs 16
CELL, HIGH = 9, 20
ALTERNATIVE = (
    "Two charts of 32 banks, with a line for each of eight neighbouring rows in shared memory. On the left rows are 128 bytes long: the "
    "first pack of each row lies in banks 0 to 3, so that eight lanes read one after the other. On the right each row is 16 bytes "
    "longer: the pack of row 0 lies in banks 0 to 3, that of row 1 in banks 4 to 7, and so on to row 7 in banks 28 to 31, and eight "
    "lanes read at the same time.")
CAPTION = (
    "The first pack of each row, which eight lanes read at a time. Another pack lies as many banks further to the right in all rows, "
    "round and round.")


def chart(canvas, name, length, words):
    """Rows of so many banks, and where each has its pack."""
    canvas.text(CELL * BANKS / 2, -36, name, bold=True)
    for bank in range(0, BANKS + 1, PACK):
        canvas.line((CELL * bank, 0), (CELL * bank, HIGH * ROWS), width=0.4, opacity=0.4)
        if bank < BANKS:
            canvas.text(CELL * (bank + PACK / 2), -9, f"{bank}–{bank + PACK - 1}", SMALL)
    canvas.text(-6, -9, "banks", SMALL, ha="right")
    firsts = [row * length % BANKS for row in range(ROWS)]
    for row, first in enumerate(firsts):
        canvas.text(-6, HIGH * (row + 0.5), f"row {row}", SMALL, ha="right")
        canvas.box(CELL * first, HIGH * row + 2, CELL * PACK, HIGH - 4, f"lane {row}", ORANGE if firsts.count(first) > 1 else BLUE, 0.5,
                   edge=0.5, size=SMALL)
    canvas.box(0, 0, CELL * BANKS, HIGH * ROWS, colour=INK, edge=0.5)
    canvas.text(CELL * BANKS / 2, HIGH * ROWS + 16, words, SMALL)


def draw(canvas):
    """Rows of 128 bytes on the left or above, rows of 144 bytes beside or below them."""
    short, padded = (panel.part(44, 58) for panel in canvas.panels(2, 338))
    chart(short, "rows of 128 bytes", BANKS, "8 turns: all want banks 0 to 3")
    chart(padded, "rows of 144 bytes", BANKS + PACK, "1 turn: each has banks of its own")
