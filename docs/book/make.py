"""Makes the book: generates what the pages include, runs Doxygen, and links the pages in order.

Usage: python3 docs book ROOT OUTPUT STAMP DEPFILE VERSION

ROOT is the repository, and OUTPUT the directory in which html/ is created. The book is written to another directory and
replaces an existing book only when the new book is complete.
"""

import dataclasses
import html
import json
import pathlib
import re
import shutil
import subprocess

from book import card, ends, floors, glossary, headers, hosted, machines, page, proved, quoted, search, shell, stages, woven
from draw import ascent, communicating, played, plots, requested, warp
from measure import cost_model, figures

MATHJAX = pathlib.Path("/usr/share/javascript/mathjax")
MATHJAX_PARTS = ("MathJax.js", "extensions/tex2jax.js", "extensions/AssistiveMML.js", "extensions/MathEvents.js",
                 "extensions/toMathML.js", "extensions/TeX/AMSmath.js", "extensions/TeX/AMSsymbols.js", "extensions/TeX/noErrors.js",
                 "extensions/TeX/noUndefined.js", "jax/element/mml", "jax/input/TeX", "jax/output/SVG/jax.js", "jax/output/SVG/config.js",
                 "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX")
PATHS = '<div id="reading_paths"></div>'  # where the first page lists the reading paths
THEME = ("staircase.css", "staircase.js", "staircase.svg", "warp.js", "played.js")


def spread_text(record):
    """Half the distance between the extremes, as a share of the median."""
    times = record["seconds"]
    return f"{50 * (times['max'] - times['min']) / times['median']:.1f} %"


def in_all_text(record):
    """The total time of a solve, if stages are compared by one of its phases; otherwise an empty text."""
    return figures.seconds_text(figures.figure("in_all", [record])) if record.get("timed_phase") else ""


def error_text(record):
    """The error as in the runner's table."""
    if record["verdict"] == "reference":
        return "stage zero" if record["stage"].startswith("00_") else "reference"
    return "exact" if record["error"] == 0 else f"{record['error']:.1e}"


def share_text(record, name):
    """A fraction from a record as a percentage; empty if the record does not contain it."""
    return f"{100 * record[name]:.3g} %" if name in record else ""


def figures_row(stage, machine, run, recording):
    """The cells of a recorded run of a stage, as HTML."""
    records = figures.by_stage(run)
    record = records[stage.name]
    ratio = {}
    zero = next((name for name in records if name.startswith("00_")), None)
    for name, other in (("zero", zero), ("step", stage.before and stage.before.name)):
        if other != stage.name and "seconds" in records.get(other, {}):
            gain = figures.figure("speedup", [records[other], record])
            ratio[name] = f"{gain:.2f}" if gain < 10 else f"{float(f'{gain:.3g}'):.0f}" if gain >= 100 else f"{gain:.3g}"
    return (f"{html.escape(machine)}<br><small>{figures.date_text(recording)}</small>", run["dataset"], run["precision"],
            figures.seconds_text(record["seconds"]["median"]),
            spread_text(record), in_all_text(record), ratio.get("zero", ""), ratio.get("step", ""),
            share_text(record, "of_limit"), share_text(record, "of_copy"), error_text(record))


def recorded_runs(stage, results):
    """Yields (machine, run, recording) for the newest run of each problem that contains times of a stage."""
    for machine in machines.machines(results):
        for problem in results.problems(stage.workload, machine):
            found = results.newest(machine, stage.workload, *problem, stage.name)
            if found:
                yield machine, *found


