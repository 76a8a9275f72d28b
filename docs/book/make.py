"""Makes the book: generates what the pages include, runs Doxygen, and links the pages in order.

Usage: python3 docs book ROOT OUTPUT STAMP DEPFILE VERSION

ROOT is the repository, OUTPUT the directory that gets html/. The book is written beside the one there
is and replaces it only when it is whole.
"""

import dataclasses
import html
import itertools
import pathlib
import re
import shutil
import subprocess
import sys

from book import machines, proved, quoted, stages
from draw import communicating, plots, requested
from measure import cost_model, figures

AWESOME = pathlib.Path("/usr/share/doxygen-awesome-css")
MATHJAX = pathlib.Path("/usr/share/javascript/mathjax")
MATHJAX_PARTS = ("MathJax.js", "config/TeX-MML-AM_SVG.js", "extensions", "fonts/HTML-CSS/TeX/svg",
                 "jax/element", "jax/input/TeX", "jax/output/SVG", "localization/en")
STYLES = ("doxygen-awesome", "doxygen-awesome-sidebar-only", "doxygen-awesome-sidebar-only-darkmode-toggle")
SCRIPTS = ("doxygen-awesome-darkmode-toggle", "doxygen-awesome-fragment-copy-button", "doxygen-awesome-paragraph-link")
HEAD = "".join(f'\n<script type="text/javascript" src="$relpath^{name}.js"></script>' for name in SCRIPTS) + """
<script type="text/javascript">
DoxygenAwesomeDarkModeToggle.init()
DoxygenAwesomeFragmentCopyButton.init()
DoxygenAwesomeParagraphLink.init()
</script>
</head>"""


def diff_row(kind, old, new, text):
    """A line of a diff; one that stays is there twice, for the two sides of a wide screen."""
    code = f"<code>{html.escape(text) or ' '}</code>"
    numbers = "".join(f"<span>{number or ''}</span>" for number in (old, new))
    if kind in ("removed", "added"):
        tag = "del" if kind == "removed" else "ins"
        code = f"<{tag}>{code}</{tag}>"
    elif kind == "same":
        code += code.replace("<code>", '<code aria-hidden="true">')
    return f'<div class="{kind}">{numbers}{code}</div>'


def diff_html(stage):
    """The diff from the stage that a stage continues as HTML, and how long it is."""
    added, removed = stages.lines_changed(stage.before.source, stage.source)
    rows = ""
    for is_change, lines in itertools.groupby(stages.hunks(stage.before.source, stage.source),
                                              lambda line: line[0] in ("removed", "added")):
        row_texts = "".join(diff_row(*line) for line in lines)
        rows += f'<div class="change">{row_texts}</div>' if is_change else row_texts
    return (f'<p>From <a href="{stage.before.page}.html">{html.escape(stage.before.heading)}</a>: '
            f"lines of code +{added} −{removed} (comments aside).</p>"
            '<div class="diff" role="region" tabindex="0" '
            f'aria-label="Changes from {html.escape(stage.before.heading)}">{rows}</div>\n')


def spread_text(record):
    """Half the distance between the extremes, as a share of the median."""
    times = record["seconds"]
    return f"{50 * (times['max'] - times['min']) / times['median']:.1f} %"


def in_all_text(record):
    """The time of a whole solve where stages are compared by one of its phases."""
    return figures.seconds_text(figures.figure("in_all", [record])) if record.get("timed_phase") else ""


def error_text(record):
    """What the runner's table says of the error."""
    if record["verdict"] == "reference":
        return "stage zero" if record["stage"].startswith("00_") else "reference"
    return "exact" if record["error"] == 0 else f"{record['error']:.1e}"


def share_text(record, name):
    """A share that the record may hold, as a percentage."""
    return f"{100 * record[name]:.3g} %" if name in record else ""


