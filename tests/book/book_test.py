"""Tests the book as it was built: book_test.py ROOT HTML_DIRECTORY. Prints TAP."""

import contextlib
import functools
import html
import html.parser
import json
import pathlib
import re
import sys
import tempfile
import types
import urllib.parse

import tap
from book import card, code, ends, floors, glossary, headers, hosted, machines, make, proved, quoted, shell, stages, woven
from draw import ascent, maps, played, plots, pricing, requested, warp
from draw.canvas import INK, PURPLE, Canvas
from measure import figures

ROOT = pathlib.Path(sys.argv[1])
HTML = pathlib.Path(sys.argv[2])

# The limits per stage are half of the files and 60 % of the bytes of the book with Doxygen's own frames, which had 1514
# files and 43.2 MB for 129 stages. The limit of bytes was 50 % until the pages explained their code in text and the
# results were divided by workload.
MOST_FILES, MOST_BYTES = 757 / 129, 25_800_000 / 129

SECTIONS = ["The idea", "The transformation", "The work", "Correctness", "The cost", "Try it"]


class Page(html.parser.HTMLParser):
    """The links, anchors and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        """Collects the links of a tag, and the names by which other links can refer to the tag."""
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if key in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for key in ("src", "data") if tag != "link" else ("href",):
            if values.get(key):
                self.loaded.append(values[key])


PAGES = {path.name: Page(path) for path in HTML.glob("*.html")}
LABELS = stages.labels_on_main_page(ROOT)
RESULTS = figures.Results(ROOT / "docs" / "results")
WORKLOADS = stages.in_reading_order(ROOT, stages.find_stages(ROOT))
STAGES = sorted(ROOT.glob("stages/*/[0-9][0-9]_*"),
                key=lambda stage: (LABELS.index(stage.parent.name), stage.name))


def is_external(link):
    """Whether a link leads out of the book."""
    return urllib.parse.urlsplit(link).scheme not in ("", "javascript") or link.startswith("//")


def broken_links():
    """Yields links and loaded files whose targets do not exist."""
    for page in PAGES.values():
        for link in page.links + page.loaded:
            if is_external(link) or link.startswith("javascript:"):
                continue
            target, _, anchor = urllib.parse.unquote(link).partition("#")
            name = target or page.path.name
            if not (HTML / name).exists():
                yield f"{page.path.name} links to {link}, which does not exist"
            elif anchor and name in PAGES and anchor not in PAGES[name].anchors:
                yield f"{page.path.name} links to {link}, and this anchor does not exist"


def loaded_from_outside():
    """Yields scripts, styles and images that need a network."""
    for page in PAGES.values():
        yield from (f"{page.path.name} loads {link} from a network" for link in page.loaded if is_external(link))


def page_of(directory):
    """The text of a stage's page."""
    return (HTML / f"{directory.parent.name}_{directory.name}.html").read_text()


def unproved_pages():
    """Yields stages whose pages lack the slicer's verdict on one of their pragmas, or show a verdict without a pragma."""
    verdicts = proved.read((ROOT / "docs/proving/stages.txt").read_text())
    if not verdicts:
        yield "stages.txt contains no claim"
    for stage in (stage for of_workload in WORKLOADS.values() for stage in of_workload):
        page = (HTML / f"{stage.page}.html").read_text()
        claims = verdicts.get((stage.workload, stage.name), [])
        if page.count('<div class="proved">') != bool(claims):
            yield f"{stage.page} has {len(claims)} claims, and its verdicts are missing or superfluous"
        for claim in claims:
            line = stage.source.read_text().splitlines().index(f"#pragma {claim['pragma']}") + 1
            item = re.search(rf"<li>lines? [\d, ]*\b{line}\b[\d, ]*: (.*?)</li>", page)
            if not item or f"<code>{html.escape(claim['pragma'])}</code> is <b>{claim['verdict']}</b>" not in page:
                yield f"{stage.page} does not show the verdict on #pragma {claim['pragma']} with its line"
    wrong = proved.proved_html("\n#pragma omp for\nfor (;;)\n  f(a,\n    b);\n", proved.read(
        "w 01_s\n  omp for: beyond affine: nothing is known of the call `f(a, b)`\n")["w", "01_s"])
    if "<li>line 2: <code>omp for</code> is <b>beyond affine</b>: nothing is known of the call <code>f(a, b)</code> (line 4)" \
            not in wrong:
        yield f"the verdict on a loop with a call is shown as {wrong}"


def is_without_recording(directory):
    """Whether a stage has no time yet, its page states this, and the plan contains a recording on suitable hardware."""
    on_gpu = any(directory.glob("*.cu"))
    plan = json.loads((ROOT / "docs/results/plan.json").read_text())
    planned = [entry.get("stages", "00-99") for entry in plan["recordings"]
               if entry.get("workload") == directory.parent.name and bool(entry.get("gpu")) == on_gpu]
    ranges = [(part + "-" + part).split("-")[:2] for stages in planned for part in stages.split(",")
              if not part.startswith("baseline")]
    return ("No run of this stage is recorded yet." in page_of(directory)
            and any(first <= directory.name[:2] <= last for first, last in ranges))


def incomplete_pages():
    """Yields pages of stages that lack a section, the diff, the figures or the source."""
    for directory in STAGES:
        text = page_of(directory)
        found = [title for title in re.findall(r'<h2 id="[^"]+">([^<]+)<', text) if title in SECTIONS]
        if found != SECTIONS:
            yield f"the sections of {directory.name} are {found}"
        if not directory.name.startswith("00_") and "<ins " not in text:
            yield f"the page of {directory.name} has no diff"
        recorded = 'class="figures"' in text or "This stage is recorded only in sweeps over sizes, threads or GPUs." in text
        if not recorded and not is_without_recording(directory):
            yield f"the page of {directory.name} shows no recorded time"
        source = HTML / f"{directory.parent.name}_{directory.name}_source.html"
        if source.name not in text or "solve" not in source.read_text():
            yield f"the page of {directory.name} has no source"


def visible_asterisks():
    """Yields visible asterisks that should have set words in bold or italics."""
    for name, page in PAGES.items():
        text = re.sub(r"<div class=.fragment.*?</div>\s*</div>|<(pre|code|script|style|svg)\b.*?</\1>", "",
                      page.path.read_text(), flags=re.DOTALL)
        for words in re.findall(r".{0,30}\*\*.{0,30}", re.sub(r"<[^>]+>", "", text)):
            if not name.endswith("_source.html"):
                yield f"{name} shows asterisks: {words}"


def unlinked_notes():
    """Yields notes that belong to no stage, or to which their stage's page does not link."""
    for path in sorted(ROOT.glob("stages/**/notes.md")):
        page = f"{path.parent.parent.name}_{path.parent.name}"
        heading = "# Notes on {}"
        stage = {stage.page: stage for of_workload in WORKLOADS.values() for stage in of_workload}.get(page)
        if not stage or path.read_text().partition("\n")[0] != heading.replace("{}", stage.heading):
            yield f"{path.relative_to(ROOT)} does not begin with '{heading}'"
        elif not any(link == f"{page}_notes.html" for link in PAGES[f"{page}.html"].links):
            yield f"the page of {page} does not link to its notes"


def stages_of_plot(kind, words):
    """The stages that a plot must show; for a roofline, the workloads."""
    if kind == "roofline":
        return {run["workload"] for recording in RESULTS.machines[words[0]]
                for run in recording["runs"] if run["precision"] == words[1]}
    runs = ([run for run, _ in RESULTS.runs(*words)] if kind == "ladder" else
            [run for run in RESULTS.sweep(*words[:2])["runs"] if run["precision"] == words[2]])
    return {record["stage"] for run in runs for record in run["records"]
            if "seconds" in record and "remark" not in record.get("repeats", [{}])[0]}


def built(source):
    """The label and the text of a page, as built."""
    label = re.search(r"\{#(\w+)\}", source)[1]
    return label, (HTML / f"{'index' if label == 'mainpage' else label}.html").read_text()


@functools.cache
def drawings_on(text):
    """Width, alternative text and content of each drawing on a page."""
    return re.findall(r'<svg class="(\w+)"[^>]*role="img" aria-label="([^"]+)">(.*?)</svg>', text, re.DOTALL)


def drawings_of(file, text):
    """The drawings of one plot or diagram: width, alternative text and content of each."""
    return [drawing for drawing in drawings_on(text) if f'id="{file.removesuffix(".html")}.' in drawing[2]]


def incomplete_plots():
    """Yields plots that a page requests and that are missing, or that lack words, a stage or the page's colours."""
    texts = make.page_texts(ROOT, WORKLOADS, RESULTS)
    asked = list(plots.requests(texts))
    for kind in {"ladder", "scaling", "crossover", "roofline"} - {kind for _, _, kind, _ in asked}:
        yield f"no page requests a plot of the kind {kind}"
    for page, file, kind, words in asked:
        label, text = built(texts[page])
        drawings = drawings_of(file, text)
        if [width for width, _, _ in drawings] != list(plots.WIDTHS):
            yield f"{label} contains {file} in {len(drawings)} widths"
        for width, alternative, drawing in drawings:
            for stage in stages_of_plot(kind, words):
                if stage not in alternative or f">{stage}</text>" not in drawing:
                    yield f"{label}: {file}, {width}, does not show {stage}"
            if set(re.findall(r"#[0-9a-f]{6}\b", drawing)):
                yield f"{label}: {file} has fixed colours instead of the page's colours"
        caption = re.search(r'<figcaption class="caption">([^<]*revision[^<]*)<', text)
        if not caption or words[0] == "h200" and "H200" not in caption[1]:
            yield f"{label}: the caption does not name machine and revision"


