"""Stage 19 of advection: the accesses that load the pairs if a row has an odd number of columns."""

from draw.canvas import GREEN, ORANGE, SMALL

TITLE = "Pairs in rows of seven columns"
HEIGHT = {"wide": 226, "narrow": 250}
COLS, ROWS = 7, 4
ALTERNATIVE = (
    "Four rows of seven cells with dashed lines at even addresses. In rows 0 and 2, one access can load each pair "
    "of cells. In rows 1 and 3, each pair crosses such a line and has to be loaded cell by cell.")
CAPTION = (
    "Dashed lines are even addresses, counted in cells; an access of two cells must begin at such an address. With seven "
    "columns, every other row begins halfway between two such addresses.")


def draw(canvas):
    """Draws rows, each starting at its own address."""
    cell = 40 if canvas.is_wide else 30
    here = canvas.part((canvas.width - cell * (COLS + 1)) / 2 + 20, 34)
    for address in range(0, COLS + 2, 2):
        here.line((cell * address, -8), (cell * address, 36 * ROWS + 2), width=0.9, dashed=True)
    for row in range(ROWS):
        offset = row * COLS % 2
        here.text(-10, 36 * row + 15, f"row {row}", SMALL, ha="right")
        for j in range(0, COLS, 2):
            is_pair = j + 1 < COLS
            x = cell * (j + offset)
            if is_pair and not offset:
                here.box(x + 2, 36 * row + 2, 2 * cell - 4, 26, f"{j} and {j + 1}", GREEN, 0.35, size=SMALL)
            else:
                for k in range(2 if is_pair else 1):
                    here.box(x + cell * k + 2, 36 * row + 2, cell - 4, 26, f"{j + k}", ORANGE, 0.3, size=SMALL)
    key = canvas.part((canvas.width - 330) / 2, 36 * ROWS + 56)
    key.key(0, 0, (GREEN, 0.35, "a pair, one access"), (ORANGE, 0.3, "single cells"))
