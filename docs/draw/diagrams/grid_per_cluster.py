"""Stage 12 of local volatility: the grid of an option in a cluster, and the solve along the columns."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A grid in the shared memory of a cluster"
HEIGHT = {"wide": 336, "narrow": 672}
ALTERNATIVE = (
    "First: the grid of large in eight strips of 32 rows, one per thread block. A column crosses all strips, and "
    "a row is in one strip. Second: the segments of that column, one per thread. A thread applies the functions "
    "of all segments above its own.")
CAPTION = (
    "The grid of large in a cluster of eight blocks. First: the orange column is a system along x, and the green row is a "
    "system along y. Second: the functions of the segments for the elimination downwards. Block 5 applies the darker "
    "functions, one after the other. The substitution upwards is the mirror image.")

BLOCKS = 8


def draw_grid(canvas):
    """Draws strips of rows, a row and a column of the grid."""
    canvas.text(170, 12, "one strip of 32 rows per block", bold=True)
    left, top, side, strip = 70, 50, 256, 32
    for block in range(BLOCKS):
        canvas.box(left, top + strip * block, side, strip, colour=BLUE, fill=0.2 if block % 2 else 0.08)
        canvas.text(left - 8, top + strip * (block + 0.5), f"block {block}", SMALL, ha="right")
    canvas.box(left + 120, top, 8, strip * BLOCKS, colour=ORANGE, fill=0.7)
    canvas.box(left, top + 2.6 * strip, side, 6, colour=GREEN, fill=0.7)
    canvas.text(left + 124, 38, "along x: in eight blocks", SMALL)
    canvas.text(left + 128, top + BLOCKS * strip + 16, "along y: in one block", SMALL)


def draw_pieces(canvas):
    """Draws the segments of a column, and the functions that one of them reads."""
    canvas.text(170, 12, "segments of a column, one per thread", bold=True)
    top, height, reader, bus = 50, 32, 5, 190
    canvas.text(92, 38, "function", SMALL)
    canvas.text(275, 38, "segment", SMALL)
    for block in range(BLOCKS):
        y = top + height * block
        canvas.box(250, y + 3, 50, height - 6, colour=ORANGE, fill=0.65 if block == reader else 0.25)
        canvas.text(40, y + height / 2, f"{block}", SMALL, ha="right")
        canvas.box(52, y + 5, 80, height - 10, "a + b x", BLUE, 0.4 if block < reader else 0.1, size=SMALL)
        canvas.arrow((250, y + height / 2 + 6), (132, y + height / 2 + 6), width=0.7)
        if block < reader:
            canvas.line((132, y + height / 2 - 5), (bus, y + height / 2 - 5), colour=BLUE, width=1.4)
    into = top + height * (reader + 0.5) - 5
    canvas.line((bus, top + height / 2 - 5), (bus, into), colour=BLUE, width=1.4)
    canvas.arrow((bus, into), (250, into), BLUE, 1.4)
    canvas.text(170, top + BLOCKS * height + 16, "a barrier of the cluster between black and blue arrows", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_grid, draw_pieces)):
        draw_one(panel)