def incomplete_diagrams():
    """Yields diagrams that are missing, lack words or the page's colours, or are illegible on a phone."""
    asked = list(requested.requests(quoted.pages(ROOT)))
    for name in sorted(requested.scripts(ROOT).keys() - {name for _, _, kind, name in asked if kind == "diagram"}):
        yield f"no page requests the diagram of docs/draw/diagrams/{name}.py"
    for page, file, kind, name in asked:
        label, text = built(hosted.read(page))
        drawings = drawings_of(file, text)
        if [width for width, _, _ in drawings] != list(plots.WIDTHS):
            yield f"{label} contains {file} in {len(drawings)} widths"
        for width, alternative, drawing in drawings:
            sizes = [float(size) for size in re.findall(r"font-size: ?([\d.]+)px", drawing)]
            if len(alternative.split()) < 20:
                yield f"{label}: the alternative text of {file} has less than 20 words: '{alternative}'"
            if not sizes or min(sizes) < 9.5:
                yield f"{label}: {file}, {width}, has text of {min(sizes, default=0)} pixels"
            if set(re.findall(r"#[0-9a-f]{6}\b", drawing)):
                yield f"{label}: {file} has fixed colours instead of the page's colours"
            for stage in stages.find_stages(ROOT)[name.split(".")[1]] if kind == "map" else ():
                if stage.heading not in html.unescape(alternative) or f">{stage.heading}</text>" not in drawing:
                    yield f"{label}: {file}, {width}, does not show {stage.heading}"
        name = re.escape(file.removesuffix(".html"))
        if not re.search(rf'id="{name}\.(?:(?!</figure>).)*<figcaption class="caption">[^<]{{20,}}<', text, re.DOTALL):
            yield f"{label}: {file} has no caption"


def run_of(value, *medians, names=("00_a", "01_b")):
    """A run of two stages, one on a processor and one on a GPU."""
    return {"workload": "w", "dataset": "d", "precision": "f64", "value": value, "records": [
        {"stage": stage, "device": device, "device_name": "G",
         "repeats": [{"phases": {"copy in": 0.25, "kernels": s}} for s in (0.5, 8, 0.75, 0.5, 9)],
         "parameters": {"n": value, "m": 3}, "verdict": "matches", "error": 0,
         "seconds": {"min": median, "median": median, "max": median},
         "modelled": {"flops": 1e9, "bytes": 1e8}}
        for stage, device, median in zip(names, ("cpu", "gpu"), medians)]}


INDEX = """
<a id="a"></a>
### Parallel (all) loops, and more
| W [01](../../stages/w/01_b/README.md) | x | *d*: 4.00 ×<!-- m w d f64 00_a/01_b speedup --> |
<a id="b"></a>
### Tiling
| W [01](../../stages/w/01_b/README.md) | x | – |
| W [02](../../stages/w/02_c/README.md) | x | – |
## A part
| W [03](../../stages/w/03_d/README.md) | | |
"""


@contextlib.contextmanager
def small_repository():
    """The workloads and the results of a repository with one workload, two runs of it and two sweeps."""
    about = {"machine": {"cpu": "C", "cores": 2, "system": "S", "compiler": "g++"},
             "date": "2026-01-02T03:04:05Z", "revision": "abc",
             "ceilings": {"gpu": {"flops_f64": 1e10, "flops_f64_matrix": 2e13, "flops_f32": 3e10,
                                  "copy_bytes_per_second": 1e9}}}
    sweep = {"sweep": "n", "runs": [run_of(100, 0.1, 0.01), run_of(1, 0.001, 0.01)]}
    published = {"d": {"source": "somebody", "seconds": {"by hand": 90}}}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for stage in ("00_a", "01_b", "02_c", "03_d"):
            (root / "stages" / "w" / stage).mkdir(parents=True)
            (root / "stages" / "w" / stage / "s.cpp").write_text('.title = "T" .idea = "I"')
        (root / "m").mkdir()
        (root / "docs" / "pages").mkdir(parents=True)
        (root / "docs" / "pages" / "transformations.md").write_text(INDEX)
        for path, content in (("stages/w/published.json", published),
                              ("m/w.json", about | {"runs": [run_of(1, 2, 0.5)]}),
                              ("m/w_more.json", about | {"revision": "def", "runs": [
                                  run_of(1, 3, 7, names=("00_a", "02_c"))]}),
                              ("m/w_over_n.json", about | sweep),
                              ("m/w_over_threads.json", about | sweep | {"sweep": "threads"})):
            (root / path).write_text(json.dumps(content))
        yield stages.find_stages(root), figures.Results(root)


@contextlib.contextmanager
def continued(named):
    """The small repository with a third stage that names the stage that it continues."""
    with small_repository() as (workloads, results):
        source = workloads["w"][2].source
        source.write_text("/// \\file\n/// Stage 02.\n///\n/// Changed: all.\n"
                          f'/// From:    {named}\n.title = "T" .idea = "I"\nmore\n')
        yield source.parents[3], results


def wrongly_continued():
    """Yields wrong data on the page of a stage that continues a stage other than the previous one, and wrong names that are
    accepted."""
    with continued("00_a") as (root, results):
        of_workload = stages.find_stages(root)["w"]
        before = [stage.before and stage.before.name for stage in of_workload]
        if before != [None, "00_a", "00_a", "02_c"]:
            yield f"the previous stages are {before}"
        of_workload[0].source.write_text('.title = "T" .idea = "I"\na\nb\nc\n')
        for words, text in (('<td>+1 −3<svg class="size" width="1.5" height="9" aria-hidden="true"><rect width="0.5" height="4"/>'
                             '<rect y="5" width="1.5" height="4" class="removed"/></svg></td>', make.stages_html(of_workload, results)),
                            ('<a href="w_00_a.html">00 T</a>: +1 −3 lines of code, without comments',
                             woven.diff_html(woven.Weave(of_workload[2], []))),
                            ('aria-label="Changes from 00 T"', woven.diff_html(woven.Weave(of_workload[2], [])))):
            if words not in text:
                yield f"a page of a stage that continues another one lacks '{words}': {text}"
        found = make.figures_row(of_workload[2], "m", run_of(1, 3, 2, names=("00_a", "02_c")), {"date": "2026-01-02"})
        if found.count("1.50") != 2:  # relative to stage zero, which the stage continues
            yield f"the row lacks the speed-up over the previous stage: {found}"
    for wrong in ("00_b", "02_c", "03_d", "a", ""):
        try:
            with continued(wrong) as (root, _):
                stages.find_stages(root)
                yield f"'From: {wrong}' is accepted"
        except SystemExit as error:
            if f"'From: {wrong}'" not in str(error) or "there is 00_a, 01_b" not in str(error):
                yield f"the message is '{error}'"


def wrong_plots():
    """Yields texts that plots of known recordings lack, and plots that change from one run to the next."""
    with small_repository() as known:
        ladder = plots.ladder(["m", "w", "d", "f64"], *known)
        crossover = plots.crossover(["m", "w_over_n", "f64", "00_a", "01_b"], *known)
        roofline = plots.roofline(["m", "f64"], *known)
        threads = plots.scaling(["m", "w_over_threads", "f64"], *known)
        size = plots.scaling(["m", "w_over_n", "f64"], *known)
    all_plots = ladder, crossover, roofline, threads, size
    drawn = ladder_svg, crossover_svg, roofline_svg, threads_svg, size_svg = tuple(
        map(plots.figure_html, all_plots, "abcde"))
    for text, words in (
            (ladder.alternative, "00_a 2 s on the CPU, 01_b 500 ms on the GPU, 02_c 7 s on"),
            (ladder.alternative, "by hand: 90 s"),
            (ladder.caption, "G; host: C, 2 cores, S, g++: 00, 01 (medians of 5; 2 January 2026, revision abc), 02 (medians of 5;"),
            (ladder.caption, "revision def)."), (ladder.caption, "Not recorded on m: 03_d."),
            (ladder.caption, "Dashed: somebody."),
            (crossover.alternative, "00_a from 1 ms at 1 to 100 ms at 100"),
            (crossover.alternative, "cross at n ≈ 10."),
            (crossover.caption, "f64, m = 3. G"),
            (size.alternative, "The time of w over n, f64, both on logarithmic scales: 00_a from 1 ms at 1"),
            (size.caption, "w over n, f64, m = 3. G"),
            (threads.alternative, "Efficiency of the most threads: 00_a 0 %, 01_b 1 %."),
            (threads.caption, "w over threads, f64, d. G"), (threads.caption, "Dashed: "),
            (roofline.alternative, "multiply-adds 10 GFLOP/s, tensor cores 20 TFLOP/s"),
            (roofline.alternative, "w d with 01_b at 10 operations per byte and 2 GFLOP/s."),
            (roofline.caption, "Points: recorded on 2 January 2026."),
            *((roofline_svg, f">{text}<") for text in ("w", "multiply-adds: 10 GFLOP/s")),
            *((ladder_svg, f">{text}<") for text in ("2 s", "500 ms", "02_c", "CPU", "GPU", "by hand: 90 s")),
            *((crossover_svg, f">{text}<") for text in ("n ≈ 10", "00_a", "01_b")),
            *((svg, f">{text}<") for svg in (threads_svg, size_svg) for text in ("00_a", "01_b")),
            (size_svg, ">n<"), (threads_svg, ">threads<")):
        if words not in text:
            yield f"a plot lacks '{words}': {text[:200]}"
    if threads_svg.count("stroke-dasharray") != 2 * 2 + size_svg.count("stroke-dasharray"):
        yield "a plot over threads lacks the dashed lines of ideal scaling"
    if tuple(map(plots.figure_html, all_plots, "abcde")) != drawn:
        yield "a second drawing of a plot differs from the first one"


