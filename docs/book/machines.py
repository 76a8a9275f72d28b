"""The chapter *Results*: one page per machine, made of all that is recorded below docs/results.

Plots are asked for as other pages do it; docs/draw/plots.py draws them.
"""

import html
import json
import re

from book import stages
from draw import plots
from measure import figures

CHAPTER = "results"
CEILINGS = [  # the key in a recording, what it is, and how its value is written
    ("flops_f64", "f64", figures.rate_text),
    ("flops_f64_matrix", "f64, tensor cores", figures.rate_text),
    ("flops_f64_one_core", "f64, one core", figures.rate_text),
    ("flops_f32", "f32", figures.rate_text),
    ("flops_f32_one_core", "f32, one core", figures.rate_text),
    ("copy_bytes_per_second", "copies", figures.bandwidth_text),
]

HOSTS = """What is called one machine here was not the same each time: a GPU stood beside other processors, or their load was
another. Where the ceilings were measured anew, it is another *host* in tables and captions. Times of the processor on two hosts
are not comparable, and no ratio in this book is one of two recordings.

"""


def label_of(machine):
    """The label of a machine's page."""
    return f"{CHAPTER}_{re.sub(r'[^A-Za-z0-9]', '_', machine)}"


def machines(results):
    """The machines that something is recorded on, those with a GPU last."""
    names = {machine for machine, _ in results.sweeps} | results.machines.keys()
    return sorted(names, key=lambda name: (has_gpu(results.recordings(name)), name))


def has_gpu(recordings):
    """Whether a machine has a GPU."""
    return any("gpu" in recording["ceilings"] for recording in recordings)


def title_of(recordings):
    """A machine's name for readers: its GPU's, or its processor's with the number of cores."""
    for recording in recordings:
        if "gpu" in recording["ceilings"]:
            return recording["ceilings"]["gpu"]["name"]
    machine = recordings[0]["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores"


def table(head, rows, kind="figures"):
    """A table; cells are text, or HTML where they begin with a tag."""
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{cell if cell.startswith('<') else html.escape(cell)}</{tag}>"
                                for cell in cells) + "</tr>"

    return (f'<div class="{kind}"><table class="markdownTable">' + row(head, "th")
            + "".join(row(cells, "td") for cells in rows) + "</table></div>\n")


# --- What was measured where

def machine_text(recording):
    """The hardware and the software of a recording."""
    machine, gpu = recording["machine"], recording["ceilings"].get("gpu")
    text = (f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 1e9:.0f} GB, "
            f"{machine['system']}, {machine['compiler']}")
    return f"{gpu['name']}, driver {gpu['driver']}; host: {text}" if gpu else text


def ceilings_rows(ceilings, device):
    """Yields what was measured of a device: what it is, and the value as text by set of ceilings."""
    for key, what, text_of in CEILINGS:
        values = [one.get(key) for one in ceilings]
        matrix_is_plain = key == "flops_f64_matrix" and all(
            one.get(key, 0) <= one["flops_f64"] for one in ceilings)
        if any(values) and not matrix_is_plain:
            yield [device, what, *(text_of(value) if value else "" for value in values)]


def minute_text(recording):
    """When something was recorded, in UTC."""
    return recording["date"][:16].replace("T", " ")


def ceilings_html(recordings):
    """The ceilings of a machine, a column each time that they were measured."""
    columns = {}  # the recordings by their ceilings
    for recording in sorted(recordings, key=lambda recording: recording["date"]):
        columns.setdefault(json.dumps(recording["ceilings"]), []).append(recording)
    measured = [json.loads(column) for column in columns]
    rows = list(ceilings_rows(measured, "processor"))
    if has_gpu(recordings):
        rows += ceilings_rows([one.get("gpu", {"flops_f64": 0}) for one in measured], "GPU")
    head = ["", ""] + [f"<small>{of[0]['host']}{'<br>' if of[0]['host'] else ''}{minute_text(of[0])}, "
                       f"{', '.join(dict.fromkeys(recording['revision'] for recording in of))}</small>"
                       for of in columns.values()]
    return table(head, rows)


def recordings_html(recordings):
    """What is recorded of a machine, when, and at which revision."""
    rows = []
    for recording in recordings:
        runs = recording["runs"]
        records = plots.timed(runs)
        datasets = dict.fromkeys(run["dataset"] for run in runs)
        what = ", ".join(datasets) if "sweep" not in recording or list(datasets) != ["custom"] else ""
        if "sweep" in recording:
            values = dict.fromkeys(figures.value_text(run["value"]) for run in runs)
            what += f"{', ' if what else ''}{plots.parameter_text(recording)} = {', '.join(values)}"
        precisions = dict.fromkeys(run["precision"] for run in runs)
        rows.append([f"<code>{recording['name']}</code>", what, ", ".join(precisions), str(len(records)),
                     str(len(records[0]["repeats"])) if records else "",
                     recording["host"].removeprefix("host "), minute_text(recording), recording["revision"]])
    return table(["recording", "problems", "precision", "programs", "repeats", "host", "date (UTC)", "revision"], rows,
                 "figures map")


# --- The page of a machine

def include(kind, *words):
    """The request for a plot."""
    return f"\\htmlinclude {kind}.{'.'.join(words)}.html\n"


def timed_stages(results, machine, workload, dataset, precision):
    """The records of a problem that hold times."""
    return plots.timed(run for run, _ in results.runs(machine, workload, dataset, precision))


def sweep_includes(machine, name, sweep, precision):
    """The requests for what shows a sweep: curves, or a map for each stage where two parameters change each by itself."""
    if not plots.is_map(sweep):
        return [include("scaling", machine, name, precision)]
    return [include("heat", machine, name, precision, record["stage"]) for record in plots.timed(sweep["runs"])]


