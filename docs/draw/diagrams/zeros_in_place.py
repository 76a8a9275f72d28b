"""A tile at the lower right corner of A, in stages 04 and 05 of AᵀA."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A tile that extends beyond A"
HEIGHT = {"wide": 224, "narrow": 460}
TILE, ROWS, COLS, CELL = 4, 6, 7, 17
ALTERNATIVE = (
    "A matrix of six by seven elements with a tile at its lower right corner, twice. In stage 04, only the six "
    "elements inside A are loaded, and the loop has two iterations. In stage 05, the other elements become zeros, "
    "and the loop has four iterations.")
CAPTION = (
    "For the sake of space, the tile has 4 × 4 elements instead of 16 × 16. In stage 04, a thread outside A loads nothing, and the loop "
    "has one iteration for each row inside A. In stage 05, every thread loads an element, address and value are selected, and the loop "
    "always has one iteration for each row of the tile.")


def draw_load(canvas, name, is_filled):
    """Draws A with the tile on the left, and the tile in shared memory on the right."""
    canvas.text(150, -28, name, bold=True)
    for i in range(ROWS):
        for j in range(COLS):
            is_first = is_filled and i == j == 0
            is_own = i >= TILE and j >= TILE
            canvas.box(CELL * j, CELL * i, CELL - 1, CELL - 1, colour=ORANGE if is_first else GREEN if is_own else BLUE,
                       fill=0.6 if is_first else 0.45 if is_own else 0.08, edge=0.4)
    canvas.text(CELL * COLS / 2, -9, "A, in memory", SMALL)
    canvas.box(CELL * TILE - 1.5, CELL * TILE - 1.5, CELL * TILE + 2, CELL * TILE + 2, edge=1.2, dashed=True)
    left, top, size = 186, 24, 28
    canvas.text(left + size * 2, top - 9, "the tile, in shared memory", SMALL)
    for k in range(TILE):
        for i in range(TILE):
            is_own = k + TILE < ROWS and i + TILE < COLS
            colour, fill, words = (GREEN, 0.45, "a") if is_own else (ORANGE, 0.45, "0") if is_filled else (INK, 0, "")
            canvas.box(left + size * i, top + size * k, size - 2, size - 2, words, colour, fill, edge=0.5)
            if not is_own and is_filled:
                canvas.dot(CELL * (TILE + i + 0.5), CELL * (TILE + k + 0.5), 2.5, ORANGE)
    if is_filled:
        canvas.arrow((CELL * 4.4, CELL * 6.4), (CELL * 0.6, CELL * 1.05), ORANGE, 1.2, bend=-0.35)
    steps = TILE if is_filled else ROWS - TILE
    canvas.arrow((left + size * TILE + 8, top), (left + size * TILE + 8, top + size * steps - 2), width=1.2)
    canvas.text(left + size * 2, top + size * TILE + 14, "the loop: always 4 rows" if is_filled else "the loop: 2 rows here", SMALL)
    canvas.text(CELL * TILE, CELL * 2 * TILE + 17, "outside: load A(0, 0)" if is_filled else "outside: load nothing", SMALL)


def draw(canvas):
    """Draws both panels."""
    branch, select = canvas.panels(2)
    draw_load(branch.part(16, 50), "04: a branch", False)
    draw_load(select.part(16, 50), "05: a select", True)