def figures_row(stage, machine, run, host=""):
    """The cells of a recorded run of a stage."""
    records = figures.by_stage(run)
    record = records[stage.name]
    ratio = {}
    zero = next((name for name in records if name.startswith("00_")), None)
    for name, other in (("zero", zero), ("step", stage.before and stage.before.name)):
        if other != stage.name and "seconds" in records.get(other, {}):
            ratio[name] = f"{figures.figure('speedup', [records[other], record]):.2f}"
    return (f"{machine} {host}".strip(), run["dataset"], run["precision"], figures.seconds_text(record["seconds"]["median"]),
            spread_text(record), in_all_text(record), ratio.get("zero", ""), ratio.get("step", ""),
            share_text(record, "of_limit"), share_text(record, "of_copy"), error_text(record))


def recorded_runs(stage, results):
    """The newest run of each problem that holds times of a stage: (machine, run, recording)."""
    for machine in machines.machines(results):
        for problem in results.problems(stage.workload, machine):
            found = results.newest(machine, stage.workload, *problem, stage.name)
            if found:
                yield machine, *found


def in_sweeps(stage, results):
    """Whether a stage was recorded over the values of a parameter."""
    return any(run["workload"] == stage.workload and stage.name in figures.by_stage(run)
               for sweep in results.sweeps.values() for run in sweep["runs"])


def figures_html(stage, results):
    """The measured figures of a stage as an HTML table."""
    runs = list(recorded_runs(stage, results))
    if not runs and in_sweeps(stage, results):
        return "<p>Recorded over sizes, threads or GPUs alone.</p>\n"
    if not runs:
        return "<p>No run recorded yet.</p>\n"
    titles = ("machine", "data set", "precision", "time", "spread", "in all", "× 00", "× step", "of limit",
              "of copy", "error")
    rows = [figures_row(stage, machine, run, recording["host"]) for machine, run, recording in runs]
    shown = [n for n, title in enumerate(titles) if title != "in all" or any(row[n] for row in rows)]
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(row[n])}</td>" for n in shown) + "</tr>" for row in rows)
    captions = dict.fromkeys(
        figures.recording_text(recording, len(figures.by_stage(run)[stage.name]["repeats"]))
        for _, run, recording in runs)
    return ('<div class="figures"><table class="markdownTable"><tr>'
            + "".join(f"<th>{titles[n]}</th>" for n in shown) + f"</tr>{cells}</table>"
            + "".join(f"<p class=\"caption\">{html.escape(text)}.</p>" for text in captions)
            + "</div>\n")


@dataclasses.dataclass
class Times:
    """The recorded times of a workload's stages on one problem."""

    machine: str
    dataset: str
    found: dict  # by stage, its record and the recording that holds it

    @property
    def hosts(self):
        """The hosts that they are from."""
        return {recording["host"] for _, recording in self.found.values()}

    def head(self):
        """Data set and machine, and the host if it is one."""
        host = f"<br><small>{next(iter(self.hosts))}</small>" if len(self.hosts) == 1 and all(self.hosts) else ""
        return f"<th>{self.dataset}<br><small>{self.machine}</small>{host}</th>"

    def cell(self, stage):
        """The time of a stage, if it is recorded, and the host if there are several."""
        if stage not in self.found:
            return "<td></td>"
        record, recording = self.found[stage]
        host = f" <small>{recording['host']}</small>" if len(self.hosts) > 1 else ""
        return f"<td>{figures.seconds_text(record['seconds']['median'])}{host}</td>"

    def captions(self):
        """Where the times are from."""
        return sorted(f"{self.machine}, {figures.recording_text(recording)}." for _, recording in self.found.values())


def times_of(of_workload, results):
    """The recorded times of a workload's stages in f64."""
    workload, names = of_workload[0].workload, [stage.name for stage in of_workload]
    for machine in machines.machines(results):
        for dataset, precision in results.problems(workload, machine):
            found = figures.sources(results.runs(machine, workload, dataset, precision))
            if precision == "f64":
                yield Times(machine, dataset, {name: found[name] for name in names if name in found})


