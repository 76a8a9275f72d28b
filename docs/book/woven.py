r"""Divides the diff of a stage into pieces, which appear on the stage's page next to their explanation.

A part of a source lies between two comments with its name, such as `// [load]`. The page of a stage requests a part of
the stage's own source by

    [load, in unrolled.cu](unrolled.cu)<!-- part -->

The book then shows the diff between these comments, with a switch to the old code and to the new code. The first comment
of a source, the comments that mark parts, the title and the idea of the stage are not shown. Changes outside of the
requested parts are folded in the section *The transformation*.

Each part is compared with the part of the same name, even if the part has moved. The listings may therefore show an
unchanged line as removed and added again, and a moved line as unchanged. The summary reports the number of such lines, so
that the counts of all pieces and of the folded rest add up to the number of changed lines.
"""

import dataclasses
import difflib
import html
import itertools
import re

from book import code, headers, hosted, stages

MARK = re.compile(r"\s*// \[(.+)\]\s*")
SNIPPET = re.compile(r"^(?P<indent> *)\\snippet(?:\{lineno\})? stages/(?P<workload>\w+)/(?P<stage>\d\d_\w+)/\S+ "
                     r"(?P<name>.+?) *$", re.MULTILINE)
CONTEXT = 2  # unchanged lines shown around changes outside the pieces


@dataclasses.dataclass
class Body:
    """The compared lines of a source with their numbers, and the range of each part among them."""

    lines: list
    numbers: list
    spans: dict

    @classmethod
    def of(cls, source):
        """The body of a source, without the comment at its head, marks, and the lines that differ in every stage."""
        numbered, first = stages.numbered_body(source)
        lines, numbers, spans, begun = [], [], {}, {}
        for number, line in enumerate(numbered, first):
            if stages.differs_always(line):
                continue
            mark = MARK.fullmatch(line)
            if not mark:
                lines.append(line)
                numbers.append(number)
            elif mark[1] in begun:
                spans.setdefault(mark[1], (begun.pop(mark[1]), len(lines)))
            else:
                begun[mark[1]] = len(lines)
        while lines and not lines[-1].strip():
            lines.pop(), numbers.pop()
        return cls(lines, numbers, spans)


@dataclasses.dataclass
class Row:
    """A line of a diff."""

    kind: str  # same, del or ins
    old: int | None
    new: int | None
    text: str
    index: int  # index among the old lines if the line was removed, and among the new lines otherwise
    place: int  # its position in the new lines, or the position where it was removed
    lost: tuple = ()  # indices of the words that are highlighted
    owner: str = ""  # the part of both sources to which it belongs

    def html(self):
        """The line as HTML."""
        tag = "span" if self.kind == "same" else self.kind
        old = f' data-o="{self.old}"' if self.old else ""
        new = f' data-n="{self.new}"' if self.new else ""
        return f"<{tag}{old}{new}>{headers.with_links(code.html_of(self.text, self.lost))}\n</{tag}>"


def rows_between(before, after, of_old, of_new):
    """The rows of the diff of two ranges of lines."""
    rows, (first_old, end_old), (first_new, end_new) = [], of_old, of_new
    a, b = before.lines[first_old:end_old], after.lines[first_new:end_new]
    for operation, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        old, new = range(first_old + i1, first_old + i2), range(first_new + j1, first_new + j2)
        if operation == "equal":
            rows += [Row("same", before.numbers[i], after.numbers[j], after.lines[j], j, j) for i, j in zip(old, new)]
            continue
        lost, gained = {}, {}
        for i, j, words_lost, words_gained in code.paired(a[i1:i2], b[j1:j2]):
            lost[old[i]], gained[new[j]] = words_lost, words_gained
        rows += [Row("del", before.numbers[i], None, before.lines[i], i, first_new + j1, lost.get(i, ())) for i in old]
        rows += [Row("ins", None, after.numbers[j], after.lines[j], j, j, gained.get(j, ())) for j in new]
    return rows


def outermost(spans):
    """The parts that are not contained in another part, ordered by their first line."""
    return sorted(((begin, end, name) for name, (begin, end) in spans.items()
                   if not any(other != name and b <= begin and end <= e and (b, e) != (begin, end)
                              for other, (b, e) in spans.items())))


def skeleton(body, names):
    """The lines outside of the given parts, as triples of text, range and part. Each part is represented by one line
    that is equal to no other line."""
    at, items = 0, []
    for begin, end, name in [*outermost({name: body.spans[name] for name in names}), (len(body.lines), len(body.lines), "")]:
        if begin < at:
            continue  # this part begins within the previous part
        items += [(body.lines[n], (n, n + 1), "") for n in range(at, begin)]
        if name:
            items.append((f"\0{name}", (begin, end), name))
        at = end
    return items


