"""Blocks of rows that wait for unknowns, in stage 07 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Blocks of rows that wait for unknowns"
HEIGHT = {"wide": 262, "narrow": 400}
SIDE, CELL = 6, 34
ALTERNATIVE = (
    "A triangle of six rows of blocks, one row per thread block, with the unknowns of each on the right. Rows 0 "
    "to 2 are finished, row 3 multiplies by its inverse, and rows 4 and 5 wait for the unknowns of row 3.")
CAPTION = (
    "Each thread block proceeds along its block row as far as unknowns have been published. Of the thread blocks that have not "
    "ended, the one with the smallest index does not have to wait.")


def draw(canvas):
    """Draws the triangle, the unknowns, and the meaning of the colours."""
    left = (canvas.width - (SIDE * CELL + 380)) / 2 if canvas.is_wide else (canvas.width - SIDE * CELL - 70) / 2 + 30
    here = canvas.part(left, 36)
    here.text(SIDE * CELL / 2, -16, "L", bold=True)
    here.text(SIDE * CELL + (48 if canvas.is_wide else 40), -16, "x", bold=True)
    for i in range(SIDE):
        here.text(-8, CELL * i + CELL / 2 - 1, f"{i}", SMALL, ha="right")
        for j in range(i + 1):
            is_inverse = i == j
            colour, fill = (BLUE, 0.16) if i < 3 else (GREEN, 0.45) if j < 3 else (ORANGE, 0.65) if i == 3 else \
                (PURPLE, 0.4) if j == 3 else (INK, 0)
            here.box(CELL * j, CELL * i, CELL - 2, CELL - 2, "inv" if is_inverse else "", colour, fill, edge=0.4, size=SMALL)
        here.box(SIDE * CELL + 26, CELL * i, 44 if canvas.is_wide else 28, CELL - 2, "ready" if i < 3 and canvas.is_wide else "" if i < 3 else "NaN",
                 BLUE if i < 3 else INK, 0.3 if i < 3 else 0, edge=0.4, size=SMALL)
    for i in (4, 5):
        here.arrow((SIDE * CELL + 24, CELL * 3 + CELL / 2), (CELL * 4 - 4, CELL * i + 6), width=0.8, dashed=True)
    words = canvas.part(left + SIDE * CELL + 106, 66) if canvas.is_wide else canvas.part(40, 272)
    for n, entry in enumerate(((BLUE, 0.16, "of blocks that have ended"), (GREEN, 0.45, "used, concurrently with other rows"),
                               (ORANGE, 0.65, "now: the inverse gives row 3's unknowns"), (PURPLE, 0.4, "waits for row 3's unknowns"), (INK, 0, "later"))):
        words.key(0, 24 * n, entry)
