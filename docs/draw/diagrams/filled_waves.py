"""Tiles of slices on multiprocessors, by stage 12 of the sliced product and by stage 13."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "One slice at a time, and two"
HEIGHT = {"wide": 252, "narrow": 480}
PLACES, TILES, SLICES = 10, 9, 6
ALTERNATIVE = (
    "Two timelines of ten multiprocessors and six slices of nine tiles each. On the left slices follow each other: nine "
    "multiprocessors have a tile each, the tenth has none, and all wait until the last tile of a slice is done. On the right, tiles "
    "of the next slice begin wherever a multiprocessor is free, so that there is hardly a gap before the end, and the whole ends "
    "sooner.")
CAPTION = (
    "A scheme with 10 multiprocessors and 9 tiles for the 132 and 128 of an H200. Tiles differ a little in length, as drawn. Slices "
    "of the first stream are blue, those of the second orange; on the left there is one stream, and the colours only tell slices "
    "apart.")


def scheduled(at_a_time):
    """Place, begin, length and slice of each tile: the place that is free first takes the next tile of a slice that may begin."""
    free, ended = [0.0] * PLACES, []
    for e in range(SLICES):
        may_begin = ended[e - at_a_time] if e >= at_a_time else 0
        last = 0
        for n in range(TILES):
            place = min(range(PLACES), key=lambda p: (max(free[p], may_begin), p))
            begin, length = max(free[place], may_begin), 0.88 + 0.04 * ((5 * n + 3 * e) % 7)
            free[place] = begin + length
            last = max(last, free[place])
            yield place, begin, length, e
        ended.append(last)


def draw_slices(canvas, name, at_a_time, right):
    """Each tile in its place; time runs to the right."""
    left, top, unit, row = 10, 40, 45, 14
    canvas.text(165, 14, name, bold=True)
    end = 0
    canvas.box(left, top - 2, unit * right, row * PLACES + 1, colour=INK, fill=0.04, edge=0)
    for place, begin, length, e in scheduled(at_a_time):
        canvas.box(left + unit * begin, top + row * place, unit * length - 1.5, row - 3, colour=ORANGE if e % 2 else BLUE,
                   fill=0.5, edge=0.4)
        end = max(end, begin + length)
    bottom = top + row * PLACES
    canvas.line((left + unit * end, top - 8), (left + unit * end, bottom + 8), width=1, dashed=True)
    canvas.arrow((left, bottom + 14), (left + unit * right + 6, bottom + 14), width=0.8)
    canvas.text(165, bottom + 30, "time", SMALL)


def draw(canvas):
    """Stage 12 on the left or above, stage 13 beside or below it."""
    right = max(begin + length for _, begin, length, _ in scheduled(1))
    for panel, name, at_a_time in zip(canvas.panels(2, 330), ("12: slice by slice", "13: two slices at a time"), (1, 2)):
        draw_slices(panel, name, at_a_time, right)