def stages_html(of_workload, results):
    """The map of a workload's stages: idea, lines changed, and recorded times in f64."""
    columns = list(times_of(of_workload, results))
    rows = ""
    for stage in of_workload:
        lines = "+{} −{}".format(*stages.lines_changed(stage.before.source, stage.source)) \
            if stage.before else ""
        times = "".join(column.cell(stage.name) for column in columns)
        rows += (f'<tr><td><a href="{stage.page}.html">{stage.heading}</a></td>'
                 f"<td>{html.escape(stage.idea)}</td><td>{lines}</td>{times}</tr>")
    captions = dict.fromkeys(text for column in columns for text in column.captions())
    return ('<div class="figures map"><table class="markdownTable"><tr><th>stage</th><th>idea</th>'
            f"<th>lines</th>{''.join(column.head() for column in columns)}</tr>{rows}</table>"
            + "".join(f'<p class="caption">{html.escape(text)}</p>' for text in captions) + "</div>\n")


def generate(root, workloads, results, generated):
    """Writes what the pages include."""
    generated.mkdir(parents=True, exist_ok=True)
    (generated / "figure_keys.txt").write_text(quoted.__doc__)
    for name, of_workload in workloads.items():
        (generated / f"{name}_stages.html").write_text(stages_html(of_workload, results))
        for stage in of_workload:
            (generated / f"{stage.page}_figures.html").write_text(figures_html(stage, results))
            if stage.before:
                (generated / f"{stage.page}_diff.html").write_text(diff_html(stage))
            (generated / f"{stage.page}_source.md").write_text(
                f"# Source of {stage.heading} {{#{stage.page}_source}}\n\n"
                f"`{stage.source.relative_to(root)}`\n\n"
                f"\\include{{lineno}} {stage.source.relative_to(root)}\n")


def write_header(root, work):
    """Doxygen's own page header with the theme's scripts in it."""
    header = work / "header.html"
    subprocess.run(["doxygen", "-w", "html", header, work / "footer.html", work / "unused.css", work / "Doxyfile"],
                   cwd=root, check=True, capture_output=True)
    header.write_text(header.read_text().replace("</head>", HEAD))


def write_layout(directory):
    """Doxygen's own layout without the indices of names, which tell a reader little."""
    subprocess.run(["doxygen", "-l", "layout.xml"], cwd=directory, check=True, capture_output=True)
    layout = directory / "layout.xml"
    hidden = "namespaces|concepts|interfaces|classes|structs|exceptions|examples"
    layout.write_text(re.sub(rf'(<tab type="(?:{hidden})" visible=)"yes"', r'\1"no"',
                             layout.read_text()))


def name_images(directory):
    """Gives the images in Doxygen's scripts the alternative texts that they lack."""
    for script, image, alternative in (("menu.js", 'id="MSearchSelect"', "Choose what to search"),
                                       ("menu.js", 'id="MSearchCloseImg"', "End the search"),
                                       ("navtree.js", 'src="\'+relpath+\'sync_on.png"', "Synchronised"),
                                       ("navtree.js", 'src="\'+relpath+\'sync_off.png"', "Not synchronised")):
        path = directory / script
        text = path.read_text()
        if f"<img {image}" not in text:
            raise SystemExit(f"{script} has no image with {image}")
        path.write_text(re.sub(rf'(<img {re.escape(image)}[^>]*?)(?: alt="")?(/?>)',
                               rf'\1 alt="{alternative}"\2', text))


def leave_out_mathjax(directory):
    """Spares the pages without a formula the script that typesets them."""
    for page in directory.glob("*.html"):
        text = page.read_text()
        if not re.search(r"\\[(\[]", text):
            page.write_text(re.sub(r'<script [^>]*src="mathjax/MathJax.js"></script>\n?', "", text))


