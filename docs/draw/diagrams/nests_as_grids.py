"""Stage 04 of local volatility: the dimension of a grid to which each loop of a nest is mapped."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Loops become dimensions of a grid"
HEIGHT = {"wide": 300, "narrow": 600}
ALTERNATIVE = (
    "First: a grid of thread blocks in three layers, one per option, with one block of 8 by 32 threads marked. "
    "Second: the seven kernels in the host's loop over g, and the dimension of the grid that each of the loops "
    "over k, i and j becomes.")
CAPTION = (
    "First: the grid of a kernel, with a block of 32 × 8 threads marked. Second: the dimension of the grid that each loop becomes. Grey "
    "loops stay sequential: the loop over g on the host, and loops along a system in a thread.")
KERNELS = (("update_params", "kij"), ("explicit_x", "kij"), ("explicit_y", "kij"), ("implicit_x", "kji"), ("solve_x", " kji"),
           ("implicit_y", "kij"), ("solve_y", " kij"))  # the loops of z, y and x; a fourth loop stays in a thread
AWAY = 20  # pixels between two layers
DIMENSIONS = ((BLUE, 0.3), (GREEN, 0.35), (ORANGE, 0.5), (INK, 0.15))


def draw_grid(canvas):
    """Draws the nest of explicit_x as layers of blocks."""
    width, height = 54 * 4, 30 * 5
    for k in (2, 1):
        x, y = AWAY * k, -AWAY * k
        canvas.shape(((x, y), (x + width, y), (x + width, y + height), (x + width - AWAY, y + height),
                      (x + width - AWAY, y + AWAY), (x, y + AWAY)), BLUE, 0.1)
        canvas.text(x + 8, y + AWAY / 2, f"k = {k}", SMALL, ha="left")
    for row in range(5):
        for column in range(4):
            canvas.box(54 * column, 30 * row, 54, 30, colour=INK, edge=0.5)
    canvas.text(8, 15, "k = 0", SMALL, ha="left")
    canvas.box(54 * 2, 30 * 2, 54, 30, "32 × 8", PURPLE, 0.3, edge=1, size=SMALL)
    canvas.arrow((-12, 0), (-12, height), GREEN, 1.6)
    canvas.text(-18, height / 2, "i: y", ha="right")
    canvas.arrow((0, height + 12), (width, height + 12), ORANGE, 1.6)
    canvas.text(width / 2, height + 26, "j: x")
    canvas.arrow((width + 8, height + 4), (width + 8 + 2 * AWAY, height + 4 - 2 * AWAY), BLUE, 1.6)
    canvas.text(width + 40, height, "k: z", ha="left")
    canvas.text(width / 2, height + 50, "a thread for each point (k, i, j)", SMALL)


def draw_host(canvas):
    """Draws the host's loop, and the dimension that each loop of its nests becomes."""
    canvas.box(4, 0, 332, 232, fill=0.05)
    canvas.text(14, 14, "host: for each g", SMALL, ha="left")
    for n, words in enumerate(("z", "y", "x", "in a thread")):
        canvas.text(144 + 44 * n + (12 if n == 3 else 0), 14, words, SMALL, bold=True)
    for line, (name, loops) in enumerate(KERNELS):
        y = 28 + 28.5 * line
        canvas.text(14, y + 11, name, SMALL, ha="left")
        for n, (loop, (colour, fill)) in enumerate(zip(loops, DIMENSIONS)):
            if loop != " ":
                canvas.box(126 + 44 * n + (12 if n == 3 else 0), y, 36, 22, loop, colour, fill, edge=0.5)


def draw(canvas):
    """Draws a grid on the left or above, and all kernels beside or below it."""
    grid, host = canvas.panels(2)
    grid.text(170, 12, "the nest of explicit_x as a grid", bold=True)
    draw_grid(grid.part(50, 80))
    host.text(170, 12, "seven kernels", bold=True)
    draw_host(host.part(0, 34))
