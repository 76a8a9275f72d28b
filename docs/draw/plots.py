r"""Draws the plots that the pages request, from the recorded runs, as SVG in the colours of the page.

A page requests a plot by the name of the file that it includes:

    <!-- ladder.MACHINE.WORKLOAD.DATASET.PRECISION.html -->
    <!-- scaling.MACHINE.SWEEP.PRECISION.html -->
    <!-- crossover.MACHINE.SWEEP.PRECISION.STAGE.STAGE.html -->
    <!-- roofline.MACHINE.PRECISION.html -->

A ladder shows the time of each stage. Horizontal lines show the times of other programs on the data set;
stages/WORKLOAD/published.json contains these times. A scaling plot shows the time of each stage of a sweep over the
parameter of the sweep. If the parameter is the number of threads, the plot also shows the times of ideal scaling. A
crossover plot also shows the points at which two of the curves cross. A roofline shows the speed of the fastest stage of
each recorded problem, below the ceilings of the machine's GPU. If the machine has no GPU, the roofline shows the ceilings of
the processor.
"""

import dataclasses
import html
import io
import itertools
import json
import math
import re
import typing
import zlib

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from draw import together
from measure import figures

REQUEST = re.compile(r"\\htmlinclude ((ladder|scaling|crossover|roofline)\.(\S+)\.html)")

# The page's colours, which change with its mode, replace these colours of matplotlib's drawings.
INK = "#010100"
COLOURS = [f"#01010{number}" for number in range(1, 9)]
MARKERS = "os^DvPX<>p*h"
LOOKS = [(colour, marker, line) for line in ("-", "--") for colour, marker in zip(COLOURS, MARKERS)]  # colours, markers
                                                                                                      # and line styles
                                                                                                      # of curves
OF_PAGE = {INK: "currentColor"} | {
    colour: f"var(--plot-{i})" for i, colour in enumerate(COLOURS, 1)}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "staircase", "font.size": 11, "axes.linewidth": 0.8,
         "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
         "lines.linewidth": 1.5, "lines.markersize": 7, "legend.fontsize": 11}
STYLE |= {f"{thing}color": INK for thing in ("text.", "axes.edge", "axes.label", "xtick.", "ytick.")}
WIDTHS = {"wide": 800, "narrow": 340}  # pixels; the page shows the drawing that fits
HEIGHT = 480


@dataclasses.dataclass
class Plot:
    """The texts of a plot, and the function that draws it on axes of one of the two widths."""

    title: str
    alternative: str
    caption: str
    draw: typing.Callable
    value_text: typing.Callable = figures.seconds_text  # for the values of the vertical axis


def median(record):
    """The median time of a stage in seconds."""
    return record["seconds"]["median"]


def is_baseline(record):
    """Whether a record belongs to a baseline rather than to a stage."""
    return record["stage"].startswith("baseline_")


def timed(runs):
    """The records of the given runs that contain times, stages first. For each stage, the first record is used."""
    records = {}
    for run in runs:
        for record in figures.timed(run):
            records.setdefault(record["stage"], record)
    return sorted(records.values(), key=lambda record: (is_baseline(record), record["stage"]))


def recordings_text(runs):
    """Machine, date and revision of the runs of a sweep, which are given as pairs (run, recording)."""
    texts = dict.fromkeys(
        figures.recording_text(recording, len(timed([run])[0]["repeats"]))
        for run, recording in runs if timed([run]))
    return "; ".join(texts)


