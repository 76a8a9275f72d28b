"""A thread of stage 13 of advection that processes its columns from top to bottom."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Three row sums that roll down"
HEIGHT = {"wide": 268, "narrow": 570}
CELL, ROWS = 26, 7
ALTERNATIVE = (
    "Two iterations of a thread that goes down two columns. In each iteration, it loads one row, computes two row "
    "sums, and combines them with the row sums of the two rows above, which are in registers. The oldest sums are "
    "then no longer needed.")
CAPTION = (
    "Two iterations of one thread. Each row is loaded and summed once. Its sum is used three times, first as the last, then "
    "as the middle and then as the first of three sums, and it stays in registers.")


def moment(canvas, row):
    """Draws the field, with the loaded cells, the sums in registers, and the results."""
    for i in range(ROWS):
        for j in range(6):
            is_own = j in (2, 3)
            is_loaded = i == row and 1 <= j <= 4
            canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, colour=ORANGE if is_loaded else BLUE if is_own else INK,
                       fill=0.6 if is_loaded else 0.14 if is_own else 0, edge=0.4)
    canvas.box(CELL * 2 - 2, CELL * (row - 1) - 2, 2 * CELL + 2, CELL + 2, colour=PURPLE, edge=2)
    for n, name in enumerate(("first", "middle", "last")):
        y = CELL * (row - 2 + n)
        canvas.arrow((CELL * 6 + 2, y + CELL / 2 - 1), (CELL * 6 + 24, y + CELL / 2 - 1), colour=GREEN)
        canvas.box(CELL * 6 + 28, y, 2 * CELL + 18, CELL - 2, name, GREEN, 0.4 if n == 2 else 0.2, edge=0.4, size=SMALL)


def draw(canvas):
    """Draws two iterations, and the key."""
    width = CELL * 8 + 50
    for n, panel in enumerate(canvas.panels(2, width)):
        here = panel.part(0 if canvas.is_wide else (canvas.width - width) / 2, 34)
        here.text(CELL * 4 + 25, -18, "a row later" if n else "a row is loaded", bold=True)
        moment(here, 3 + n)
    if canvas.is_wide:
        canvas.part(130, 250).key(0, 0, (ORANGE, 0.6, "loaded in this iteration"), (GREEN, 0.3, "row sums, in registers"))
        key = canvas.part(510, 250)
    else:
        canvas.part(30, 524).key(0, 0, (ORANGE, 0.6, "loaded now"), (GREEN, 0.3, "row sums, in registers"))
        key = canvas.part(30, 548)
    key.box(0, -5, 10, 10, colour=PURPLE, edge=2)
    key.text(15, 0, "written: first, middle and last", SMALL, ha="left")
