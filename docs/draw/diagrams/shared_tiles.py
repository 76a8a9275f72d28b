"""Stage 04 of AᵀA: the tiles that a thread block keeps in shared memory, and the elements that a warp reads for a
multiply-add."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A tile of C, and the tiles of A that it needs"
HEIGHT = {"wide": 330, "narrow": 690}
ALTERNATIVE = (
    "First: a block computes a tile of C from two columns of tiles of A, and 16 rows of both are in shared memory "
    "at a time. Second: for row m, a warp, which has two rows of the tile of C, reads two elements of a_i and "
    "sixteen of a_j.")
CAPTION = (
    "First: the block processes A from top to bottom, 16 rows at a time; the green tiles are in shared memory. Second: a warp "
    "computes two rows of the tile of C. For row m of the chunk, it reads two elements of a_i, each broadcast to sixteen threads, "
    "and sixteen elements of a_j.")


def draw_matrices(canvas):
    """Draws A with two columns of tiles, C with one tile."""
    canvas.text(170, 12, "a block", bold=True)
    for left, name, marked in ((10, "A", (0, 2)), (186, "C", ())):
        canvas.text(left + 72, 34, name)
        canvas.box(left, 48, 144, 216 if name == "A" else 144)
        for tile in marked:
            canvas.box(left + 12 + 40 * tile, 48, 24, 216, colour=BLUE, fill=0.14)
            canvas.box(left + 12 + 40 * tile, 120, 24, 24, colour=GREEN, fill=0.6)
    canvas.text(34, 276, "columns i", SMALL)
    canvas.text(114, 276, "columns j", SMALL)
    canvas.arrow((46, 148), (46, 196))
    canvas.arrow((74, 148), (74, 196))
    canvas.text(60, 206, "k", SMALL)
    canvas.box(186 + 92, 48 + 12, 24, 24, colour=ORANGE, fill=0.6)
    canvas.line((186, 72), (278, 72), width=0.6, dashed=True)
    canvas.line((290, 48), (290, 60), width=0.6, dashed=True)
    canvas.text(212, 62, "i", SMALL)
    canvas.text(300, 54, "j", SMALL)
    canvas.text(258, 226, "a tile of C:\nthe sum over k of\nA(k, i) A(k, j)", SMALL)


def tile(canvas, left, top, name, across, down):
    """Draws a tile of 16 × 16 with the names of its sides."""
    canvas.box(left, top, 112, 112)
    canvas.text(left + 56, top - 26, name)
    canvas.text(left + 56, top - 9, across, SMALL)
    canvas.text(left - 5, top + 56, down, SMALL, rotation=90 if len(down) > 2 else 0)


def draw_warp(canvas):
    """Draws both tiles and the elements that a warp reads for one value of m."""
    canvas.text(170, 12, "a warp, for one m", bold=True)
    tile(canvas, 34, 62, "a_i", "threadIdx.y", "m")
    tile(canvas, 208, 62, "a_j", "threadIdx.x", "m")
    canvas.box(34, 62 + 35, 112, 7, colour=GREEN, fill=0.2, edge=0)
    canvas.box(34 + 28, 62 + 35, 14, 7, colour=ORANGE, fill=0.9, edge=0)
    canvas.box(208, 62 + 35, 112, 7, colour=ORANGE, fill=0.9, edge=0)
    canvas.text(90, 186, "2 elements", SMALL)
    canvas.text(264, 186, "16 elements", SMALL)
    canvas.box(121, 210, 112, 112)
    canvas.box(121, 210 + 28, 112, 14, colour=ORANGE, fill=0.4)
    canvas.text(110, 245, "two rows", SMALL, ha="right")
    canvas.text(244, 266, "tile of C", SMALL, ha="left")


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_matrices, draw_warp)):
        draw_one(panel)
