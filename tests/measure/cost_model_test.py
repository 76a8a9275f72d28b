"""Tests the cost model of a course, which docs/measure/cost_model.py derives: cost_model_test.py. Prints TAP."""

import math
import pathlib
import re
import tempfile

import tap
from measure import cost_model, figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The costs, and the time of the first stage, that determine the times of made-up recordings.
MODEL = cost_model.Prices(2e-6, 3e-10, 5e-9)
OF_ROWS = 0.25


def case_of(rows, cols, steps, threads=4, write=MODEL.write):
    """A problem whose times follow exactly from the model."""
    regions, words = (2 * rows - 2) * steps, 2 * rows * cols * steps
    return cost_model.Case(rows, cols, steps, threads, tuple(
        OF_ROWS + more for more in (0, 2 * MODEL.region * regions, MODEL.read * words, write * words)))


def run_of(case, value):
    """A run of the four stages in the form of a recording, with the stages in another order."""
    parameters = {"rows": case.rows, "cols": case.cols, "steps": case.steps}
    records = [{"stage": stage, "threads": case.threads, "parameters": parameters, "seconds": {"median": seconds},
                "repeats": [{}]} for stage, seconds in zip(cost_model.STAGES, case.times)]
    return {"workload": "advection", "precision": "f64", "value": value, "records": records[::-1]}


def sweep_of(*runs):
    """A recording of a sweep."""
    machine = {"cpu": "P", "cores": 4, "system": "S", "compiler": "C"}
    return {"runs": list(runs), "machine": machine, "host": "", "date": "2026-11-22T00:00:00Z", "revision": "abc"}


class Results:
    """Made-up recordings: a sweep over threads and a sweep over sizes, the largest size first."""

    def __init__(self):
        one, full = case_of(100, 50, 10, 1, 8e-9), case_of(100, 50, 10)
        self.sweeps = {
            cost_model.OVER_THREADS: sweep_of(run_of(full, 4.0), run_of(one, 1.0)),
            cost_model.OVER_SIZE: sweep_of(*(run_of(case_of(n, n, 10), float(n)) for n in (300, 200)))}

    def sweep(self, _, name):
        """A recording by its name."""
        return self.sweeps[name]


def different(what, found, expected):
    """Yields a sentence if a number differs from the expected one."""
    if not math.isclose(found, expected, rel_tol=1e-9):
        yield f"{what}: {found}, not {expected}"


def wrong_prices():
    """Yields costs that differ from the costs that determine the times."""
    found = cost_model.prices(case_of(100, 50, 10))
    for name in ("region", "read", "write"):
        yield from different(name, getattr(found, name), getattr(MODEL, name))


def wrong_counts():
    """Yields numbers of regions and words that differ from the work of stages 01 to 04."""
    case = case_of(100, 50, 10)
    yield from different("regions in addition to two per step", cost_model.regions_here(case), 10 * (2 * 100 - 2))
    yield from different("regions by the course's count", cost_model.regions_of_course(case), 10 * 100)
    yield from different("words (two per cell and step)", cost_model.words(case), 10 * 2 * 100 * 50)
    yield from different("t_s by the course's count", cost_model.prices(case, cost_model.regions_of_course).region,
                         MODEL.region * 198 / 100)


def wrong_predictions():
    """Yields times on other sizes that do not follow from the costs."""
    for case in (case_of(7, 300, 3), case_of(1, 1, 1)):
        for stage, found, expected in zip(cost_model.STAGES[1:], cost_model.predicted(MODEL, case), case.times[1:]):
            yield from different(f"{stage} on {case.rows} rows", found, expected)


def wrong_split():
    """Yields wrong parts of the cost of a written word: one thread's part and the rest."""
    strides, sharing = cost_model.split_write(case_of(100, 50, 10), case_of(100, 50, 10, 1, 8e-9))
    yield from different("strides", strides, 8e-9 / 4)
    yield from different("sharing", sharing, 5e-9 - 8e-9 / 4)


