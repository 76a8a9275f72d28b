"""Stage 06 of local volatility: the banks of a column of a tile, without and with the exclusive or."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "A column of a tile, and its banks"
HEIGHT = {"wide": 350, "narrow": 690}
ALTERNATIVE = (
    "Two tiles of 16 by 16 elements in shared memory, with one column for each pair of banks. Without the "
    "exclusive or, a column of the tile is in a single pair of banks. With it, each column and each row of the "
    "tile uses all 16 pairs.")
CAPTION = (
    "A tile of 16 × 16 elements of 8 bytes in shared memory; each column of the picture is a pair of banks. Column 3 of the "
    "tile is orange, and row 5 is blue. With place(y, x) = x xor y, each of them uses all pairs.")

CELL, SIDE = 18, 16


def tile(canvas, name, place):
    """Draws a tile with a column and a row marked."""
    canvas.text(170, 12, name, bold=True)
    left, top = 34, 54
    canvas.box(left, top, CELL * SIDE, CELL * SIDE)
    for line in range(1, SIDE):
        canvas.line((left + CELL * line, top), (left + CELL * line, top + CELL * SIDE), width=0.4, opacity=0.4)
        canvas.line((left, top + CELL * line), (left + CELL * SIDE, top + CELL * line), width=0.4, opacity=0.4)
    for x in range(SIDE):
        canvas.box(left + CELL * place(5, x), top + 5 * CELL, CELL, CELL, f"{x}", BLUE, 0.22, edge=0, size=SMALL)
    for y in range(SIDE):
        canvas.box(left + CELL * place(y, 3), top + CELL * y, CELL, CELL, "" if y == 5 else "3", ORANGE, 0.45,
                   edge=0, size=SMALL)
    for number in range(0, SIDE, 5):
        canvas.text(left + CELL * (number + 0.5), top - 8, f"{number}", SMALL)
        canvas.text(left - 6, top + CELL * (number + 0.5), f"{number}", SMALL, ha="right")
    canvas.text(left + CELL * SIDE / 2, 31, "pair of banks", SMALL)
    canvas.text(4, 45, "row y", SMALL, ha="left")


def draw(canvas):
    """Draws both panels."""
    before, after = canvas.panels(2)
    tile(before, "row-major", lambda y, x: x)
    tile(after, "with the exclusive or", lambda y, x: x ^ y % SIDE)