def wrong_ascents():
    """Yields texts that rooflines of known stages lack, chapters without a roofline, and accepted requests for missing
    recordings."""
    with small_repository() as (workloads, results):
        record = results.machines["m"][0]["runs"][0]["records"][1]
        record["modelled"] = record["modelled"] | {"traffic_bytes": 5e8}
        plot = ascent.ascent(["m", "w", "d", "f64"], workloads, results)
        drawing = plots.figure_html(plot, "a")
        for text, words in ((plot.alternative, "00_a at 10 operations per byte and 0.5 GFLOP/s; 01_b at 2 operations per byte and 2 GFLOP/s"),
                            (plot.alternative, "GPU, copies 1 GB/s, 10 GFLOP/s and 20 TFLOP/s"), (plot.caption, "revision def"),
                            *((drawing, f">{number}<") for number in ("00", "01", "02", "GPU: 10 GFLOP/s"))):
            if words not in text:
                yield f"a roofline lacks '{words}': {text[:400]}"
        for words in ("m w e f64", "m w d", "m v d f64"):
            try:
                ascent.ascent(words.split(), workloads, results)
                yield f"the request '{words}' is accepted"
            except figures.UnknownKey:
                pass
    heights = ascent.spread([(100, 50), (100, 50), (104, 51), (300, 50)])
    if min(abs(a - b) for n, a in enumerate(heights[:3]) for b in heights[:n]) < ascent.APART - 1 or heights[3] != 50:
        yield f"the labels overlap at the heights {heights}"
    for workload in WORKLOADS:
        if not re.search(rf'id="ascent\.\S+\.{workload}\.', (HTML / f"{workload}.html").read_text()):
            yield f"{workload} has no roofline of its stages"


def wrong_requests():
    """Yields costs of a warp's requests that differ from the values that pages derive and the profiler counted."""
    for (stride, size, first), expected in (((1, 4, 0), (4, 1)), ((1, 8, 0), (8, 2)), ((1, 4, 1), (5, 1)), ((2, 4, 0), (8, 2)),
                                            ((32, 4, 0), (32, 32)), ((33, 4, 0), (32, 1)), ((16, 8, 0), (32, 32)), ((8, 8, 0), (32, 16))):
        if (found := (warp.sectors(stride, size, first), warp.wavefronts(stride, size, first))) != expected:
            yield f"stride {stride}, {size} bytes from {first}: sectors and wavefronts are {found}, not {expected}"


def wrong_formulas():
    """Yields wrong rules of the interactive figures, and pages without the figures' tables."""
    if [played.tile(side) for side in (2, 4, 8)] != [(32, 64, 4), (74, 24, 8), (230, 8, 16)] or \
            "230 registers" not in (ROOT / "stages/ata/07_register_tiled/README.md").read_text():
        yield f"the values of the tiles are {[played.tile(side) for side in played.COMPILED]}"
    for takes in ((4, 4, 4), (1, 9, 1), (3, 2, 7)):
        alone, *more = (played.ring_time(buffers, *takes) for buffers in (1, 2, 3, 4))
        least = played.SLICES * max(takes) + sum(takes) - max(takes)
        if alone != played.SLICES * sum(takes) or more != sorted(more, reverse=True) or more[0] >= alone or more[1] != least or more[2] != least:
            yield f"eight slices with the times {takes} take {alone} with one buffer, and {more} with more buffers"
        for buffers in (1, 2, 3, 4):
            spans = played.ring(buffers, *takes)
            if any(begin < spans[2][n - buffers][1] for n, (begin, _) in enumerate(spans[0]) if n >= buffers):
                yield f"a slice is copied into one of {buffers} buffers before the buffer is free"
    sums = [1] * played.LANES
    for step in range(1, 5):
        sums = [value + (sums[lane - 2 ** (step - 1)] if lane >= 2 ** (step - 1) else 0) for lane, value in enumerate(sums)]
        if sums != [last + 1 - first for first, last in played.scanned(step)]:
            yield f"after step {step} of a scan, the figure differs from the sums {sums}"
    for page, name in (("ata_07_register_tiled", "tile"), ("transformations", "ring"), ("local_volatility_05_parallel_scan", "scan")):
        if not re.search(rf'<figure class="warp" id="play_{name}">(?:<div class="table">)+<table><thead>', (HTML / f"{page}.html").read_text()):
            yield f"{page} lacks the table of the figure {name}"


def wrong_code():
    """Yields lines of code whose words are not highlighted, or whose changes are not marked word by word."""
    for line, expected in (
            ("  if (a < 1) return;  // b", '  <span class="keywordflow">if</span> (a &lt; 1) <span class="keywordflow">return</span>;'
                                          '  <span class="comment">// b</span>'),
            ('#include "x.hpp"', '<span class="preprocessor">#include</span> <span class="stringliteral">"x.hpp"</span>'),
            ("const double x;", '<span class="keyword">const</span> <span class="keywordtype">double</span> x;'),
            ("ifs.format", "ifs.format")):
        if code.html_of(line) != expected:
            yield f"the line {line} becomes {code.html_of(line)}"
    for before, after, lost, gained in (("  a(x);", "  a(y);", ["x"], ["y"]), ("f(a)", "f(a, b)", [], [", b"]), ("a", "    a", [], [])):
        found = code.differing(before, after)
        marked = [re.findall("<b>(.*?)</b>", code.html_of(line, changed)) for line, changed in zip((before, after), found)]
        if marked != [lost, gained]:
            yield f"between '{before}' and '{after}', the words {marked} are marked"
    if code.differing("for (int i = 0; i < n; ++i)", "return x;") is not None:
        yield "two lines without common words are marked word by word"
    for html_of_line, wanted in ((headers.with_links("#include &lt;staircase/array.hpp&gt;"), 'href="header_array.html"'),):
        if wanted not in html_of_line:
            yield f"the line has no link to the header: {html_of_line}"
    for label, path in headers.headers(ROOT).items():
        page = (HTML / f"{label}.html").read_text()
        if f'href="{label}.html"' not in (HTML / "harness.html").read_text() or "pragma once" not in page:
            yield f"the header {path.name} has no page, or no link leads to it"


def wrong_diagrams():
    """Yields texts that diagrams of known recordings lack, and accepted requests for missing recordings."""
    with small_repository() as known:
        stage_map = maps.map_of_stages(["m", "w", "d", "f64"], *known)
        timeline = maps.timeline(["m", "w", "d", "f64"], *known)
        for draw, words in ((maps.map_of_stages, "m w e f64"), (maps.map_of_stages, "m w d"),
                            (maps.map_of_stages, "m v d f64"), (maps.timeline, "m w e f64"), (maps.timeline, "m w")):
            try:
                draw(words.split(), *known)
                yield f"{draw.__name__} accepts the request '{words}'"
            except figures.UnknownKey:
                pass
        drawn = [requested.diagram_html(diagram, name) for diagram, name in ((stage_map, "a"), (timeline, "b"))]
    with continued("00_a") as (root, results):
        aside = maps.map_of_stages(["m", "w", "d", "f64"], stages.find_stages(root), results)
        drawn.append(requested.diagram_html(aside, "c"))
    solid, dashed = (drawing.count("stroke-dasharray") for drawing in (drawn[0], drawn[2]))
    if dashed <= solid:
        yield "the arrow from a stage other than the previous one is not dashed"
    for text, words in (
            (stage_map.alternative, "00 T, 2 s on the CPU; parallel loops, 4.00 ×, to 01 T, 500 ms on the GPU"),
            (stage_map.alternative, "tiling, to 02 T, 7 s on the GPU; to 03 T, not recorded"),
            (aside.alternative, "; tiling, 0.43 × from 00, to 02 T, 7 s"), (aside.caption, "A dashed arrow"),
            (drawn[2], ">0.43 × from 00<"), (stage_map.caption, "revision def"), (timeline.caption, "medians of 5"),
            (timeline.alternative, "01_b: copy in 250 ms, kernels 750 ms"),
            *((drawn[0], f">{words}<") for words in ("00 T", "500 ms", "4.00 ×", "Parallel loops", "not recorded")),
            *((drawn[1], f">{words}<") for words in ("00_a", "kernels", "1 s"))):
        if words not in text:
            yield f"a diagram lacks '{words}': {text[:300]}"


class Boxes(Canvas):
    """A canvas that records its boxes in a list instead of drawing them: (left, top, width, colour)."""

    def box(self, x, y, width, height, words="", colour=INK, **_):
        """Records a box."""
        self.axes.append((self.left + x, self.top + y, width, colour))

    def text(self, *_, **__):
        """Draws nothing."""


def overlapped(results):
    """Adds intervals of overlapping copies and kernels to a record of the small repository, with three different
    repeats."""
    record = results.machines["m"][0]["runs"][0]["records"][1]
    record["repeats"] = [
        {"seconds": 0.5 + s, "phases": {"allocate": 0.5, "pipeline": s},
         "beside": [{"name": name, "begin": begin, "end": end} for name, begin, end in (
             ("kernels", 0.75, 1), ("copy in", 0.5, 0.75), ("copy in", 0.75, s), ("kernels", s, s + 0.125),
             ("copy out", s + 0.25, s + 0.75))]} for s in (9, 1, 2)]


def wrong_lanes():
    """Yields errors in a timeline with copies that overlap kernels."""
    with small_repository() as (workloads, results):
        overlapped(results)
        timeline = maps.timeline(["m", "w", "d", "f64"], workloads, results)
        of_one = maps.timeline(["m", "w", "d", "f64", "01_b"], workloads, results)
        try:
            maps.timeline(["m", "w", "d", "f64", "01_b", "03_d"], workloads, results)
            yield "a timeline of a stage without a recording is drawn"
        except figures.UnknownKey:
            pass
        kernels = results.value("m w d f64 01_b phase:kernels")
    if kernels != 0.375:
        yield f"the time of the kernels is {kernels} s, not 0.375 s"
    if "00_a" in of_one.alternative or "01_b: allocate" not in of_one.alternative:
        yield f"the timeline of one stage shows '{of_one.alternative}'"
    for text, words in (
            (timeline.alternative, "00_a: copy in 250 ms, kernels 750 ms; 01_b: allocate 500 ms, pipeline 2 s; "
             "intervals that overlap the phases: copy in from 500 ms to 2 s, 1.5 s in 2 intervals, kernels from 750 ms to 2.12 s, 375 ms in 2 "
             "intervals, copy out from 2.25 s to 2.75 s, 500 ms in 1 interval"),
            (timeline.caption, "For 01_b, the repeat with the median total is shown; the lanes"),
            *((requested.diagram_html(timeline, "a"), f">{words}<") for words in ("2.5 s", "others"))):
        if words not in text:
            yield f"a timeline lacks '{words}': {text[:600]}"
    for width, across in plots.WIDTHS.items():
        canvas = Boxes([], width == "wide", across, timeline.height[width])
        timeline.draw(canvas)
        left = canvas.axes[5][0]  # after the five boxes of the key
        scale = canvas.axes[5][2] / 0.25
        found = [((x - left) / scale, length / scale, colour) for x, _, length, colour in canvas.axes[7:]]
        blue, orange, green = (maps.PHASES[name][0] for name in ("copy in", "kernels", "copy out"))
        expected = [(0, 0.5, INK), (0.5, 2, PURPLE), (0.5, 0.25, blue), (0.75, 1.25, blue),
                    (0.75, 0.25, orange), (2, 0.125, orange), (2.25, 0.5, green)]
        if [(round(x, 9), round(length, 9), colour) for x, length, colour in found[:7]] != expected:
            yield f"in the width {width}, the boxes of the timeline are {found}"
        tops = [top for _, top, *_ in canvas.axes[7:]]
        if len(set(tops[2:7])) != 3 or min(tops[2:]) < tops[0] + 22 or tops[7:] and min(tops[7:]) < tops[6] + 9:
            yield f"in the width {width}, the lanes are at {tops}"
        if max(x + length for x, _, length, _ in canvas.axes) > across or tops[-1] + 22 > canvas.height:
            yield f"in the width {width}, the canvas is too small"


