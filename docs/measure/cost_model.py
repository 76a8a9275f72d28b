r"""Derives the cost model of a course from recorded times of advection, and predicts the times of other sizes with it.

Each of stages 02 to 04 does the work of stage 01 and one expensive operation in addition. Stage 02 also enters and leaves
parallel regions. Stage 03 also reads words that another thread has written. Stage 04 also writes words into cache lines
that another thread writes. The price of an operation is the additional time of the stage over stage 01, divided by the
number of these operations. A page requests the tables by the names of the files that it includes:

    <!-- cost_model.derived.html -->
    <!-- cost_model.predicted.html -->

The first table contains the prices from one sweep over threads, and the prices of the course. The second table contains
the times that these prices predict for a sweep over sizes, next to the recorded times.
"""

import dataclasses
import html
import re

from book import hosted
from measure import figures

REQUEST = re.compile(r"^\\htmlinclude (cost_model\.(\w+)\.html)", re.MULTILINE)
MACHINE, OVER_THREADS, OVER_SIZE = "h200", "advection_policies", "advection_policies_over_size"
STAGES = ("01_openmp", "02_inner_loop_regions", "03_cyclic_rows", "04_cyclic_columns")


@dataclasses.dataclass
class Prices:
    """The costs of the model, in seconds."""

    region: float  # entering or leaving a parallel region: t_s
    read: float  # reading a word that another thread has written: t_w,R
    write: float  # writing a word into a cache line that another thread writes: t_w,W


@dataclasses.dataclass
class Case:
    """A problem with the times of the four stages on it, in seconds."""

    rows: int
    cols: int
    steps: int
    threads: int
    times: tuple


# A COMP4300 assignment, ANU, 2021: its times, and the costs that it published.
COURSE = Case(2160, 2160, 100, 12, (0.334, 1.02, 0.399, 1.25))
PRINTED = Prices(1.587e-6, 0.507e-9, 1.335e-9)


# --- The model

def regions_here(case):
    """The number of regions that stage 02 enters in addition to the regions of stage 01: two per row instead of two per step."""
    return (2 * case.rows - 2) * case.steps


def regions_of_course(case):
    """The number of regions that the course counts: one per row."""
    return case.rows * case.steps


def words(case):
    """The number of words that stage 03 reads, or stage 04 writes, at the cost of the model: two per cell and step."""
    return 2 * case.rows * case.cols * case.steps


def prices(case, regions=regions_here):
    """The additional time of each stage over stage 01, per operation. A region counts as two operations: it is entered
    and left."""
    of_rows, *dearer = case.times
    inner, cyclic_rows, cyclic_columns = (seconds - of_rows for seconds in dearer)
    return Prices(inner / regions(case) / 2, cyclic_rows / words(case), cyclic_columns / words(case))


def costs(model, case):
    """The additional times of stages 02 to 04 over stage 01, in seconds, according to the model."""
    return 2 * model.region * regions_here(case), model.read * words(case), model.write * words(case)


def predicted(model, case):
    """The predicted times of stages 02 to 04, in seconds, from the time of stage 01."""
    return tuple(case.times[0] + cost for cost in costs(model, case))


def split_write(all_threads, one_thread):
    """Splits the cost of a written word into two parts: the cost with one thread, divided by the number of threads, and
    the rest.

    A single thread shares no cache line with another thread, so its additional cost is due to its strides.
    """
    strides = prices(one_thread).write / all_threads.threads
    return strides, prices(all_threads).write - strides


# --- Recordings

def case_of(run):
    """The recorded times of the four stages in a run."""
    records = figures.by_stage(run)
    missing = [stage for stage in STAGES if "seconds" not in records.get(stage, {})]
    if missing:
        raise figures.UnknownKey(f"the stage {missing[0]} is not in the recorded run")
    first = records[STAGES[0]]
    return Case(*(first["parameters"][key] for key in ("rows", "cols", "steps")), first["threads"],
                tuple(records[stage]["seconds"]["median"] for stage in STAGES))


def cases_of(sweep):
    """The recorded times of a sweep, ordered by the value of its parameter."""
    return [case_of(run) for run in sorted(sweep["runs"], key=lambda run: run["value"])]


