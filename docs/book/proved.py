"""The slicer's reports on the parallel loops of each stage for the processor, for the page of the stage.

The reports are stored in docs/proving/stages.txt, and the slicer's tests compare this file with the output of the program.
"""

import html
import re

SAID = re.compile(r"(?P<pragma>omp .*?): (?P<verdict>proved|refuted|beyond affine)(?:: (?P<why>.*))?")
CHAPTER = '<a href="proving_a_loop_parallel.html"><code>slice --check</code></a>'


def read(text):
    """The reports by stage, a pair of workload and name; each stage has a list of matches of SAID."""
    found = {}
    for line in text.splitlines():
        if line.startswith("  "):
            found[stage].append(SAID.fullmatch(line.strip()))
        else:
            stage = tuple(line.split())
            found[stage] = []
    return found


def line_of(source, text, start=0):
    """The number of the line in which a text begins, counted from 1; 0 if the text is not found. The text may span
    several lines."""
    words = r"\s+".join(map(re.escape, text.removesuffix("...").split()))
    match = re.compile(words).search(source, start)
    return source.count("\n", 0, match.start()) + 1 if match else 0


def pragma_lines(source, claims):
    """Yields the line of each report's pragma; identical pragmas are matched in their order in the source."""
    seen = {}
    for claim in claims:
        lines = [number for number, line in enumerate(source.splitlines(), 1)
                 if line.strip() == f"#pragma {claim['pragma']}"]
        nth = seen[claim["pragma"]] = seen.get(claim["pragma"], -1) + 1
        yield lines[nth] if nth < len(lines) else 0


def named_line(why, source, pragma):
    """The line of the expression that a reason names, after the pragma or in a function above it; 0 if the reason names
    none."""
    named = re.search(r"(?:nothing is known of the \w+|the end) `(.*?)`", why)
    behind = sum(map(len, source.splitlines(keepends=True)[:pragma]))
    return line_of(source, named[1], behind) or line_of(source, named[1]) if named else 0


def why_html(why, source, pragma):
    """A reason as HTML. If the reason names an expression, the line of the expression is added."""
    text = re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(why, quote=False))
    line = named_line(why, source, pragma)
    return f"{text} (line {line})" if line else text


def verdicts(source, claims):
    """Pairs of a report, as HTML, and the lines of the pragmas to which it applies."""
    together = {}
    for claim, line in zip(claims, pragma_lines(source, claims)):
        why = ": " + why_html(claim["why"], source, line) if claim["why"] else ""
        said = f"<code>{html.escape(claim['pragma'])}</code> is <b>{claim['verdict']}</b>{why}"
        together.setdefault(said, []).append(line)
    return together.items()


def proved_html(source, claims):
    """A list of the reports on the pragmas of a source; identical reports are combined."""
    items = ""
    for said, lines in verdicts(source, claims):
        where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
        items += f"<li>{where}: {said}</li>"
    return f'<div class="proved"><p>For the parallel loops, {CHAPTER} reports:</p><ul>{items}</ul></div>\n'


def write(root, workloads, directory):
    """Writes the lists that the pages of stages with parallel loops include."""
    said = read((root / "docs" / "proving" / "stages.txt").read_text())
    for of_workload in workloads.values():
        for stage in of_workload:
            claims = said.get((stage.workload, stage.name))
            if claims:
                (directory / f"{stage.page}_proved.html").write_text(
                    proved_html(stage.source.read_text(), claims))
