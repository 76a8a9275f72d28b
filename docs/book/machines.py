"""The chapter *Results*: one page per machine, made of all recordings below docs/results. A machine with many workloads
gets one page per workload.

The pages request plots like all other pages; docs/draw/plots.py draws them.
"""

import html
import json
import re

from book import stages
from draw import plots
from measure import figures

CHAPTER = "results"
TOGETHER = 3  # the largest number of workloads on one page of a machine
CEILINGS = [  # the key in a recording, its name for readers, and the function that formats its value
    ("flops_f64", "f64", figures.rate_text),
    ("flops_f64_matrix", "f64, tensor cores", figures.rate_text),
    ("flops_f64_one_core", "f64, one core", figures.rate_text),
    ("flops_f32", "f32", figures.rate_text),
    ("flops_f32_one_core", "f32, one core", figures.rate_text),
    ("copy_bytes_per_second", "copies", figures.bandwidth_text),
]

HOSTS = """The recordings of this machine were made on several hosts: the GPU was combined with different processors, or with a different share
of one. A host is named by the date on which its ceilings were measured. Times of the processor on two hosts are not comparable, and
every ratio in this book compares times of one recording.

"""


def label_of(machine):
    """The label of a machine's page."""
    return f"{CHAPTER}_{re.sub(r'[^A-Za-z0-9]', '_', machine)}"


def machines(results):
    """The machines with recordings; machines with a GPU come last."""
    names = {machine for machine, _ in results.sweeps} | results.machines.keys()
    return sorted(names, key=lambda name: (has_gpu(results.recordings(name)), name))


def has_gpu(recordings):
    """Whether a machine has a GPU."""
    return any("gpu" in recording["ceilings"] for recording in recordings)


def title_of(recordings, name=""):
    """A machine's name for readers: its GPUs, or its processor with the number of cores; `name` ends with the number of GPUs if it is not 1."""
    count = re.search(r"-x(\d+)$", name)
    for recording in recordings:
        if "gpu" in recording["ceilings"]:
            return (f"{count[1]} × " if count else "") + recording["ceilings"]["gpu"].get("name", "GPU")
    machine = recordings[0]["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores"


def short_title(recordings, name=""):
    """A machine's name in a table: without its maker and its memory."""
    return re.sub(r"NVIDIA |\(R\)| \d+GB.*| Processor", "", title_of(recordings, name))


def table(head, rows, kind="figures"):
    """A table; a cell that begins with a tag is HTML, and any other cell is text."""
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
    """Yields the ceilings of a device: the device, the quantity, and one value as text for each set of ceilings."""
    for key, what, text_of in CEILINGS:
        values = [one.get(key) for one in ceilings]
        matrix_is_plain = key == "flops_f64_matrix" and all(
            one.get(key, 0) <= one["flops_f64"] for one in ceilings)
        if any(values) and not matrix_is_plain:
            yield [device, what, *(text_of(value) if value else "" for value in values)]


def minute_text(recording):
    """The time of a recording, in UTC."""
    return recording["date"][:16].replace("T", " ")


def ceilings_html(recordings):
    """The ceilings of a machine, one row per measurement."""
    columns = {}  # the recordings, grouped by their ceilings
    for recording in sorted(recordings, key=lambda recording: recording["date"]):
        columns.setdefault(json.dumps(recording["ceilings"]), []).append(recording)
    measured = [json.loads(column) for column in columns]
    by_device = {"processor": list(ceilings_rows(measured, "processor"))}
    if has_gpu(recordings):
        by_device["GPU"] = list(ceilings_rows([one.get("gpu", {"flops_f64": 0}) for one in measured], "GPU"))
    names = [of[0]["host"] or figures.date_text(of[0]) for of in columns.values()]
    tables = ""
    for device, rows in by_device.items():
        by_date = [[name, *(row[2 + n] for row in rows)] for n, name in enumerate(names) if any(row[2 + n] for row in rows)]
        tables += table([f"{device}, measured on", *(what for _, what, *_ in rows)], by_date)
    return tables


def recordings_html(recordings):
    """The table of a machine's recordings with their dates and revisions."""
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
                     recording["host"].removeprefix("host of "), minute_text(recording), recording["revision"]])
    return table(["recording", "problems", "precision", "programs", "repeats", "host", "date (UTC)", "revision"], rows,
                 "figures map")


