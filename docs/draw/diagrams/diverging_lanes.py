"""The lanes of a warp that are active while the warp executes a branch."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A warp whose lanes take different branches"
HEIGHT = {"wide": 176, "narrow": 176}
ALTERNATIVE = (
    "Four rows of sixteen lanes, one below the other in time. In the first row, the test, all lanes work. In the second row only the lanes "
    "work for which the test is true, in the third row only the other ones, and in the last row, after the branch, all lanes work again.")
CAPTION = (
    "The figure shows sixteen of 32 lanes; time runs from top to bottom. The warp executes both branches one after the "
    "other; in each of them, the lanes of the other branch are idle (white). After the branch all lanes continue together.")

TRUE = (1, 3, 4, 9, 10, 11, 14)
LANES = 16


def draw(canvas):
    """Draws one row for each instruction of the warp."""
    side, left = 12, canvas.width / 2 - 68
    rows = (("if (x > 0)", range(LANES), BLUE), ("    y = sqrt(x);", TRUE, ORANGE),
            ("else y = 0;", [lane for lane in range(LANES) if lane not in TRUE], GREEN), ("z = y + 1;", range(LANES), BLUE))
    canvas.text(left - 12, 14, "instruction", SMALL, ha="right")
    canvas.text(left, 14, "lanes", SMALL, ha="left")
    for n, (words, active, colour) in enumerate(rows):
        top = 28 + 34 * n
        canvas.text(left - 12, top + 12, words.strip(), ha="right")
        for lane in range(LANES):
            canvas.box(left + side * lane, top, side, 24, colour=colour, fill=0.6 if lane in active else 0, edge=0.6)
    right = left + side * LANES + 14
    canvas.arrow((right, 28), (right, 28 + 34 * 4 - 10))
    canvas.text(right + 6, 94, "time", SMALL, ha="left")
