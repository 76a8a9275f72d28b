"""Stages 04 and 07 of local volatility: the rows of 32 systems in memory, and the elements that a warp reads
together."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Systems one after the other, and interleaved"
HEIGHT = {"wide": 272, "narrow": 560}
ALTERNATIVE = (
    "Memory, line by line. In stage 04, a line contains all rows of one system; the eight lanes of eight systems read one "
    "element in each of eight lines, and continue to the right. In stage 07, a line contains the same row of all systems; the "
    "lanes read one line, and continue downwards.")
CAPTION = (
    "Memory runs from left to right, then to the next line. Each thread has one system. Orange elements are those that "
    "eight lanes read at the same time, and the arrow leads to the elements that they read next.")

CELL = 24


def memory(canvas, name, read, name_of, across, down):
    """Draws a grid of elements, and marks the elements that a warp reads together."""
    canvas.text(170, 12, name, bold=True)
    for line in range(8):
        for place in range(10):
            is_read = read(line, place)
            canvas.box(84 + CELL * place, 52 + CELL * line, CELL, CELL, colour=ORANGE if is_read else BLUE,
                       fill=0.65 if is_read else 0.08, edge=0.5)
        canvas.text(76, 64 + CELL * line, name_of(line), SMALL, ha="right")
    canvas.text(204, 40, across, SMALL)
    canvas.text(204, 258, down, SMALL)


def draw(canvas):
    """Draws both panels."""
    before, after = canvas.panels(2)
    memory(before, "04: one after the other", lambda line, place: place == 2, lambda line: f"system {line}",
           "row 0, 1, 2 …", "eight lines for eight lanes")
    before.arrow((84 + 3 * CELL, 52 + 3.5 * CELL), (84 + 5 * CELL, 52 + 3.5 * CELL), ORANGE, 2)
    memory(after, "07: interleaved", lambda line, place: line == 2 and place < 8, lambda line: f"row {line}",
           "system 0, 1, 2 …", "eight neighbours for eight lanes")
    after.arrow((84 + 4 * CELL, 52 + 3 * CELL), (84 + 4 * CELL, 52 + 5 * CELL), ORANGE, 2)
