"""The order in which stages 19 and 20 of the triangular solve read the blocks of L."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Down a block of columns, and along whole rows"
HEIGHT = {"wide": 262, "narrow": 500}
BLOCKS, CELL = 6, 32
# For each block of rows in stage 20 with two threads: the first block of columns of each segment. When a thread begins with a block of
# rows, the other thread still has to solve one block. Its unknowns are used in the last segment, together with the diagonal block.
SEGMENTS = ((0,), (0,), (0, 1), (0, 2), (0, 3), (0, 4))
ALTERNATIVE = (
    "Two lower triangles of six by six blocks. In the left one, all blocks of a column have the number of the column. In the "
    "right one, the rows alternate between two threads, and each row consists of at most two segments, the first of which "
    "is longer in lower rows.")
CAPTION = (
    "The blocks of L. On the left, numbers are steps, and all threads share a step. On the right, colours are threads, and numbers are the "
    "segments in which a thread reads a row. It first multiplies by all unknowns that are ready. The last segment contains the diagonal block.")


def draw_steps(canvas):
    """Draws the order of stage 19."""
    canvas.text(170, 12, "stage 19: steps", bold=True)
    for i in range(BLOCKS):
        for j in range(i + 1):
            canvas.box(74 + CELL * j, 36 + CELL * i, CELL - 3, CELL - 3, f"{j + 1}", ORANGE if i == j else BLUE, 0.35, size=SMALL, edge=0.6)


def draw_segments(canvas):
    """Draws the order of stage 20."""
    canvas.text(170, 12, "this stage: segments of rows", bold=True)
    for i in range(BLOCKS):
        starts = SEGMENTS[i]
        for segment, start in enumerate(starts):
            end = starts[segment + 1] if segment + 1 < len(starts) else i + 1
            canvas.box(74 + CELL * start, 36 + CELL * i, CELL * (end - start) - 3, CELL - 3, f"{segment + 1}", GREEN if i % 2 else BLUE, 0.35,
                       size=SMALL, edge=0.6)
        canvas.text(66, 36 + CELL * i + CELL / 2 - 2, f"thread {i % 2}", SMALL, ha="right")


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_steps, draw_segments)):
        draw_one(panel)
