"""Stages 08 and 11 of the triangular solve: the elements of L and the unknowns that a thread reads in a step."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Sixteen elements of L, in one row or in four"
HEIGHT = {"wide": 186, "narrow": 384}
PAIRS, CELL, ROWS = 32, 9, 4
THREAD = 1
ALTERNATIVE = (
    "32 pairs of unknowns above four rows of a block of L, twice. In stage 08, a thread has eight pairs of one "
    "row and reads eight pairs of unknowns. In stage 11, it has two pairs in each of four rows and reads only two "
    "pairs of unknowns.")
CAPTION = (
    "A cell is a pair of elements. Orange: the pairs of L that thread 1 has, eight in both stages. Green: the pairs of unknowns that "
    "it reads from shared memory, eight in stage 08 and two in stage 11.")


def draw_thread(canvas, name, across, rows, count):
    """Draws the unknowns and four rows of L. Each row is shared by `across` threads, and each thread has `rows` rows;
    its pairs are marked."""
    canvas.text(CELL * PAIRS / 2, -24, name, bold=True)
    canvas.text(-8, 8, "x", SMALL, ha="right")
    canvas.text(-8, 37 + 11, "L", SMALL, ha="right")
    for pair in range(PAIRS):
        is_own = pair % across == THREAD
        canvas.box(CELL * pair, 0, CELL - 1, 16, colour=GREEN if is_own else BLUE, fill=0.7 if is_own else 0.06, edge=0.4)
        for row in range(ROWS):
            has = is_own and row < rows
            canvas.box(CELL * pair, 40 + 18 * row, CELL - 1, 16, colour=ORANGE if has else BLUE, fill=0.7 if has else 0.06, edge=0.4)
        if is_own:
            canvas.arrow((CELL * (pair + 0.5) - 0.5, 17), (CELL * (pair + 0.5) - 0.5, 39 + 18 * (rows - 1)), GREEN)
    canvas.text(CELL * PAIRS / 2, 128, count, SMALL)


def draw(canvas):
    """Draws both panels."""
    one, four = canvas.panels(2)
    draw_thread(one.part(30, 44), "08: four threads to a row", 4, 1, "8 reads of unknowns for 8 pairs of L")
    draw_thread(four.part(30, 44), "11: sixteen threads to four rows", 16, ROWS, "2 reads of unknowns for 8 pairs of L")