def write_doxyfile(root, work, generated, version):
    """Adds to the repository's Doxyfile what is generated, the theme and the paths of this build."""
    (work / "Doxyfile").write_text(f"""
@INCLUDE = "{root / 'Doxyfile'}"
PROJECT_NUMBER = {version}
OUTPUT_DIRECTORY = "{work}"
INPUT += "{generated}"
EXAMPLE_PATH += "{generated}"
FILTER_PATTERNS = "*.md='{sys.executable}' docs page --whole"
WARN_AS_ERROR = FAIL_ON_WARNINGS
LAYOUT_FILE = "{work / 'layout.xml'}"
HTML_HEADER = "{work / 'header.html'}"
HTML_FOOTER = docs/theme/footer.html
HTML_EXTRA_STYLESHEET = {" ".join(f'"{AWESOME / name}.css"' for name in STYLES)} docs/theme/staircase.css
HTML_EXTRA_FILES = {" ".join(f'"{AWESOME / name}.js"' for name in SCRIPTS)}
MATHJAX_RELPATH = mathjax
MATHJAX_EXTENSIONS += AssistiveMML
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
    """The texts of the pages that may ask for plots, by their names."""
    written = {str(page.relative_to(root)): page.read_text() for page in quoted.pages(root) if page.exists()}
    return written | machines.pages(root, workloads, results)


def reading_order(root, workloads, results):
    """Label and title of every page, in the order in which the main page leads to them."""
    pages = [page for pattern in ("docs/pages/*.md", "stages/*/README.md", "common/*/README.md")
             for page in root.glob(pattern)]
    results_pages = machines.pages(root, workloads, results)
    headings = (re.match(r"# (.+) \{#(\w+)\}", text)
                for text in [page.read_text() for page in pages] + list(results_pages.values()))
    titles = {heading[2]: heading[1] for heading in headings}
    order = [("index", titles["mainpage"])]
    for label in stages.labels_on_main_page(root):
        order += [(page, titles[page]) for page in (results_pages if label == machines.CHAPTER else [label])]
        order += [(stage.page, stage.heading) for stage in workloads.get(label, [])]
    return order


def link_pages(directory, order):
    """Adds links to the page before and the page after at the foot of every page."""
    for i, (label, _) in enumerate(order):
        page = directory / f"{label}.html"
        text = page.read_text()
        ends = re.findall(r"</div></div><!-- (?:contents|PageDoc) -->", text)
        if len(ends) != 1:
            raise SystemExit(f"{page.name} does not end as pages do")
        links = ""
        if i > 0:
            links += f'<a rel="prev" href="{order[i - 1][0]}.html">← {html.escape(order[i - 1][1])}</a>'
        if i + 1 < len(order):
            links += f'<a rel="next" href="{order[i + 1][0]}.html">{html.escape(order[i + 1][1])} →</a>'
        page.write_text(text.replace(ends[0], f'<nav class="reading">{links}</nav>{ends[0]}'))


def write_depfile(root, stamp, depfile):
    """Names every file that the book is made from, and the directories, which tell of new ones."""
    patterns = ("README.md", "Doxyfile", "docs/**/*", "stages", "stages/**/*", "common/include/staircase",
                "common/include/**/*.hpp", "common/cuda_on_cpu/README.md", "common/cuda_on_cpu/tests/optimisations_test.py")
    inputs = sorted({path for pattern in patterns for path in root.glob(pattern)
                     if "__pycache__" not in path.parts})
    escaped = " ".join(str(path).replace(" ", "\\ ") for path in inputs)
    pathlib.Path(depfile).write_text(f"{stamp}: {escaped}\n")


def main(root, output, stamp, depfile, version):
    """The exit status of the first step that fails."""
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
    requested.write(root, quoted.pages(root), workloads, results, generated)
    cost_model.write(root, quoted.pages(root), results, generated)
    communicating.write(root, quoted.pages(root), results, generated)
    write_doxyfile(root, work, generated, version)
    write_layout(work)
    write_header(root, work)
    status = subprocess.run(["doxygen", work / "Doxyfile"], cwd=root, stdout=subprocess.DEVNULL).returncode
    if status != 0:
        return status
    copy_mathjax(work / "html" / "mathjax")
    name_images(work / "html")
    leave_out_mathjax(work / "html")
    link_pages(work / "html", reading_order(root, workloads, results))
    shutil.rmtree(final, ignore_errors=True)
    (work / "html").rename(final)
    write_depfile(root, stamp, depfile)
    pathlib.Path(stamp).touch()
    return 0
