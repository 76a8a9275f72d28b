"""One step of a rank in stages 02 and 03 of advection on many processes, with messages in transit and updates."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A step that waits for its messages, and a step that computes meanwhile"
HEIGHT = {"wide": 292, "narrow": 330}
BEGIN, UNIT = 62, {"wide": 60, "narrow": 23}
ALTERNATIVE = (
    "Two timelines of one rank. In stage 02, the rank waits for the messages with rows and with columns before it "
    "updates any cells. In stage 03, it updates the halves of the interior while messages are in transit, and "
    "then the edges, so the step is shorter.")
CAPTION = (
    "One step of one rank, not to scale. The transit time of the messages is hidden. Starting a message and waiting for it still occupy the "
    "processor.")


def draw_block(canvas):
    """Draws the cells of a block: two halves of the interior, and the edges."""
    canvas.box(0, 0, 92, 80, colour=GREEN, fill=0.3, edge=0.5)
    for y, words in ((10, "upper"), (40, "lower")):
        canvas.box(12, y, 68, 30, words, BLUE, 0.3, edge=0.5, size=SMALL)


def draw(canvas):
    """Draws a step of each stage, and a block."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    all_cells = "edges, upper and lower half" if canvas.is_wide else "all cells"
    here = canvas.part(10, 0)
    here.text(0, 12, "02: wait, then compute", ha="left", bold=True)
    here.lane(26, "network", BEGIN, unit, (0, 3, "rows", ORANGE), (3, 3, "columns", ORANGE))
    here.lane(54, "processor", BEGIN, unit, (6, 5, all_cells, BLUE))
    here.text(0, 106, "03: compute meanwhile", ha="left", bold=True)
    here.lane(120, "network", BEGIN, unit, (0, 3, "rows", ORANGE), (3, 3, "columns", ORANGE))
    edges = 1.6 if canvas.is_wide else 2
    here.lane(148, "processor", BEGIN, unit, (0, 2, "upper", BLUE), (3, 2, "lower", BLUE), (6, edges, "edges", GREEN))
    end = BEGIN + unit * (6 + edges)
    here.line((end, 116), (end, 182), colour=INK, dashed=True)
    here.line((BEGIN + unit * 11, 22), (BEGIN + unit * 11, 182), colour=INK, dashed=True)
    here.arrow((BEGIN + unit * 11, 186), (end, 186), both=True)
    here.text((end + BEGIN + unit * 11) / 2, 200, "gained", SMALL)
    draw_block(canvas.part(96 if canvas.is_wide else 30, 204 if canvas.is_wide else 236))
    words = canvas.part(214 if canvas.is_wide else 140, 216 if canvas.is_wide else 244)
    words.text(0, 0, "a rank's block:" if canvas.is_wide else "a rank's block", SMALL, ha="left", bold=True)
    words.key(0, 22, (BLUE, 0.3, "reads no halo"))
    words.key(0, 44, (GREEN, 0.3, "reads the halo"))