def wrong_course():
    """Yields costs of the course that differ from the results of its formulas: 1.587 µs, 0.0697 ns, 0.982 ns."""
    found = cost_model.prices(cost_model.COURSE, cost_model.regions_of_course)
    if not 1.587e-6 <= found.region < 1.589e-6:  # the course's times have three digits; they give 1.588
        yield f"t_s is {found.region}, which does not round to 1.588 µs"
    if f"{1e9 * found.read:.4f} {1e9 * found.write:.3f}" != "0.0697 0.982":
        yield f"a read word costs {found.read} s, and a written word {found.write} s"


def cells(text):
    """The rows of a table."""
    return [re.findall(r"<t[dh]>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]


def wrong_tables():
    """Yields wrong cells in the tables of made-up recordings."""
    _, region, course, read, write, strides, sharing = cells(cost_model.derived_html(Results()))
    for row, expected in ((region, ["2.000 µs", "2.000 µs", "0.794 µs", ""]),
                          (course, ["3.960 µs", "3.960 µs", "1.588 µs", "1.587 µs"]),
                          (read, ["0.300 ns", "0.300 ns", "0.0697 ns", "0.507 ns"]),
                          (write, ["5.000 ns", "8.000 ns", "0.982 ns", "1.335 ns"]),
                          (strides, ["2.000 ns", "", "", ""]), (sharing, ["3.000 ns", "", "", ""])):
        if row[2:] != expected:
            yield f"the row is {row[2:]}, not {expected}"
    rows = cells(cost_model.predicted_html(Results()))
    if len(rows) != 7 or rows[1] != ["200 × 200", "02_inner_loop_regions", "250 ms", "15.9 ms", "266 ms", "266 ms", "+0.0 %"]:
        yield f"the table of predictions is {rows}"
    if cost_model.error_text(0.9, 1) != "−10.0 %":
        yield f"an error of −10 % is shown as {cost_model.error_text(0.9, 1)}"


def accepted_errors():
    """Yields recordings without a stage, and requests for unknown tables, that are accepted."""
    run = run_of(case_of(100, 50, 10), 4.0)
    del run["records"][0]["seconds"]
    try:
        cost_model.case_of(run)
        yield "a recording with a stage without times is accepted"
    except figures.UnknownKey as error:
        if "04_cyclic_columns" not in str(error):
            yield f"the message does not name the cause: {error}"
    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name, "page.md")
        page.write_text("<!-- cost_model.other.html -->\n")
        try:
            cost_model.write(pathlib.Path(name), [page], Results(), pathlib.Path(name))
            yield "a request for an unknown table is accepted"
        except SystemExit as error:
            if "page.md: cost_model.other.html" not in str(error):
                yield f"the message does not name the cause: {error}"


def wrong_files():
    """Yields tables of the project's recordings that are not made for the page that requests them."""
    page = ROOT / "docs" / "pages" / "advection_cost_model.md"
    with tempfile.TemporaryDirectory() as name:
        cost_model.write(ROOT, [page], figures.Results(ROOT / "docs" / "results"), pathlib.Path(name))
        found = {path.name: len(cells(path.read_text())) for path in pathlib.Path(name).iterdir()}
    if found != {"cost_model.derived.html": 7, "cost_model.predicted.html": 13}:
        yield f"the written tables, with their numbers of rows, are {found}"


CHECKS = [
    ("the model derives the costs from which the times of a recording were computed", wrong_prices),
    ("the model counts the parallel regions and the words of stages 01 to 04", wrong_counts),
    ("the model predicts times of other sizes from the costs", wrong_predictions),
    ("the cost of a written word is split into one thread's part and the rest", wrong_split),
    ("the times of the course lead to the costs of the course", wrong_course),
    ("the tables show costs, predictions and errors with their units", wrong_tables),
    ("incomplete recordings and unknown tables are refused in one sentence", accepted_errors),
    ("the tables that the page requests are made from the recordings", wrong_files),
]

tap.report((title, check()) for title, check in CHECKS)