# --- The page of a machine

def include(kind, *words):
    """The request for a plot."""
    return f"\\htmlinclude {kind}.{'.'.join(words)}.html\n"


def timed_stages(results, machine, workload, dataset, precision):
    """The records of a problem that contain times."""
    return plots.timed(run for run, _ in results.runs(machine, workload, dataset, precision))


def sweep_includes(machine, name, sweep, precision):
    """The requests for the plots of a sweep: curves, or one map per stage if two parameters vary independently."""
    if not plots.is_map(sweep):
        return [include("scaling", machine, name, precision)]
    return [include("heat", machine, name, precision, record["stage"]) for record in plots.timed(sweep["runs"])]


def workload_text(results, machine, workload):
    """The requests for the ladders of a workload and for the plots of its sweeps."""
    text, alone = "", []
    for dataset, precision in results.problems(workload, machine):
        found = figures.sources(results.runs(machine, workload, dataset, precision))
        if len(found) > 1:
            text += include("ladder", machine, workload, dataset, precision) + "\n"
        else:
            (stage, (record, recording)), = found.items()
            host = f" on the {recording['host']}" if recording["host"] else ""
            alone.append(f"{dataset}, {precision}: {stage} {figures.seconds_text(plots.median(record))}{host}")
    if alone:
        text += f"These problems have one recorded program each: {'; '.join(alone)}.\n\n"
    for (of, name), sweep in results.sweeps.items():
        if of == machine and sweep["runs"][0]["workload"] == workload:
            for precision in dict.fromkeys(run["precision"] for run in sweep["runs"]):
                text += "".join(f"{one}\n" for one in sweep_includes(machine, name, sweep, precision))
    return text


def workload_label(machine, workload):
    """The label of the page, or of the section, that has a workload's results on a machine."""
    return f"{label_of(machine)}_{workload}"


def workload_texts(machine, workloads, results):
    """The text on each workload that is recorded on a machine."""
    texts = {workload: workload_text(results, machine, workload) for workload in workloads}
    return {workload: text for workload, text in texts.items() if text}


def workload_pages(root, machine, workloads, results):
    """The pages of a machine's workloads, by label; empty if the machine's own page contains them."""
    texts = workload_texts(machine, workloads, results)
    if len(texts) <= TOGETHER:
        return {}
    title = short_title(results.recordings(machine), machine)
    return {workload_label(machine, workload): f"# {stages.title_of(root, workload)} on the {title} {{#{workload_label(machine, workload)}}}\n\n"
            f"This page shows all recordings of one workload on one machine. The stages are explained in \\ref {workload}, and the ceilings are on "
            f"the page of the machine, \\ref {label_of(machine)}.\n\n{text}" for workload, text in texts.items()}


