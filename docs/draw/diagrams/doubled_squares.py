"""How a triangle is inverted by squares that double, in stage 13 of the triangular solve."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Squares of inverses that double"
SIDE, CELL = 8, 20
HEIGHT = {"wide": 254, "narrow": 480}
ALTERNATIVE = (
    "The same lower triangle of eight rows, four times. At first, only the elements on the diagonal are inverted. "
    "Three steps replace squares of one, two and four rows below the diagonal, and each step doubles the size of "
    "the inverted triangles.")
CAPTION = (
    "A triangle of 8 rows instead of 64, with three steps instead of six. C is below two inverted halves. Two products replace C "
    "by −B⁻¹CA⁻¹, for all pairs of a step at once. The blue elements are still elements of L.")
NAMES = "reciprocals", "h = 1: four of two rows", "h = 2: two of four rows", "h = 4: one of eight rows"


def draw_inverse(canvas, first, rows, name):
    """Draws a triangle on the diagonal that is inverted, with its name."""
    at = CELL * first
    steps = [(at + CELL * (n + right), at + CELL * (n + down)) for n in range(rows) for right, down in ((0, 0), (1, 0), (1, 1))]
    canvas.shape([*steps, (at, at + CELL * rows)], GREEN, 0.4)
    canvas.text(at + CELL * (rows + 0.2) * 0.42, at + CELL * rows * (0.5 if rows == 1 else 0.68), name, SMALL)


def draw_step(canvas, half, name):
    """Draws L, its inverted squares before the step, and the squares that the step replaces."""
    canvas.text(SIDE * CELL / 2, -18, name, SMALL, bold=True)
    for i in range(SIDE):
        for j in range(i // (2 * half) * 2 * half if half else i):
            canvas.box(CELL * j, CELL * i, CELL, CELL, colour=BLUE, fill=0.08, edge=0.3)
    for first in range(0, SIDE, half or 1):
        name_of_half = ("A⁻¹", "B⁻¹")[first // half % 2] if half else ""
        draw_inverse(canvas, first, half or 1, name_of_half)
    for first in range(0, SIDE, 2 * half) if half else ():
        canvas.box(CELL * first, CELL * (first + half), CELL * half, CELL * half, "C", ORANGE, 0.55)


def draw(canvas):
    """Draws the steps: side by side, or two by two."""
    across = canvas.width / (4 if canvas.is_wide else 2)
    for n, (half, name) in enumerate(zip((0, 1, 2, 4), NAMES)):
        column, row = (n, 0) if canvas.is_wide else (n % 2, n // 2)
        draw_step(canvas.part(across * column + (across - SIDE * CELL) / 2, 40 + 220 * row), half, name)
    key = canvas.part((canvas.width - 270) / 2, canvas.height - 16)
    key.key(0, 0, (GREEN, 0.4, "inverted"), (ORANGE, 0.55, "replaced now"), (BLUE, 0.08, "still L"))
