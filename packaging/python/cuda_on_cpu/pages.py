"""The findings of an analysis or of the slicer in a cell, as HTML and as text.

Colours are given by opacity only, so that they suit light and dark themes. All text from programs is escaped.
"""

import html
import pathlib

MOST_FINDINGS = 20  # the most findings of each kind that are shown completely
MOST_CHARACTERS = 120  # the most characters of a line of source in a table
STYLE = """<style>
.cuda-on-cpu { color: inherit; line-height: 1.4; }
.cuda-on-cpu pre { background: rgba(128, 128, 128, .12); color: inherit; padding: .4em .6em; margin: .3em 0; overflow-x: auto; }
.cuda-on-cpu mark { background: rgba(255, 160, 0, .35); color: inherit; }
.cuda-on-cpu .finding { border-left: 4px solid rgba(220, 50, 47, .8); padding-left: .7em; margin: .6em 0; }
.cuda-on-cpu .note { border-left-color: rgba(38, 139, 210, .8); }
.cuda-on-cpu table { border-collapse: collapse; margin: .3em 0; color: inherit; background: transparent; }
.cuda-on-cpu th, .cuda-on-cpu td { padding: .1em .6em; text-align: left; border-bottom: 1px solid rgba(128, 128, 128, .4); color: inherit; }
.cuda-on-cpu th.count, .cuda-on-cpu td.count { text-align: right; font-variant-numeric: tabular-nums; }
.cuda-on-cpu tr.marked td { background: rgba(255, 160, 0, .2); }
</style>"""


class Sources:
    """The lines of files; the lines of the cell come from its own text."""

    def __init__(self, path, text, name):
        self.path, self.name = str(path), name
        self.files = {self.path: text.splitlines()}

    def lines(self, path):
        """The lines of a file; empty if the file cannot be read."""
        if path not in self.files:
            try:
                self.files[path] = pathlib.Path(path).read_text(errors="replace").splitlines()
            except OSError:
                self.files[path] = []
        return self.files[path]

    def line(self, path, number):
        """A line without leading and trailing blanks."""
        lines = self.lines(path)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def place(self, path, number):
        """A position in words; in the cell, only its line number is given."""
        if not number:
            return "an unknown line"
        return f"line {number}" if path == self.path else f"{pathlib.Path(path).name}, line {number}"

    def excerpt(self, path, numbers):
        """The lines around the given line numbers, as pairs of number and text, with None for lines that are left out."""
        lines, shown = self.lines(path), []
        wanted = sorted({near for number in numbers for near in range(number - 1, number + 2) if 0 < near <= len(lines)})
        for number in wanted:
            if shown and shown[-1][0] != number - 1:
                shown.append(None)
            shown.append((number, lines[number - 1]))
        return shown