def wrong_prices():
    """Yields prices in diagrams that differ from the prices of the stages."""
    market = pricing.Market()
    # local_volatility-00_original --set numX=48 --set numY=48 --set numT=24 --set outer=31
    for strike, expected in ((0.03, 0.019350879898479348), (0, market.s0)):
        price = pricing.surface(market, strike)[market.ix][market.iy]
        weighted = sum(z * value for of_z, row in zip(pricing.weights(market, market.num_t - 1),
                                                      pricing.payoff(market, strike))
                       for z, value in zip(of_z, row))
        for found in (price, weighted):
            if abs(found - expected) > 1e-13 * expected:
                yield f"the price for strike {strike} is {found}, not {expected}"


def confused_runs():
    """Yields figures that are not found, or that compare times of two recordings."""
    with small_repository() as (_, results):
        for key, expected in (("00_a seconds", 2), ("02_c seconds", 7), ("00_a/02_c speedup", 3 / 7)):
            if results.value(f"m w d f64 {key}") != expected:
                yield f"{key} is {results.value(f'm w d f64 {key}')}"
        for recording, (verdict, error) in zip(results.machines["m"], (("reference", 0), ("matches", 0.5))):
            recording["runs"][0]["records"][0] |= {"verdict": verdict, "error": error}
        if results.value("m w d f64 00_a error") != 0.5:
            yield "the error of a stage is taken from a recording in which this stage is the reference"
        try:
            yield f"a speed-up between stages of two recordings is computed: {results.value('m w d f64 01_b/02_c speedup')}"
        except figures.UnknownKey as error:
            if "both 01_b and 02_c" not in str(error):
                yield f"the message is '{error}'"


def confused_hosts():
    """Yields times of two hosts of one machine that are shown as times of the same host."""
    with small_repository() as (workloads, results):
        for recording, rate, date in zip(results.machines["m"], (5e11, 7e11), ("2026-01-02", "2026-02-03")):
            recording["date"], recording["ceilings"] = date, recording["ceilings"] | {"flops_f64": rate}
        for sweep in results.sweeps.values():
            sweep["ceilings"] = results.machines["m"][0]["ceilings"]
        figures.name_hosts(results.recordings("m"))
        ladder = plots.ladder(["m", "w", "d", "f64"], workloads, results)
        stage_map = maps.map_of_stages(["m", "w", "d", "f64"], workloads, results)
        recordings = machines.recordings_html(results.recordings("m"))
        for text, words in (
                *((plot.caption, words) for plot in (ladder, stage_map) for words in (
                    "00, 02: G; host of 3 February 2026: C, 2 cores at 700 GFLOP/s in f64, S, g++; medians of 5; 3 February 2026, revision def",
                    "01: G; host of 2 January 2026: C, 2 cores at 500 GFLOP/s in f64, S, g++; medians of 5; 2 January 2026, revision abc")),
                (ladder.caption, "Dotted lines connect times of different hosts."),
                *((make.stages_html(workloads["w"], results), words) for words in (
                    "<td>3 s<br><small>3 February 2026</small></td>", "<td>500 ms<br><small>2 January 2026</small></td>",
                    "host of 2 January 2026: C, 2 cores at 500 GFLOP/s in f64", "host of 3 February 2026: C, 2 cores at 700 GFLOP/s in f64")),
                (make.figures_html(workloads["w"][1], results), "<small>2 January 2026</small></td>"),
                (machines.ceilings_html(results.recordings("m")), "<td>host of 3 February 2026</td>"),
                (recordings, "<td>3 February 2026</td><td>2026-02-03"), (recordings, "<td>2 January 2026</td><td>2026-01-02"),
                (machines.fastest_text(results, "m", "w", "d", "f64"), "<small>01_b<br>2 January 2026</small>")):
            if words not in text:
                yield f"a plot, table or page of two hosts lacks '{words}': {text[:600]}"
        lines = plots.figure_html(ladder, "a").count("stroke-dasharray")
    with small_repository() as (workloads, results):
        if plots.figure_html(plots.ladder(["m", "w", "d", "f64"], workloads, results), "a").count("stroke-dasharray") >= lines:
            yield "the line between times of different hosts is not dotted"


def outdated_times():
    """Yields times of an older recording that are shown although a newer one has the stage, and data sets that are
    shown twice."""
    with small_repository() as (workloads, results):
        for recording, date in zip(results.machines["m"], ("2026-01-02", "2026-02-03")):
            recording["date"] = date
        for stage, expected in (("00_a", 3), ("01_b", 0.5), ("02_c", 7)):
            if results.value(f"m w d f64 {stage} seconds") != expected:
                yield f"the newest time of {stage} is {results.value(f'm w d f64 {stage} seconds')}"
        found = re.findall(r"<td>([^<]* m?s|)(?:<br><small>[^<]*</small>)?</td>", make.stages_html(workloads["w"], results))
        if found[1:] != ["3 s", "500 ms", "7 s", ""]:  # after the changed lines, which stage zero does not have
            yield f"the table of stages contains {found}"
    for name in WORKLOADS:
        columns = re.findall(r"<th[^>]*>(\w+)<br\s*/?><small>([^<]+)</small>", (HTML / f"{name}.html").read_text())
        if not columns or len(set(columns)) < len(columns):
            yield f"the table of stages of {name} has the columns {columns}"


def end_recording(flops, *records, machine_cores=2, **about):
    """A recording of one run of the workload w, from tuples (stage, device, threads, seconds)."""
    return {"machine": {"cpu": "C", "cores": machine_cores, "system": "S", "compiler": "g++"}, "date": "2026-01-02", "revision": "abc", "host": "",
            "ceilings": {"flops_f64": 8e9, "flops_f64_one_core": 4e9, "copy_bytes_per_second": 1e9}, **about,
            "runs": [{"workload": "w", "dataset": "d", "precision": "f64", "records": [
                {"stage": stage, "title": stage.upper(), "device": device, "device_name": "NVIDIA G", "threads": threads, "seconds": {"median": seconds},
                 "machine": {"cores": machine_cores}, "modelled": {"flops": flops, "bytes": 1e6}, "of_limit": 0.5}
                for stage, device, threads, seconds in records]}]}


def wrong_ends():
    """Yields rows of the table *Where each ladder ends* without the fastest stage and library of one run, and a
    README without this table."""
    recorded = {"h200": [end_recording(8e9, ("00_a", "cpu", 2, 9), ("01_b", "cpu", 2, 4), ("baseline_openblas_w", "cpu", 2, 2),
                                       ("02_c", "gpu", 2, 0.5), ("baseline_cublas_w", "gpu", 2, 0.4), ("baseline_cusolver_w", "gpu", 2, 0.7),
                                       ("baseline_copy", "gpu", 2, 0.1)),
                         end_recording(9e9, ("02_c", "gpu", 2, 0.2)),  # larger, but without a library
                         end_recording(8e9, ("01_b", "cpu", 1, 4), ("00_a", "cpu", 1, 5))],
                "h200-x2": [end_recording(9e99, ("02_c", "gpu", 2, 0.1), ("baseline_cublas_w", "gpu", 2, 9))],
                # the only recording with the last stage
                "laptop": [end_recording(1e9, ("03_d", "cpu", 4, 1), ("01_b", "cpu", 4, 0.5), machine_cores=4)]}
    found = types.SimpleNamespace(machines=recorded, sweeps={}, recordings=recorded.get)
    expected = {"GPU": ("02_c", "baseline_cublas_w", 0.25), "all cores": ("01_b", None, 0.25), "one core": ("01_b", None, 2)}
    for device, (stage, library, bound) in expected.items():
        end = max(ends.candidates(found, "w", device), key=lambda one: one[0])[1]
        shown = end.stage["stage"], end.library and end.library["stage"], end.bound
        if shown != (stage, library, bound):
            yield f"the end of the ladder on {device} is {shown}, not {(stage, library, bound)}"
    rows = ends.ends(ROOT, RESULTS)
    if {row.workload for row in rows} != set(WORKLOADS) or len(rows) < 2 * len(WORKLOADS):
        yield f"the table has {len(rows)} rows, or lacks a workload"
    for row in rows:
        times = {record["stage"]: plots.median(record) for record in figures.timed(row.run) if ends.is_on(record, row.device)}
        if min((time, stage) for stage, time in times.items() if not stage.startswith("baseline_"))[1] != row.stage["stage"]:
            yield f"{row.workload}: a stage on {row.device} is faster than {row.stage['stage']}"
        if row.library and times[row.library["stage"]] > min(time for stage, time in times.items() if ends.LIBRARIES.match(stage)):
            yield f"{row.workload}: a library on {row.device} is faster than {row.library['stage']}"
    readme = (ROOT / "README.md").read_text()
    if "](stages/ata/" not in readme.partition("<!-- begin of ladder ends -->")[2] or ends.updated(readme, ROOT, RESULTS) != readme:
        yield "the table in the README differs; python3 docs ends updates it"
    if f"{len(rows) + 1}" != str((HTML / "index.html").read_text().partition('id="ends"')[2].partition("</table>")[0].count("<tr>")):
        yield "the table on the first page has another number of rows"
    changed = readme.replace("| H200 |", "| H100 |", 1)
    if ends.updated(changed, ROOT, RESULTS) != readme or len(list(ends.differing_lines(changed, readme))) != 2:
        yield "a wrong row in the table of the README is not corrected"


