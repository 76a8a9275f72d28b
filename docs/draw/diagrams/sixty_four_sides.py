"""A step of stage 10 of the triangular solve, and the sums of a thread in a tile."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Sixty-four right-hand sides at a time"
HEIGHT = {"wide": 306, "narrow": 620}
STEPS, TILES, STEP = 5, 2, 1  # blocks of rows, tiles of right-hand sides, and the step that is drawn
BLOCK, SHARE, DEPTH = 64, 4, 16
ROW, SIDE = 5, 9  # first row and first right-hand side of the thread
ALTERNATIVE = (
    "First: L in blocks of 64 by 64 and right-hand sides in tiles of 64 by 64. In step 1, the unknowns of one row "
    "of tiles are computed, and three rows of tiles below are updated. Second: a tile of sums, of which a thread "
    "has every sixteenth row and column.")
CAPTION = (
    "First part: step 1 of a system of 320 equations, with 128 right-hand sides. A block of L serves a whole row of tiles, 64 right-hand "
    f"sides per thread block. Second part: the thread of row {ROW} and side {SIDE}. Eight elements from shared memory serve sixteen "
    "products.")


def draw_turn(canvas):
    """Draws the triangle, and the factors of the step."""
    canvas.text(170, 12, f"step {STEP}", bold=True)
    size, left, right, top = 36, 8, 232, 60
    canvas.text(left + size * STEPS / 2, 46, "L", bold=True)
    canvas.text(right + size * TILES / 2, 32, "right-hand sides", SMALL)
    for tile in range(TILES):
        canvas.text(right + size * (tile + 0.5), 50, "64", SMALL)
    for row in range(STEPS):
        y = top + size * row
        for column in range(row + 1):
            is_inverse, is_factor = row == column == STEP, row > column == STEP
            canvas.box(left + size * column, y, size - 2, size - 2, "inv" if is_inverse else "", GREEN if is_inverse else BLUE,
                       0.5 if is_inverse or is_factor else 0.06, edge=0.5, size=SMALL)
        for tile in range(TILES):
            words, colour, fill = ("x", GREEN, 0.5) if row == STEP else ("−", ORANGE, 0.4) if row > STEP else ("x", INK, 0.05)
            canvas.box(right + size * tile, y, size - 2, size - 2, words, colour, fill, edge=0.5, size=SMALL)
        if row >= STEP:
            canvas.arrow((left + size * (row + 1) + 2, y + size / 2 - 1), (right - 4, y + size / 2 - 1), GREEN if row == STEP else BLUE)
    x, y = right + size * TILES + 8, top + size * (STEP + 0.5)
    canvas.line((x - 8, y), (x, y), colour=GREEN, width=1)
    canvas.arrow((x, y), (x, top + size * STEPS - 4), GREEN)
    canvas.text(right - 8, top + size / 2, "done", SMALL, ha="right")
    canvas.text(170, top + size * STEPS + 18, "first x of row 1, by the inverse;\nthen L times x is subtracted from each row below", SMALL)


def draw_tile(canvas):
    """Draws a tile, its operands, and one thread's sums."""
    canvas.text(170, 12, "a tile of 64 × 64 sums, and a thread", bold=True)
    left, top, scale = 118, 100, 2.6
    width, deep = BLOCK * scale, DEPTH * scale
    canvas.box(left, top, width, width, colour=ORANGE, fill=0.12)
    canvas.box(left - deep - 10, top, deep, width, colour=BLUE, fill=0.15)
    canvas.box(left, top - deep - 10, width, deep, colour=GREEN, fill=0.15)
    canvas.text(left + width / 2, top - deep - 22, "x of 64 right-hand sides", SMALL)
    canvas.text(left - deep - 18, top + width / 2, "64 rows\nof L", SMALL, ha="right")
    canvas.text(left - deep / 2 - 10, top - 10, "16", SMALL)
    canvas.text(left - 8, top - deep / 2 - 10, "16", SMALL, ha="right")
    rows = [top + scale * (ROW + 16 * m + 0.5) for m in range(SHARE)]
    sides = [left + scale * (SIDE + 16 * s + 0.5) for s in range(SHARE)]
    k = scale * 6.5
    for y in rows:
        canvas.line((left - deep - 10 + k, y), (sides[-1], y), colour=BLUE, width=0.7)
        canvas.dot(left - deep - 10 + k, y, 3, BLUE)
    for x in sides:
        canvas.line((x, top - deep - 10 + k), (x, rows[-1]), colour=GREEN, width=0.7)
        canvas.dot(x, top - deep - 10 + k, 3, GREEN)
        for y in rows:
            canvas.dot(x, y, 3.4, PURPLE)
    canvas.text(left + width / 2, top + width + 14, "4 × 4 sums in registers, 16 apart", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_turn, draw_tile)):
        draw_one(panel)
