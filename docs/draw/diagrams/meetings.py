"""A step of stage 18: what is done between its five barriers, and what crosses them."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A step of the sweep, between barriers"
HEIGHT = {"wide": 314, "narrow": 314}
ALTERNATIVE = (
    "From top to bottom: rows solved along y; a barrier of the block, behind which q is in shared memory; "
    "pieces of columns computed down and up; a barrier of the cluster, behind which five numbers of each "
    "piece are at the block that joins its column; columns joined by two scans; a barrier of the block; "
    "ends sent back; a barrier of the cluster; pieces finished; a barrier of the block, behind which p is "
    "in shared memory; z updated.")
CAPTION = (
    "One step of stage 18, to no scale. Orange bars stop all 16 blocks of the cluster, green ones the "
    "threads of a block; below each stands what it makes known.")


def draw(canvas):
    """From top to bottom: work in boxes, barriers as bars."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    y = 6
    for words, bar, known in (
            ("along y: solve for q", GREEN, "q, in shared memory: rows become columns"),
            ("along x: f, g, h of 16 rows", ORANGE, "5 numbers per piece, at the block that joins"),
            ("join: a scan down, a scan up", GREEN, "both ends of every piece"),
            ("send the ends back", ORANGE, "d and x, at the piece they belong to"),
            ("finish: p = f + g d + h x", GREEN, "p, in shared memory: columns become rows"),
            ("z, in registers", None, "")):
        here.box(60, y, 220, 24, words, BLUE, 0.14)
        y += 24
        if bar:
            here.box(4, y + 7, 332, 4, colour=bar, fill=0.85, edge=0)
            here.text(170, y + 20, known, SMALL)
            y += 32