def legend_above(axes):
    """Draws the legend above the axes, so that it covers no data, in as many columns as fit."""
    _, labels = axes.get_legend_handles_labels()
    across = axes.figure.get_figwidth() * 72
    # A mark with its gaps takes about 45 pixels, and a letter 6.5 pixels.
    columns = max(1, int((across - 60) // (45 + 6.5 * max(map(len, labels)))))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=min(columns, len(labels)), borderaxespad=0.2, columnspacing=1.2,
                handletextpad=0.4)


# --- The ladder

DEVICES = {"cpu": ("CPU", COLOURS[0], "o"), "gpu": ("GPU", COLOURS[1], "s")}


def draw_ladder(axes, width, records, published, hosts):
    """Draws points in reading order with their values, and lines for published times."""
    times = [median(record) for record in records]
    steps = [record for record in records if not is_baseline(record)]
    for x, (record, after) in enumerate(zip(steps, steps[1:])):
        axes.plot([x, x + 1], [median(record), median(after)], color=INK, alpha=0.4, linewidth=1,
                  linestyle="-" if hosts[record["stage"]] == hosts[after["stage"]] else ":")
    labels = set()
    for x, (record, time) in enumerate(zip(records, times)):
        device, colour, marker = DEVICES[record["device"]]
        hollow = is_baseline(record)
        label = f"{device}, baseline" if hollow else device
        axes.plot(x, time, marker, color=colour, markerfacecolor="none" if hollow else colour,
                  label=None if label in labels else label)
        labels.add(label)
        axes.annotate(figures.seconds_text(time), (x, time), (0, 8), textcoords="offset points",
                      ha="center", va="bottom", rotation=0 if width == "wide" else 90)
    for what, time in published.items():
        axes.axhline(time, color=INK, linestyle="--", linewidth=0.8)
        axes.annotate(f"{what}: {figures.seconds_text(time)}", (1, time), (0, 1),
                      xycoords=("axes fraction", "data"), textcoords="offset points",
                      ha="right", va="bottom", fontsize=9.5)
    axes.set_xlim(-0.5, len(records) - 0.5)
    axes.set_ylim(min(times) / 2, 3 * max(*times, *published.values()))
    axes.set_xticks(range(len(records)), [record["stage"] for record in records],
                    rotation=35 if width == "wide" else 90,
                    ha="right" if width == "wide" else "center", rotation_mode="default")
    legend_above(axes)


def check_stages(records, of_workload):
    """Raises an exception if a record belongs to a stage that no longer exists."""
    directory = of_workload[0].source.parent.parent
    known = {stage.name for stage in of_workload} | {
        f"baseline_{path.stem}" for path in directory.glob("baselines/*")}
    for record in records:
        if record["stage"] not in known:
            raise figures.UnknownKey(f"{record['stage']} is recorded, which is no stage")


def published_times(of_workload, dataset):
    """The published times of other programs on a data set, and their sources."""
    path = of_workload[0].source.parent.parent / "published.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    return found.get(dataset, {"source": "", "seconds": {}})


def ladder(words, workloads, results):
    """The ladder of one problem; its runs may be recorded in several files."""
    if len(words) != 4 or words[1] not in workloads:
        raise figures.UnknownKey("a ladder is named machine.workload.dataset.precision")
    machine, workload, dataset, precision = words
    runs = results.runs(*words)
    records = timed(run for run, _ in runs)
    hosts = {stage: recording["host"] for stage, (_, recording) in figures.sources(runs).items()}
    check_stages(records, workloads[workload])
    published = published_times(workloads[workload], dataset)
    recorded = {record["stage"] for record in records}
    missing = [stage.name for stage in workloads[workload] if stage.name not in recorded]
    problem = f"{workload}, {dataset}, {precision}"
    times = [f"{record['stage']} {figures.seconds_text(median(record))} on the "
             f"{DEVICES[record['device']][0]}" for record in records]
    lines = [f"{what}: {figures.seconds_text(time)}" for what, time in published["seconds"].items()]
    alternative = f"The time of each stage of {problem}, on a logarithmic scale: {', '.join(times)}."
    caption = f"{problem}. {figures.sources_text(runs)}."
    if lines:
        alternative += f" Lines for scale: {'; '.join(lines)}."
        caption += f" Dashed: {published['source']}."
    if len({host for stage, host in hosts.items() if not stage.startswith("baseline_")}) > 1:
        caption += " Dotted lines connect times of different hosts."
    if missing:
        caption += f" Not recorded on {machine}: {', '.join(missing)}."
    return Plot(f"The ladder of {problem}", alternative, caption,
                lambda axes, width: draw_ladder(axes, width, records, published["seconds"], hosts))


# --- Sweeps: scaling and crossovers

def is_map(sweep):
    """Whether two parameters of a sweep vary independently, so that its times need a map."""
    pairs = [run["value"] for run in sweep["runs"] if isinstance(run["value"], list)]
    return len({pair[0] for pair in pairs}) < len({tuple(pair) for pair in pairs})


def parameter_text(sweep):
    """The parameter of a sweep as text. The text shows whether two parameters vary independently, are equal, or
    change together in another way."""
    if is_map(sweep):
        return sweep["sweep"].replace(",", " × ")
    if isinstance(sweep["runs"][0]["value"], list):
        return "{} ({} with it)".format(*sweep["sweep"].split(","))
    return sweep["sweep"].replace(",", " = ")


def curves_of(sweep, precision):
    """The times of each stage of a sweep, as lists of (value, seconds)."""
    curves = {}
    for run in sorted(sweep["runs"], key=lambda run: run["value"]):
        for record in timed([run]) if run["precision"] == precision else ():
            at = run["value"][0] if isinstance(run["value"], list) else run["value"]
            curves.setdefault(record["stage"], []).append((at, median(record)))
    if len(curves) > len(LOOKS):
        raise figures.UnknownKey(f"a plot holds {len(LOOKS)} stages at most, not {len(curves)}")
    if not curves:
        raise figures.UnknownKey(f"no times in {precision} are recorded")
    return curves


def parameters_text(sweep):
    """The data set of a sweep over threads, or the parameters that are the same in all runs."""
    if sweep["sweep"] == "threads":
        return sweep["runs"][0]["dataset"]
    parameters = timed(sweep["runs"])[0]["parameters"]
    return ", ".join(f"{key} = {value:g}" for key, value in parameters.items()
                     if key not in sweep["sweep"].split(","))


def sweep_title(sweep, precision):
    """The title of a sweep's plot."""
    return f"{sweep['runs'][0]['workload']} over {parameter_text(sweep)}, {precision}"


def ranges_text(curves):
    """The first and the last time of each curve as text."""
    return ", ".join(f"{stage} from {figures.seconds_text(curve[0][1])} at {curve[0][0]:g} to "
                     f"{figures.seconds_text(curve[-1][1])} at {curve[-1][0]:g}"
                     for stage, curve in curves.items())


def sweep_caption(sweep, precision):
    """The caption of a sweep's plot, with the source of the recording."""
    return (f"{sweep_title(sweep, precision)}, {parameters_text(sweep)}. "
            f"{recordings_text((run, sweep) for run in sweep['runs'])}.")


def draw_curves(axes, parameter, curves):
    """Draws one curve per stage; both axes are logarithmic."""
    for (stage, curve), (colour, marker, line) in zip(curves.items(), LOOKS):
        axes.plot(*zip(*curve), color=colour, marker=marker, linestyle=line, label=stage)
    values = sorted({x for curve in curves.values() for x, _ in curve})
    times = [y for curve in curves.values() for _, y in curve]
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(parameter)
    axes.set_ylim(min(times) / 2, max(times) * 2)
    legend_above(axes)


def efficiency(curve):
    """The parallel efficiency from the fewest threads to the most: the speed-up divided by the ratio of the thread
    counts."""
    (few, slow), (many, fast) = curve[0], curve[-1]
    return slow * few / (fast * many)


def draw_threads(axes, curves):
    """Draws the curves, and below each curve the time with ideal scaling from its first point."""
    draw_curves(axes, "threads", curves)
    for curve, (colour, _, _) in zip(curves.values(), LOOKS):
        axes.plot([x for x, _ in curve], [curve[0][0] * curve[0][1] / x for x, _ in curve], color=colour,
                  linestyle="--", linewidth=0.8)
    low = min(curve[0][0] * curve[0][1] / curve[-1][0] for curve in curves.values())
    axes.set_ylim(min(low / 4, axes.get_ylim()[0]))


def scaling(words, _, results):
    """The times of a sweep over one parameter, such as the number of threads."""
    if len(words) != 3:
        raise figures.UnknownKey("scaling is named machine.sweep.precision")
    machine, name, precision = words
    sweep = results.sweep(machine, name)
    curves = curves_of(sweep, precision)
    title, caption = sweep_title(sweep, precision), sweep_caption(sweep, precision)
    alternative = f"The time of {title}, both on logarithmic scales: {ranges_text(curves)}."
    if sweep["sweep"] != "threads":
        return Plot(title, alternative, caption,
                    lambda axes, _: draw_curves(axes, parameter_text(sweep), curves))
    shares = ", ".join(f"{stage} {100 * efficiency(curve):.0f} %" for stage, curve in curves.items())
    return Plot(title, f"{alternative} Efficiency of the most threads: {shares}.",
                f"{caption} Dashed: the time with the fewest threads, divided among all. Efficiency of the most: "
                f"{shares}.", lambda axes, _: draw_threads(axes, curves))


def crossings(a, b):
    """The points at which two curves cross. The logarithms of both coordinates are interpolated."""
    a, b, found = dict(a), dict(b), []
    values = sorted(a.keys() & b.keys())
    for left, right in zip(values, values[1:]):
        before, after = math.log(a[left] / b[left]), math.log(a[right] / b[right])
        if (before < 0) != (after < 0):
            share = before / (before - after)
            found.append((left * (right / left) ** share, a[left] * (a[right] / a[left]) ** share))
    return found


def near(number):
    """A rounded number, for a value that is read from a plot."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def draw_crossover(axes, parameter, curves, points):
    """Draws one curve per stage, and the points at which two of the curves cross."""
    draw_curves(axes, parameter, curves)
    for x, y in points:
        axes.plot([x, x], [0, y], color=INK, linestyle="--", linewidth=0.8)
        axes.plot(x, y, "o", color=INK, markerfacecolor="none", markersize=12)
        axes.annotate(f"{parameter} ≈ {near(x)}", (x, 0), (-5, 8), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="right", va="bottom")


def crossover(words, _, results):
    """The times of a sweep, and the points at which two stages are equally fast."""
    if len(words) != 5:
        raise figures.UnknownKey("a crossover is named machine.sweep.precision.stage.stage")
    machine, name, precision, *pair = words
    sweep = results.sweep(machine, name)
    curves = curves_of(sweep, precision)
    for stage in pair:
        if stage not in curves:
            raise figures.UnknownKey(f"no times of {stage} in {precision} are recorded")
    points = crossings(*(curves[stage] for stage in pair))
    if not points:
        raise figures.UnknownKey(f"the recorded times of {pair[0]} and {pair[1]} do not cross")
    parameter, title = parameter_text(sweep), sweep_title(sweep, precision)
    return Plot(title,
                f"The time of {title}, both on logarithmic scales: {ranges_text(curves)}. "
                f"{pair[0]} and {pair[1]} cross at {parameter} ≈ "
                f"{' and '.join(near(x) for x, _ in points)}.", sweep_caption(sweep, precision),
                lambda axes, _: draw_crossover(axes, parameter, curves, points))


# --- The roofline

def roofs(results, machine, device, precision):
    """The bandwidth of a device in bytes per second, and its arithmetic rates by name."""
    def ceiling(name):
        return results.ceiling(machine, None, ["gpu", name] if device == "gpu" else [name])

    rates = {"multiply-adds": ceiling(f"flops_{precision}")}
    if precision == "f64" and ceiling("flops_f64_matrix") > rates["multiply-adds"]:
        rates["tensor cores"] = ceiling("flops_f64_matrix")
    return ceiling("copy_bytes_per_second"), rates


def fastest_stages(runs, device):
    """The record of the fastest stage on a device, for each workload and data set."""
    fastest = {}
    for run in runs:
        for record in timed([run]):
            key = run["workload"], run["dataset"]
            if record["device"] == device and not is_baseline(record):
                fastest[key] = min(record, fastest.get(key, record), key=median)
    return dict(sorted(fastest.items()))


def point_of(record):
    """Operations per byte of a problem, and operations per second of the stage that solved the problem."""
    work = record["modelled"]
    return work["flops"] / work["bytes"], work["flops"] / median(record)


def workloads_of(results):
    """All workloads with recordings, so that each workload has the same look in all rooflines."""
    return sorted({run["workload"] for recordings in results.machines.values()
                   for recording in recordings for run in recording["runs"]})


def draw_roofline(axes, bandwidth, rates, fastest, workloads):
    """Draws the roofs, and the points of each workload below them."""
    # There are more workloads than colours. The first colours are used again, with other markers.
    for workload, colour, marker in zip(workloads, itertools.cycle(COLOURS), MARKERS):
        points = [point_of(record) for (name, _), record in fastest.items() if name == workload]
        if points:
            axes.plot(*zip(*points), color=colour, marker=marker, linestyle="none", label=workload)
    intensities, speeds = zip(*map(point_of, fastest.values()))
    left = min(*intensities, min(rates.values()) / bandwidth) / 4
    right = 4 * max(intensities)
    for what, rate in rates.items():
        axes.plot([left, rate / bandwidth, right], [left * bandwidth, rate, rate], color=INK,
                  linewidth=1)
        axes.annotate(f"{what}: {figures.rate_text(rate)}", (right, rate), (0, 3),
                      textcoords="offset points", ha="right", va="bottom", fontsize=9.5)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_xlabel("operations per byte")
    axes.set_ylim(min(*speeds, left * bandwidth) / 2, 4 * max(*speeds, *rates.values()))
    legend_above(axes)


def roofline(words, _, results):
    """The fastest stages of a machine in one precision, below the machine's ceilings."""
    if len(words) != 2:
        raise figures.UnknownKey("a roofline is named machine.precision")
    machine, precision = words
    recordings = results.machines.get(machine, [])
    runs = [(run, recording) for recording in recordings for run in recording["runs"]
            if run["precision"] == precision]
    device = "gpu" if any("gpu" in recording["ceilings"] for recording in recordings) else "cpu"
    fastest = fastest_stages((run for run, _ in runs), device)
    if not fastest:
        raise figures.UnknownKey(f"no times in {precision} on {machine} are recorded")
    workloads = workloads_of(results)
    if len(workloads) > len(MARKERS):
        raise figures.UnknownKey(f"a plot holds {len(MARKERS)} workloads at most")
    bandwidth, rates = roofs(results, machine, device, precision)
    title = f"The roofline of {machine}, {precision}"
    ceilings = ", ".join(f"{what} {figures.rate_text(rate)}" for what, rate in rates.items())
    points = []
    for (workload, dataset), record in fastest.items():
        intensity, speed = point_of(record)
        points.append(f"{workload} {dataset} with {record['stage']} at {intensity:.3g} operations per byte "
                      f"and {figures.rate_text(speed)}")
    dates = [figures.date_text(recording) for _, recording in sorted(runs, key=lambda of: of[1].get("date", ""))]
    when = f"on {dates[0]}" if dates[0] == dates[-1] else f"from {dates[0]} to {dates[-1]}"
    measured = next(recording for recording in recordings
                    if f"flops_{precision}" in (recording["ceilings"].get("gpu", {}) if device == "gpu"
                                                else recording["ceilings"]))
    return Plot(title,
                f"{title}, both axes logarithmic. Roofs: copies {figures.bandwidth_text(bandwidth)}, {ceilings}. "
                f"Points: {'; '.join(points)}.",
                f"{machine}, {precision}: the fastest recorded stage of each data set, in operations of the "
                f"workload. Roofs: {figures.recording_text(measured)}. Points: recorded {when}.",
                lambda axes, _: draw_roofline(axes, bandwidth, rates, fastest, workloads), figures.rate_text)


# --- All

def scale_values(axes, text_of):
    """Makes the axis of values logarithmic, with at least one label per decade."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1e3 else (1,)))
    axes.yaxis.set_minor_locator(LogLocator(subs="all"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text_of(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.8)
    axes.set_axisbelow(True)


def rounded(match):
    """A coordinate rounded to a tenth or a hundredth of a pixel; more digits would not be visible."""
    value = float(match[0])
    return f"{value:.{1 if abs(value) >= 10 else 2}f}".rstrip("0").rstrip(".").replace("-0", "0", value > -0.005)


def with_shared_styles(drawing):
    """A drawing in which consecutive paths of the same look are combined in a group with that style. All text gets the
    most frequent font size."""
    def group(run):
        style = run[2]
        return f'<g style="{style}">' + run[0].replace(f' style="{style}"', "") + "</g>"
    drawing = re.sub(r'(<path d="[^"]*" style="([^"]*)"/>)(?:<path d="[^"]*" style="\2"/>)+', group, drawing)
    sizes = re.findall(r'<text style="font-size:([\d.]+px)', drawing)
    if not sizes:
        return drawing
    size = max(sorted(set(sizes)), key=sizes.count)
    drawing = re.sub(rf'<text style="font-size:{size}(?:;([^"]+))?"',
                     lambda text: f'<text style="{text[1]}"' if text[1] else "<text", drawing)
    return re.sub(r"<g ", f'<g style="font-size:{size}" ', drawing, count=1)


def compact(drawing):
    """A drawing of matplotlib without invisible parts: unused groups and names, and superfluous digits and spaces."""
    used = set(re.findall(r'href="#([^"]+)"', drawing)) | set(re.findall(r"url\(#([^)]+)\)", drawing))
    first = re.search(r'\bid="([^"]+)"', drawing)[1]
    short = {name: f"of-{zlib.crc32(first.encode())}-{n}" for n, name in enumerate(sorted(used))} | {first: first}
    drawing = re.sub(r'(?<=href="#)[^"]+|(?<=url\(#)[^)]+', lambda name: short[name[0]], drawing)

    def tag(match):
        text = re.sub(r' id="([^"]+)"', lambda name: f' id="{short[name[1]]}"' if name[1] in short else "", match[0])
        text = re.sub(r"-?(?<![\w#.])\d+\.\d{2,}", rounded, text)
        text = re.sub(r"\s*\n\s*", " ", text)
        text = re.sub(r" ?([MLCQz]) ?(?=[-\d\"MLCQz])", r"\1", text) if " d=" in text else text
        text = re.sub(r"M(\S+) (\S+)L(\S+) \2L\3 (\S+)L\1 \4z", r"M\1 \2H\3V\4H\1z", text)  # a box
        text = re.sub(r' transform="rotate\(-?0 [^"]*"', "", text)
        text = re.sub(r"font: (\d+) ([\d.]+px) [^;\"]*", r"font-weight: \1; font-size: \2", text)
        text = text.replace("; ", ";").replace(": ", ":").replace(' "', '"')
        text = re.sub(r";stroke-linejoin:m\w+|;text-anchor:start|xlink:", "", text)  # the defaults of browsers
        # A shape in a <use> element has its own line width. The page determines the colour of shapes and words.
        text = re.sub(r' style="fill:currentColor;stroke:currentColor;stroke-width:[\d.]+"', "", text) if "<use" in text else text
        return re.sub(r'fill:currentColor;|;?fill:currentColor(?=")', "", text).replace(' style=""', "") if "<text" in text else text
    drawing = re.sub(r"<[^>]+>", tag, drawing)
    drawing = re.sub(r">\s+<", "><", drawing)
    for mark in set(re.findall(r'<path id="of-[^>]+/>', drawing)):  # the same mark may be defined several times
        first, _, others = drawing.partition(mark)
        drawing = first + mark + others.replace(mark, "")
    drawing = drawing.replace("<defs></defs>", "")
    while (less := re.sub(r"<g>((?:(?!<g[ >]|</g>).)*)</g>", r"\1", drawing)) != drawing:
        drawing = less
    return with_shared_styles(drawing)


def element(figure, name, width, title, alternative, is_small=True):
    """A figure of matplotlib as an element of a page, in the page's colours."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True,
                   metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    _, _, drawing = text.getvalue().partition("<svg")
    drawing = re.sub(r"^[^>]*>|<style.*?</style>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}.{width}.", drawing)
    # Matplotlib before 3.8 writes the shorthand "font", and later versions write single properties.
    drawing = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", drawing)
    drawing = re.sub(r"font-family: [^;\"]*;? ?", "", drawing)
    for colour, of_page in OF_PAGE.items():
        drawing = drawing.replace(colour, of_page)
    return (f'<svg class="{width}" viewBox="0 0 {72 * figure.get_figwidth():.0f} '
            f'{72 * figure.get_figheight():.0f}" role="img" '
            f'aria-label="{html.escape(alternative)}"><title>{html.escape(title)}</title>'
            f"{compact(drawing) if is_small else drawing}")


def svg(plot, name, width, is_small=True):
    """A plot as an element of a page or, with `is_small` false, of a file that is stored."""
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTHS[width] / 72, HEIGHT / 72), layout="constrained")
        axes = figure.add_subplot()
        plot.draw(axes, width)
        scale_values(axes, plot.value_text)
        return element(figure, name, width, plot.title, plot.alternative, is_small)


def with_caption(drawings, caption, kind="plot"):
    """The drawings of both widths, above their caption."""
    return (f'<figure class="{kind}">{"".join(drawings)}<figcaption class="caption">'
            f"{html.escape(caption)}</figcaption></figure>\n")


def figure_html(plot, name):
    """A plot in both widths with its caption."""
    return with_caption([svg(plot, name, width) for width in WIDTHS], plot.caption)


def requests(texts):
    """Yields page, file, kind and words of the plots that pages request; `texts` maps pages to their texts."""
    for page, text in texts.items():
        for file, kind, words in REQUEST.findall(text):
            yield page, file, kind, words.split(".")


def write(texts, workloads, results, directory):
    """Draws every plot that a page requests. Raises an exception if a plot cannot be drawn, so that the book is not
    built."""
    kinds = {"ladder": ladder, "scaling": scaling, "crossover": crossover, "roofline": roofline}
    asked = {}
    for page, file, kind, words in requests(texts):
        try:
            asked[file] = kinds[kind](words, workloads, results), file.removesuffix(".html")
        except figures.UnknownKey as error:
            raise SystemExit(f"{page}: {file}: {error}")
    together.write(directory, asked, figure_html)
