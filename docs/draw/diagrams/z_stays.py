"""The locations of z, q and p in a step of stage 17 of local volatility, and the barriers within the step."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A step of the sweep: z in registers, q and p in shared memory"
HEIGHT = {"wide": 374, "narrow": 374}
WORK = (("along y: solve for q", GREEN, "q is in shared memory"), ("along x: down a segment", ORANGE, "functions of segments, down"),
        ("apply those above; down, up", ORANGE, "functions of segments, up"), ("apply those below; up: p", GREEN, "p is in shared memory"),
        ("z = p/Δt − (q − z) + Bᵀp", None, ""))
ALTERNATIVE = (
    "A step from top to bottom, with registers on the left and shared memory on the right. Rows are solved along "
    "y and columns along x, and q and p pass through shared memory between them. Green and orange bars are "
    "barriers.")
CAPTION = (
    "One step of stage 17, not to scale. Orange bars stop all blocks of the cluster, and green bars stop the threads of a "
    "block. A thread keeps the points of its rows in registers during the entire step. Only q and p pass through shared "
    "memory to the threads of columns.")
TOP, PITCH, HIGH = 44, 66, 26  # vertical position, distance and height of the parts of the step, in pixels
LEFT, WIDTH = 70, 200


def y(part):
    """The upper edge of a part."""
    return TOP + PITCH * part


def held(canvas, x, first, last, words, colour):
    """Draws the storage of a value as a column of the figure, from one part of the step to another."""
    canvas.box(x, TOP + PITCH * first, 50, PITCH * (last - first), colour=colour, fill=0.2, edge=0.5)
    canvas.text(x + 25, y(2) + HIGH / 2 if last - first > 1.5 else TOP + PITCH * (first + last) / 2, words)


def draw(canvas):
    """Draws the work in the middle, and the stored values on both sides."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    here.text(27, 14, "registers", SMALL)
    here.text(313, 14, "shared memory" if canvas.is_wide else "shared", SMALL)
    for first, last, words in ((-0.3, 0.24, "z"), (0.26, 4.16, "q − z"), (4.18, 4.72, "z")):
        held(here, 2, first, last, words, PURPLE)
    for first, last, words in ((0.24, 3.22, "q"), (3.24, 4.4, "p")):
        held(here, 288, first, last, words, BLUE)
    for part, (words, bar, known) in enumerate(WORK):
        here.box(LEFT, y(part), WIDTH, HIGH, words, BLUE, 0.14)
        if bar:
            here.box(2, y(part) + HIGH + 10, 336, 4, colour=bar, fill=0.85, edge=0)
            here.text(LEFT + WIDTH / 2, y(part) + HIGH + 25, known, SMALL)
    for part, is_up in ((0, 0), (0, 1), (4, 0), (4, 1)):
        ends = (52, y(part) + 8 + 12 * is_up), (LEFT, y(part) + 8 + 12 * is_up)
        here.arrow(*(ends[::-1] if is_up else ends), PURPLE, 1.3)
    for part, is_written in ((0, True), (1, False), (3, True), (4, False)):
        ends = (LEFT + WIDTH, y(part) + HIGH / 2 + 5 * is_written), (288, y(part) + HIGH / 2 + 5 * is_written)
        here.arrow(*(ends if is_written else ends[::-1]), BLUE, 1.3)
