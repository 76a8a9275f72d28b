"""The route of an edge from GPU to GPU through two hosts during the interior, in stage 08 of advection on many processes."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "The interior hides the long route of two edges"
HEIGHT = {"wide": 230, "narrow": 262}
BEGIN, UNIT = 66, {"wide": 35, "narrow": 16}
ALTERNATIVE = (
    "A timeline of one rank with rows for the GPU, its copy engine and the host. The edges are updated, copied to "
    "the host and exchanged in messages. The received halos are copied to the GPU. Meanwhile, the GPU updates the "
    "interior.")
CAPTION = (
    "A step of one rank, not to scale. As long as the exchange ends before the interior does, the GPU has no gap. The "
    "host waits for the GPU once per step, for the edges that it sends. The labels of the arrows are events.")


def draw(canvas):
    """Draws kernels, copies and host, and their waits."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(4, 34)
    wide = canvas.is_wide

    def x(when):
        return BEGIN + unit * when

    here.lane(0, "kernels", BEGIN, unit, (1, 1.5, "edges" if wide else "e", GREEN), (2.5, 9.5, "interior", BLUE),
              (12, 1.5, "edges" if wide else "e", GREEN), (13.5, 3, "interior" if wide else "int.", BLUE))
    here.lane(60, "copies", BEGIN, unit, (3, 1.8, "to host" if wide else "out", ORANGE), (9, 1.8, "to GPU" if wide else "in", ORANGE))
    here.lane(120, "host", BEGIN, unit, (0, 1, "", PURPLE), (5.1, 3.4, "messages", ORANGE), (8.5, 2.7, "", PURPLE))
    here.text(x(3.05), 132, "waits", SMALL)
    for start, end in (((2.45, 24), (3, 60)), ((4.75, 84), (5.1, 120)), ((8.5, 120), (9, 84)), ((10.7, 60), (12, 24))):
        here.arrow((x(start[0]), start[1]), (x(end[0]), end[1]), ORANGE, 1.4)
    for start, end in ((0.4, 1), (10.9, 12.2)):
        here.arrow((x(start), 120), (x(end), 24), PURPLE, 0.8, dashed=True)
    for when, down, words, ha in ((2.85, 42, "edges", "left"), (5.1, 102, "copied", "left"), (11, 38, "copied", "right")):
        here.text(x(when), down, words, SMALL, ha=ha)
    here.text(x(6.8), 178, "other hosts", SMALL)
    here.arrow((x(6.2), 168), (x(6.2), 146), ORANGE)
    here.arrow((x(7.3), 146), (x(7.3), 168), ORANGE)
    key = canvas.part(360, 212) if wide else canvas.part(24, 244)
    key.key(0, 0, (PURPLE, 0.32, "launches kernels and enqueues copies"))
