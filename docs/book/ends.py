"""The table *Where each ladder ends*: the fastest stage and the fastest library of each workload on a GPU, on all cores
and on one core.

The first page of the book shows the table as HTML. The top README contains the table as Markdown between two comments.

Usage: python3 docs ends ROOT

The command replaces the table in the top README by a table that is computed from the recordings. `./climb --record` and
`python3 docs figures --update` run this command, too.
"""

import dataclasses
import difflib
import html
import pathlib
import re

from book import machines, stages
from draw import plots
from measure import figures

REFERENCE = "h200"  # the machine whose recordings are preferred
DEVICES = ("GPU", "all cores", "one core")
# These baselines call a library that solves the same problem. The other baselines are copies, graphs or kernels of this
# project.
LIBRARIES = re.compile(r"baseline_(?:cu(?:blas|solver|sparse|fft)|openblas|lapack)")
HEAD = ("workload", "data set", "device", "fastest stage", "time", "fastest library", "its time", "library / stage", "lower bound", "% of peak")
BLOCK = re.compile(r"(<!-- begin of ladder ends -->\n).*?(<!-- end of ladder ends -->)", re.DOTALL)


@dataclasses.dataclass
class End:
    """The fastest stage of a workload on a device, in one recorded run, with the fastest library of the same run if there is one."""

    workload: str
    device: str
    run: dict
    recording: dict
    stage: dict
    library: dict | None

    @property
    def problem(self):
        """The data set or the parameter values, and the precision."""
        name = self.run["dataset"]
        if name == "custom":
            names, values = self.recording["sweep"].split(","), self.run["value"]
            name = ", ".join(f"{key} = {value:g}" for key, value in zip(names, values)) if isinstance(values, list) else \
                f"{' = '.join(names)} = {values:g}"
        return f"{name}, {self.run['precision']}"

    @property
    def host(self):
        """The device as text: the GPU, or the processor with the number of cores that were used."""
        if self.device == "GPU":
            return self.stage["device_name"].removeprefix("NVIDIA ")
        cores = cores_of(self.stage)
        return f"{cores} core{'s' if cores > 1 else ''}, {self.recording['machine']['cpu'].replace('(R)', '').replace(' Processor', '')}"

    @property
    def bound(self):
        """The lower bound, in seconds, of the time in which the device can do the work, or None. The bound for one core
        uses the peak rate of one core and the bandwidth of all cores."""
        work, ceilings = self.stage["modelled"], self.recording["ceilings"]
        if self.device == "one core":
            return max(work["flops"] / ceilings[f"flops_{self.run['precision']}_one_core"], work["bytes"] / ceilings["copy_bytes_per_second"])
        return self.stage["of_limit"] * plots.median(self.stage) if "of_limit" in self.stage else None

    def cells(self):
        """The cells of the row after the workload, as text."""
        time, bound = plots.median(self.stage), self.bound
        library = (self.library["title"], figures.seconds_text(plots.median(self.library)), digits_text(plots.median(self.library) / time)
                   ) if self.library else ("none", "", "")
        limit = (figures.seconds_text(bound), f"{digits_text(100 * bound / time)} %") if bound else ("", "")
        return (self.problem, self.host, self.stage["stage"], figures.seconds_text(time), *library, *limit)


