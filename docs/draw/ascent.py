r"""Draws an ascent: a roofline with the stages of a workload on one problem, joined by a line in reading order.

The roofs belong to the devices on which the stages ran. A page requests an ascent by the name of the file that it
includes:

    <!-- ascent.MACHINE.WORKLOAD.DATASET.PRECISION.html -->

The horizontal position of a stage is the workload's number of operations divided by a number of bytes. If the record of the
stage contains the minimum number of bytes that its kernels move, this number is used. Otherwise, the number of bytes of the
problem is used.
"""

import math
import re

from draw import plots, together
from measure import figures

REQUEST = re.compile(r"\\htmlinclude (ascent\.(\S+)\.html)")
APART = 12.5  # pixels between two labels, one above the other
BESIDE = 26  # two points within this horizontal distance, in pixels, may have overlapping labels
ROOM = {"wide": (730, 400), "narrow": (255, 400)}  # approximate width and height of the area for the points, in pixels


def place(record):
    """Operations per byte that a stage moves, and operations per second."""
    work = record["modelled"]
    return work["flops"] / (work.get("traffic_bytes") or work["bytes"]), work["flops"] / plots.median(record)


def roofs(found, precision):
    """The bandwidth and the rates of each device on which stages ran, from the recording that contains most of these
    stages."""
    of_device = {}
    for record, recording in found.values():
        of_device.setdefault(record["device"], []).append(recording)
    for device, recordings in sorted(of_device.items()):
        recording = max(recordings, key=lambda one: (sum(other is one for other in recordings), one["date"]))
        ceilings = recording["ceilings"].get("gpu", {}) if device == "gpu" else recording["ceilings"]
        rates = [ceilings[key] for key in (f"flops_{precision}", f"flops_{precision}_matrix") if key in ceilings]
        if rates and "copy_bytes_per_second" in ceilings:
            yield device, ceilings["copy_bytes_per_second"], sorted(set(rates))


def spread(places):
    """The vertical positions of the labels of points, in pixels: at the heights of their points, but moved apart where
    labels would overlap."""
    heights = [y for _, y in places]
    for _ in range(60):
        moved = False
        for i, (x, _) in enumerate(places):
            for j in range(i):
                gap = heights[i] - heights[j]
                if abs(places[j][0] - x) < BESIDE and abs(gap) < APART:
                    push = (APART - abs(gap)) / 2 + 0.1
                    up = gap > 0 or gap == 0 and i > j
                    heights[i] += push if up else -push
                    heights[j] -= push if up else -push
                    moved = True
        if not moved:
            break
    return heights


def draw(axes, width, steps, ceilings):
    """Draws the roofs, the stages below them, and a line from each stage to the next."""
    points = [place(record) for record in steps.values()]
    intensities, speeds = zip(*points)
    left = min(*intensities, *(min(rates) / bandwidth for _, bandwidth, rates in ceilings)) / 5
    right = max(8 * max(intensities), *(3 * max(rates) / bandwidth for _, bandwidth, rates in ceilings))
    low = min(speeds) / 3
    high = 4 * max(*speeds, *(max(rates) for _, _, rates in ceilings))
    for device, bandwidth, rates in ceilings:
        name, colour, _ = plots.DEVICES[device]
        for rate in rates:
            axes.plot([left, rate / bandwidth, right], [left * bandwidth, rate, rate], color=colour, linewidth=1)
            axes.annotate(f"{name}: {figures.rate_text(rate)}", (right, rate), (0, 3), textcoords="offset points",
                          ha="right", va="bottom", fontsize=9.5)
    axes.plot(intensities, speeds, color=plots.INK, alpha=0.4, linewidth=1)
    labels = set()
    across, down = ROOM[width]
    scale = down / math.log(high / low)
    pixels = [(across * math.log(x / left) / math.log(right / left), scale * math.log(y / low)) for x, y in points]
    for (name, record), (x, y), (_, at), height in zip(steps.items(), points, pixels, spread(pixels)):
        device, colour, marker = plots.DEVICES[record["device"]]
        axes.plot(x, y, marker, color=colour, label=None if device in labels else device)
        labels.add(device)
        axes.annotate(name[:2], (x, y), (9, height - at), textcoords="offset points", ha="left", va="center", fontsize=10)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    axes.set_xlabel("operations per byte moved")
    plots.legend_above(axes)


def ascent(words, workloads, results):
    """The roofline of a workload's stages on one problem."""
    if len(words) != 4 or words[1] not in workloads:
        raise figures.UnknownKey("an ascent is named machine.workload.dataset.precision")
    machine, workload, dataset, precision = words
    runs = results.runs(*words)
    sources = figures.sources(runs)
    found = {stage.name: sources[stage.name] for stage in workloads[workload] if stage.name in sources}
    if len(found) < 2:
        raise figures.UnknownKey("an ascent has two stages at least")
    steps = {name: record for name, (record, _) in found.items()}
    ceilings = list(roofs(found, precision))
    problem = f"{workload}, {dataset}, {precision}"
    text = "; ".join(f"{name} at {x:.3g} operations per byte and {figures.rate_text(y)}"
                     for name, (x, y) in ((name, place(record)) for name, record in steps.items()))
    of_roofs = "; ".join(f"{plots.DEVICES[device][0]}, copies {figures.bandwidth_text(bandwidth)}, "
                         f"{' and '.join(map(figures.rate_text, rates))}" for device, bandwidth, rates in ceilings)
    return plots.Plot(
        f"The stages of {problem}, below the roofs",
        f"The stages of {problem} in reading order, both axes logarithmic. Roofs: {of_roofs}. Stages: {text}.",
        f"{problem} on {machine}: each stage by the operations of the workload for a byte that it moves between memory and chip at "
        f"the least, where that is known, and otherwise for a byte of the problem. Roofs: {of_roofs}. {figures.sources_text(runs)}.",
        lambda axes, width: draw(axes, width, steps, ceilings), figures.rate_text)


def write(texts, workloads, results, directory):
    """Draws every ascent that a page requests. Raises an exception if an ascent cannot be drawn, so that the book is not
    built."""
    asked = {}
    for page, text in texts.items():
        for file, words in REQUEST.findall(text):
            try:
                asked[file] = ascent(words.split("."), workloads, results), file.removesuffix(".html")
            except figures.UnknownKey as error:
                raise SystemExit(f"{page}: {file}: {error}")
    together.write(directory, asked, plots.figure_html)
