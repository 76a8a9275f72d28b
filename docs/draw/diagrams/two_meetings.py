"""What two meetings per step order between two ranks, in stage 07 of advection on many processes."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Two meetings per step, and what they order"
HEIGHT = {"wide": 424, "narrow": 424}
WIDTH, HIGH, PITCH = 108, 22, 29  # of what a rank does
COLUMNS = 46, 228  # where the two ranks' columns begin
ALTERNATIVE = (
    "Two ranks side by side, time from top to bottom. In step s each updates the upper half of its interior while the "
    "first meeting gathers, loads rows of A from the neighbour, updates the lower half while the second meeting "
    "gathers, loads columns of A and updates its edges, into B. Step s + 1 is the same with A and B exchanged. Arrows "
    "cross the meetings: from loaded rows to the other's columns, from edges written into B to the other's rows "
    "loaded from B, and from columns loaded from A to edges that the other writes into A.")
CAPTION = (
    "Two steps of two ranks, to no scale. Each arrow is something that must come before something of the other rank, "
    "and each crosses a meeting. The same holds from right to left.")
ORDER = "upper half", "load rows of {}", "lower half", "load columns of {}", "edges, into {}"


def y(step, part):
    """The top of what is done."""
    return 32 + PITCH * (len(ORDER) * step + part) + 12 * step


def draw(canvas):
    """Two columns, the meetings across, and three arrows."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    start, end = COLUMNS[0] + WIDTH, COLUMNS[1]
    for step in range(2):
        here.text(0, y(step, 2) + HIGH / 2, "step s" if not step else "s + 1", SMALL, ha="left", bold=True)
        for part, words in enumerate(ORDER):
            top = y(step, part)
            if part in (0, 2):
                here.box(start, top, end - start, HIGH, "meeting" if step == part == 0 else "", ORANGE, 0.35, edge=0, size=SMALL)
            array = "AB"[step] if part != 4 else "BA"[step]
            for column in COLUMNS:
                here.box(column, top, WIDTH, HIGH, words.format(array), GREEN if "load" in words else BLUE, 0.2, edge=0.5, size=SMALL)
    for colour, one, other in ((GREEN, (0, 1), (0, 3)), (BLUE, (0, 4), (1, 1)), (PURPLE, (0, 3), (1, 4))):
        here.arrow((start, y(*one) + HIGH / 2), (end, y(*other) + HIGH / 2), colour, 1.4)
    for column, rank in zip(COLUMNS, ("a rank", "its neighbour")):
        here.text(column + WIDTH / 2, 12, rank, bold=True)
    key = here.part(20, y(2, 0) + 2)
    key.key(0, 0, (ORANGE, 0.35, "a meeting: arrive, compute, wait"))
    orders = ((GREEN, "rows are in the halo: columns bring corners"), (BLUE, "edges are written: rows may be loaded"),
              (PURPLE, "A has been read: A may be overwritten"))
    for n, (colour, words) in enumerate(orders, 1):
        key.arrow((-8, 20 * n), (12, 20 * n), colour, 1.4)
        key.text(18, 20 * n, words, SMALL, ha="left")
