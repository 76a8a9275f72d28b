"""The thread blocks and SMs that work in the kernels of stage 05 of the triangular solve."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One thread block solves, then many subtract"
HEIGHT = {"wide": 256, "narrow": 520}
BLOCKS, SIDE, TURN = 6, 32, 1
SOLVE, SUBTRACT = 4, 1  # durations as drawn; the page predicts a ratio of 12 to 3
ALTERNATIVE = (
    "First: the triangle in blocks of 64 in step 1, with one thread block for the block on the diagonal and one "
    "for each block below it. Second: six SMs over time. One SM alone works for a long time in each step, and a "
    "short kernel then uses several.")
CAPTION = (
    "Six block rows, with one SM for each, although a GPU has many more SMs. A dashed line is the end of a kernel, which is a "
    "barrier for all thread blocks. The lengths have the predicted ratio of four to one. Most SMs are idle for most of the time.")


def draw_turn(canvas):
    """Draws the triangle, with the indices of the thread blocks of two kernels."""
    canvas.text(BLOCKS * SIDE / 2, -28, f"L in step {TURN}", bold=True)
    for i in range(BLOCKS):
        for j in range(i + 1):
            is_diagonal, is_below = i == j == TURN, i > j == TURN
            colour, fill, words = (ORANGE, 0.5, "0") if is_diagonal else (GREEN, 0.5, f"{i - TURN - 1}") if is_below else \
                (BLUE, 0.04 if j < TURN else 0.16, "")
            canvas.box(SIDE * j, SIDE * i, SIDE - 2, SIDE - 2, words, colour, fill, edge=0.4)
    for n, entry in enumerate(((ORANGE, 0.5, "solve_diagonal"), (GREEN, 0.5, "subtract"), (BLUE, 0.16, "later"))):
        canvas.key(SIDE * 4 - 8, 20 + 20 * n, entry)


def draw_time(canvas):
    """Draws the work of the SMs, one row for each."""
    unit, row = 19, 26
    canvas.text(unit * 7.5, -28, "SMs over time", bold=True)
    for turn in range(3):
        begin = unit * (SOLVE + SUBTRACT) * turn
        canvas.text(begin + unit * 2.5, -12, f"step {turn}", SMALL)
        canvas.box(begin, 0, unit * SOLVE - 2, row - 3, "solve", ORANGE, 0.5, edge=0.4, size=SMALL)
        for block in range(BLOCKS - 1 - turn):
            canvas.box(begin + unit * SOLVE, row * block, unit * SUBTRACT - 2, row - 3, f"{block}", GREEN, 0.5, edge=0.4, size=SMALL)
        for end in (SOLVE, SOLVE + SUBTRACT):
            canvas.line((begin + unit * end - 1, -4), (begin + unit * end - 1, row * BLOCKS + 2), width=0.6, dashed=True)
    for block in range(BLOCKS + 1):
        canvas.line((0, row * block - 1.5), (unit * 15, row * block - 1.5), width=0.4, opacity=0.4)
    canvas.arrow((0, row * BLOCKS + 14), (unit * 15, row * BLOCKS + 14), width=0.8)
    canvas.text(unit * 7.5, row * BLOCKS + 28, "time", SMALL)


def draw(canvas):
    """Draws both panels."""
    left, right = canvas.panels(2)
    draw_turn(left.part(34, 46))
    draw_time(right.part(27, 46))
