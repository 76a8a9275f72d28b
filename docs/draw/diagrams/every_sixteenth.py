"""Stage 07 of Cholesky: the rows of the finished panel that a thread block reads, and the elements of a thread."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The rows of a tile, and the elements of a thread"
HEIGHT = {"wide": 362, "narrow": 724}
TILE, PANEL, SIDE, STEP = 128, 256, 16, 16
ROWS, I0, J0 = 1024, 768, 384  # rows of the matrix, and the first row and column of the tile
THREAD_ROW, THREAD_COLUMN = divmod(89, SIDE)
ALTERNATIVE = (
    "First: the lower triangle of L with a tile of 128 by 128 elements and the two bands of finished columns that "
    "it needs, 16 columns at a time. Second: the elements of thread 89 in this tile, which are in every sixteenth "
    "row and column.")
CAPTION = (
    "First: in f64, the products of a panel are computed in 16 steps of 16 columns. Second: for each column k, a thread reads 16 elements "
    "and computes 64 products.")


def draw_bands(canvas):
    """Draws the triangle, the tile, and the rows of the finished panel that it needs."""
    scale = 250 / ROWS
    canvas.text(125, -30, "which rows of L a tile needs", bold=True)
    side, panel, tile, step = (scale * size for size in (ROWS, PANEL, TILE, STEP))
    i, j = scale * I0, scale * J0
    canvas.shape([(0, 0), (side, side), (0, side)], INK, 0.03)
    canvas.shape([(0, 0), (panel, panel), (panel, side), (0, side)], BLUE, 0.1, edge=0.4)
    canvas.text(panel / 2, side + 12, "256 finished columns", SMALL)
    for top, colour, name in ((i, BLUE, "i"), (j, GREEN, "j")):
        canvas.box(0, top, panel, tile, colour=colour, fill=0.3)
        canvas.box(4 * step, top, step, tile, colour=colour, fill=0.9, edge=0)
        canvas.box(5 * step, top, 3 * step, tile, colour=PURPLE, fill=0.35, edge=0)
        canvas.text(-6, top + tile / 2, f"128 rows {name}", SMALL, ha="right")
    canvas.box(j, i, tile, tile, colour=ORANGE, fill=0.6)
    canvas.text(j + tile / 2, i + tile + 10, "tile", SMALL)
    canvas.arrow((panel, i + tile / 2), (j, i + tile / 2))
    canvas.line((panel, j + tile / 2), (j + tile / 2, j + tile / 2))
    canvas.arrow((j + tile / 2, j + tile / 2), (j + tile / 2, i))
    canvas.text(90, 14, "dark: 16 columns of this step", SMALL, ha="left")
    canvas.text(90, 28, "purple: 3 × 16, being copied", SMALL, ha="left")


def draw_thread(canvas):
    """Draws the tile, and a thread's elements with the rows that they need."""
    scale = 1.7
    side, size = scale * TILE, 5
    canvas.text(side / 2, -30, "which elements thread 89 has", bold=True)
    canvas.box(0, 0, side, side, colour=ORANGE, fill=0.08)
    for m in range(0, TILE, SIDE):
        x, y = scale * (m + THREAD_COLUMN), scale * (m + THREAD_ROW)
        canvas.box(-26, y - size / 2, 16, size, colour=BLUE, fill=0.9, edge=0)
        canvas.box(x - size / 2, side + 8, size, 16, colour=GREEN, fill=0.9, edge=0)
        canvas.line((-10, y), (side, y), width=0.4, colour=BLUE, opacity=0.6)
        canvas.line((x, side + 8), (x, 0), width=0.4, colour=GREEN, opacity=0.6)
        for n in range(0, TILE, SIDE):
            canvas.box(scale * (n + THREAD_COLUMN) - size / 2, y - size / 2, size, size, colour=ORANGE, fill=0.9, edge=0)
    canvas.text(-38, side / 2, "8 packs of rows i", SMALL, rotation=90)
    canvas.text(side / 2, side + 36, "8 packs of rows j", SMALL)
    canvas.text(side / 2, -12, "rows 5, 21, 37, … and columns 9, 25, 41, …", SMALL)


def draw(canvas):
    """Draws the bands on the left or above, and the tile beside or below them."""
    bands, thread = canvas.panels(2, 340)
    draw_bands(bands.part(84, 52))
    draw_thread(thread.part(78, 52))