def workload_text(results, machine, workload):
    """The ladders of a workload, and how its times scale."""
    text, alone = "", []
    for dataset, precision in results.problems(workload, machine):
        found = figures.sources(results.runs(machine, workload, dataset, precision))
        if len(found) > 1:
            text += include("ladder", machine, workload, dataset, precision) + "\n"
        else:
            (stage, (record, recording)), = found.items()
            host = f" on {recording['host']}" if recording["host"] else ""
            alone.append(f"{dataset}, {precision}: {stage} {figures.seconds_text(plots.median(record))}{host}")
    if alone:
        text += f"Recorded alone: {'; '.join(alone)}.\n\n"
    for (of, name), sweep in results.sweeps.items():
        if of == machine and sweep["runs"][0]["workload"] == workload:
            for precision in dict.fromkeys(run["precision"] for run in sweep["runs"]):
                text += "".join(f"{one}\n" for one in sweep_includes(machine, name, sweep, precision))
    return text


def machine_page(root, machine, workloads, results):
    """The page of a machine."""
    recordings = results.recordings(machine)
    texts = dict.fromkeys(machine_text(recording) for recording in recordings)
    label = label_of(machine)
    precisions = [precision for precision in ("f64", "f32") if any(
        of == precision for workload in workloads for _, of in results.problems(workload, machine))]
    page = (f"# {title_of(recordings)} {{#{label}}}\n\n"
            + "".join(f"{text}.\n\n" for text in texts)
            + f"In keys of figures (\\ref measuring_figures): `{machine}`.\n\n"
            f"## Ceilings {{#{label}_ceilings}}\n\n{HOSTS if recordings[0]['host'] else ''}"
            f"\\htmlinclude {label}_ceilings.html\n\n"
            + "".join(include("roofline", machine, precision) + "\n" for precision in precisions))
    for workload in workloads:
        text = workload_text(results, machine, workload)
        if text:
            page += f"## {stages.title_of(root, workload)} {{#{label}_{workload}}}\n\nThe stages: \\ref {workload}.\n\n{text}"
    page += f"## Recordings {{#{label}_recordings}}\n\n\\htmlinclude {label}_recordings.html\n\n"
    counters = sorted(path.name for path in (root / "docs" / "results" / machine).glob("*_ncu.csv"))
    if counters:
        page += "Counters of NVIDIA's profiler: " + ", ".join(f"`{name}`" for name in counters) + ".\n"
    printed = {recording["name"] for recording in recordings}
    others = sorted(path.name for path in (root / "docs" / "results" / machine).glob("*.txt")
                    if path.stem not in printed)
    if others:
        page += "\nWhat else pages quote: " + ", ".join(f"`{name}`" for name in others) + ".\n"
    return page


# --- The chapter

def fastest_html(root, workloads, results):
    """The fastest stage of each problem on each machine."""
    names = machines(results)
    rows = []
    for workload in workloads:
        problems = sorted({(problem[1] != "f64", work_of(results, machine, workload, *problem), *problem)
                           for machine in names for problem in results.problems(workload, machine)})
        for dataset, precision in dict.fromkeys(problem[2:] for problem in problems):
            cells = [fastest_text(results, machine, workload, dataset, precision) for machine in names]
            rows.append([f'<a href="{workload}.html">{html.escape(stages.title_of(root, workload))}</a>', dataset,
                         precision, *cells])
    head = ["workload", "data set", "precision"] + [
        f'<a href="{label_of(name)}.html">{html.escape(title_of(results.recordings(name)))}</a>' for name in names]
    return table(head, rows)


def work_of(results, machine, workload, dataset, precision):
    """The operations of a problem."""
    return timed_stages(results, machine, workload, dataset, precision)[0]["modelled"]["flops"]


def fastest_text(results, machine, workload, dataset, precision):
    """Time and name of the fastest stage of a problem as HTML, if it is recorded."""
    if (dataset, precision) not in results.problems(workload, machine):
        return ""
    found = figures.sources(results.runs(machine, workload, dataset, precision))
    fastest, recording = min(found.values(), key=lambda source: plots.median(source[0]))
    where = ", ".join(filter(None, (fastest["stage"], recording["host"])))
    return f"<b>{figures.seconds_text(plots.median(fastest))}</b><br><small>{where}</small>"


def pages(root, workloads, results):
    """The texts of the chapter's pages in reading order, by label."""
    names = machines(results)
    chapter = (f"# Results {{#{CHAPTER}}}\n\n"
               "All that was recorded, one page per machine: its ceilings, the ladder of each problem, and where sizes or threads\n"
               "were swept, how times grow and shrink with them. What the times mean: \\ref measuring; how to add a machine:\n"
               "\\ref measuring_record.\n\n"
               + "".join(f"- \\subpage {label_of(name)}\n" for name in names)
               + "\nThe fastest of each problem, stages and yardsticks alike, and the host that it ran on where a machine had\n"
               "several:\n\n"
               "\\htmlinclude fastest_recorded.html\n")
    return {CHAPTER: chapter} | {label_of(name): machine_page(root, name, workloads, results) for name in names}


def write(root, workloads, results, directory):
    """Writes the chapter's pages and the tables in them."""
    for label, text in pages(root, workloads, results).items():
        (directory / f"{label}.md").write_text(text)
    (directory / "fastest_recorded.html").write_text(fastest_html(root, workloads, results))
    for name in machines(results):
        recordings = results.recordings(name)
        (directory / f"{label_of(name)}_ceilings.html").write_text(ceilings_html(recordings))
        (directory / f"{label_of(name)}_recordings.html").write_text(recordings_html(recordings))
