"""Stage 03 of AᵀA: the element of C that each thread computes, and the elements of A that a warp reads."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One thread for each element of C"
HEIGHT = {"wide": 236, "narrow": 470}
ALTERNATIVE = (
    "First: C is covered by a grid of four by four square blocks, which reaches beyond its edges. Second: a "
    "block has sixteen rows of sixteen threads; two of its rows are a warp. Above it is row k of A, from which the warp "
    "reads sixteen neighbouring elements, and two more elements, one for each of its rows.")
CAPTION = (
    "First: blocks of 16 × 16 threads cover C (blue). Threads beyond its edge return at once. Second: a warp is two rows of a block "
    "(blue). From row k of A it reads 16 neighbouring elements a(k, j), one for each column (orange), and two elements a(k, i), one for "
    "each row (green).")


def draw_grid(canvas):
    """Draws C below its blocks."""
    canvas.text(170, 12, "the grid", bold=True)
    side, left, top = 44, 82, 42
    canvas.box(left, top, 4 * side - 14, 4 * side - 14, colour=BLUE, fill=0.28)
    for y in range(4):
        for x in range(4):
            canvas.box(left + side * x, top + side * y, side, side)
    canvas.box(left + side, top + 2 * side, side, side, colour=ORANGE, fill=0.6)
    canvas.text(left + 1.5 * side, top - 9, "blockIdx.x = 1", SMALL)
    canvas.text(left - 6, top + 2.5 * side, "blockIdx.y = 2", SMALL, ha="right")
    canvas.text(left + 14, top + 16, "C")


def draw_warp(canvas):
    """Draws a block below a row of A."""
    canvas.text(170, 12, "a warp of a block", bold=True)
    step, top, first = 8, 84, 150
    canvas.box(20, 36, 310, step)
    canvas.text(20, 26, "row k of A", SMALL, ha="left")
    canvas.box(first, 36, 16 * step, step, colour=ORANGE, fill=0.9, edge=0)
    canvas.box(44, 36, 2 * step, step, colour=GREEN, fill=0.9, edge=0)
    canvas.box(first, top, 16 * step, 16 * step)
    canvas.box(first, top + 4 * step, 16 * step, 2 * step, colour=BLUE, fill=0.4)
    canvas.arrow((first + 8 * step, 46), (first + 8 * step, top + 4 * step - 1), ORANGE)
    canvas.arrow((56, 46), (first - 1, top + 5 * step), GREEN)
    canvas.text(first + 8 * step + 6, 64, "threadIdx.x: j", SMALL, ha="left")
    canvas.text(first - 6, top + 9 * step, "threadIdx.y: i", SMALL, ha="right")
    canvas.text(first + 8 * step, top + 16 * step + 12, "32 threads, two rows", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_grid, draw_warp)):
        draw_one(panel)
