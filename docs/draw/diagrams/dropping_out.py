"""The reduction in a thread block in stage 07 of Durbin-Levinson, and a step as two kernels."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Threads drop out until one has the sum"
HEIGHT = {"wide": 262, "narrow": 524}
THREADS, CELL, DOWN = 8, 36, 52
BLOCKS, K, SHOWN = 3, 3, 6  # blocks of the grid, the step, and the number of elements drawn per array
ALTERNATIVE = (
    "First: eight threads add their products in a tree with a barrier after each level, and fewer threads take "
    "part at each level. Second: three blocks of inner_product add to one element of the array sum, and three "
    "blocks of update read this element.")
CAPTION = (
    "First: eight threads instead of 256, so three levels instead of eight. A dashed line is a barrier. Second: step k. Each kernel "
    "waits for the end of the previous kernel. The host reads none of the values.")


def draw_block(canvas):
    """Draws the levels of a thread block's reduction."""
    half = THREADS
    for level in range(4):
        y = DOWN * level
        for thread in range(THREADS):
            is_in = thread < half
            canvas.box(CELL * thread, y, CELL - 6, 22, f"{thread}" if is_in else "", (GREEN if level else BLUE) if is_in else INK,
                       0.3 if is_in else 0, edge=0.5 if is_in else 0.2, size=SMALL)
        half //= 2
        if half:
            canvas.line((-4, y + 29), (CELL * THREADS - 2, y + 29), width=0.7, dashed=True)
            for thread in range(half):
                x = CELL * thread + CELL / 2 - 3
                canvas.arrow((x, y + 23), (x, y + DOWN - 1), GREEN)
                canvas.arrow((x + CELL * half, y + 23), (x + 7, y + DOWN - 1), GREEN)
    canvas.arrow((CELL / 2 - 3, DOWN * 3 + 23), (CELL / 2 - 3, DOWN * 3 + 50), ORANGE, 1.4)
    canvas.text(CELL / 2 + 8, DOWN * 3 + 40, "atomicAdd to sum(k), by thread 0", SMALL, ha="left")


def draw_array(canvas, y, name, last, looks):
    """Draws an array with an element for each step; elements up to the last one have been computed."""
    canvas.text(88, y + 10, name, SMALL, ha="right")
    for k in range(SHOWN):
        words, colour, fill = looks.get(k, ("", INK, 0.12 if k <= last else 0))
        canvas.box(element(k) - 12, y, 24, 20, words, colour, fill, edge=0.5, size=SMALL)


def element(k):
    """The horizontal centre of an element."""
    return 106 + 26 * k


def draw_step(canvas):
    """Draws two kernels, and the arrays through which they communicate."""
    blocks = [118 + 54 * block for block in range(BLOCKS)]
    for y, name, colour in ((0, "inner_product", BLUE), (122, "update", GREEN)):
        canvas.text(88, y + 12, name, SMALL, ha="right")
        for block, x in enumerate(blocks):
            canvas.box(x - 24, y, 48, 24, f"block {block}", colour, 0.3, edge=0.6, size=SMALL)
    draw_array(canvas, 56, "sum", K, {K: ("k", ORANGE, 0.5)})
    draw_array(canvas, 182, "α, β", K, {K - 1: ("k−1", INK, 0.12), K: ("k", PURPLE, 0.5)})
    for block, x in enumerate(blocks):
        canvas.arrow((x, 25), (element(K) - 6 + 6 * block, 55), ORANGE, 1.2)
        canvas.arrow((element(K) - 6 + 6 * block, 77), (x, 121))
        canvas.arrow((element(K - 1), 181), (x - 6, 147))
    canvas.arrow((blocks[-1] + 12, 147), (element(K) + 4, 181), PURPLE, 1.4)
    for y, words in ((40, "in any order"), (98, "read by each thread"), (166, "written by one")):
        canvas.text(236, y, words, SMALL, ha="left")


def draw(canvas):
    """Draws a block on the left or above, and a step to its right or below it."""
    block, step = canvas.panels(2)
    block.text(170, 12, "07: the sum of a block", bold=True)
    draw_block(block.part(36, 34))
    step.text(170, 12, "a step: two kernels", bold=True)
    draw_step(step.part(0, 40))
