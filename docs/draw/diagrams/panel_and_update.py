"""Panels of columns, blocks within a panel, and what each kernel of stage 06 of Cholesky works on."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A panel, and what is to the right of it"
HEIGHT = {"wide": 296, "narrow": 646}
SIDE, PANEL, BLOCK = 216, 72, 18
ALTERNATIVE = (
    "Two lower triangles. On the left, within a panel of four blocks of columns: a block on the diagonal is factorised, the rows below it are solved "
    "with it, and their products are taken off the other columns of the panel only. On the right, when the whole panel is known: the products of all "
    "its columns are taken off everything to the right of it at once.")
CAPTION = ("Four blocks of 64 columns in a panel of 256. Within the panel an element is updated by 64 columns at a time; to the right of it, where "
           "most of the work is, by 256.")


def triangle(canvas):
    """The lower triangle, and its first panel."""
    canvas.shape([(0, 0), (SIDE, SIDE), (0, SIDE)], fill=0.04)
    canvas.line((PANEL, PANEL), (PANEL, SIDE), dashed=True)


def columns_of(canvas, first, last, colour, fill):
    """What is on and below the diagonal in columns."""
    canvas.shape([(first, first), (last, last), (last, SIDE), (first, SIDE)], colour, fill, edge=0.6)


def draw(canvas):
    """A turn within the panel, and what follows the panel."""
    left = 0 if canvas.is_wide else (canvas.width - SIDE) / 2
    inside, after = (panel.part(left, 36) for panel in canvas.panels(2, SIDE))
    inside.text(SIDE / 2, -20, "within a panel: three kernels, four times", SMALL, bold=True)
    triangle(inside)
    columns_of(inside, 0, BLOCK, BLUE, 0.08)
    inside.shape([(BLOCK, BLOCK), (2 * BLOCK, 2 * BLOCK), (BLOCK, 2 * BLOCK)], ORANGE, 0.8)
    inside.shape([(BLOCK, 2 * BLOCK), (2 * BLOCK, 2 * BLOCK), (2 * BLOCK, SIDE), (BLOCK, SIDE)], GREEN, 0.5)
    columns_of(inside, 2 * BLOCK, PANEL, PURPLE, 0.3)
    after.text(SIDE / 2, -20, "behind the panel: one kernel", SMALL, bold=True)
    triangle(after)
    columns_of(after, 0, PANEL, BLUE, 0.08)
    after.shape([(0, PANEL), (PANEL, PANEL), (PANEL, SIDE), (0, SIDE)], GREEN, 0.5)
    columns_of(after, PANEL, SIDE, PURPLE, 0.3)
    for here, words in ((inside, "64 columns are taken off these"), (after, "256 columns are taken off these")):
        here.box(70, 4, 10, 10, colour=PURPLE, fill=0.3)
        here.text(85, 9, words, SMALL, ha="left")
    key = ((ORANGE, 0.8, "factorise_block"), (GREEN, 0.5, "known rows: solve_below"), (PURPLE, 0.3, "update"))
    if canvas.is_wide:
        canvas.part(200, 276).key(0, 0, *key)
    else:
        for n, entry in enumerate(key):
            canvas.part(90, 590 + 22 * n).key(0, 0, entry)
