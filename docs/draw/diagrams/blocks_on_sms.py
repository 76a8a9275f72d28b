"""The hierarchy of threads, next to the hardware that executes it."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A grid and the SMs that execute it"
HEIGHT = {"wide": 268, "narrow": 540}
ALTERNATIVE = (
    "Left: a grid of fifteen thread blocks. One block is enlarged and shows four warps of 32 threads. Right: four "
    "SMs with two blocks each, their registers and their L1 and shared memory, above a common L2 cache and "
    "memory. Block 8 has taken the slot of block 3, which has ended.")
CAPTION = (
    "Left: the program's view. A grid consists of blocks, a block consists of warps, and a warp consists of 32 threads. "
    "Right: the hardware's view. Each SM holds as many blocks as fit. When a block ends (here 3), the next one of the grid "
    "takes its slot.")


def draw_grid(canvas):
    """Draws the grid, one block of it, and one warp of the block."""
    canvas.text(170, 12, "the grid of a kernel", bold=True)
    for n in range(15):
        x, y = 20 + 62 * (n % 5), 26 + 26 * (n // 5)
        canvas.box(x, y, 56, 22, f"block {n}", colour=ORANGE if n == 6 else BLUE, fill=0.5 if n == 6 else 0.2, size=SMALL)
    canvas.line((138, 63), (141, 63), colour=ORANGE)
    canvas.arrow((141, 63), (141, 122), ORANGE)
    canvas.box(20, 124, 302, 66, colour=ORANGE, fill=0.12)
    canvas.text(26, 134, "block 6", SMALL, ha="left")
    for n in range(4):
        canvas.box(26 + 74 * n, 146, 68, 36, f"warp {n}", colour=GREEN, fill=0.6 if n == 1 else 0.25, size=SMALL)
    canvas.arrow((134, 184), (134, 214), GREEN)
    for lane in range(32):
        canvas.box(20 + 9.44 * lane, 216, 9.44, 16, colour=GREEN, fill=0.6, edge=0.5)
    canvas.text(20, 243, "lane 0", SMALL, ha="left")
    canvas.text(322, 243, "lane 31", SMALL, ha="right")
    canvas.text(170, 243, "32 threads, one instruction", SMALL)


def draw_gpu(canvas):
    """Draws four SMs with their blocks above the memory that they share."""
    canvas.text(170, 12, "the GPU", bold=True)
    held = ((0, 4), (1, 5), (2, 6), (8, 7))
    for n, blocks in enumerate(held):
        left = 8 + 82 * n
        canvas.box(left, 26, 78, 146)
        canvas.text(left + 39, 38, f"SM {n}", SMALL)
        for i, block in enumerate(blocks):
            canvas.box(left + 5, 48 + 24 * i, 68, 20, f"block {block}", colour=ORANGE if block == 6 else BLUE,
                       fill=0.5 if block in (6, 8) else 0.2, size=SMALL)
        canvas.box(left + 5, 100, 68, 18, "4 schedulers", size=SMALL, edge=0.5)
        canvas.box(left + 5, 122, 68, 18, "registers", colour=GREEN, fill=0.25, size=SMALL, edge=0.5)
        canvas.box(left + 5, 144, 68, 24, colour=GREEN, fill=0.25, edge=0.5)
        canvas.text(left + 39, 157, "shared + L1", SMALL)
        canvas.arrow((left + 39, 173), (left + 39, 187), both=True)
    canvas.box(8, 188, 324, 22, "L2, shared by all SMs", colour=PURPLE, fill=0.25, size=SMALL)
    canvas.arrow((170, 211), (170, 223), both=True)
    canvas.box(8, 224, 324, 22, "memory of the GPU (DRAM)", colour=PURPLE, fill=0.12, size=SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_grid, draw_gpu)):
        draw_one(panel)
