"""Two launches of a GPU's graph in stage 10 of advection on many processes, and their waits."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A graph of two steps joins its streams at the end"
HEIGHT = {"wide": 240, "narrow": 280}
BEGIN, UNIT = {"wide": 74, "narrow": 48}, {"wide": 48.5, "narrow": 19.4}
JOIN, END = 7.8, 14.75  # ends of the first graph and of both graphs
ALTERNATIVE = (
    "A timeline of the two streams of a GPU over two launches of a graph of two steps. A late exchange in the "
    "first step delays only the next edges. A late exchange in the second step delays the next graph, so the "
    "interior has a gap.")
CAPTION = (
    "A GPU, not to scale; the neighbours are late in the first two steps. The arrows are waits of the table. Within a graph, a late "
    "exchange delays only edges; at the end of a graph, it also delays the interior.")


def draw(canvas):
    """Draws two lanes, and a frame around each launch."""
    width = "wide" if canvas.is_wide else "narrow"
    begin, unit = BEGIN[width], UNIT[width]
    here = canvas.part(4, 56)

    def x(when):
        return begin + unit * when

    edges = "edges" if canvas.is_wide else "e"
    late, second = "NCCL, late" if canvas.is_wide else "late", JOIN + 0.18  # start of the second graph
    exchanges = (0, 4.05, late), (4.1, 7.7, late), (second, second + 2.8, "NCCL"), (second + 3.2, second + 6, "NCCL")
    parts = []
    for start, end, words in exchanges:
        parts += (start, 0.9, edges, GREEN), (start + 0.9, end - start - 0.9, words, ORANGE)
    here.lane(0, "edges", begin, unit, *parts)
    for launch, (first, last) in enumerate(((0, JOIN), (JOIN, END))):
        here.box(x(first) - 3, -12, unit * (last - first) - 2, 134, colour=INK, fill=0.05, edge=0.8, dashed=True)
        here.text(x((first + last) / 2), -44, ("first" if launch == 0 else "second") + " launch", bold=True)
    for n, when in enumerate((1.6, 5.2, JOIN + 1.6, JOIN + 4.8)):
        here.text(x(when), -22, f"step {n + 1}", SMALL)
    here.lane(86, "interior", begin, unit, *((start, 3.2, "interior", BLUE) for start in (0, 3.2, second, second + 3.2)))
    here.text(x((6.4 + JOIN) / 2) - 3, 98, "gap", SMALL)
    for first in (0, second):
        here.arrow((x(first + 0.85), 24), (x(first + 3.3), 86), GREEN, 1.4)
    for start, end in ((2.95, 4.15), (second + 2.95, second + 3.3)):
        here.arrow((x(start), 86), (x(end), 24), INK, 1.4)
    here.arrow((x(7.6), 24), (x(second) + 2, 86), ORANGE, 1.4)
    key = canvas.part(80 if canvas.is_wide else 8, 212)
    entries = ((ORANGE, "sent: the whole graph before"), (INK, "ready: interior done"), (GREEN, "updated: edges done"))
    for n, (colour, words) in enumerate(entries):
        at = (210 * n, 0) if canvas.is_wide else (0, 20 * n)
        key.arrow(at, (at[0] + 22, at[1]), colour, 1.4)
        key.text(at[0] + 28, at[1], words, SMALL, ha="left")
