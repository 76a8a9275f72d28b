"""The edges that ranks send if they own rows, and if they own blocks."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Edges of rows and of blocks"
HEIGHT = {"wide": 270, "narrow": 540}
SIDE, RANKS = 192, 4  # pixels per side of the field, and blocks per side
ALTERNATIVE = (
    "The same square field, distributed among sixteen ranks in two ways. On the left, each rank owns a sixteenth of the rows: a flat strip "
    "with two long edges. "
    "On the right, each rank owns a square block with four edges that are a quarter as long. The edges of one rank are drawn in orange.")
CAPTION = ("Sixteen ranks and n columns. A strip sends 2 n cells per step in two messages. A block sends 4 · n / 4 = n cells in four messages. The "
           "green cell at the corner of the block arrives after two messages.")


def draw_rows(canvas):
    """Draws a field that is distributed in strips of rows."""
    canvas.text(170, 12, "rows", bold=True)
    left, top, height = (340 - SIDE) / 2, 30, SIDE / RANKS ** 2
    for rank in range(RANKS ** 2):
        canvas.box(left, top + height * rank, SIDE, height, colour=BLUE, fill=0.35 if rank == 6 else 0.06, edge=0.5)
    for y in (top + height * 6, top + height * 7):
        canvas.line((left, y), (left + SIDE, y), colour=ORANGE, width=3)
    canvas.text(170, top + SIDE + 18, "two edges of n cells", SMALL)


def draw_blocks(canvas):
    """Draws a field that is distributed in blocks."""
    canvas.text(170, 12, "blocks", bold=True)
    left, top, side = (340 - SIDE) / 2, 30, SIDE / RANKS
    for rank in range(RANKS ** 2):
        x, y = left + side * (rank % RANKS), top + side * (rank // RANKS)
        canvas.box(x, y, side, side, colour=BLUE, fill=0.35 if rank == 6 else 0.06, edge=0.5)
    x, y = left + side * 2, top + side
    for start, end in (((x, y), (x + side, y)), ((x, y + side), (x + side, y + side)), ((x, y), (x, y + side)), ((x + side, y), (x + side, y + side))):
        canvas.line(start, end, colour=ORANGE, width=3)
    canvas.box(x - 9, y - 9, 9, 9, colour=GREEN, fill=0.9, edge=0)
    canvas.text(170, top + SIDE + 18, "four edges of n / 4 cells", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_rows, draw_blocks)):
        draw_one(panel)
