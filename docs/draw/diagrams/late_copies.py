"""The two streams of a GPU in stage 09 of advection on many processes, and their waits."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A late copy delays no interior"
HEIGHT = {"wide": 246, "narrow": 286}
BEGIN, UNIT = {"wide": 92, "narrow": 58}, {"wide": 56, "narrow": 28.5}
ALTERNATIVE = (
    "Timelines of three steps: the edges of the GPU above, and the edges and the interior of a GPU. The copies of "
    "step s are late, so the edges of step s + 1 start late. But all interiors start in time and follow each "
    "other without a gap.")
CAPTION = (
    "A GPU and one of its two neighbours, not to scale; the copies of one step are late. The arrows are waits of the "
    "table. The interiors follow each other without a gap.")


def draw(canvas):
    """Draws three lanes, and the events between them."""
    width = "wide" if canvas.is_wide else "narrow"
    begin, unit = BEGIN[width], UNIT[width]
    here = canvas.part(4, 40)

    def x(when):
        return begin + unit * when

    edges, above = ("edges", "GPU above:\nedges") if canvas.is_wide else ("e", "above:\nedges")
    for n, name in enumerate(("step s", "s + 1", "s + 2")):
        here.text(x(3.2 * n + 1.6), -24, name, SMALL, bold=True)
    later = (4.3, 0.9, edges, GREEN), (5.2, 1.4, "copies", ORANGE), (6.8, 0.9, edges, GREEN), (7.7, 1.4, "copies", ORANGE)
    here.lane(0, above, begin, unit, (0, 0.9, edges, GREEN), (0.9, 3, "copies", ORANGE), *later)
    here.lane(66, "edges", begin, unit, (0, 0.9, edges, GREEN), (0.9, 1.4, "copies", ORANGE), *later)
    here.lane(132, "interior", begin, unit, *((3.2 * step, 3.2, "interior", BLUE) for step in range(3)))
    for colour, start, end in ((INK, (3.22, 132), (4.26, 90)), (ORANGE, (3.85, 24), (4.32, 66)), (GREEN, (0.85, 90), (3.17, 132)),
                               (GREEN, (5.15, 90), (6.4, 132))):
        here.arrow((x(start[0]) - 1, start[1]), (x(end[0]), end[1]), colour, 1.4)
    key = canvas.part(100 if canvas.is_wide else 8, 228)
    entries = ((ORANGE, "sent: halo has arrived"), (INK, "ready: interior done"), (GREEN, "updated: edges done"))
    for n, (colour, words) in enumerate(entries):
        at = (170 * n, 0) if canvas.is_wide else (0, 20 * n)
        key.arrow(at, (at[0] + 22, at[1]), colour, 1.4)
        key.text(at[0] + 28, at[1], words, SMALL, ha="left")
