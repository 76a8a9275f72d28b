"""The loads and stores for two neighbouring cells in stage 11 of advection and in stage 19."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Loads for two cells: 18 in stage 11, nine in stage 19"
HEIGHT = {"wide": 246, "narrow": 492}
CELL = 32
ALTERNATIVE = (
    "Three rows of four cells, j − 1 to j + 2. In stage 11, two threads make nine loads each for cells j and j + "
    "1. In stage 19, one thread makes nine loads for both cells, because it loads the pair in each row together.")
CAPTION = (
    "A box is one access, and its number counts the loads. In stage 19, one access loads each of the three pairs, and one "
    "access stores both results.")


def names(canvas, y):
    """Draws the names of the four columns."""
    for j, name in enumerate(("j − 1", "j", "j + 1", "j + 2")):
        canvas.text(CELL * (j + 0.5), y, name, SMALL)


def draw_thread(canvas, loads, stored, first=1):
    """Draws the loads of a thread in each of three rows, as (first column, columns), and its store."""
    names(canvas, -8)
    number = first
    for i in range(3):
        for j in {0, 1, 2, 3} - {j + k for j, count in loads for k in range(count)}:
            canvas.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 6, edge=0.3, dashed=True)
        for j, count in loads:
            colour, fill = (ORANGE, 0.4) if count == 2 else (BLUE, 0.2)
            canvas.box(CELL * j + 1, CELL * i + 1, CELL * count - 2, CELL - 6, f"{number}", colour, fill, size=SMALL)
            number += 1
    j, count = stored
    canvas.arrow((CELL * (j + count / 2), CELL * 3), (CELL * (j + count / 2), CELL * 3 + 22))
    canvas.box(CELL * j + 1, CELL * 3 + 26, CELL * count - 2, CELL - 6, "store", GREEN, 0.3, size=SMALL)


def draw_single(canvas):
    """Draws stage 11: a thread computes one cell at a time."""
    canvas.text(152, 12, "11: one cell per iteration", bold=True)
    for n, name in enumerate(("a thread", "the next thread")):
        part = canvas.part(4 + 168 * n, 76)
        part.text(2 * CELL, -30, name, SMALL)
        draw_thread(part, [(n + j, 1) for j in range(3)], (n + 1, 1), 1 + 9 * n)


def draw_pair(canvas):
    """Draws stage 19: a thread computes a pair."""
    canvas.text(152, 12, "19: two cells per iteration", bold=True)
    part = canvas.part(88, 76)
    part.text(2 * CELL, -30, "a thread", SMALL)
    draw_thread(part, [(0, 1), (1, 2), (3, 1)], (1, 2))


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2, 304), (draw_single, draw_pair)):
        draw_one(panel.part(0 if canvas.is_wide else 14, 0))
