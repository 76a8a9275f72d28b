"""Stage 14 of advection: the rows of each step that a warp computes after it has loaded a row."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Each row passes through all steps"
HEIGHT = {"wide": 300, "narrow": 610}
STEPS, ROWS, CELL = 4, 9, 24
ALTERNATIVE = (
    "First: a table of rows against steps. When a row arrives, step 1 of the row above can be computed, then step "
    "2 of the next higher row, and so on along a diagonal. Second: the columns of a warp. At both edges, one more "
    "column is incorrect after each step.")
CAPTION = (
    "Four steps instead of six, and 16 columns instead of 64. Along y, nothing is computed twice. Along x, the next warp "
    "computes the margins again.")


def along_y(canvas, arrived=6):
    """Draws rows downwards and steps to the right."""
    canvas.text(CELL * 3, -34, "down the columns", bold=True)
    for step in range(STEPS + 1):
        canvas.text(CELL * step + CELL / 2, -12, "read" if step == 0 else f"{step}", SMALL)
        for row in range(ROWS):
            front = arrived - step
            colour, fill = (ORANGE, 0.65) if row == front else (PURPLE, 0.3) if front - 2 <= row < front and step < STEPS else \
                (BLUE, 0.18) if row < front else (INK, 0)
            canvas.box(CELL * step, CELL * row, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0.4)
    for row in range(ROWS):
        canvas.text(-8, CELL * row + CELL / 2, f"{row}", SMALL, ha="right")
    for row in range(2, arrived + 1):
        if row > arrived - STEPS:
            step = arrived - row
            canvas.arrow((CELL * (step + 0.8), CELL * (row + 0.2)), (CELL * (step + 1.2), CELL * (row - 0.2)), width=0.8)


def along_x(canvas, cell=15):
    """Draws columns to the right and steps downwards."""
    canvas.text(cell * 8, -34, "across the warp", bold=True)
    for step in range(STEPS + 1):
        y = 26 * step
        canvas.text(-8, y + 10, "read" if step == 0 else f"{step}", SMALL, ha="right")
        for column in range(16):
            is_right = step <= column < 16 - step
            colour, fill = (GREEN, 0.5) if STEPS <= column < 16 - STEPS else (BLUE, 0.18)
            canvas.box(cell * column, y, cell - 2, 20, colour=colour if is_right else INK, fill=fill if is_right else 0, edge=0.4)


def draw(canvas):
    """Draws rows of steps, columns of steps, and the key."""
    along_y(canvas.part(150 if canvas.is_wide else 110, 56))
    along_x(canvas.part(480 if canvas.is_wide else 60, 56 if canvas.is_wide else 380))
    key = canvas.part(440, 210) if canvas.is_wide else canvas.part(40, 530)
    key.key(0, 0, (ORANGE, 0.65, "computed now"), (PURPLE, 0.3, "waiting partial sums"))
    key.key(0, 22, (BLUE, 0.18, "correct"), (GREEN, 0.5, "written after the last step"))
    key.key(0, 44, (INK, 0, "later, or wrong"))