def missing_results():
    """Yields recordings that are missing on the page of their machine."""
    for machine in machines.machines(RESULTS):
        below = machines.workload_pages(ROOT, machine, WORKLOADS, RESULTS)
        text = "".join((HTML / f"{label}.html").read_text() for label in (machines.label_of(machine), *below))
        text = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", text)
        yield from (f"the page of {machine} does not link to {label}"
                    for label in below if f'href="{label}.html"' not in text)
        if machine not in (HTML / f"{machines.CHAPTER}.html").read_text().replace("_", "-"):
            yield f"the chapter of results does not link to {machine}"
        for recording in RESULTS.recordings(machine):
            wanted = [f"<code>{recording['name']}</code>", recording["revision"], recording["date"][:10],
                      figures.rate_text(recording["ceilings"]["flops_f64"])]
            if "gpu" in recording["ceilings"]:
                wanted += [recording["ceilings"]["gpu"]["driver"],
                           figures.bandwidth_text(recording["ceilings"]["gpu"]["copy_bytes_per_second"])]
            for run in filter(figures.timed, recording["runs"]):
                problem = f"{run['workload']}.{run['dataset']}.{run['precision']}"
                kind = "heat" if "sweep" in recording and plots.is_map(recording) else "scaling"
                wanted.append(f'"{kind}.{machine}.{recording["name"]}.{run["precision"]}.' if "sweep" in recording else
                              f'"ladder.{machine}.{problem}.' if len(machines.timed_stages(
                                  RESULTS, machine, *problem.split("."))) > 1 else
                              f"{run['dataset']}, {run['precision']}: ")
                if "sweep" not in recording:
                    wanted.append(f'"roofline.{machine}.{run["precision"]}.')
            yield from (f"the pages of {machine} lack {words}" for words in wanted if words not in text)


def accepted_requests():
    """Yields plots that are drawn although their data are not recorded, or belong to a stage that no longer exists."""
    with small_repository() as (workloads, results):
        stages_gone = {"w": workloads["w"][:1]}
        for draw, words, of in (
                (plots.ladder, "m w e f64", workloads), (plots.ladder, "m w d", workloads),
                (plots.ladder, "m v d f64", workloads), (plots.ladder, "m w d f64", stages_gone),
                (plots.roofline, "m", workloads), (plots.roofline, "m f32", workloads),
                (plots.roofline, "k f64", workloads),
                (plots.scaling, "m w f64", workloads), (plots.scaling, "m w_over_n f32", workloads),
                (plots.scaling, "m w_over_n", workloads), (plots.crossover, "m w f64 00_a 01_b", workloads),
                (plots.crossover, "m w_over_n f32 00_a 01_b", workloads),
                (plots.crossover, "m w_over_n f64 00_a 02_c", workloads),
                (plots.crossover, "m w_over_n f64 00_a 00_a", workloads),
                (plots.crossover, "m w_over_n f64 00_a", workloads)):
            try:
                draw(words.split(), of, results)
                yield f"{draw.__name__} accepts the request '{words}'"
            except figures.UnknownKey:
                pass


def missing_from_sidebar():
    """Yields pages and groups that are missing in the sidebar, and entries that are out of order."""
    for name in ("index", "ata_04_tiled"):
        tree = re.search(r'<nav id="sidebar".*?</nav>', (HTML / f"{name}.html").read_text(), re.DOTALL)[0]
        if re.findall(r"<h2>(.*?)</h2>", tree) != ["Start", "Workloads", "Across", "Reference"]:
            yield f"the groups of the sidebar are {re.findall(r'<h2>(.*?)</h2>', tree)}"
        links = re.findall(r'href="(\w+)\.html"', tree)
        wanted = ["index"]
        for label in LABELS:
            wanted += [label] if label != machines.CHAPTER else [label, *map(machines.label_of, machines.machines(RESULTS))]
            wanted += [stage.page for stage in WORKLOADS.get(label, [])]
        if links != wanted:
            yield f"the sidebar of {name} links to {links}"
    for page in PAGES:
        text = (HTML / page).read_text()
        here = re.findall(r'<a href="(\w+\.html)" aria-current="page">', re.search(r'<nav id="sidebar".*?</nav>', text, re.DOTALL)[0])
        if here != ([page] if page.removesuffix(".html") in wanted else []):
            yield f"the sidebar of {page} marks {here} as the current page"


def missing_from_index():
    """Yields stages, except stage zero, to which no transformation links."""
    indexed = re.findall(r'href="(\w+)\.html"', (HTML / "transformations.html").read_text())
    for directory in STAGES:
        name = f"{directory.parent.name}_{directory.name}"
        if not directory.name.startswith("00_") and name not in indexed:
            yield f"no transformation links to {name}"


def unreached_pages():
    """Yields pages that cannot be reached from the main page by following «next»."""
    order, page = [], "index.html"
    while page and page not in order:
        order.append(page)
        match = re.search(r'rel="next" href="([^"]+)"', (HTML / page).read_text())
        page = match and match[1]
    wanted = ["index.html"]
    for label in LABELS:
        wanted += [f"{page}.html" for page in (machines.pages(ROOT, WORKLOADS, RESULTS) if label == machines.CHAPTER
                                               else [label])]
        wanted += [f"{label}_{directory.name}.html" for directory in STAGES
                   if directory.parent.name == label]
    if order != wanted:
        yield f"«next» leads to the pages in the order {order}"
    backwards = [re.search(r'rel="prev" href="([^"]+)"', (HTML / name).read_text()) for name in order]
    if [match and match[1] for match in backwards] != [None] + order[:-1]:
        yield "«previous» does not lead through the same pages in reverse order"


SPANS = [{"name": name, "begin": begin, "end": begin + seconds} for name, begin, seconds in (
    ("solve y", 0.1, 0.2), ("solve x", 0.1, 0.7), ("solve y", 0.25, 0.3))]

RECORDING = {
    "ceilings": {"copy": 4.56e10, "gpu": {"copy": 4.29e12}},
    "runs": [{"workload": "w", "dataset": "d", "precision": "f64", "records": [
        {"stage": "00_a", "device": "cpu", "seconds": {"median": 1.234}, "error": 3.42e-6, "machine": {"cores": 2},
         "memory": {"peak_bytes": 17.2e6},
         "repeats": [{"seconds": 3, "phases": {"solve x": 0.2}},
                     {"seconds": 5, "phases": {"solve x": 0.4}, "beside": SPANS}]},
        {"stage": "01_b", "seconds": {"median": 0.617}, "of_copy": 0.149, "machine": {"cores": 2},
         "repeats": [{"seconds": 2, "copy_seconds": 0.2, "phases": {}, "beside": SPANS},
                     {"seconds": 2, "copy_seconds": 0.4, "phases": {}, "beside": SPANS[:2]}]}]}]}

OTHER = {
    "ceilings": {"copy": 1.23e10},
    "runs": [{"workload": "v", "dataset": "d", "precision": "f64", "records": []}]}

ON_GPU = {  # recorded last, with another processor
    "ceilings": {"copy": 6.54e9, "gpu": {"copy": 4.29e12}}, "date": "2026-02-03",
    "runs": [{"workload": "w", "dataset": "d", "precision": "f64", "records": [
        {"stage": "02_c", "device": "gpu", "seconds": {"median": 1e-3}}]}]}

SWEEP = {
    "sweep": "outer", "ceilings": {"copy": 1e9},
    "runs": [{"workload": "w", "dataset": "d", "precision": "f64", "value": value, "records": [
        {"stage": "00_a", "seconds": {"median": 1e-3 * value}},
        {"stage": "01_b", "seconds": {"median": 0.008}}]} for value in (2.0, 32.0)]}

GOOD = """## The cost
1.23 s<!-- m w d f64 00_a seconds -->, 617.0 ms<!-- m w d f64 01_b seconds -->,
2.00 ×<!-- m w d f64 00_a/01_b speedup -->, 1.0<!-- m w d f64 00_a/01_b efficiency -->,
17 MB<!-- m w d f64 00_a memory -->, 3.4e-6<!-- m w d f64 00_a error -->,
300 ms<!-- m w d f64 00_a phase:solve x -->, 45.6 GB/s<!-- m w ceilings copy -->, 46 GFLOP/s<!-- m w ceilings copy -->,
4.29 TB/s<!-- m ceilings gpu copy -->, 32 ms<!-- m w_over_outer 32 f64 00_a seconds -->,
0.25 ×<!-- m w_over_outer 2 f64 00_a/01_b speedup -->, 14.9 %<!-- m w d f64 01_b of_copy -->,
0.30 s<!-- m w d f64 01_b copy_seconds -->, 2.1 ×<!-- m w d f64 01_b times_copy -->,
4.0 s<!-- m w d f64 00_a in_all -->, 2.000 ×<!-- m w d f64 00_a/01_b speedup_in_all -->,
350 ms<!-- m w d f64 01_b phase:solve y -->,
12 ms<!-- model -->, 3 s<!-- published: somebody -->, 4.5 ms<!-- published: docs/results/m/tuning.txt -->,
65 540<!-- published: counts in docs/results/m/tuning.txt -->, 12 %<!-- published: docs/results/m/tuning.txt -->, 16 numbers in 32 × 256 points."""


def accepted_errors():
    """Yields errors in a page's figures that the checker does not report."""
    with tempfile.TemporaryDirectory() as name:
        pathlib.Path(name, "m").mkdir()
        for recording, content in (("v", OTHER), ("w", RECORDING), ("w_gpu", ON_GPU),
                                   ("w_over_outer", SWEEP)):
            pathlib.Path(name, "m", f"{recording}.json").write_text(json.dumps(content))
        pathlib.Path(name, "m", "tuning.txt").write_text('4454.2 us, share 0.1234, "65,540"\n')
        results = figures.Results(name)
        yield from accepted_errors_of(results)


