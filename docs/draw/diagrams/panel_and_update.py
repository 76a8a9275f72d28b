"""Stage 06 of Cholesky: a panel of columns, its groups of 64 columns, and the elements that each kernel writes."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A panel, and its trailing update"
HEIGHT = {"wide": 296, "narrow": 646}
SIDE, PANEL, BLOCK = 216, 72, 18
ALTERNATIVE = (
    "Two triangles. On the left, within a panel: a block on the diagonal is factorised, the rows below it are "
    "solved, and the rest of the panel is updated. On the right: the products of the whole panel are subtracted "
    "from everything to its right.")
CAPTION = ("Four groups of 64 columns in a panel of 256. Within the panel, the products of 64 columns at a time are subtracted from an element. To the "
           "right of the panel, where most of the work is, the products of 256 columns are subtracted at once.")


def triangle(canvas):
    """Draws the lower triangle, and its first panel."""
    canvas.shape([(0, 0), (SIDE, SIDE), (0, SIDE)], fill=0.04)
    canvas.line((PANEL, PANEL), (PANEL, SIDE), dashed=True)


def columns_of(canvas, first, last, colour, fill):
    """Draws the part of some columns on and below the diagonal."""
    canvas.shape([(first, first), (last, last), (last, SIDE), (first, SIDE)], colour, fill, edge=0.6)


def draw(canvas):
    """Draws a step within the panel, and the update after the panel."""
    left = 0 if canvas.is_wide else (canvas.width - SIDE) / 2
    inside, after = (panel.part(left, 36) for panel in canvas.panels(2, SIDE))
    inside.text(SIDE / 2, -20, "within a panel: three kernels, four times", SMALL, bold=True)
    triangle(inside)
    columns_of(inside, 0, BLOCK, BLUE, 0.08)
    inside.shape([(BLOCK, BLOCK), (2 * BLOCK, 2 * BLOCK), (BLOCK, 2 * BLOCK)], ORANGE, 0.8)
    inside.shape([(BLOCK, 2 * BLOCK), (2 * BLOCK, 2 * BLOCK), (2 * BLOCK, SIDE), (BLOCK, SIDE)], GREEN, 0.5)
    columns_of(inside, 2 * BLOCK, PANEL, PURPLE, 0.3)
    after.text(SIDE / 2, -20, "after the panel: one kernel", SMALL, bold=True)
    triangle(after)
    columns_of(after, 0, PANEL, BLUE, 0.08)
    after.shape([(0, PANEL), (PANEL, PANEL), (PANEL, SIDE), (0, SIDE)], GREEN, 0.5)
    columns_of(after, PANEL, SIDE, PURPLE, 0.3)
    for here, words in ((inside, "updated with 64 columns"), (after, "updated with 256 columns")):
        here.box(70, 4, 10, 10, colour=PURPLE, fill=0.3)
        here.text(85, 9, words, SMALL, ha="left")
    key = ((ORANGE, 0.8, "factorise_block"), (GREEN, 0.5, "finished rows: solve_below"), (PURPLE, 0.3, "update"))
    if canvas.is_wide:
        canvas.part(200, 276).key(0, 0, *key)
    else:
        for n, entry in enumerate(key):
            canvas.part(90, 590 + 22 * n).key(0, 0, entry)
