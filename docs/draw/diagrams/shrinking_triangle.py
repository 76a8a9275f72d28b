"""Three steps of the blocked triangular solve."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Steps of the blocked solve"
HEIGHT = {"wide": 256, "narrow": 700}
ALTERNATIVE = (
    "The same triangle in three successive steps. In each step, the block on the diagonal is solved, and the "
    "blocks below it are multiplied by its unknowns. The remaining triangle becomes smaller in each step.")
CAPTION = ("Six blocks of 64 rows and columns. One thread solves the orange triangle row by row. Then each equation below subtracts 64 "
           "products. A step has two barriers of all threads.")
BLOCKS, SIDE = 6, 30


def draw_turn(canvas, turn):
    """Draws the blocks that are complete, that are being computed, and that are still to be computed."""
    canvas.text(BLOCKS * SIDE / 2, 12, f"step {turn}", bold=True)
    top = 28
    for row in range(BLOCKS):
        for column in range(row + 1):
            x, y = SIDE * column, top + SIDE * row
            if column < turn:
                colour, fill = BLUE, 0.06
            elif column > turn:
                colour, fill = BLUE, 0.2
            else:
                colour, fill = (ORANGE, 0.0) if row == turn else (GREEN, 0.45)
            if row == column:
                canvas.shape([(x, y), (x, y + SIDE), (x + SIDE, y + SIDE)], ORANGE if column == turn else colour,
                             0.6 if column == turn else fill)
            else:
                canvas.box(x, y, SIDE, SIDE, colour=colour, fill=fill, edge=0.4)


def draw(canvas):
    """Draws three steps and a key."""
    across = BLOCKS * SIDE
    for turn in range(3):
        x = (canvas.width - 3 * across - 2 * 60) / 2 + turn * (across + 60) if canvas.is_wide else (canvas.width - across) / 2
        draw_turn(canvas.part(x, 0 if canvas.is_wide else 222 * turn), turn)
    key = canvas.part((canvas.width - (430 if canvas.is_wide else 320)) / 2, canvas.height - 20)
    key.key(0, 0, (ORANGE, 0.6, "solved by rows"), (GREEN, 0.45, "multiplied"), (BLUE, 0.2, "not yet"), (BLUE, 0.06, "done"), gap=9)