def figures_html(stage, results):
    """The measured figures of a stage as an HTML table."""
    runs = list(recorded_runs(stage, results))
    if not runs and card.in_sweeps(stage, results):
        return "<p>This stage is recorded only in sweeps over sizes, threads or GPUs.</p>\n"
    if not runs:
        return "<p>No run of this stage is recorded yet.</p>\n"
    titles = ("machine", "data set", "precision", "time", "spread", "total", "speed-up over 00", "speed-up over previous", "% of peak", "% of copy", "error")
    rows = [figures_row(stage, machines.short_title(results.recordings(machine), machine), run, recording) for machine, run, recording in runs]
    shown = [n for n in range(len(titles)) if any(row[n] for row in rows)]
    cells = "".join("<tr>" + "".join(f"<td>{row[n]}</td>" for n in shown) + "</tr>" for row in rows)
    caption = figures.hosts_text((f"{run['dataset']} {run['precision']}", recording, len(figures.by_stage(run)[stage.name]["repeats"]))
                                 for _, run, recording in runs)
    return ('<div class="figures"><table class="markdownTable"><tr>'
            + "".join(f"<th>{titles[n]}</th>" for n in shown) + f"</tr>{cells}</table>"
            + f'<p class="caption">{html.escape(caption)}.</p></div>\n')


@dataclasses.dataclass
class Times:
    """The recorded times of a workload's stages on one problem."""

    machine: str
    title: str  # of the machine
    dataset: str
    found: dict  # by stage: its record, and the recording that contains the record

    @property
    def dates(self):
        """The dates of these recordings, in words."""
        return {figures.date_text(recording) for _, recording in self.found.values()}

    def head(self):
        """The data set and the machine, and the date if all recordings have the same date."""
        date = f"<br><small>{next(iter(self.dates))}</small>" if len(self.dates) == 1 else ""
        return f"<th>{self.dataset}<br><small>{html.escape(self.title)}</small>{date}</th>"

    def cell(self, stage):
        """The time of a stage if it is recorded, with its date if the dates in the column differ."""
        if stage not in self.found:
            return "<td></td>"
        record, recording = self.found[stage]
        date = f"<br><small>{figures.date_text(recording)}</small>" if len(self.dates) > 1 else ""
        return f"<td>{figures.seconds_text(record['seconds']['median'])}{date}</td>"


def times_of(of_workload, results):
    """The recorded times of a workload's stages in f64."""
    workload, names = of_workload[0].workload, [stage.name for stage in of_workload]
    for machine in machines.machines(results):
        for dataset, precision in results.problems(workload, machine):
            found = figures.sources(results.runs(machine, workload, dataset, precision))
            if precision == "f64":
                yield Times(machine, machines.short_title(results.recordings(machine), machine), dataset,
                            {name: found[name] for name in names if name in found})


def size_html(added, removed):
    """The numbers of lines that a step adds and removes, with bars of half a pixel per line."""
    return (f'+{added} −{removed}<svg class="size" width="{max(added, removed) / 2:g}" height="9" aria-hidden="true">'
            f'<rect width="{added / 2:g}" height="4"/><rect y="5" width="{removed / 2:g}" height="4" class="removed"/></svg>')


def stages_html(of_workload, results):
    """The table of a workload's stages: idea, lines changed, and recorded times in f64."""
    columns = list(times_of(of_workload, results))
    rows = ""
    for stage in of_workload:
        lines = size_html(*stages.lines_changed(stage.before.source, stage.source)) if stage.before else ""
        times = "".join(column.cell(stage.name) for column in columns)
        rows += (f'<tr><td><a href="{stage.page}.html">{stage.heading}</a></td>'
                 f"<td>{html.escape(stage.idea)}</td><td>{lines}</td>{times}</tr>")
    captions = {machine: figures.hosts_text((column.dataset, recording, None) for column in columns if column.machine == machine
                                            for _, recording in column.found.values())
                for machine in dict.fromkeys(column.machine for column in columns)}
    return ('<div class="figures map"><table class="markdownTable"><tr><th>stage</th><th>idea</th>'
            f"<th>lines</th>{''.join(column.head() for column in columns)}</tr>{rows}</table>"
            + "".join(f'<p class="caption">{html.escape(machines.short_title(results.recordings(machine), machine))}: {html.escape(text)}.</p>'
                      for machine, text in captions.items()) + "</div>\n")