def rows_of(before, after):
    """The rows of the complete diff of two bodies. A part that occurs in both bodies is compared with the part of the same
    name, even if it has moved."""
    both = [name for name in after.spans if name in before.spans]
    both = [name for name in both if all(any(name == item[2] for item in skeleton(body, both)) for body in (before, after))]
    old, new = skeleton(before, both), skeleton(after, both)
    matcher = difflib.SequenceMatcher(None, [text for text, *_ in old], [text for text, *_ in new], autojunk=False)
    rows = []

    def flush(lines_old, lines_new, place):
        """Compares lines outside the common parts."""
        of_old = (lines_old[0][1][0], lines_old[-1][1][1]) if lines_old else (0, 0)
        of_new = (lines_new[0][1][0], lines_new[-1][1][1]) if lines_new else (place, place)
        rows.extend(rows_between(before, after, of_old, of_new))

    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation == "equal":
            for item, other in zip(old[i1:i2], new[j1:j2]):
                found = rows_between(before, after, item[1], other[1])
                for row in found:
                    row.owner = item[2]
                rows += found
            continue
        place = new[j1][1][0] if j1 < len(new) else len(after.lines)
        parts = [list(group) for _, group in itertools.groupby(new[j1:j2], key=lambda item: bool(item[2]))]
        gone = [list(group) for is_part, group in itertools.groupby(old[i1:i2], key=lambda item: bool(item[2])) if not is_part]
        for lines in gone[1:]:
            flush(lines, [], place)
        flush(gone[0] if gone else [], parts.pop(0) if parts and not parts[0][0][2] else [], place)
        for group in parts:
            if not group[0][2]:
                flush([], group, place)
                continue
            for _, span, name in group:
                found = rows_between(before, after, before.spans[name], span)
                for row in found:
                    row.owner = name
                rows += found
    return rows


class Weave:
    """The diff of a stage, divided into the pieces that its page shows and the rest."""

    def __init__(self, stage, names):
        self.stage = stage
        self.before, self.after = Body.of(stage.before.source), Body.of(stage.source)
        for name in names:
            if name not in self.after.spans:
                raise SystemExit(f"{stage.source} has no part [{name}], which the stage's page shows")
        self.rows = rows_of(self.before, self.after)
        self.pieces = {name: [row for row in self.rows if self.belongs(row, name)] for name in names}

    def belongs(self, row, name):
        """Whether a row belongs to a piece."""
        begin, end = self.after.spans[name]
        if row.kind != "del":
            return begin <= row.place < end
        if row.owner:
            around = self.after.spans[row.owner]
            if name == row.owner or (begin, end) == around:
                return True
            if not (around[0] <= begin and end <= around[1]):
                return begin <= around[0] and around[1] <= end
        old = self.before.spans.get(name)
        if begin < row.place < end:
            return True
        # A line that was removed at an edge belongs to the piece that contained it in the previous stage.
        return begin <= row.place <= end and (old[0] <= row.index < old[1] if old else row.place == begin < end)

    def rest(self):
        """The changes outside of the pieces, in groups, with a few unchanged lines around each group."""
        shown = {id(row) for rows in self.pieces.values() for row in rows}
        wanted = {near for n, row in enumerate(self.rows) if row.kind != "same" and row.text.strip() and id(row) not in shown
                  for near in range(n - CONTEXT, n + CONTEXT + 1)}
        kept = [(n, row) for n, row in enumerate(self.rows) if n in wanted and id(row) not in shown]
        groups = itertools.groupby(enumerate(kept), key=lambda item: item[1][0] - item[0])
        groups = [[row for _, (_, row) in group] for _, group in groups]
        return [group for group in groups if any(row.kind != "same" for row in group)]

    def shown_again(self):
        """The number of unchanged lines that the listings show as removed and added, minus the moved lines that they
        show as unchanged."""
        shown = {id(row): row for rows in [*self.pieces.values(), *self.rest()] for row in rows}
        return counts(shown.values())[0] - stages.lines_changed(self.stage.before.source, self.stage.source)[0]


def shown_parts(page_text, stage):
    """The parts of its own source that a stage's page requests."""
    return list(dict.fromkeys(match["name"] for match in SNIPPET.finditer(page_text)
                              if (match["workload"], match["stage"]) == (stage.workload, stage.name)))


def slug(name):
    """A part's name for use in file names and anchors."""
    return re.sub(r"\W+", "_", name.strip())


def counts(rows):
    """The numbers of lines of code that the given rows add and remove."""
    code_rows = [row for row in rows if row.text.strip() and not row.text.lstrip().startswith("//")]
    return sum(row.kind == "ins" for row in code_rows), sum(row.kind == "del" for row in code_rows)


def listing(rows, label):
    """Rows as a listing that can be scrolled with the keyboard."""
    return (f'<pre class="diff" role="group" tabindex="0" aria-label="{html.escape(label)}">'
            f'{"".join(row.html() for row in rows)}</pre>')


