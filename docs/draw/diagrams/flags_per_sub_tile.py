"""A link of the critical path along the diagonal, in stages 17 and 18 of Cholesky, drawn to the scale of the prediction."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "A link of the critical path, with flags for tiles and for sub-tiles"
HEIGHT = {"wide": 330, "narrow": 330}
SLICES = 8
FACTORISED, DIVIDED, TAKEN_OFF = 44.5, 5.5, 10  # the three parts of a link in microseconds, as on the page
ALTERNATIVE = (
    "Two timelines of three tiles. In stage 17, each tile starts after all eight sub-tiles of the previous one. "
    "In stage 18, a tile starts its work on a sub-tile as soon as this sub-tile is complete, so the link is more "
    "than a fifth shorter.")
CAPTION = (
    "One link, from a tile on the diagonal to the next one. Lengths are the predicted times, and all sub-tiles take equally long. In "
    "stage 18, the work of the two lower rows is hidden, except for the last sub-tile.")
LANES = (("tile j, j\nfactorises", ORANGE, FACTORISED), ("tile j + 1, j\ndivides", GREEN, DIVIDED),
         ("tile j + 1, j + 1\nsubtracts", BLUE, TAKEN_OFF))


def begins(is_by_slices):
    """The start time of each sub-tile in each row: after the previous sub-tile, and after the required sub-tile of the row
    above."""
    above = [0] * SLICES
    for _, _, length in LANES:
        each, now, starts = length / SLICES, 0, []
        for p in range(SLICES):
            starts.append(max(now, above[p if is_by_slices else -1]))
            now = starts[-1] + each
        yield starts
        above = [start + each for start in starts]


def link(canvas, unit, is_by_slices):
    """Draws the three lanes, arrows between them, and the length of the link."""
    previous = None
    for lane, ((name, colour, length), starts) in enumerate(zip(LANES, begins(is_by_slices))):
        y, width = 38 * lane, unit * length / SLICES
        canvas.text(-6, y + 11, name, SMALL, ha="right")
        for p, start in enumerate(starts):
            canvas.box(unit * start, y, width, 22, f"{p}" if width > 12 else "", colour, 0.6 if p % 2 else 0.35, edge=0.4, size=SMALL)
            if previous and (is_by_slices or p == SLICES - 1):
                canvas.arrow((previous[p], y - 16), (unit * starts[p if is_by_slices else 0] + 1, y), PURPLE)
        previous = [unit * start + width - 1 for start in starts]
    end = previous[-1] + 1
    canvas.box(end, 76, unit * 4, 22, "0", ORANGE, 0.35, edge=0.4, size=SMALL)
    canvas.line((0, 24), (0, 118), colour=INK, dashed=True)
    canvas.line((end, 70), (end, 118), colour=INK, dashed=True)
    canvas.arrow((0, 112), (end, 112), both=True)
    canvas.text(end / 2, 124, "a link", SMALL)


def draw(canvas):
    """Draws stage 17 above, and stage 18 below."""
    left = 96
    unit = (canvas.width - left - 6) / 64.5
    for top, name, is_by_slices in ((14, "17: a flag for each tile", False), (178, "18: a flag for each sub-tile", True)):
        canvas.text(0, top, name, ha="left", bold=True)
        link(canvas.part(left, top + 16), unit, is_by_slices)