def digits_text(number):
    """A number with three significant digits, or with all digits before the decimal point if there are more."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def cores_of(record):
    """The number of cores that a program on the processor used."""
    return record.get("threads", 1) * (record.get("ranks") or 1)


def is_on(record, device):
    """Whether a record belongs to a device."""
    if record["device"] != ("gpu" if device == "GPU" else "cpu"):
        return False
    cores = record["machine"]["cores"]
    return device == "GPU" or cores_of(record) == (1 if device == "one core" else cores)


def last_stage(results, workload, device):
    """The last stage of a workload that was recorded on a device."""
    return max((record["stage"] for machine in machines.machines(results) for recording in results.recordings(machine)
                for run in recording["runs"] if run["workload"] == workload for record in figures.timed(run)
                if is_on(record, device) and not plots.is_baseline(record)), default=None)


def candidates(results, workload, device):
    """Yields each recorded run of a workload that has a stage on a device, with its rank. Machines with several GPUs are
    left out.

    The order of preference is: on the processor, runs that contain the last stage; runs with a library; runs of the
    reference machine, of a named data set, of the largest problem, and in f64; and among the runs of one problem, the
    run with the fastest stage.
    """
    last = last_stage(results, workload, device)
    for machine in machines.machines(results):
        if re.search(r"-x\d+$", machine):
            continue
        for recording in results.recordings(machine):
            for run in recording["runs"]:
                on_device = [record for record in figures.timed(run) if is_on(record, device)] if run["workload"] == workload else []
                ours = [record for record in on_device if not plots.is_baseline(record)]
                if not ours:
                    continue
                stage = min(ours, key=plots.median)
                library = min((record for record in on_device if LIBRARIES.match(record["stage"])), key=plots.median, default=None)
                is_end = device == "GPU" or any(record["stage"] == last for record in ours)
                rank = (is_end, library is not None, machine == REFERENCE, run["dataset"] != "custom", stage["modelled"]["flops"],
                        run["precision"] == "f64", -plots.median(stage))
                yield rank, End(workload, device, run, recording, stage, library)


def ends(root, results):
    """The rows of the table: for each workload, the fastest stage on each device for which runs are recorded."""
    rows = []
    for workload in filter(lambda label: (root / "stages" / label / "README.md").exists(), stages.labels_on_main_page(root)):
        for device in DEVICES:
            found = max(candidates(results, workload, device), key=lambda one: one[0], default=None)
            if found:
                rows.append(found[1])
    return rows


def table_html(root, results):
    """The table for the book, with its sources. A cell with a time contains the name of the program below the time."""
    rows, sources = [], []
    for end in ends(root, results):
        workload = f'<a href="{end.workload}.html">{html.escape(stages.title_of(root, end.workload))}</a>'
        problem, host, stage, time, library, library_time, ratio, bound, share = end.cells()
        rows.append([f"{workload}<br><small>{html.escape(host)}: {html.escape(problem)}</small>",
                     over(time, f'<a href="{end.workload}_{stage}.html">{stage}</a>'),
                     over(library_time, html.escape(library)) if library_time else library, ratio, over(bound, share) if bound else ""])
        sources.append((f"{end.workload} ({end.device})", end.recording, None))
    return (machines.table(("workload, device", "fastest stage", "fastest library", "ratio", "bound"), rows)
            + f'<details class="caption"><summary>Sources</summary>{html.escape(figures.hosts_text(sources))}.</details>\n')


def over(above, below):
    """A cell with two lines, the second one small, as HTML."""
    return f"<b>{html.escape(above)}</b><br><small>{below}</small>"


def table_markdown(root, results):
    """The table for the README."""
    lines, before = [f"| {' | '.join(HEAD)} |", "|---|---|---|---|--:|---|--:|--:|--:|--:|"], None
    for end in ends(root, results):
        workload = "" if end.workload == before else end.workload
        problem, host, stage, *others = end.cells()
        lines.append(f"| {' | '.join((workload, problem, host, f'[{stage}](stages/{end.workload}/{stage}/README.md)', *others))} |")
        before = end.workload
    return "\n".join(lines) + "\n"


def updated(text, root, results):
    """The text of a page, with a new table in place of the old table if the page has one."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{table_markdown(root, results)}\n{block[2]}", text)


def differing_lines(text, whole):
    """Yields the lines of a page that would be replaced, and the new lines."""
    for line in difflib.unified_diff(text.splitlines(), whole.splitlines(), n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def main(root):
    """Updates the table in the top README and returns the exit status."""
    root = pathlib.Path(root)
    page = root / "README.md"
    text = page.read_text()
    whole = updated(text, root, figures.Results(root / "docs" / "results"))
    if whole != text:
        page.write_text(whole)
    return 0
