"""Stage 13 of Durbin-Levinson: the pairs of a warp that stay valid through the steps of a launch."""

from draw.canvas import BLUE, INK, ORANGE, GREEN, SMALL

TITLE = "Ghost zones"
HEIGHT = {"wide": 300, "narrow": 480}
STEPS = 4
ALTERNATIVE = (
    "First: two warps with eight pairs each for four steps. In each step, the leftmost valid pair of each warp "
    "becomes invalid, and the remaining pairs of both warps are contiguous. Second: four leading pairs, of which "
    "each step uses one.")
CAPTION = (
    "Eight pairs per warp and four steps instead of 128 and 64. In each step, the pair without a valid "
    "left neighbour becomes invalid.")

CELL = 22


def rows(canvas, top, first, count, look_of):
    """Draws the pairs of a warp when they are read and after each step."""
    for step in range(STEPS + 1):
        for n in range(count):
            colour, fill, words = look_of(step, n)
            canvas.box(CELL * (first + n), top + 22 * step, CELL - 2, 19, words, colour, fill,
                       edge=0.8 if fill else 0.3, size=SMALL)


def following(step, n):
    """The look of a pair in a warp that follows: kept, valid, or invalid."""
    if n >= STEPS:
        return GREEN, 0.5, ""
    return (BLUE, 0.16, "") if n >= step else (INK, 0, "")


def leading(step, n):
    """The look of a pair in the warp that leads."""
    return (ORANGE, 0.6, "α") if n == step else (BLUE, 0.16, "") if n > step else (INK, 0, "")


def names(canvas, x, top):
    """Draws the names of the rows."""
    for step, name in enumerate(("read", "after step 1", *map(str, range(2, STEPS + 1)))):
        canvas.text(x, top + 22 * step + 9, name, SMALL, ha="right")


def draw(canvas):
    """Draws two warps that follow, and the warp that leads."""
    follow = canvas.part(92 if canvas.is_wide else 72, 0)
    follow.text(CELL * 6, 12, "two warps that follow", bold=True)
    for warp in range(2):
        names(follow, -6, 34 + 124 * warp)
        rows(follow, 34 + 124 * warp, 4 * warp, 8, following)
        follow.text(CELL * (2 if warp else 10), 88 + 124 * warp, "warp w + 1" if warp else "warp w", SMALL)
    lead = canvas.part(560, 0) if canvas.is_wide else canvas.part(110, 300)
    lead.text(CELL * 2, 12, "the warp that leads", bold=True)
    names(lead, -6, 34)
    rows(lead, 34, 0, STEPS, leading)
    if canvas.is_wide:
        key = canvas.part(490, 180)
        key.key(0, 0, (GREEN, 0.5, "kept"))
        key.key(0, 20, (BLUE, 0.16, "valid, and computed elsewhere, too"))
        key.key(0, 40, (INK, 0, "invalid, or used up"))
        key.key(0, 60, (ORANGE, 0.6, "leads, and gives α"))
    else:
        canvas.part(20, 284).key(0, 0, (GREEN, 0.5, "kept"), (BLUE, 0.16, "valid"), (INK, 0, "invalid"),
                                 (ORANGE, 0.6, "leads"))