def generate(root, workloads, results, generated):
    """Writes the generated files that pages include."""
    generated.mkdir(parents=True, exist_ok=True)
    (generated / "reading_paths.html").write_text(f"{PATHS}\n")
    (generated / "ladder_ends.html").write_text(ends.table_html(root, results))
    (generated / "figure_keys.txt").write_text(quoted.__doc__)
    woven.write(root, workloads, generated)
    headers.write(root, generated)
    warp.write(generated)
    played.write(generated)
    for name, of_workload in workloads.items():
        (generated / f"{name}_stages.html").write_text(stages_html(of_workload, results))
        (generated / f"climb_{name}.html").write_text(card.chapter_html(of_workload, results, caption=False))
        for stage in of_workload:
            (generated / f"{stage.page}_figures.html").write_text(
                figures_html(stage, results) + floors.floors_html(stage, of_workload, results))
            (generated / f"{stage.page}_source.md").write_text(
                f"# Source of {stage.heading} {{#{stage.page}_source}}\n\n"
                f"`{stage.source.relative_to(root)}`\n\n"
                f"\\include{{lineno}} {stage.source.relative_to(root)}\n")


def write_doxyfile(root, work, generated, version):
    """Writes the Doxyfile of this build: the repository's Doxyfile with the generated files and the paths of the build,
    without progress output."""
    inputs = ("docs/pages", "stages", "common/cuda_on_cpu", "common/slicer", generated)
    read_by_filter = page.write([root / path for path in inputs], work / "texts", whole=True)
    (work / "Doxyfile").write_text(f"""
@INCLUDE = "{root / 'Doxyfile'}"
PROJECT_NUMBER = {version}
OUTPUT_DIRECTORY = "{work}"
INPUT = {' '.join(f'"{path}"' for path in inputs)}
FILE_PATTERNS = *.md
EXAMPLE_PATH += "{generated}"
FILTER_PATTERNS = "*.md={read_by_filter}"
WARN_AS_ERROR = FAIL_ON_WARNINGS
GENERATE_TREEVIEW = NO
DISABLE_INDEX = YES
SEARCHENGINE = NO
HTML_HEADER = docs/theme/header.html
HTML_FOOTER = docs/theme/footer.html
""")


def copy_mathjax(target):
    """Copies the part of MathJax that turns TeX into SVG."""
    for part in MATHJAX_PARTS:
        source = MATHJAX / part
        if source.is_dir():
            shutil.copytree(source, target / part, dirs_exist_ok=True)
        elif source.exists():
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / part)


def page_texts(root, workloads, results):
    """The texts of the pages that may request plots, by name."""
    written = {str(page.relative_to(root)): hosted.read(page, root) for page in quoted.pages(root) if page.exists()}
    return written | machines.pages(root, workloads, results)


def reading_order(root, workloads, results):
    """Label and title of every page, in the order of the links on the main page."""
    pages = [page for pattern in ("docs/pages/*.md", "stages/*/README.md", "common/*/README.md")
             for page in root.glob(pattern)]
    results_pages = machines.pages(root, workloads, results)
    headings = (re.match(r"# (.+) \{#(\w+)\}", text)
                for text in [hosted.read(page, root) for page in pages] + list(results_pages.values()))
    titles = {heading[2]: heading[1] for heading in headings}
    order = [("index", titles["mainpage"])]
    for label in stages.labels_on_main_page(root):
        order += [(page, titles[page]) for page in (results_pages if label == machines.CHAPTER else [label])]
        order += [(stage.page, stage.heading) for stage in workloads.get(label, [])]
    return order


def duration_text(minutes):
    """A number of minutes, in words."""
    if minutes < 100:
        return f"{minutes} minutes"
    if minutes < 600:
        return f"{minutes // 60} hours and {minutes % 60} minutes"
    return f"{round(minutes / 60)} hours"