def accepted_errors_of(results):
    """Yields errors in figures that the checker does not report for these recordings."""
    for problem in quoted.problems("good", GOOD, results):
        yield f"a correct page is refused: {problem}"
    for page, text in (("stages/w/00_a/notes.md", "It takes 3 ms."), ("bad", "## The cost\nIt takes 3 ms.")):
        if not list(quoted.problems(page, text, results)):
            yield f"the unmarked figure in '{text}' of {page} is accepted"
    numbers = [("1.23 s", "1.24 s"), ("617.0 ms", "617.1 ms"), ("2.00 ×", "1.99 ×"),
               ("17 MB", "18 MB"), ("3.4e-6", "3.5e-6"), ("300 ms", "200 ms"), ("45.6", "45.7"), ("46 GF", "47 GF"),
               ("4.29 TB/s", "4.56 TB/s"), ("14.9 %", "15.0 %"), ("32 ms", "2 ms"), ("0.25 ×", "4.00 ×"),
               ("0.30 s", "0.20 s"), ("2.1 ×", "0.5 ×"),
               ("4.0 s", "1.2 s"), ("350 ms", "200 ms"), ("2.000 ×", "0.500 ×")]
    keys = [("00_a seconds", "07_z seconds"), ("d f64 00_a memory", "e f64 00_a memory"),
            ("phase:solve x", "phase:x"), ("ceilings copy", "ceilings flops"), ("w ceilings", "v ceilings"),
            ("w ceilings", "u ceilings"),
            ("gpu copy", "gpu flops"), ("01_b of_copy", "00_a of_copy"),
            ("01_b copy_seconds", "00_a copy_seconds"), ("01_b times_copy", "00_a times_copy"),
            ("w_over_outer 32", "w_over_outer 64"), ("w_over_outer 32", "w_over_numX 32"),
            ("32 f64", "32 f32"),
            ("<!-- model -->", ""), ("<!-- published: somebody -->", ""), ("<!-- m ceilings gpu copy -->", ""),
            ("46 GFLOP/s<!-- m w ceilings copy -->", "46 GFLOP/s")]
    published = [("4.5 ms", "4.4 ms"), ("65 540", "64 540"), ("12 %", "13 %"), ("m/tuning.txt", "m/trials.txt"),
                 ("m/tuning.txt", "m"), ("<!-- published: docs/results/m/tuning.txt -->", "")]
    for right, wrong in numbers + keys + published:
        page = GOOD.replace(right, wrong, 1)
        if page == GOOD or not list(quoted.problems("bad", page, results)):
            yield f"the change from '{right}' to '{wrong}' is accepted"
        if (right, wrong) in numbers and quoted.update(page, results) != GOOD:
            yield f"the figure {wrong} is not corrected to {right}"


def empty_columns():
    """Yields columns of tables of figures that are empty."""
    for stage in (stage for of_workload in WORKLOADS.values() for stage in of_workload):
        for table in re.findall(r'<div class="figures"><table>.*?</table>', (HTML / f"{stage.page}.html").read_text(), re.DOTALL):
            rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
            columns = list(zip(*filter(None, rows)))
            yield from (f"{stage.page}: column {n + 1} of a table of figures is empty"
                        for n, column in enumerate(columns) if not any(column))


def missing_whole_solves():
    """Yields errors in the column 'total', which tables have only if stages are compared by a phase."""
    with small_repository() as (workloads, results):
        stage = workloads["w"][1]
        by_phase = results.machines["m"][0]["runs"][0]["records"][1]
        if "<th>total</th>" in make.figures_html(stage, results):
            yield "the column 'total' is shown although the whole solve is timed"
        by_phase["timed_phase"] = "kernels"
        by_phase["repeats"] = [repeat | {"seconds": s} for repeat, s in zip(by_phase["repeats"], (5, 7, 3, 9, 8))]
        table = make.figures_html(stage, results)
        titles, cells = (re.findall(rf"<{tag}>(.*?)</{tag}>", table) for tag in ("th", "td"))
        if dict(zip(titles, cells)).get("total") != "7 s" or len(titles) != len(cells):
            yield f"the table has the titles {titles} and the cells {cells}"


def miscounted_lines():
    """Yields changes of a source whose lines are counted wrongly."""
    with tempfile.TemporaryDirectory() as name:
        before, after = pathlib.Path(name, "a.cpp"), pathlib.Path(name, "b.cpp")
        before.write_text("// old\na\nb\n\nc\nd\n")
        for text, expected in (("// new\na\nb\nc\nd\n", (0, 0)), ("a\nb\nd\n", (0, 1)),
                               ("a\nx\nb\nc\nd\n", (1, 0)), ("a\nc\nb\nd\n", (1, 1)), ("", (0, 4)),
                               ('a\nb\n  .title = "T",\n  .idea = "I",\nc\nd\n', (0, 0))):
            after.write_text(text)
            if stages.lines_changed(before, after) != expected:
                yield f"{text!r} changes {stages.lines_changed(before, after)} lines, not {expected}"


def unrecorded_tables():
    """Yields blocks of the runner's output in the README that no recorded output contains."""
    recorded = [path.read_text() for path in ROOT.glob("docs/results/*/*.txt")]
    blocks = re.findall(r"```\n([^`]*?)```", (ROOT / "README.md").read_text())
    tables = [block for block in blocks if "00_original" in block and "speed-up over" in block]
    if not tables:
        yield "the README has no table of the runner"
    for table in tables:
        if not any(table.strip() in text for text in recorded):
            yield f"no recorded output contains the table that begins with {table.splitlines()[0]}"


def miscounted_tables():
    """Yields rows of the runner's tables whose counts of lines differ from the sources, and errors that are not
    corrected."""
    workloads = stages.find_stages(ROOT)
    for page in stages.pages_with_tables(ROOT):
        text = page.read_text()
        for shown, true in zip(text.splitlines(), stages.with_true_lines(text, workloads).splitlines()):
            if shown != true:
                yield (f"{page.relative_to(ROOT)}: {shown}, but the sources change {true.split('  ')[-1].strip()}; "
                       "python3 docs lines corrects it")
    with small_repository() as (workloads, _):
        table = "w, d (n = 1), f64, median of 5\n\n00_a  idea  1 s\n01_b  idea  2 s      +7 -100\n02_c  +1 -2 is said  1 s\n"
        added, removed = stages.lines_changed(workloads["w"][0].source, workloads["w"][1].source)
        mended = table.replace("     +7 -100", f"+{added} -{removed}".rjust(12))
        if stages.with_true_lines(table, workloads) != mended or mended == table:
            yield f"'{table}' becomes '{stages.with_true_lines(table, workloads)}'"


BEFORE = """/// one

a
// [one]
b(x, 1);
/// of b
// [one]
c
z

int main(
  .title = "d",
"""
AFTER = """/// two
/// three

a
// [one]
b(y, 1);
/// of b
// [one]
// [two]
new
// [two]
c

int main(
  .title = "e",
"""


def wrong_diffs():
    """Yields diffs that show header comments, marks or titles, that have wrong line numbers, that lose lines between
    pieces, or whose counts do not add up."""
    with continued("00_a") as (root, _):
        of_workload = stages.find_stages(root)["w"]
        of_workload[0].source.write_text('.title = "T" .idea = "I"\n')
        for stage, text in ((of_workload[0], BEFORE), (of_workload[2], AFTER)):
            stage.source.write_text(text)
        weave = woven.Weave(of_workload[2], ["one", "two"])
        found = [(row.kind, row.old, row.new, row.text) for row in weave.rows]
        expected = [("same", 2, 3, ""), ("same", 3, 4, "a"), ("del", 5, None, "b(x, 1);"), ("ins", None, 6, "b(y, 1);"),
                    ("same", 6, 7, "/// of b"), ("ins", None, 10, "new"), ("same", 8, 12, "c"), ("del", 9, None, "z"),
                    ("same", 10, 13, ""), ("same", 11, 14, "int main(")]
        if found != expected:
            yield f"the rows of the diff are {found}"
        pieces = {name: [row.text for row in rows] for name, rows in weave.pieces.items()}
        if pieces != {"one": ["b(x, 1);", "b(y, 1);", "/// of b"], "two": ["new"]}:
            yield f"the parts of the diff are {pieces}"
        rest = [[(row.kind, row.text) for row in group] for group in weave.rest()]
        if rest != [[("same", "c"), ("del", "z"), ("same", ""), ("same", "int main(")]]:
            yield f"the rest of the diff is {rest}"
        one, two, whole = woven.piece_html(weave, "one"), woven.piece_html(weave, "two"), woven.diff_html(weave)
        for words, text in (('<del data-o="5">b(<b>x</b>, 1);', one), ('<ins data-n="6">b(<b>y</b>, 1);', one),
                            ('value="old">before (00)<', one), ('value="diff" checked>', one), ("all new", two),
                            ('href="#piece_one"', whole), ("<details class=\"rest\"><summary>The rest of the changes: +0 −1<", whole)):
            if words not in text:
                yield f"the diff lacks '{words}': {text}"
        if "radio" in two:
            yield "a part without old lines has a switch between versions"
        try:
            woven.Weave(of_workload[2], ["three"])
            yield "a request for a missing part is accepted"
        except SystemExit:
            pass
        # A part that has moved is compared with its previous version.
        for stage, text in ((of_workload[0], "/// one\n// [p]\nx\n// [p]\nq\nr\n"), (of_workload[2], "/// two\nq\nr\n// [p]\ny\n// [p]\n")):
            stage.source.write_text(text)
        moved = woven.Weave(of_workload[2], ["p"])
        if [(row.kind, row.text) for row in moved.pieces["p"]] != [("del", "x"), ("ins", "y")] or moved.rest():
            yield f"a moved part is shown as {moved.pieces}, and the rest of the diff is {moved.rest()}"
    for of_workload in WORKLOADS.values():
        for stage in (stage for stage in of_workload if stage.before):
            page = hosted.read(ROOT / "stages" / stage.workload / stage.name / "README.md")
            weave = woven.Weave(stage, woven.shown_parts(page, stage))
            shown = {id(row) for rows in [*weave.pieces.values(), *weave.rest()] for row in rows}
            if (sorted(filter(None, (row.old for row in weave.rows))), [row.new for row in weave.rows if row.new]) != (
                    weave.before.numbers, weave.after.numbers):
                yield f"{stage.page}: the diff does not contain each line exactly once"
            yield from (f"{stage.page} does not show the changed line '{row.text}'" for row in weave.rows
                        if row.kind != "same" and row.text.strip() and id(row) not in shown)
            text = (HTML / f"{stage.page}.html").read_text()
            counted = [re.findall(r"\+(\d+) −(\d+)", found) for found in (
                text.partition('<p class="step">')[2].partition("</p>")[0], "".join(re.findall(r"<summary>[^<]*changes: [^<]*", text)))]
            of_pieces = [woven.counts(rows) for rows in weave.pieces.values()]
            for side, total in enumerate(stages.lines_changed(stage.before.source, stage.source)):
                parts = [counts[side] for counts in of_pieces] + [int(counts[side]) for counts in counted[1]]
                if int(counted[0][0][side]) != total or sum(parts) != total + weave.shown_again():
                    yield (f"{stage.page}: the counts {parts} do not add up to {total} changed lines "
                           f"and {weave.shown_again()} lines that are shown twice")
            if woven.again_text(weave.shown_again()) not in text:
                yield f"{stage.page} does not explain that {weave.shown_again()} lines are shown twice"
            yield from (f"{stage.page} lacks the part {name}" for name in weave.pieces
                        if f'id="piece_{woven.slug(name)}"' not in text)
            if re.search(r"<(?:span|ins|del) data-[^\n]*(?:  \.(?:title|idea) = |// \[)", text):
                yield f"{stage.page} shows a title, an idea or a mark of a part"