# --- Tables

def table(titles, rows, captions):
    """A table in the form that the pages use."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (f'<div class="figures"><table class="markdownTable"><tr>{head}</tr>{body}</table>'
            + "".join(f'<p class="caption">{html.escape(text)}.</p>' for text in captions) + "</div>\n")


def micro(seconds):
    """A time in microseconds."""
    return f"{1e6 * seconds:.3f} µs"


def nano(seconds):
    """A time in nanoseconds."""
    return f"{1e9 * seconds:.4f} ns" if abs(seconds) < 1e-10 else f"{1e9 * seconds:.3f} ns"


def error_text(time, recorded):
    """The relative error of a predicted time; positive if the prediction is too long."""
    return f"{100 * (time / recorded - 1):+.1f} %".replace("-", "−")


def caption(sweep, what):
    """The parameter of a sweep, and where the sweep was recorded."""
    return f"{what}: {figures.recording_text(sweep)}"


def derived_html(results):
    """The table of costs: on the recorded machine with all threads and with one thread, and the costs of the course."""
    sweep = results.sweep(MACHINE, OVER_THREADS)
    one, *_, full = cases_of(sweep)
    cases = (full, one, COURSE)
    strides, sharing = split_write(full, one)
    rows = [
        ("t<sub>s</sub>, a region entered or left", "½ (b − a) / ((2 M − 2) r)",
         *(micro(prices(case).region) for case in cases), ""),
        ("t<sub>s</sub>, the course's count", "½ (b − a) / (M r)",
         *(micro(prices(case, regions_of_course).region) for case in cases), micro(PRINTED.region)),
        ("t<sub>w,R</sub>, a word read", "(c − a) / (2 M N r)", *(nano(prices(case).read) for case in cases),
         nano(PRINTED.read)),
        ("t<sub>w,W</sub>, a word written", "(d − a) / (2 M N r)", *(nano(prices(case).write) for case in cases),
         nano(PRINTED.write)),
        ("due to strides", f"one thread / {full.threads}", nano(strides), "", "", ""),
        ("due to sharing", "difference", nano(sharing), "", "", "")]
    titles = ("price", "formula", f"{full.threads} threads", f"{one.threads} thread",
              f"course, {COURSE.threads} threads", "course, as printed")
    return table(titles, rows, [
        f"a, b, c, d: the times of stages 01, 02, 03, 04 on M × N = {full.rows} × {full.cols} cells, r = {full.steps} steps",
        caption(sweep, "Threads"), "Course: a COMP4300 assignment, ANU, 2021"])


def predicted_html(results):
    """The times of stages 02 to 04 on other problem sizes, predicted from the costs on one size, next to the recorded
    times."""
    fitted, sweep = results.sweep(MACHINE, OVER_THREADS), results.sweep(MACHINE, OVER_SIZE)
    fit = cases_of(fitted)[-1]
    model, rows = prices(fit), []
    for case in cases_of(sweep):
        for stage, cost, time, recorded in zip(STAGES[1:], costs(model, case), predicted(model, case), case.times[1:]):
            times = map(figures.seconds_text, (case.times[0], cost, time, recorded))
            rows.append((f"{case.rows} × {case.cols}", stage, *times, error_text(time, recorded)))
    titles = ("cells", "stage", "01, recorded", "added, modelled", "predicted", "recorded", "error")
    return table(titles, rows, [
        f"Prices: from the recording over threads, {fit.rows} × {fit.cols} cells, {fit.threads} threads. All other values: from the "
        "recording over sizes, which contains this size again", caption(sweep, "Sizes")])


TABLES = {"derived": derived_html, "predicted": predicted_html}


def write(root, pages, results, directory):
    """Writes every table that a page requests. Raises an exception if a table cannot be made, so that the book is not
    built."""
    for page in filter(lambda path: path.exists(), pages):
        for file, name in REQUEST.findall(hosted.read(page)):
            try:
                if name not in TABLES:
                    raise figures.UnknownKey(f"there are {', '.join(TABLES)}")
                (directory / file).write_text(TABLES[name](results))
            except figures.UnknownKey as error:
                raise SystemExit(f"{page.relative_to(root)}: {file}: {error}")
