"""Stage 04 of the triangular solve: the elements that a kernel accesses, and the sequence of kernels."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "A kernel for each column, a thread for each equation below"
HEIGHT = {"wide": 296, "narrow": 590}
N, TURN, CELL = 8, 2, 22
SECTOR = 4  # elements of 8 bytes per sector
ALTERNATIVE = (
    "First: step 2 with five threads, one per equation. Each thread reads one element of column 2 of L, in a "
    "different row and thus in a different sector. Second: eight kernels over time, with fewer equations from "
    "kernel to kernel and gaps between them.")
CAPTION = (
    "First part: step 2 of 8. Memory transfers a sector for each thread, which uses a quarter of this sector. Second part: all "
    "steps, not to scale. A kernel takes less time than the launch of the next kernel.")


def draw_kernel(canvas):
    """Draws the elements that the threads of a step read and write."""
    rests, matrix, threads = 20, 78, 296
    y = [CELL * (row + 0.5) - 1 for row in range(N)]
    canvas.text(rests + CELL / 2, -14, "rest", SMALL)
    canvas.text(matrix + CELL * N / 2, -14, "L", SMALL)
    canvas.text(threads, -14, "threads", SMALL)
    for i in range(N):
        is_read, is_below = i == TURN, i > TURN
        canvas.box(rests, CELL * i, CELL - 2, CELL - 2, f"{i}", GREEN if is_read else ORANGE if is_below else INK,
                   0.5 if is_read or is_below else 0, edge=0.5, size=SMALL)
        for j in range(N):
            if i < j and (i < TURN or j >= SECTOR):
                continue
            colour, fill = (INK, 0) if i < TURN or j >= SECTOR else (BLUE, 0.2)
            if j == TURN and i >= TURN:
                colour, fill = (ORANGE, 0.5) if is_below else (GREEN, 0.5)
            canvas.box(matrix + CELL * j, CELL * i, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0.4)
        if is_below:
            canvas.dot(threads, y[i], 8, hollow=True)
            canvas.text(threads, y[i], f"{i - TURN - 1}", SMALL)
            canvas.arrow((rests + CELL - 1, y[i]), (threads - 9, y[i]), ORANGE, both=True)
            canvas.dot(matrix + CELL * (TURN + 0.5) - 1, y[i], 2.5)
    canvas.line((rests + CELL - 2, y[TURN]), (matrix + CELL * TURN, y[TURN]), colour=GREEN, width=1.6)
    canvas.line((matrix + CELL * (TURN + 1) - 2, y[TURN]), (threads + 26, y[TURN]), (threads + 26, y[N - 1]), colour=GREEN, width=1.6)
    for i in range(TURN + 1, N):
        canvas.arrow((threads + 26, y[i]), (threads + 9, y[i]), GREEN)
    canvas.box(threads - 18, CELL * 0.4, 36, CELL - 2, f"x {TURN}", PURPLE, 0.5, edge=0.5, size=SMALL)
    canvas.arrow((threads, y[TURN + 1] - 9), (threads, CELL * 1.4 - 1), PURPLE)
    canvas.key(20, 196, (GREEN, 0.5, "read by all threads, each divides"))
    canvas.key(20, 214, (ORANGE, 0.5, "a thread's own"), (BLUE, 0.2, "moved for it, unused"))


def draw_stream(canvas):
    """Draws kernels, one after the other."""
    pitch, width, unit = 40, 14, 22
    for i in range(N):
        x = 12 + pitch * i
        for thread in range(N - 1 - i):
            canvas.box(x, unit * thread, width, unit - 2, colour=ORANGE, fill=0.5, edge=0.4)
        if i == N - 1:
            canvas.box(x, 0, width, unit - 2, colour=PURPLE, fill=0.5, edge=0.4)
        canvas.text(x + width / 2, -14, f"{i}", SMALL)
        if i:
            canvas.arrow((x - pitch + width + 2, unit / 2 - 1), (x - 2, unit / 2 - 1), width=0.7)
    canvas.text(12 + pitch * 4.4, unit * 5.3, "a gap: the next launch", SMALL)
    canvas.arrow((12 + pitch * 3.7, unit * 5.3 - 9), (12 + pitch * 3.7, unit / 2 + 3), width=0.6)
    canvas.arrow((8, 186), (332, 186), width=0.8)
    canvas.text(170, 200, "time", SMALL)
    canvas.key(12, 222, (ORANGE, 0.5, "an equation"), (PURPLE, 0.5, f"no equation left, only x {N - 1} to write"))


def draw(canvas):
    """Draws one kernel on the left or above, and all kernels on the right or below it."""
    names = f"step {TURN}: unknown {TURN} updates five equations", "eight steps, eight kernels"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_kernel, draw_stream)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part(0, 58))
