"""The working copies of learners: where they are, what is in them, and how far each of them has come."""

import dataclasses
import difflib
import datetime
import json
import pathlib
import re
import sys

# The book knows the stages.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
from book import stages as book


class Refused(Exception):
    """A sentence on what was asked for and cannot be done."""


def find(root, workload, name):
    """A stage by its workload and by its number, its name or both."""
    workloads = book.in_reading_order(root, book.find_stages(root))
    if workload not in workloads:
        raise Refused(f"there is no workload '{workload}'; there is {', '.join(workloads)}")
    fitting = [stage for stage in workloads[workload] if name in (stage.name, stage.number, stage.name[3:])]
    exercises = [stage.name for stage in workloads[workload] if stage.before]
    if not fitting:
        raise Refused(f"{workload} has no stage '{name}'; there is {', '.join(exercises)}")
    if not fitting[0].before:
        raise Refused(f"'{fitting[0].name}' is where {workload} begins, and no exercise; there is {', '.join(exercises)}")
    return fitting[0]


def header_of(stage):
    """What the comment at the head of a stage's source says, by its titles: Changed, Legal, Expect."""
    said, title = {}, None
    for line in re.match(r"(?:///.*\n)*", stage.source.read_text())[0].splitlines():
        text = line[3:].strip()
        begin = re.match(r"(\w+): +(.*)", text)
        if begin:
            title = begin[1]
            said[title] = begin[2]
        elif title and text:
            said[title] += " " + text
    return said


def idea_of(stage):
    """The first paragraph of the page's section on the idea, without what only the book understands."""
    section = re.search(r"^## The idea[^\n]*\n+(.*?)(?=\n## |\Z)", (stage.source.parent / "README.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n\s*\n", section[1]) if section else []
    words = [" ".join(text.split()) for text in paragraphs
             if not re.match(r"\s*(?:<|```|\||(?:\*[^*\n]+\*|\[[^]]*\]\([^)]*\))<!-- )", text)]
    return re.sub(r"\[([^]]*)\]\([^)]*\)|<!-- .*? -->", r"\1", words[0]) if words else ""


def hunks(before, after):
    """Yields the lines of a unified diff of two sources, their header comments aside: kind, line number before, text."""
    (a, first), (b, _) = book.numbered_body(before), book.numbered_body(after)
    for group in difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(3):
        yield "hunk", None, ""
        for operation, i1, i2, j1, j2 in group:
            if operation == "equal":
                yield from (("same", i + first, a[i]) for i in range(i1, i2))
                continue
            yield from (("removed", i + first, a[i]) for i in range(i1, i2))
            yield from (("added", None, b[j]) for j in range(j1, j2))


def places_of_change(stage):
    """Where the stage before changes: the first and the last line of each part, how many lines go and come there, and the
    marked piece or the function that they are in."""
    parts = []
    for kind, old, text in hunks(stage.before.source, stage.source):
        if kind == "hunk":
            parts.append({"lines": [], "removed": 0, "added": 0})
        elif kind == "same":
            parts[-1]["last"] = old
        elif not text.strip().startswith((".title", ".idea")):  # those are there from the beginning
            parts[-1]["lines"].append(old or parts[-1].get("last", 1))
            parts[-1][kind] += 1
    lines = stage.before.source.read_text().splitlines()
    for part in filter(lambda part: part["lines"], parts):
        first, last = part["lines"][0], part["lines"][-1]
        yield first, last, part["removed"], part["added"], piece_around(lines, first)


def piece_around(lines, number):
    """The marked piece of a source that a line is in, or nothing."""
    open_pieces = []
    for line in lines[:number]:
        marker = re.fullmatch(r"\s*// \[(.+)\]", line)
        if marker and marker[1] in open_pieces:
            open_pieces.remove(marker[1])
        elif marker:
            open_pieces.append(marker[1])
    return open_pieces[-1] if open_pieces else None


@dataclasses.dataclass
class Copy:
    """A working copy of a stage."""

    copies: pathlib.Path  # where all working copies are
    stage: book.Stage

    @property
    def directory(self):
        """Where it lies."""
        return self.copies / self.stage.workload / self.stage.name

    @property
    def name(self):
        """How people call its source: from where they are, if it is in there."""
        here = pathlib.Path.cwd()
        return str(self.source.relative_to(here)) if self.source.is_relative_to(here) else str(self.source)

    @property
    def source(self):
        """The one file that learners write."""
        return self.directory / self.stage.source.name

    @property
    def command(self):
        """What commands take."""
        return f"{self.stage.workload} {self.stage.name}"

    def make(self, anew):
        """Writes it, over another one only if that is asked for."""
        if self.source.exists() and not anew:
            raise Refused(f"{self.name} is there already; --force begins anew and throws it away")
        self.directory.mkdir(parents=True, exist_ok=True)
        self.source.write_text(starting_text(self))
        (self.directory / "progress.json").unlink(missing_ok=True)
        self.note(begun=today())

    def needed(self):
        """The source, if there is one."""
        if not self.source.exists():
            raise Refused(f"there is no working copy of {self.command} yet; ./climb exercise {self.command} makes one")
        return self.source

    def progress(self):
        """What was noted: begun, checks, passed, hints, solution."""
        path = self.directory / "progress.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def note(self, **what):
        """Notes it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "progress.json").write_text(json.dumps(self.progress() | what, indent=1) + "\n")


def today():
    """The date."""
    return datetime.date.today().isoformat()


def commented(title, text):
    """A paragraph of a comment at the head of a source."""
    lines, line = [], f"/// {title + ':':<8}"
    for word in text.split():
        if len(line) + 1 + len(word) > 100:
            lines.append(line)
            line = "///         "
        line += " " + word
    return "\n".join([*lines, line])


def starting_text(copy):
    """The stage before, under a comment that says what to do, and with the title of the stage."""
    stage, said = copy.stage, header_of(copy.stage)
    head = [f"/// \\file\n/// An exercise: {stage.workload} {stage.name}, which begins as {stage.before.name}.\n///",
            commented("Task", stage.idea + ".")]
    head += [commented("Hint", said["Expect"])] if "Expect" in said else []
    head += [commented("Check", f"./climb check {copy.command}"), commented("Help", f"./climb hint {copy.command}")]
    lines, _ = book.numbered_body(stage.before.source)
    body = "\n".join(lines) + "\n"
    for field in ("title", "idea"):
        body = re.sub(rf'(\.{field} = ")[^"]*"', lambda match, text=getattr(stage, field): match[1] + text + '"', body)
    return "\n".join(head) + "\n" + body
