"""The accesses that two barriers per step order between two ranks, in stage 07 of advection on many processes."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Two barriers per step order all accesses"
HEIGHT = {"wide": 424, "narrow": 424}
WIDTH, HIGH, PITCH = 108, 22, 29  # width and height of an operation of a rank, and the distance between operations, in
                                  # pixels
COLUMNS = 46, 228  # horizontal positions of the columns of the two ranks
ALTERNATIVE = (
    "Two ranks over two steps, from top to bottom. Each rank updates the halves of its interior during two "
    "barriers, and loads rows and columns of its neighbour after them. Each arrow between accesses of different "
    "ranks crosses a barrier.")
CAPTION = (
    "Two steps of two ranks, not to scale. Each arrow leads from an access to a later access of the other rank that "
    "depends on it, and each arrow crosses a barrier. The same holds from right to left.")
ORDER = "upper half", "load rows of {}", "lower half", "load columns of {}", "edges, into {}"


def y(step, part):
    """The upper edge of the box of an operation."""
    return 32 + PITCH * (len(ORDER) * step + part) + 12 * step


def draw(canvas):
    """Draws two columns, the barriers across them, and three arrows."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    start, end = COLUMNS[0] + WIDTH, COLUMNS[1]
    for step in range(2):
        here.text(0, y(step, 2) + HIGH / 2, "step s" if not step else "s + 1", SMALL, ha="left", bold=True)
        for part, words in enumerate(ORDER):
            top = y(step, part)
            if part in (0, 2):
                here.box(start, top, end - start, HIGH, "barrier" if step == part == 0 else "", ORANGE, 0.35, edge=0, size=SMALL)
            array = "AB"[step] if part != 4 else "BA"[step]
            for column in COLUMNS:
                here.box(column, top, WIDTH, HIGH, words.format(array), GREEN if "load" in words else BLUE, 0.2, edge=0.5, size=SMALL)
    for colour, one, other in ((GREEN, (0, 1), (0, 3)), (BLUE, (0, 4), (1, 1)), (PURPLE, (0, 3), (1, 4))):
        here.arrow((start, y(*one) + HIGH / 2), (end, y(*other) + HIGH / 2), colour, 1.4)
    for column, rank in zip(COLUMNS, ("a rank", "its neighbour")):
        here.text(column + WIDTH / 2, 12, rank, bold=True)
    key = here.part(20, y(2, 0) + 2)
    key.key(0, 0, (ORANGE, 0.35, "a barrier: arrive, compute, wait"))
    orders = ((GREEN, "rows are in the halo: columns include corners"), (BLUE, "edges are written: rows may be loaded"),
              (PURPLE, "A has been read: A may be overwritten"))
    for n, (colour, words) in enumerate(orders, 1):
        key.arrow((-8, 20 * n), (12, 20 * n), colour, 1.4)
        key.text(18, 20 * n, words, SMALL, ha="left")