def wrong_frames():
    """Yields pages without the parts that every page of the book has, and output of Doxygen that no reader needs."""
    for name, page in PAGES.items():
        text = page.path.read_text()
        for words, count in (('<html lang="en-GB">', 1), ("<h1>", 1), ('<main id="content"', 1), ('<a class="skip" href="#content">', 1),
                             ('<nav id="sidebar"', 1), ("autotoc_md", 0), ('class="el"', 0)):
            if text.count(words) != count:
                yield f"{name} contains '{words}' {text.count(words)} times, not {count} times"
        ids = re.findall(r' id="([^"]+)"', text)
        if len(set(ids)) < len(ids):
            yield f"{name} contains several elements with the ids {sorted({one for one in ids if ids.count(one) > 1})[:3]}"
        if text.partition("</head>")[0].count("<title>") != 1:
            yield f"{name} does not have exactly one title"
        levels = [int(level) for level in re.findall(r"<h([1-6])", re.search(r"<main.*</main>", text, re.DOTALL)[0])]
        if levels[0] != 1 or any(after > before + 1 for before, after in zip(levels, levels[1:])):
            yield f"the headings of {name} have the levels {levels}"
    yield from (f"the book contains {name}, a superfluous page of Doxygen" for name in PAGES
                if re.match(r"dir_|class|struct|namespace|files|annotated|pages\.html|.*_8hpp", name))
    files = [path for path in HTML.rglob("*") if path.is_file()]
    if len(files) > MOST_FILES * len(STAGES) or sum(path.stat().st_size for path in files) > MOST_BYTES * len(STAGES):
        yield f"the book is too large: it has {len(files)} files with {sum(path.stat().st_size for path in files)} bytes"


def wrong_cards():
    """Yields cards without a figure or a link, chapters that do not open with their ladder, and ladders without a stage."""
    for workload, of_workload in WORKLOADS.items():
        chapter = (HTML / f"{workload}.html").read_text()
        problem = card.problem_of(of_workload, RESULTS)
        for name, text in ((workload, chapter.partition("<article>")[0]), ("index", (HTML / "index.html").read_text())):
            for stage in of_workload:
                if f'<a href="{stage.page}.html" aria-label="{html.escape(stage.heading)}: ' not in text:
                    yield f"the ladder on {name} does not link to {stage.page}"
        for stage in of_workload:
            text = (HTML / f"{stage.page}.html").read_text()
            head = text.partition("<article>")[0].partition("<main")[2]
            wanted = [f"{stages.title_of(ROOT, workload)}</small> {stage.heading}</h1>", f"{html.escape(stage.idea)}.</p>",
                      f'href="{stage.page}_source.html"', ' here"/>', "<dt>Reading</dt>"]
            if source := card.source_of(stage, of_workload, RESULTS):
                record = figures.by_stage(source[1])[stage.name]
                words = [source[0][2]] + [source[0][n] for n in (3, 0) if source[0][n] != problem[n]]
                wanted.append(f"<dt>Time ({', '.join(words)})</dt><dd>{figures.seconds_text(record['seconds']['median'])}</dd>")
                if "of_limit" in record and text.count('<figure class="floors">') != 1:
                    yield f"{stage.page} shows a time without its lower bound"
            elif "recorded" not in head:
                yield f"the card of {stage.page} does not state that no time is recorded"
            if stage.before:
                added, removed = stages.lines_changed(stage.before.source, stage.source)
                wanted += [f"+{added} −{removed} lines", f'href="{stage.before.page}.html"', 'href="transformations.html#']
            wanted += [f'<a href="{other.page}.html" aria-label=' for other in of_workload]
            yield from (f"the card of {stage.page} lacks {words}" for words in wanted if words not in head)


def wrong_floors():
    """Yields lower bounds that do not follow from the declared operations and bytes, or are at the wrong position on
    the scale."""
    with small_repository() as (workloads, results):
        stage, gpu = workloads["w"][1], results.machines["m"][0]["ceilings"]["gpu"]
        run, record = results.machines["m"][0]["runs"][0], results.machines["m"][0]["runs"][0]["records"][1]
        if floors.floors_html(stage, workloads["w"], results):
            yield "a lower bound is shown although no share of the limit is recorded"
        for share, traffic, expected in (  # 1e9 operations, 1e8 bytes, 0.5 s
                (0.2, None, ["1 GFLOP at 10 GFLOP/s", "100 ms", "100 MB of the problem at 1 GB/s", "100 ms"]),
                (0.2, 4e8, ["1 GFLOP at 10 GFLOP/s", "100 ms", "400 MB moved by its kernels at 1 GB/s", "400 ms"]),
                (0.1, None, ["lower bound of the problem", "50 ms"])):
            record["of_limit"] = share
            record["modelled"].pop("traffic_bytes", None)
            record["modelled"] |= {"traffic_bytes": traffic} if traffic else {}
            text = floors.floors_html(stage, workloads["w"], results)
            found = [word for row in re.findall(r'<th scope="row">(.*?)</th>.*?<td class="n">(.*?)</td>', text) for word in row]
            if found != [*expected, "measured, 00", "2 s", "measured, 01", "500 ms"]:
                yield f"the rows of the lower bounds are {found}"
        # The scale is from 10 ms to 10 s, so 2 s are 2.3 decades from the left.
        if 'class="cpu hollow" style="left:76.7%"' not in text or 'class="gpu" style="left:56.6%"' not in text:
            yield f"the marks are at wrong positions of the scale: {text}"
        gpu["copy_bytes_per_second"], record["of_limit"] = 1e13, 1e9 / gpu["flops_f64_matrix"] / 0.5
        if "on tensor cores at 20 TFLOP/s" not in floors.floors_html(stage, workloads["w"], results):
            yield "the lower bound on tensor cores is missing"
        run["dataset"] = "e"
        if card.source_of(stage, workloads["w"], results)[0] != ["m", "w", "e", "f64"]:
            yield "the card does not use the time on another data set"


def wrong_tables():
    """Yields tables in which a column of numbers is not aligned right, or a column of words is."""
    table = shell.with_numbers('<table class="markdownTable"><tr><th>what</th><th>time</th><th>rate</th></tr>'
                               "<tr><td>a 1</td><td>3.93 ms</td><td>1.2 TB/s</td></tr><tr><td>b</td><td>12 ms</td><td>n/a</td></tr></table>")
    if table.count('class="n"') != 3:  # a column with as many words as numbers is not aligned right
        yield f"the wrong columns are aligned right: {table}"
    for number in ("3.93 ms", "−4", "1.5 ×", "12 %", "33.4 TFLOP/s", "1 000", "2.6e-16", "≈ 3", "90 s", "258 µs"):
        if not shell.is_number(number):
            yield f"'{number}' is not recognised as a number"
    for words in ("00 Original", "all the time", "a sixth", "", "3 loops and more"):
        if shell.is_number(words):
            yield f"'{words}' is taken for a number"


def wrong_reading_paths():
    """Yields incomplete reading paths on the first page, and reading times that do not follow from words, lines and
    figures."""
    text = (HTML / "index.html").read_text()
    paths = json.loads((ROOT / "docs/pages/reading_paths.json").read_text())
    for title, path in paths.items():
        way = re.search(rf'<div class="way"><h3[^>]*>{re.escape(title)}.*?</div>', text, re.DOTALL)
        if not way or html.escape(path["for"]) not in way[0] or not re.search(r'class="time">\d+ (minutes|hours)', way[0]):
            yield f"the first page lacks the path '{title}', its readers or its reading time"
            continue
        for entry in path["pages"]:
            entry = {"page": entry} if isinstance(entry, str) else entry
            link = f'href="{entry["page"]}.html' + (f'#{entry["section"]}"' if "section" in entry else '"')
            if link not in way[0]:
                yield f"the path '{title}' does not link to {entry}"
        if ("(optional)" in way[0]) != any("optional" in entry for entry in path["pages"]):
            yield f"the path '{title}' does not mark exactly the optional pages"
    fragment = '<div class="fragment">' + "<div>x</div>\n" * 30 + "</div>"
    for sample, expected in (("<p>" + "word " * 1300 + "</p>", 10), (f"<pre>{'line' + chr(10) * 30}</pre>", 2), ("<figure></figure>" * 4, 2),
                             (fragment, 2), ("<p>word</p>", 1)):
        if (found := shell.minutes_of(sample)) != expected:
            yield f"the reading time of {sample[:40]}... is {found} minutes, not {expected}"
    page = shell.Page("x", "", "", '<h2 id="a">A<a class="self" href="#a">#</a></h2><p>in</p><h3 id="c">C<a class="self">#</a></h3><p>below</p>'
                      '<h2 id="b">B<a class="self" href="#b">#</a></h2><p>out</p>', "page", [])
    if shell.section_of(page, "a") != ("A", '<p>in</p><h3 id="c">C<a class="self">#</a></h3><p>below</p>') or shell.section_of(page, "d"):
        yield f"the section of the page is {shell.section_of(page, 'a')}"