def counted(number, noun):
    """A number with a noun in the singular or plural."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{ending}"


def shortened(text):
    """A line of source, shortened to the width of a table."""
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS - 1] + "…"


def triple(values):
    """A block or thread index."""
    return f"({', '.join(map(str, values))})"


def where(finding):
    """The kernel, block and thread of a finding, and its number of occurrences."""
    times = "once" if finding["count"] == 1 else f"{finding['count']} times"
    if not finding["kernel"]:
        return f"in host code, {times}"
    return f"in {finding['kernel']}, block {triple(finding['block'])}, thread {triple(finding['thread'])}, {times}"


def marked(finding):
    """Maps each file to the line numbers of a finding."""
    places = {}
    for file, line in ((finding["file"], finding["line"]), (finding["other_file"], finding["other_line"])):
        if line:
            places.setdefault(file, set()).add(line)
    return places


def rows_of(kernel, sources):
    """A row for each line and kind of access: its cells, and whether the access costs more than the minimum for its
    bytes."""
    for access in kernel["lines"]:
        requests = max(access["requests"], 1)
        unit = "sectors" if "sectors" in access else "wavefronts"
        cost, ideal = access[unit] / requests, access["ideal"] / requests
        yield ([sources.place(access["file"], access["line"]).removeprefix("line "), access["access"], str(access["bits"]),
                str(access["requests"]), f"{access['lanes'] / requests:.1f}", f"{cost:.2f} {unit}", f"{ideal:.2f}",
                shortened(sources.line(access["file"], access["line"]))], cost > ideal * 1.005)


HEADINGS = ("line", "access", "bits", "requests", "lanes", "cost per request", "ideal", "source")
COUNTS = (False, False, True, True, True, True, True, False)


def totals(kernel):
    """The totals of a kernel, in one line."""
    return ", ".join(counted(kernel[key], noun) for key, noun in
                     (("launches", "launch"), ("blocks", "block"), ("threads", "thread"), ("block_barriers", "barrier")))


def findings_of(report):
    """Yields the errors and then the notes of a report, each with the word "error" or "note"."""
    yield from (("error", finding) for finding in report["errors"])
    yield from (("note", finding) for finding in report["notes"])


def html_of_finding(word, finding, sources):
    """A finding with the lines of source that belong to it."""
    parts = [f'<div class="finding {word}"><b>{word}: {html.escape(finding["kind"])}</b>, '
             f'{html.escape(sources.place(finding["file"], finding["line"]))}<br>{html.escape(finding["sentence"])}']
    for file, numbers in marked(finding).items():
        lines = []
        for shown in sources.excerpt(file, numbers):
            if shown is None:
                lines.append("      …")
                continue
            number, text = shown
            text = f"{'▶' if number in numbers else ' '}{number:>4}  {html.escape(text)}"
            lines.append(f"<mark>{text}</mark>" if number in numbers else text)
        if file != sources.path:
            parts.append(f"<br>{html.escape(file)}")
        if lines:
            parts.append("<pre>" + "\n".join(lines) + "</pre>")
        else:
            parts.append("<br>")
    return "".join(parts) + f"<small>{html.escape(where(finding))}</small></div>"


def html_table(headings, counts, rows):
    """A table as HTML; a row is a pair: its cells, and whether the row is marked. The last cell is source code."""
    def cell(tag, text, is_count, is_code=False):
        text = f"<code>{html.escape(text)}</code>" if is_code else html.escape(text)
        kind = ' class="count"' if is_count else ""
        return f"<{tag}{kind}>{text}</{tag}>"
    lines = ["<table><thead><tr>" + "".join(cell("th", text, count) for text, count in zip(headings, counts)) + "</tr></thead><tbody>"]
    for cells, is_marked in rows:
        lines.append('<tr class="marked">' if is_marked else "<tr>")
        lines.append("".join(cell("td", text, count, place == len(headings) - 1)
                             for place, (text, count) in enumerate(zip(cells, counts))) + "</tr>")
    return "".join(lines) + "</tbody></table>"


def html_of_report(report, sources):
    """The report of an analysis as HTML."""
    parts = [STYLE, '<div class="cuda-on-cpu">', f"<p>{html.escape(report['summary'])}</p>"]
    for findings, word in ((report["errors"], "error"), (report["notes"], "note")):
        parts += [html_of_finding(word, finding, sources) for finding in findings[:MOST_FINDINGS]]
        if len(findings) > MOST_FINDINGS:
            parts.append(f"<p>{counted(len(findings) - MOST_FINDINGS, f'more {word}')} not shown</p>")
    for kernel in report["kernels"]:
        parts.append(f"<details open><summary><b>{html.escape(kernel['kernel'])}</b>: {totals(kernel)}</summary>")
        rows = list(rows_of(kernel, sources))
        parts.append(html_table(HEADINGS, COUNTS, rows) if rows else "<p>no access was counted</p>")
        if any(is_marked for _, is_marked in rows):
            parts.append("<small>A marked line moves more than its bytes need.</small>")
        parts.append("</details>")
    return "".join(parts) + "</div>"


def text_table(headings, counts, rows):
    """A table as text, with columns as wide as necessary; a star marks rows."""
    rows = [(list(cells), is_marked) for cells, is_marked in rows]
    widths = [max(len(cells[column]) for cells in [list(headings), *(cells for cells, _ in rows)])
              for column in range(len(headings))]

    def line(cells, mark):
        return (mark + "  ".join(text.rjust(width) if count else text.ljust(width)
                                 for text, width, count in zip(cells, widths, counts))).rstrip()
    return "\n".join([line(headings, "  "), *(line(cells, "* " if is_marked else "  ") for cells, is_marked in rows)])


def text_of_report(report, sources):
    """The report of an analysis as text."""
    parts = [report["summary"]]
    for word, finding in findings_of(report):
        lines = [f"{word}: {finding['kind']}, {sources.place(finding['file'], finding['line'])}: {finding['sentence']}"]
        for file, numbers in marked(finding).items():
            if file != sources.path:
                lines.append(f"  {file}")
            lines += ["       …" if shown is None else f"{'>' if shown[0] in numbers else ' '}{shown[0]:>5}  {shown[1]}"
                      for shown in sources.excerpt(file, numbers)]
        parts.append("\n".join([*lines, f"  {where(finding)}"]))
    for kernel in report["kernels"]:
        parts.append(f"{kernel['kernel']}: {totals(kernel)}\n" + text_table(HEADINGS, COUNTS, rows_of(kernel, sources)))
    return "\n\n".join(parts)


class Report:
    """The report of an analysis, as IPython displays it."""

    def __init__(self, report, sources):
        self.report, self.sources = report, sources

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": html_of_report(self.report, self.sources), "text/plain": text_of_report(self.report, self.sources)}


LOOPS = ("line", "loop", "verdict", "source")


def rows_of_loops(loops, sources):
    """A row for each loop, marked unless its iterations are independent."""
    for loop in loops:
        said = loop["verdict"] + (f": {loop['reason']}" if loop["reason"] else "")
        yield ([str(loop["line"]), loop["variable"], said, shortened(sources.line(sources.path, loop["line"]))],
               loop["verdict"] != "independent")


class Loops:
    """The verdicts of the slicer on the loops of a cell, as IPython displays them."""

    def __init__(self, loops, sources):
        self.rows = list(rows_of_loops(loops, sources))

    def _repr_mimebundle_(self, include=None, exclude=None):
        counts = (True, False, False, False)
        if not self.rows:
            return {"text/html": "<p>The cell has no loops.</p>", "text/plain": "The cell has no loops."}
        return {"text/html": STYLE + '<div class="cuda-on-cpu">' + html_table(LOOPS, counts, self.rows) + "</div>",
                "text/plain": text_table(LOOPS, counts, self.rows)}