def stop_of(entry, pages):
    """A stop of a reading path: its link, its minutes, and whether readers may skip it. A stop is a page or a section
    of a page."""
    entry = {"page": entry} if isinstance(entry, str) else entry
    label, anchor = entry["page"], entry.get("section")
    page = pages[label]
    title = html.escape(page.title)
    if not anchor:
        return f'<a href="{label}.html">{title}</a>', page.minutes, entry.get("optional", False)
    section = shell.section_of(page, anchor)
    if not section:
        raise SystemExit(f"docs/pages/reading_paths.json: {label} has no section '{anchor}'")
    return f'<a href="{label}.html#{anchor}">{title}: {section[0]}</a>', shell.minutes_of(section[1]), entry.get("optional", False)


def reading_paths_html(root, order, pages):
    """The reading paths: the intended reader, the pages and the time that they take."""
    paths = json.loads((root / "docs" / "pages" / "reading_paths.json").read_text())
    items = ""
    for title, path in paths.items():
        stops = [stop_of(entry, pages) for entry in path["pages"] or order]
        skipped = sum(time for _, time, optional in stops if optional)
        time = duration_text(sum(time for _, time, _ in stops) - skipped)
        if skipped:
            time += f", and {duration_text(skipped)} for the optional pages"
        links = " → ".join(link + (" (optional)" if optional else "") for link, _, optional in stops) if path["pages"] else \
            f"All {len(stops)} pages in order. The link «Next» at the end of each page leads to the following one."
        items += (f'<div class="way"><h3>{html.escape(title)}</h3><p class="time">{time}</p><p>{html.escape(path["for"])}</p>'
                  f"<p>{links}</p></div>")
    return f'<div class="ways">{items}</div>\n'


def kind_of(name, workloads, of_stages):
    """The kind of a page."""
    if name in of_stages:
        return "stage"
    if name in workloads:
        return "chapter"
    if name.endswith("_slides"):
        return "slides"
    return {"index": "home"}.get(name, "source" if name.endswith("_source") or name.startswith("header_") else "page")


def read_pages(root, directory, workloads, of_stages):
    """All pages that Doxygen made from written or generated sources, by name."""
    pages = {}
    for path in sorted(directory.glob("*.html")):
        if path.stem not in ("pages", "graph_legend", "files") and not path.stem.startswith("dir_"):
            pages[path.stem] = shell.read(path, kind_of(path.stem, workloads, of_stages))
    for name, of in of_stages.items():
        chapter = html.unescape(pages[of.workload].title)
        pages[name].title = f"{chapter} · {of.heading}"
        pages[name].heading = f"<small>{pages[of.workload].heading}</small> {pages[name].heading}"
        pages[f"{name}_source"].title = f"{chapter} · {of.heading}, source"
    for name in headers.headers(root):
        pages[name].path = [("harness", pages["harness"].heading)]
    return pages


def groups_of(root, workloads, results, pages):
    """The groups of the sidebar: title and entries. Each entry has a name, a text and the pages below it."""
    machine_pages = [machines.label_of(name) for name in machines.machines(results)]
    below = {name: [(stage.page, html.escape(stage.heading)) for stage in of] for name, of in workloads.items()}
    below[machines.CHAPTER] = [(label, pages[label].heading) for label in machine_pages]
    groups = [(title, [(label, pages[label].heading, below.get(label, [])) for label in labels])
              for title, labels in stages.groups_on_main_page(root).items()]
    groups[0][1].insert(0, ("index", "The first page", []))
    return groups


