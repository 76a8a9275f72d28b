"""The time of a stage over two parameters of a sweep, as a map: each pair of values is a cell, and darker cells mean
longer times."""

import math

from draw import plots
from draw.canvas import BLUE, SMALL, Diagram
from measure import figures

LEFT, TOP, BELOW, CELL = 54, 12, 48, 30  # margins around the cells, and the height of a cell, in pixels


def times_of(sweep, precision, stage):
    """The times of a stage, by pair of values."""
    times = {tuple(run["value"]): plots.median(record)
             for run in sweep["runs"] if run["precision"] == precision
             for record in plots.timed([run]) if record["stage"] == stage}
    if not times:
        raise figures.UnknownKey(f"no times of {stage} in {precision} are recorded")
    return times


def short(seconds):
    """A time in milliseconds, rounded to two digits."""
    value = 1e3 * seconds
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def draw_cells(canvas, times, names):
    """Draws the map: the first parameter runs to the right, the second one downwards."""
    across, down = (sorted({pair[k] for pair in times}) for k in (0, 1))
    width = (canvas.width - LEFT - 8) / len(across)
    least, most = math.log(min(times.values())), math.log(max(times.values()))
    for (x, y), time in times.items():
        depth = (math.log(time) - least) / (most - least or 1)
        canvas.box(LEFT + across.index(x) * width, TOP + down.index(y) * CELL, width, CELL, short(time), BLUE,
                   0.04 + 0.5 * depth, size=SMALL, bold=time == min(times.values()))
    bottom = TOP + len(down) * CELL
    for i, x in enumerate(across):
        canvas.text(LEFT + (i + 0.5) * width, bottom + 13, f"{x:g}", SMALL)
    for i, y in enumerate(down):
        canvas.text(LEFT - 8, TOP + (i + 0.5) * CELL, f"{y:g}", SMALL, ha="right")
    canvas.text(LEFT + len(across) * width / 2, bottom + 31, names[0], SMALL)
    canvas.text(LEFT - 40, TOP + len(down) * CELL / 2, names[1], SMALL, rotation=90)


def heat_map(words, _, results):
    """The map of a stage over the two parameters of a sweep."""
    if len(words) != 4:
        raise figures.UnknownKey("a heat map is named machine.sweep.precision.stage")
    machine, name, precision, stage = words
    sweep = results.sweep(machine, name)
    names = sweep["sweep"].split(",")
    if len(names) != 2 or not isinstance(sweep["runs"][0]["value"], list):
        raise figures.UnknownKey(f"{name} is no sweep over pairs of values")
    times = times_of(sweep, precision, stage)
    cells = ", ".join(f"{figures.value_text(list(pair))} {figures.seconds_text(time)}" for pair, time in times.items())
    title = f"{stage} over {names[0]} and {names[1]}, {precision}"
    height = TOP + CELL * len({pair[1] for pair in times}) + BELOW
    return Diagram(title, f"The time of {title}, by {names[0]}×{names[1]}: {cells}.",
                   f"{plots.sweep_caption(sweep, precision)} {stage}, milliseconds; the best in bold.",
                   {"wide": height, "narrow": height}, lambda canvas: draw_cells(canvas, times, names))
