"""The stages for the book: their order, their titles and ideas, and their diffs.

Usage: python3 docs lines ROOT

The command counts the changed lines again, for the tables of the runner that the README and the chapters show. The rest of
these tables stays as recorded.
"""

import dataclasses
import pathlib
import re

from book import hosted


@dataclasses.dataclass
class Stage:
    """One stage of a workload."""

    workload: str
    name: str  # such as "01_openmp"
    source: pathlib.Path
    title: str
    idea: str
    before: "Stage | None" = None  # the stage that it continues

    @property
    def page(self):
        """The label of the stage's page."""
        return f"{self.workload}_{self.name}"

    @property
    def number(self):
        """The number of the stage as text, such as "01"."""
        return self.name[:2]

    @property
    def heading(self):
        """Number and title."""
        return f"{self.number} {self.title}"


def find_source(directory):
    """The one source file of a stage."""
    sources = [path for path in directory.iterdir() if path.suffix in (".cpp", ".cu")]
    if len(sources) != 1:
        raise SystemExit(f"{directory} must hold one source file, not {len(sources)}")
    return sources[0]


def what_it_says(source, field):
    """The title or the idea that a stage's `main` passes to the harness."""
    match = re.search(rf'\.{field} = "([^"]*)"', source.read_text())
    if not match:
        raise SystemExit(f"{source} has no {field}")
    return match[1]


def stage_before(source, earlier):
    """The stage that a stage continues: the previous stage, unless the stage's header names another stage."""
    header = re.match(r"(?:///.*\n)*", source.read_text())[0]
    named = re.search(r"^/// From:(.*)$", header, re.MULTILINE)
    if not named:
        return earlier[-1] if earlier else None
    name, by_name = named[1].strip(), {stage.name: stage for stage in earlier}
    if name not in by_name:
        raise SystemExit(f"'{source}' says 'From: {name}', which must be an earlier stage of {source.parts[-3]}; "
                         f"there is {', '.join(by_name) or 'none'}")
    return by_name[name]


def labels_on_main_page(root):
    """The labels of the pages to which the main page links, including workloads, in reading order."""
    return re.findall(r"\\subpage (\w+)", hosted.read(root / "docs" / "pages" / "mainpage.md", root))


def groups_on_main_page(root):
    """The headings of the main page, each with the labels of the pages to which the main page links below this heading."""
    parts = re.split(r"^## (.+?)(?: \{#\w+\})?$", hosted.read(root / "docs" / "pages" / "mainpage.md", root), flags=re.MULTILINE)[1:]
    found = {title: re.findall(r"\\subpage (\w+)", text) for title, text in zip(parts[::2], parts[1::2])}
    return {title: labels for title, labels in found.items() if labels}


def title_of(root, workload):
    """The heading of a workload's page."""
    return re.match(r"# (.+)\n", (root / "stages" / workload / "README.md").read_text())[1]


def find_stages(root):
    """The stages in reading order, by workload."""
    workloads = {}
    for directory in sorted(pathlib.Path(root, "stages").glob("*/[0-9][0-9]_*")):
        source = find_source(directory)
        stages = workloads.setdefault(directory.parent.name, [])
        stages.append(Stage(directory.parent.name, directory.name, source,
                            what_it_says(source, "title"), what_it_says(source, "idea"),
                            stage_before(source, stages)))
    return workloads


def in_reading_order(root, workloads):
    """The same workloads in the order of the main page, followed by the workloads to which the main page does not link."""
    order = labels_on_main_page(root)
    return dict(sorted(workloads.items(),
                       key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def code_lines(path):
    """The lines of code of a source. Blank lines, comments, and the stage's title and idea are excluded, because they
    differ in every stage."""
    lines = path.read_text().splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("//") and not differs_always(line)]


def differs_always(line):
    """Whether a line contains the title or the idea of a stage, which differ in every stage."""
    return line.lstrip().startswith((".title =", ".idea ="))


def lines_changed(before, after):
    """The numbers of lines of code that a step adds and removes, by the longest common subsequence."""
    a, b = code_lines(before), code_lines(after)
    above = [0] * (len(b) + 1)
    for line in a:
        row = [0]
        for j, other in enumerate(b):
            row.append(above[j] + 1 if line == other else max(above[j + 1], row[j]))
        above = row
    return len(b) - above[-1], len(a) - above[-1]


def numbered_body(source):
    """The lines of a source after its header comment, and the line number of the first of these lines."""
    lines = source.read_text().splitlines()
    first = next((n for n, line in enumerate(lines) if not line.startswith("///")), len(lines))
    return lines[first:], first + 1


def with_true_lines(text, workloads):
    """A text in which the tables of the runner contain the current numbers of changed lines."""
    by_name, lines = {}, []
    for line in text.splitlines(keepends=True):
        if heading := re.match(r"(\w+), \S+ \(.*\), f\d\d, ", line):
            by_name = {stage.name: stage for stage in workloads.get(heading[1], [])}
        row = re.fullmatch(r"(?P<stage>\d\d_\w+) .*?(?P<lines> *\+\d+ -\d+)\n", line)
        stage = by_name.get(row["stage"]) if row else None
        if stage and stage.before:
            changed = "+{} -{}".format(*lines_changed(stage.before.source, stage.source))
            line = line[:row.start("lines")] + changed.rjust(len(row["lines"])) + "\n"
        lines.append(line)
    return "".join(lines)


def pages_with_tables(root):
    """The files that contain tables of the runner and are shown to readers: the README, and files that chapters include."""
    yield root / "README.md"
    included = {name for page in root.glob("stages/**/*.md")
                for name in re.findall(r"^\\verbinclude docs/results/(\S+\.txt)$", hosted.read(page, root), re.MULTILINE)}
    yield from (root / "docs" / "results" / name for name in sorted(included))


def main(root):
    """Updates the numbers of changed lines in all tables."""
    root = pathlib.Path(root)
    workloads = find_stages(root)
    for page in pages_with_tables(root):
        text = page.read_text()
        if (true := with_true_lines(text, workloads)) != text:
            page.write_text(true)