def write_pages(root, work, target, workloads, results, version):
    """Writes every page with its frame, and returns the pages by name."""
    of_stages = {stage.page: stage for of_workload in workloads.values() for stage in of_workload}
    pages = read_pages(root, work, workloads, of_stages)
    order = reading_order(root, workloads, results)
    neighbours = {label: (order[i - 1] if i else None, order[i + 1] if i + 1 < len(order) else None)
                  for i, (label, _) in enumerate(order)}
    pages["index"].text = pages["index"].text.replace(PATHS, reading_paths_html(root, [label for label, _ in order], pages))
    # In the cards of the workloads, the title is above the sentence.
    pages["index"].text = re.sub(r'(<li><a href="\w+\.html">[^<]*</a>) — (.*?<figure class="climb">)', r"\1 \2", pages["index"].text)
    glossary.link(pages, (root / "docs" / "pages" / "glossary.md").read_text())
    rules, groups = card.rules_of(root), groups_of(root, workloads, results, pages)
    template = (root / "docs" / "theme" / "page.html").read_text()
    for name, page in pages.items():
        if page.kind == "stage":
            stage = of_stages[name]
            changed = stages.lines_changed(stage.before.source, stage.source) if stage.before else None
            page.card = card.card_html(stage, workloads[stage.workload], results, rules, changed,
                                       neighbours[name], page.minutes)
        elif page.kind == "chapter":
            page.card = card.chapter_html(workloads[name], results)
        elif page.kind == "slides":
            page.text = shell.slides_html(page.text)
        (target / f"{name}.html").write_text(
            shell.page_html(template, page, groups, workloads, neighbours.get(name, (None, None)), version))
    return pages


def write_depfile(root, stamp, depfile):
    """Writes the list of files from which the book is made. Directories are listed, too, because their times change
    when files are added."""
    patterns = ("README.md", "Doxyfile", "docs/**/*", "stages", "stages/**/*", "common/include/staircase",
                "common/include/**/*.hpp", "common/cuda_on_cpu/README.md", "common/cuda_on_cpu/tests/optimisations_test.py",
                "common/slicer/README.md", "common/slicer/workflow.yml")
    inputs = sorted({path for pattern in patterns for path in root.glob(pattern)
                     if "__pycache__" not in path.parts})
    escaped = " ".join(str(path).replace(" ", "\\ ") for path in inputs)
    pathlib.Path(depfile).write_text(f"{stamp}: {escaped}\n")


def main(root, output, stamp, depfile, version):
    """Makes the book and returns the exit status of the first step that fails."""
    root, output = pathlib.Path(root), pathlib.Path(output).resolve()
    final = output / "html"
    work = output / "work"
    shutil.rmtree(work, ignore_errors=True)
    generated = work / "generated"
    work.mkdir(parents=True)
    if quoted.main("--check", root) != 0:
        return 1
    results = figures.Results(root / "docs" / "results")
    workloads = stages.in_reading_order(root, stages.find_stages(root))
    generate(root, workloads, results, generated)
    proved.write(root, workloads, generated)
    machines.write(root, workloads, results, generated)
    plots.write(page_texts(root, workloads, results), workloads, results, generated)
    ascent.write(page_texts(root, workloads, results), workloads, results, generated)
    requested.write(root, quoted.pages(root), workloads, results, generated)
    cost_model.write(root, quoted.pages(root), results, generated)
    communicating.write(root, quoted.pages(root), results, generated)
    write_doxyfile(root, work, generated, version)
    status = subprocess.run(["doxygen", work / "Doxyfile"], cwd=root, stdout=subprocess.DEVNULL).returncode
    if status != 0:
        return status
    whole = work / "book"
    whole.mkdir()
    pages = write_pages(root, work / "html", whole, workloads, results, version)
    search.write(pages.values(), whole)
    copy_mathjax(whole / "mathjax")
    for name in THEME:
        shutil.copy(root / "docs" / "theme" / name, whole / name)
    shutil.rmtree(final, ignore_errors=True)
    whole.rename(final)
    write_depfile(root, stamp, depfile)
    pathlib.Path(stamp).touch()
    return 0