def lines_text(numbers):
    """The first and the last line number of the given lines, as text."""
    return f"lines {numbers[0]}–{numbers[-1]}" if numbers else ""


def line_of(rows, body):
    """The first line number of the given rows, or of the line that follows them if all of them are removed lines."""
    return next((row.new for row in rows if row.new), body.numbers[min(rows[0].place, len(body.numbers) - 1)])


def piece_html(weave, name):
    """A piece with its switch, or only its code if nothing changed."""
    stage, rows = weave.stage, weave.pieces[name]
    added, removed = counts(rows)
    numbers = [row.new for row in rows if row.new]
    where = (f'<a href="{stage.page}_source.html#l{numbers[0]}">{html.escape(stage.source.name)}, '
             f"{lines_text(numbers)}</a>") if numbers else html.escape(stage.source.name)
    kinds = {row.kind for row in rows}
    group = f"show_{slug(name)}"
    if kinds == {"ins"} or kinds <= {"same"}:
        what = "all new" if "ins" in kinds else "unchanged"
        switch = f'<span class="still">{what}</span>'
    else:
        views = (("diff", "diff"), ("old", f"before ({stage.before.number})"), ("new", f"after ({stage.number})"))
        switch = "".join(
            f'<label><input type="radio" name="{group}" value="{value}"{" checked" if value == "diff" else ""}>{text}</label>'
            for value, text in views)
        switch = f'<fieldset class="switch"><legend>View of {html.escape(name)}</legend>{switch}</fieldset>'
        switch += f'<span class="size">+{added} −{removed}</span>'
    whole_new = " new" if kinds == {"ins"} else ""
    return (f'<figure class="piece{whole_new}" id="piece_{slug(name)}">'
            f'<div class="bar">{switch}<span class="where">{where}</span></div>'
            f"{listing(rows, f'{name}, changes from {stage.before.heading}')}</figure>\n")


def again_text(number):
    """A sentence about the number of lines that the listings show in excess of the changed lines. A negative number
    means that the listings show fewer lines."""
    lines = f"{abs(number)} {'line' if abs(number) == 1 else 'lines'}"
    if number > 0:
        return f" The listings show {lines} more as removed and added again, because each part of the program is compared with itself."
    return f" The listings do not show {lines} that moved together with a part of the program." if number else ""


def diff_html(weave):
    """The summary of the diff: its length, links to its pieces, and the folded rest."""
    stage = weave.stage
    added, removed = stages.lines_changed(stage.before.source, stage.source)
    changed = [name for name, rows in weave.pieces.items() if any(row.kind != "same" for row in rows)]
    links = ", ".join(f'<a href="#piece_{slug(name)}">{html.escape(name)}</a>' for name in changed)
    rest = weave.rest()
    again = weave.shown_again()
    text = (f'<p class="step">From <a href="{stage.before.page}.html">{html.escape(stage.before.heading)}</a>: '
            f"+{added} −{removed} lines of code, without comments"
            + (f". The changes are shown below, next to their explanation: {links}" if links else "") + "."
            + again_text(again) + "</p>")
    if not rest:
        return text + "\n"
    more, less = counts([row for group in rest for row in group])
    what = "The rest of the changes" if links else "All changes"
    shown = "".join(f'<p class="where">{html.escape(stage.source.name)}, line {line_of(group, weave.after)}</p>'
                    + listing(group, f"Changes from {stage.before.heading}") for group in rest)
    return (text + f'<details class="rest"{"" if links else " open"}><summary>{what}: +{more} −{less}</summary>'
            f"{shown}</details>\n")


def write(root, workloads, generated):
    """Writes the pieces and the summary of the diff of every stage."""
    for stage in (stage for of_workload in workloads.values() for stage in of_workload if stage.before):
        page = root / "stages" / stage.workload / stage.name / "README.md"
        weave = Weave(stage, shown_parts(hosted.read(page, root), stage))
        (generated / f"{stage.page}_diff.html").write_text(diff_html(weave))
        for name in weave.pieces:
            (generated / f"{stage.page}_piece_{slug(name)}.html").write_text(piece_html(weave, name))


def with_pieces(text, path):
    """The text of a stage's page with requests for pieces of the diff instead of parts of the source."""
    directory = path.parent
    if path.name != "README.md" or not re.match(r"\d\d_", directory.name) or directory.name.startswith("00_"):
        return text

    def replace(match):
        of_this = (match["workload"], match["stage"]) == (directory.parent.name, directory.name)
        if not of_this:
            return match[0]
        return f"{match['indent']}\\htmlinclude {match['workload']}_{match['stage']}_piece_{slug(match['name'])}.html"
    return SNIPPET.sub(replace, text)
