"""Stage 04 of Cholesky: the panels of rows, and the computation of a part of a block from two panels."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Panels of rows, and a part of a block in registers"
HEIGHT = {"wide": 326, "narrow": 652}
PANELS, SIDE = 7, 32
P, Q, FIRST = 5, 3, 1  # indices of the panels of a block, and the first block column whose products the block subtracts
WIDTH, VECTOR, PART = 24, 8, 8  # values for f64 with AVX-512
ALTERNATIVE = (
    "First: L as seven panels of rows, which are stored column by column. The products of two panels are "
    "subtracted from block (p, q). Second: one column of both panels. Three vectors from panel p are multiplied "
    "by eight broadcast elements of panel q.")
CAPTION = (
    "First: p and q are panels of 24 rows, in f64; a block has 24 × 24 elements. Second: a part of block (p, q), and the elements of "
    "column k that update it, with AVX-512. Rows of L are lanes of vectors, so no sum runs across lanes.")


def draw_panels(canvas):
    """Draws L in panels, and the blocks that one block reads."""
    canvas.text(170, 12, "L in panels of 24 rows", bold=True)
    here = canvas.part(58, 56)
    looks = {(P, Q): (ORANGE, 0.65)}
    looks |= {(P, c): (BLUE, 0.4) for c in range(FIRST, Q)} | {(Q, c): (GREEN, 0.4) for c in range(FIRST, Q)}
    for row in range(PANELS):
        for column in range(row + 1):
            colour, fill = looks.get((row, column), (INK, 0.04))
            here.box(SIDE * column, SIDE * row, SIDE, SIDE - 5, colour=colour, fill=fill, edge=0.4)
        here.box(0, SIDE * row, SIDE * (row + 1), SIDE - 5, edge=1)
    for row, name in ((P, "p"), (Q, "q")):
        here.text(-14, SIDE * (row + 0.5) - 3, name, bold=True)
    here.text(SIDE * (Q + 0.5), SIDE * (P + 0.5) - 3, "p, q", SMALL)
    for n in range(3):
        here.arrow((6 + 9 * n, SIDE * Q + 3), (6 + 9 * n, SIDE * Q + 25), width=0.9)
    here.line((SIDE * FIRST, SIDE * PANELS + 2), (SIDE * Q, SIDE * PANELS + 2), width=1.2)
    here.text(SIDE * (FIRST + Q) / 2, SIDE * PANELS + 14, "columns k", SMALL)
    here.text(120, 22, "arrows: contiguous\nelements", SMALL, ha="left")


def draw_part(canvas):
    """Draws a part of the block, and the elements of a column that it needs."""
    canvas.text(170, 12, "a part of block (p, q), and a column k", bold=True)
    left, top, cell, down = 112, 74, 9, 9
    wide, high = cell * PART, down * WIDTH
    canvas.text(left + wide + 8, 59, "of panel q: 8 to broadcast", SMALL, ha="left")
    canvas.text(left - 6, 61, "column k", SMALL, ha="right")
    for n in range(PART):
        canvas.box(left + cell * n + 1, 52, cell - 1.5, 14, colour=GREEN, fill=0.6 if n == 2 else 0.25, edge=0.4)
    for v in range(WIDTH // VECTOR):
        y = top + down * VECTOR * v
        canvas.box(left - 24, y + 1, 16, down * VECTOR - 3, colour=BLUE, fill=0.45, edge=0.6)
        canvas.text(left - 32, y + down * VECTOR / 2, f"vector {v}\nof panel p", SMALL, ha="right")
        for n in range(PART):
            canvas.box(left + cell * n + 1, y + 1, cell - 1.5, down * VECTOR - 3, colour=ORANGE,
                       fill=0.6 if n == 2 else 0.22, edge=0.4)
    for n in range(1, WIDTH // PART):
        canvas.box(left + wide * n, top, wide, high - 1, "then\nthese" if n == 1 else "and\nthese", INK, 0.04, edge=0.5, size=SMALL)
    canvas.arrow((left + cell * 2.5, 67), (left + cell * 2.5, top + high - 4), GREEN, 1.2)
    canvas.text(left + wide * 1.5, top + high + 14, "orange: 8 × 3 vectors of sums, in registers", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_panels, draw_part)):
        draw_one(panel)
