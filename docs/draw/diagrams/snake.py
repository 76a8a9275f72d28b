"""The order of slices in stage 08 of the sliced product, and the panels that stay on the GPU."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "An order of slices in which panels stay on the GPU"
HEIGHT = {"wide": 310, "narrow": 330}
GROUPS, ROWS, COLS = 3, 2, 6
ALTERNATIVE = (
    "C as six by six slices in three groups of two rows. A line visits the first group from left to right, the "
    "second one from right to left, and the third one from left to right. At each reversal, two panels of B are "
    "still on the GPU.")
CAPTION = (
    "Six by six slices, with memory for two panels of A at a time. A panel of A crosses PCIe once, and a panel of B once per group. The "
    "two panels of B at the end of a group, where the line reverses, are used again by the next group.")


def draw(canvas):
    """Draws panels of B above, panels of A on the left, and the slices with the path through them."""
    cell = 34 if canvas.is_wide else 32
    left = (canvas.width - cell * COLS) / 2 + (0 if canvas.is_wide else 24)
    here = canvas.part(left, 58)
    here.text(cell * COLS / 2, -46, "panels of B", SMALL)
    here.text(-54, cell * 3 - 2, "panels of A", SMALL, rotation=90)
    for column in range(COLS):
        is_kept = column >= COLS - 2
        here.box(cell * column, -32, cell - 3, 24, colour=ORANGE, fill=0.6 if is_kept else 0.25, edge=0.4)
    for row in range(GROUPS * ROWS):
        here.box(-40, cell * row + 6 * (row // ROWS), 28, cell - 3, colour=GREEN, fill=0.6 if row < ROWS else 0.25, edge=0.4)
        for column in range(COLS):
            here.box(cell * column, cell * row + 6 * (row // ROWS), cell - 3, cell - 3, colour=BLUE, fill=0.14, edge=0.4)
    points = []
    for group in range(GROUPS):
        top = (ROWS * cell + 6) * group
        for column in range(COLS) if group % 2 == 0 else reversed(range(COLS)):
            x = cell * column + cell / 2 - 1
            points += [(x, top + cell / 2 - 1), (x, top + cell * 3 / 2 - 1)]
    here.line(*points, colour=INK, width=1.2)
    here.dot(*points[0], hollow=True)
    here.arrow(points[-2], points[-1], width=1.2)
    words = canvas.part(left + cell * COLS + 20, 130) if canvas.is_wide else canvas.part(30, 296)
    if canvas.is_wide:
        words.key(0, 0, (GREEN, 0.6, "stay for a group"))
        words.key(0, 22, (ORANGE, 0.6, "also used by the next group"))
    else:
        words.key(0, 0, (GREEN, 0.6, "stay for a group"), (ORANGE, 0.6, "also by the next"))
