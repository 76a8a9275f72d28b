"""A step of stage 19 of the triangular solve: sums of four rows, and triangles of four by four elements."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Four rows at a time"
HEIGHT = {"wide": 280, "narrow": 300}
CELL, ROWS, BELOW = 9, 16, 8
ALTERNATIVE = (
    "A diagonal block of sixteen rows in groups of four. Each group has a rectangle to the left of the diagonal, which grows "
    "by four columns from group to group, and a triangle of four rows on the diagonal. Below the block, two more groups of "
    "four rows have rectangles across all sixteen columns.")
CAPTION = (
    "A diagonal block (drawn with 16 rows instead of 64) and eight rows below it. Each rectangle contains the products of a call of subtract. In "
    "a triangle, each unknown depends on the unknown before it.")


def draw(canvas):
    """Draws rectangles and triangles, and a key."""
    here = canvas.part((canvas.width - CELL * ROWS - 60) / 2 + 60, 14)
    for group in range((ROWS + BELOW) // 4):
        top, is_below = 4 * CELL * group + (10 if 4 * group >= ROWS else 0), 4 * group >= ROWS
        columns = ROWS if is_below else 4 * group
        if columns:
            here.box(0, top + 1, CELL * columns, 4 * CELL - 2, "four sums" if columns >= 8 else "", GREEN if is_below else BLUE, 0.3,
                     size=SMALL, edge=0.6)
        if not is_below:
            left = CELL * columns
            here.shape(((left + 2, top + 1), (left + 2, top + 4 * CELL - 1), (left + 4 * CELL, top + 4 * CELL - 1)), ORANGE, 0.6)
        here.text(-8, top + 2 * CELL, f"rows {4 * group} to {4 * group + 3}", SMALL, ha="right")
    bottom = 4 * CELL * (ROWS + BELOW) // 4 + 44
    key = canvas.part(100 if canvas.is_wide else 6, bottom)
    entries = ((BLUE, 0.3, "in the block"), (ORANGE, 0.6, "one by one"), (GREEN, 0.3, "below it, all threads"))
    if canvas.is_wide:
        key.key(0, 0, *entries)
    else:
        key.key(0, 0, *entries[:2])
        key.key(0, 20, entries[2])
