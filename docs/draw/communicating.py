"""The tables of measured and predicted times, and the plots of simulated times, in the chapter on communication.

The docstring of measure/communication.py describes how a page requests them.
"""

import math
import re

from book import hosted
from draw import plots
from matplotlib.ticker import NullLocator
from measure import communication, figures
from measure.cost_model import error_text, table

REQUEST = re.compile(r"^\\htmlinclude (communication\.(\w+)\.html)", re.MULTILINE)


def caption(recording, what):
    """The caption for a recording: what was recorded, where and when."""
    machine = recording["machine"]
    where = machine.get("simulator") or f"{machine['cpu']}, {machine['cores']} cores"
    repeats = f"medians of {recording['repeats']}; " if "repeats" in recording else ""
    return f"{what}: {where}; {repeats}{recording['date'][:10]}, revision {recording['revision']}"


def spread_text(seconds):
    """Half the distance between the extremes, as a percentage of the median."""
    return f"{50 * (seconds['max'] - seconds['min']) / seconds['median']:.1f} %"


# --- Tables

def time_text(seconds):
    """A time in a fitting unit, including nanoseconds."""
    return figures.seconds_text(seconds) if seconds >= 1e-6 else f"{1e9 * seconds:.3g} ns"


def prices_html(results):
    """The table of message times by size, for half a round trip and for an exchange, next to the times of the fit."""
    found = results.other(*communication.MEASURED)
    rows = []
    for size, times in found["messages"].items():
        pings, exchanges, said = times["ping_pong"], times["exchange"], communication.message_time(found, int(size))
        rows.append((size, time_text(pings["median"]), spread_text(pings), time_text(exchanges["median"]),
                     spread_text(exchanges), time_text(said), error_text(said, exchanges["median"])))
    return table(("bytes", "ping-pong", "spread", "exchange", "spread", "α + β · bytes", "error"), rows, [
        caption(found, "Two ranks"),
        "Two lines, fitted to exchanges of {} to {} bytes and of {} to {} bytes".format(
            *(end for kind in communication.KINDS.values() for end in kind))])


def measured_html(results):
    """The table of measured steps of stages 01, 02 and 05 on this machine, next to the modelled times."""
    found = results.other(*communication.MEASURED)
    rows = [(run["stage"], f"{run['rows']} × {run['cols']}", run["ranks"], time_text(said),
             time_text(run["seconds"]["median"]), spread_text(run["seconds"]), error_text(said, run["seconds"]["median"]))
            for _, run, said in communication.predictions(found)]
    return table(("stage", "cells", "ranks", "predicted", "measured", "spread", "error"), rows,
                 [caption(found, "Times of a step")])


def widths_html(results):
    """The table of halo widths that are best according to the model, with the modelled times of steps."""
    found = results.other(*communication.MEASURED)
    rows = []
    for n in communication.SIZES:
        case = communication.case_of(communication.WIDE, n, n, 2)
        width = communication.measured_width(found, n)
        one, said = (communication.predicted(found, communication.WIDE, case, each) for each in (1, width))
        more = communication.cells(case, width) / (width * math.prod(case.own)) - 1
        run = found["stages"].get(f"{communication.WIDE} {n} {n} 2")
        rows.append((f"{n} × {n}", width, f"{100 * more:.1f} %", time_text(one), time_text(said), f"{one / said:.2f} ×",
                     time_text(run["seconds"]["median"]) if run else "–"))
    return table(("cells", "best width", "redundant cells", "predicted, 1", "predicted, best", "gain", "measured"), rows,
                 [caption(found, "Times of a step of blocks on two ranks: predicted for width 1 and for the best width, measured for the best width")])


# --- Plots

def scaling_plot(recording, what):
    """Plots simulated steps as points and modelled steps as lines, over numbers of ranks."""
    curves = {}
    for of, stage, ranks, seconds, said in communication.simulated_runs(recording):
        if of == what:
            curves.setdefault(stage, []).append((ranks, seconds, said))

    def draw(axes, _):
        for (stage, curve), (colour, marker, _) in zip(curves.items(), plots.LOOKS):
            ranks, seconds, said = zip(*sorted(curve))
            axes.plot(ranks, said, color=colour, label=f"{stage}, model")
            axes.plot(ranks, seconds, marker, color=colour, markerfacecolor="none", label="simulated")
        computed = [computed_step(recording, what, count) for count in ranks]
        axes.plot(ranks, computed, color=plots.INK, linestyle="--", linewidth=0.8, label="cells alone")
        axes.set_xscale("log")
        axes.set_xticks(ranks, [str(count) for count in ranks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("ranks")
        most = max(seconds for curve in curves.values() for _, seconds, _ in curve)
        axes.set_ylim(min(computed) / (2 if what == "strong" else 1.08), most * (2 if what == "strong" else 1.35))
        axes.legend(loc="lower left" if what == "strong" else "upper left", ncols=1)

    size = (f"{communication.STRONG}² cells among all ranks" if what == "strong"
            else f"{communication.WEAK}² cells per rank")
    ends = ", ".join(f"{stage} from {figures.seconds_text(curve[0][1])} at {curve[0][0]} to "
                     f"{figures.seconds_text(curve[-1][1])} at {curve[-1][0]} ranks" for stage, curve in curves.items())
    worst = max(abs(said / seconds - 1) for curve in curves.values() for _, seconds, said in curve)
    title = f"The time of a step over ranks, {size}"
    return plots.Plot(title, f"{title}, simulated and according to the model: {ends}.",
                      f"{title}. Lines: the model, with an error of at most {100 * worst:.1f} %. "
                      f"{caption(recording, 'Simulated')}.", draw)


def computed_step(recording, what, ranks):
    """The time per step, in seconds, in which a rank updates its cells, without communication."""
    edge = dict(communication.problems(ranks))[what]
    return recording["platform"][str(ranks)]["gamma"] * math.ceil(edge ** 2 / ranks)


def plot_html(what):
    """The function that draws the plot of one kind of scaling."""
    def of_results(results):
        return plots.figure_html(scaling_plot(results.other(*communication.SIMULATED), what), f"communication.{what}")
    return of_results


SHOWN = {"prices": prices_html, "measured": measured_html, "widths": widths_html, "strong": plot_html("strong"), "weak": plot_html("weak")}


def write(root, pages, results, directory):
    """Makes all tables and plots that a page requests. Raises an exception if a table or plot cannot be made, so that the
    book is not built."""
    for page in filter(lambda path: path.exists(), pages):
        for file, name in REQUEST.findall(hosted.read(page)):
            try:
                if name not in SHOWN:
                    raise figures.UnknownKey(f"there are {', '.join(SHOWN)}")
                (directory / file).write_text(SHOWN[name](results))
            except figures.UnknownKey as error:
                raise SystemExit(f"{page.relative_to(root)}: {file}: {error}")
