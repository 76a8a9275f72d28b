"""Tiles of slices on SMs, in stage 12 of the sliced product and in stage 13."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Kernels of one slice at a time, and of two"
HEIGHT = {"wide": 252, "narrow": 480}
PLACES, TILES, SLICES = 10, 9, 6
ALTERNATIVE = (
    "Two timelines of ten SMs and six slices of nine tiles. On the left, each slice starts after the previous "
    "one, so one SM is idle and the others wait for the last tile. On the right, tiles of the next slice start as "
    "soon as an SM is free.")
CAPTION = (
    "A schematic example with 10 SMs and 9 tiles instead of the 132 and 128 of an H200. The durations of tiles differ slightly. "
    "Slices of the first stream are blue, and those of the second stream are orange. On the left, there is one stream, and the "
    "colours only distinguish the slices.")


def scheduled(at_a_time):
    """SM, begin, length and slice of each tile. The first SM that becomes free takes the next tile of a slice that may
    begin."""
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
    """Draws each tile on its SM, with time to the right."""
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
    """Draws stage 12 on the left or above, and stage 13 beside or below it."""
    right = max(begin + length for _, begin, length, _ in scheduled(1))
    for panel, name, at_a_time in zip(canvas.panels(2, 330), ("12: slice by slice", "13: two slices at a time"), (1, 2)):
        draw_slices(panel, name, at_a_time, right)
