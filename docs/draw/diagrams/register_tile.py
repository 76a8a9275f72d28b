"""Stage 07 of AᵀA: the elements of a tile of 128 × 128 that a thread computes."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "The elements of a thread"
HEIGHT = {"wide": 340, "narrow": 690}
THREAD_X, THREAD_Y = 5, 2
ALTERNATIVE = (
    "First: a tile of 128 by 128 elements in squares of 32 by 32. One thread has two by two neighbours at the "
    "same position in each of the sixteen squares. Second: 32 columns of a row in shared memory, two neighbours "
    "for each of sixteen threads.")
CAPTION = (
    f"First: the 8 × 8 elements of thread ({THREAD_X}, {THREAD_Y}) in orange, drawn at twice their size. "
    "Second: the first of its four pairs of columns. A row of 32 elements serves 16 threads at once and "
    "uses every bank twice.")


def place(thread, m):
    """The index of a thread's m-th element along a side of the tile, computed as in the kernel."""
    return m // 2 * 32 + 2 * thread + m % 2


def draw_tile(canvas):
    """Draws the tile, its squares, and a thread's elements."""
    canvas.text(170, 12, "a tile of C", bold=True)
    left, top, scale = 42, 52, 2
    canvas.box(left, top, 128 * scale, 128 * scale)
    for n in range(4):
        if n:
            canvas.line((left + 64 * n, top), (left + 64 * n, top + 256), width=0.5, opacity=0.6)
            canvas.line((left, top + 64 * n), (left + 256, top + 64 * n), width=0.5, opacity=0.6)
        canvas.text(left + 64 * n, top - 9, f"{32 * n}", SMALL, ha="left")
        canvas.text(left - 6, top + 64 * n + 6, f"{32 * n}", SMALL, ha="right")
    canvas.text(left + 256, top - 24, "column j", SMALL, ha="right")
    canvas.text(6, top - 24, "row i", SMALL, ha="left")
    for m in range(0, 8, 2):
        for n in range(0, 8, 2):
            canvas.box(left + scale * place(THREAD_X, n) - 2, top + scale * place(THREAD_Y, m) - 2, 8, 8,
                       colour=ORANGE, fill=0.9, edge=0)


def draw_row(canvas):
    """Draws the first pairs of columns of all threads."""
    canvas.text(170, 12, "a row of a tile of A, columns 0 to 31", bold=True)
    top = 66
    for thread in range(16):
        left = 10 + 20 * thread
        mine = thread == THREAD_X
        colour, fill = (ORANGE, 0.7) if mine else (BLUE, 0.12 + 0.12 * (thread % 2))
        canvas.box(left, top, 20, 26, colour=colour, fill=fill)
        canvas.line((left + 10, top), (left + 10, top + 26), width=0.4)
        canvas.text(left + 10, top - 10, f"{thread}", SMALL)
    canvas.text(10, top - 28, "threadIdx.x", SMALL, ha="left")
    canvas.text(10, top + 38, "0", SMALL, ha="left")
    canvas.text(330, top + 38, "31", SMALL, ha="right")
    canvas.text(170, top + 40, "a pair is 16 bytes: one load", SMALL)
    canvas.text(170, 144, "for each row k of A, a thread", bold=True)
    canvas.text(58, 256, "8 of a.i", SMALL)
    canvas.text(214, 168, "8 of a.j", SMALL)
    for m in range(8):
        canvas.box(150 + 16 * m, 178, 16, 14, colour=BLUE, fill=0.25)
        canvas.box(88, 200 + 14 * m, 16, 14, colour=BLUE, fill=0.25)
        for n in range(8):
            canvas.box(150 + 16 * n, 200 + 14 * m, 16, 14, colour=ORANGE, fill=0.25, edge=0.5)
    canvas.text(127, 256, "×", 14)
    canvas.text(214, 326, "64 multiply-adds into registers", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_tile, draw_row)):
        draw_one(panel)