def machine_page(root, machine, workloads, results):
    """The page of a machine."""
    recordings = results.recordings(machine)
    texts = dict.fromkeys(machine_text(recording) for recording in recordings)
    label = label_of(machine)
    precisions = [precision for precision in ("f64", "f32") if any(
        of == precision for workload in workloads for _, of in results.problems(workload, machine))]
    page = (f"# {title_of(recordings, machine)} {{#{label}}}\n\n"
            + "".join(f"{text}.\n\n" for text in texts)
            + f"The keys of figures (\\ref measuring_figures) name this machine `{machine}`.\n\n"
            f"## Ceilings {{#{label}_ceilings}}\n\n{HOSTS if recordings[0]['host'] else ''}"
            f"\\htmlinclude {label}_ceilings.html\n\n"
            + "".join(include("roofline", machine, precision) + "\n" for precision in precisions))
    below = workload_pages(root, machine, workloads, results)
    if below:
        page += (f"## Workloads {{#{label}_workloads}}\n\nEach workload has a page with its ladders, and with its times over size, threads and other "
                 "parameters:\n\n" + "".join(f"- \\subpage {name}\n" for name in below) + "\n")
    for workload, text in workload_texts(machine, workloads, results).items() if not below else ():
        page += (f"## {stages.title_of(root, workload)} {{#{workload_label(machine, workload)}}}\n\n"
                 f"The stages are explained in \\ref {workload}.\n\n{text}")
    page += f"## Recordings {{#{label}_recordings}}\n\n\\htmlinclude {label}_recordings.html\n\n"
    counters = sorted(path.name for path in (root / "docs" / "results" / machine).glob("*_ncu.csv"))
    if counters:
        page += "These files hold counters of NVIDIA's profiler: " + ", ".join(f"`{name}`" for name in counters) + ".\n"
    printed = {recording["name"] for recording in recordings}
    others = sorted(path.name for path in (root / "docs" / "results" / machine).glob("*.txt")
                    if path.stem not in printed)
    if others:
        page += "\nPages quote these further files: " + ", ".join(f"`{name}`" for name in others) + ".\n"
    return page


# --- The chapter

def fastest_html(root, workloads, results):
    """A table of the fastest stage of each problem on each machine."""
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
        f'<a href="{label_of(name)}.html">{html.escape(short_title(results.recordings(name), name))}</a>' for name in names]
    return table(head, rows, "figures wide")  # one column per machine, so the table may scroll


def work_of(results, machine, workload, dataset, precision):
    """The number of floating-point operations of a problem."""
    return timed_stages(results, machine, workload, dataset, precision)[0]["modelled"]["flops"]


def fastest_text(results, machine, workload, dataset, precision):
    """Time and name of the fastest stage of a problem as HTML; empty if the problem is not recorded."""
    if (dataset, precision) not in results.problems(workload, machine):
        return ""
    found = figures.sources(results.runs(machine, workload, dataset, precision))
    fastest, recording = min(found.values(), key=lambda source: plots.median(source[0]))
    when = f"<br>{figures.date_text(recording)}" if recording["host"] else ""
    return f"<b>{figures.seconds_text(plots.median(fastest))}</b><br><small>{fastest['stage']}{when}</small>"


def pages(root, workloads, results):
    """The texts of the chapter's pages in reading order, by label."""
    names = machines(results)
    found = {CHAPTER: f"# Results {{#{CHAPTER}}}\n\n"
             "This chapter shows all recordings, with one page per machine: its ceilings, the ladder of each problem, and the times over sizes and\n"
             "threads. \\ref measuring defines the times, and \\ref measuring_record explains how to add a machine.\n\n"
             + "".join(f"- \\subpage {label_of(name)}\n" for name in names)
             + "\nThe following table shows the fastest program of each problem, stages and baselines alike. If a machine was recorded on several\n"
             "hosts, the date of the recording is given:\n\n"
             "\\htmlinclude fastest_recorded.html\n"}
    for name in names:
        found[label_of(name)] = machine_page(root, name, workloads, results)
        found |= workload_pages(root, name, workloads, results)
    return found


def write(root, workloads, results, directory):
    """Writes the chapter's pages and the tables in them."""
    for label, text in pages(root, workloads, results).items():
        (directory / f"{label}.md").write_text(text)
    (directory / "fastest_recorded.html").write_text(fastest_html(root, workloads, results))
    for name in machines(results):
        recordings = results.recordings(name)
        (directory / f"{label_of(name)}_ceilings.html").write_text(ceilings_html(recordings))
        (directory / f"{label_of(name)}_recordings.html").write_text(recordings_html(recordings))