def page_source(name):
    """The Markdown of a page of a reading path."""
    stage = next((stage for of in WORKLOADS.values() for stage in of if stage.page == name), None)
    path = ROOT / "docs/pages" / f"{name}.md"
    return (stage.source.parent / "README.md" if stage else path if path.exists() else ROOT / "stages" / name / "README.md").read_text()


def wrong_path():
    """Yields pages of the first course that do not end with their exercise, or that show code of a later exercise's
    solution."""
    path = json.loads((ROOT / "docs/pages/reading_paths.json").read_text())["A first course"]["pages"]
    names = ["mainpage", *(entry if isinstance(entry, str) else entry["page"] for entry in path)]
    exercises = {stage.page: stage for of in WORKLOADS.values() for stage in of if stage.before and stage.page in names}
    if not {"warm_up", "gallery_of_bugs"} <= set(names):
        yield "the first course lacks the warm-up or the gallery of bugs"

    def bare(text):
        return re.sub(r"\s+", "", text)

    for n, name in enumerate(names):
        text = page_source(name)
        if name in exercises:
            stage = exercises[name]
            if f"`./climb exercise {stage.workload} {stage.name}`" not in text[-600:]:
                yield f"{name} does not end with its exercise"
        shown = bare(text)
        for later in filter(exercises.get, names[n + 1:]):
            known = set(map(bare, stages.code_lines(exercises[later].before.source)))
            yield from (f"{name} shows a line of {later}: {line.strip()}" for line in stages.code_lines(exercises[later].source)
                        if len(bare(line)) >= 25 and bare(line) not in known and bare(line) in shown)


def wrong_labs():
    """Yields labs whose plan does not fill 90 minutes, whose rubric does not add up to 20 points, or that lack a part
    or ten slides."""
    labs = [path for path in sorted(ROOT.glob("docs/pages/lab_*.md")) if not path.stem.endswith("_slides")]
    if len(labs) < 2:
        yield f"the number of labs is {len(labs)}"
    for lab in labs:
        text, slides = lab.read_text(), (HTML / f"{lab.stem}_slides.html").read_text()
        missing = {"The time plan", "The sheet", "The prediction form", "Frequent errors and their causes",
                   "The rubric"}.difference(re.findall(r"^## (.+)$", text, re.MULTILINE))
        if missing:
            yield f"{lab.name} lacks {sorted(missing)}"
            continue
        minutes, points = sum(map(int, re.findall(r"^\| (\d+) \|", text, re.MULTILINE))), sum(
            map(int, re.findall(r"^\| [^|]+ \((\d+)\) \|", text, re.MULTILINE)))
        if (minutes, points, slides.count('<section class="slide">')) != (90, 20, 10):
            yield f"{lab.name} has {minutes} minutes, {points} points, and {slides.count('<section class=')} slides"
        if f'href="{lab.stem}.html"' not in (HTML / "learning_by_doing.html").read_text():
            yield f"the chapter for teachers does not link to {lab.name}"
        if "<!-- quote:" in slides or "quote:" in (HTML / f"{lab.stem}.html").read_text():
            yield f"{lab.name}: a quotation is missing"


class RunningText(html.parser.HTMLParser):
    """Collects the running text of an article, without headings, code, links, figures and headings of tables."""

    CLOSED = {"h1", "h2", "h3", "h4", "h5", "h6", "a", "code", "pre", "th", "svg", "figure", "nav", "summary", "script", "style", "button", "label"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.words, self.links = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.words.append(" | ")  # no term continues across the edge of an element
        attributes = dict(attributes)
        kinds = set((attributes.get("class") or "").split())
        if tag == "a" and (match := re.fullmatch(r"glossary\.html#(term_\w+)", attributes.get("href") or "")):
            self.links.add(match[1])
        if tag not in ("br", "img", "input", "hr", "wbr", "meta", "link", "col"):
            self.stack.append((tag, tag in self.CLOSED or bool(kinds & {"fragment", "figures", "bar", "card", "ways", "caption", "proved", "step"})))

    def handle_endtag(self, tag):
        self.words.append(" | ")
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(closed for _, closed in self.stack):
            self.words.append(data)


def unlinked_terms():
    """Yields pages with a term of the glossary that is not linked there, and a glossary that links to itself."""
    found = {entry.anchor: entry.term.lower() for entry in glossary.entries((ROOT / "docs/pages/glossary.md").read_text())
             if any(form.lower() == entry.term.lower() for form in entry.forms)}
    # The test searches for each term in its plain form. Among overlapping terms, the longest one has the link.
    longer = {term: [other for other in found.values() if other != term and term in other] for term in found.values()}
    linked = 0
    for name in PAGES:
        text = (HTML / name).read_text()
        if name.endswith("_source.html") or name.startswith("header_") or "<article>" not in text:
            continue
        page = RunningText(text.partition("<article>")[2].partition("</article>")[0])
        if name == "glossary.html":
            yield from (f"the glossary links to {anchor}" for anchor in page.links if 'class="term"' in text)
            continue
        words = " ".join(re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", " ", "".join(page.words), flags=re.DOTALL).lower().split())
        linked += len(page.links)
        for anchor, term in found.items():
            text_without = words
            for other in longer[term]:
                text_without = text_without.replace(other, " ")
            if anchor not in page.links and re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", text_without):
                yield f"the term '{term}' on {name} is not linked"
    if linked < 1000:
        yield f"the book has only {linked} links to the glossary"


def outdated_citation():
    """Yields the version in CITATION.cff if it differs from the project's."""
    versions = [re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)[1] for file, pattern in (
        ("meson.build", r"^  version: '([^']+)'"), ("CITATION.cff", r"^version: (\S+)$"))]
    if versions[0] != versions[1]:
        yield f"the version is {versions[0]} in meson.build, and {versions[1]} in CITATION.cff"


def unrecorded_figures():
    """Yields a sentence if a page quotes a figure that is not recorded; the checker prints which one."""
    if quoted.main("--check", ROOT) != 0:
        yield "the checker has printed above which figure is not recorded"


CHECKS = [
    ("the book has pages and stages", lambda: [] if len(PAGES) > 10 and STAGES else ["there are none"]),
    ("every link leads to an existing page and anchor", broken_links),
    ("no page loads a file from a network", loaded_from_outside),
    ("every stage's page has its sections, diff, figures and source", incomplete_pages),
    ("no asterisk of Markdown is visible", visible_asterisks),
    ("each stage's page links to its notes", unlinked_notes),
    ("pages of stages show the slicer's verdicts on their pragmas", unproved_pages),
    ("every requested plot shows all its stages and names machine and revision", incomplete_plots),
    ("every requested diagram has a caption, an alternative text and legible words", incomplete_diagrams),
    ("plots show the recorded times", wrong_plots),
    ("rooflines show the stages of each workload", wrong_ascents),
    ("the computed sectors and wavefronts of a warp equal those on pages", wrong_requests),
    ("the formulas of the interactive figures are consistent", wrong_formulas),
    ("code has highlighted keywords and marked changes", wrong_code),
    ("maps and timelines show the recorded times", wrong_diagrams),
    ("timelines show intervals that overlap the phases", wrong_lanes),
    ("diagrams of prices use the prices that the stages compute", wrong_prices),
    ("requests for plots without recordings are refused", accepted_requests),
    ("tables show the newest recording of each stage, and each data set once", outdated_times),
    ("times of different hosts are distinguished", confused_hosts),
    ("the pages of each machine show every recording", missing_results),
    ("the table of ladder ends shows the fastest stage and library of a run", wrong_ends),
    ("every page has its frame, and the book does not exceed its limits of files and bytes", wrong_frames),
    ("every stage has a card, and ladders link to every stage", wrong_cards),
    ("lower bounds follow from the declared operations and bytes", wrong_floors),
    ("columns of numbers are aligned right", wrong_tables),
    ("the first page shows all reading paths with their reading times", wrong_reading_paths),
    ("pages of the first course end with their exercises, and show no later solution", wrong_path),
    ("each lab takes 90 minutes, has 20 points and ten slides", wrong_labs),
    ("the sidebar links to every page in order", missing_from_sidebar),
    ("every stage is in the index of transformations", missing_from_index),
    ("«previous» and «next» lead through the whole book", unreached_pages),
    ("the book contains MathJax", lambda: [] if (HTML / "mathjax/MathJax.js").exists() else ["MathJax.js is missing"]),
    ("every quoted figure is recorded", unrecorded_figures),
    ("errors in quoted figures are found", accepted_errors),
    ("figures compare times of one recording", confused_runs),
    ("recorded outputs contain the table in the README", unrecorded_tables),
    ("tables show the numbers of lines that the sources change", miscounted_tables),
    ("pages show each changed line of a diff, with true line numbers and counts", wrong_diffs),
    ("tables of figures have no empty column", empty_columns),
    ("tables show times of whole solves where stages are compared by a phase", missing_whole_solves),
    ("changed lines are counted without comments, titles and ideas", miscounted_lines),
    ("a stage may continue a stage other than the previous one", wrongly_continued),
    ("each term on a page is linked to the glossary", unlinked_terms),
    ("CITATION.cff names the version of the project", outdated_citation),
]

tap.report((title, check()) for title, check in CHECKS)
