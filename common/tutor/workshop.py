"""The working copies of learners: their files, their initial contents, and the recorded progress."""

import dataclasses
import difflib
import datetime
import json
import os
import pathlib
import re
import sys
import tempfile

# The generator of the book finds the stages.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
from book import stages as book


class Refused(Exception):
    """A command that cannot be carried out. The text is a sentence with the reason."""


class CannotWrite(Refused):
    """A file that cannot be written, for example on a full disk or in a directory without write permission. The text is a
    sentence about the file."""


def find(root, workload, name):
    """Finds a stage by its workload and by its number, its name or both."""
    workloads = book.in_reading_order(root, book.find_stages(root))
    if workload not in workloads:
        raise Refused(f"there is no workload '{workload}'; choose from {', '.join(workloads)}")
    full = name.zfill(2) if re.fullmatch("[0-9]", name) else name  # 4 stands for 04
    fitting = [stage for stage in workloads[workload] if full in (stage.name, stage.number, stage.name[3:])]
    exercises = [stage.name for stage in workloads[workload] if stage.before]
    if not fitting:
        raise Refused(f"{workload} has no stage '{name}'; choose from {', '.join(exercises)}")
    if not fitting[0].before:
        raise Refused(f"'{fitting[0].name}' is the first stage of {workload} and therefore no exercise; choose from {', '.join(exercises)}")
    return fitting[0]


def header_of(stage):
    """The paragraphs of a stage's header comment, by their titles: Changed, Legal, Expect."""
    paragraphs, title = {}, None
    for line in re.match(r"(?:///.*\n)*", stage.source.read_text())[0].splitlines():
        text = line[3:].strip()
        begin = re.match(r"(\w+): +(.*)", text)
        if begin:
            title = begin[1]
            paragraphs[title] = begin[2]
        elif title and text:
            paragraphs[title] += " " + text
    return paragraphs


def idea_of(stage):
    """The first paragraph of the section *The idea* of a stage's page, without links and directives."""
    section = re.search(r"^## The idea[^\n]*\n+(.*?)(?=\n## |\Z)", (stage.source.parent / "README.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n\s*\n", section[1]) if section else []
    words = [" ".join(text.split()) for text in paragraphs
             if not re.match(r"\s*(?:<|```|\||(?:\*[^*\n]+\*|\[[^]]*\]\([^)]*\))<!-- )", text)]
    return re.sub(r"\[([^]]*)\]\([^)]*\)|<!-- .*? -->", r"\1", words[0]) if words else ""


def hunks(before, after):
    """Yields the lines of a unified diff of two sources without their header comments: the kind, the old line number, and
    the text."""
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
    """Yields the hunks that turn the previous stage into this stage. Each hunk consists of the first and the last line, the
    numbers of removed and added lines of code, and the marked piece that contains the first line."""
    parts = []
    for kind, old, text in hunks(stage.before.source, stage.source):
        if kind == "hunk":
            parts.append({"lines": [], "removed": 0, "added": 0})
        elif kind == "same":
            parts[-1]["last"] = old
        elif text.strip() and not text.strip().startswith(("//", ".title =", ".idea =")):  # as the book counts lines
            parts[-1]["lines"].append(old or parts[-1].get("last", 1))
            parts[-1][kind] += 1
    lines = stage.before.source.read_text().splitlines()
    for part in filter(lambda part: part["lines"], parts):
        first, last = part["lines"][0], part["lines"][-1]
        yield first, last, part["removed"], part["added"], piece_around(lines, first)


def piece_around(lines, number):
    """The innermost marked piece of a source that contains a line; None if there is none."""
    open_pieces = []
    for line in lines[:number]:
        marker = re.fullmatch(r"\s*// \[(.+)\]", line)
        if marker and marker[1] in open_pieces:
            open_pieces.remove(marker[1])
        elif marker:
            open_pieces.append(marker[1])
    return open_pieces[-1] if open_pieces else None


def write_whole(path, text):
    """Replaces the contents of a file by a text. If this fails, the old file is unchanged, and no partial file remains."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), 0o666 & ~current_umask())
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise CannotWrite(f"{shown(path)} cannot be written: {error.strerror}; "
                          "use --copies DIRECTORY to put working copies into another directory") from error


def current_umask():
    """The permission bits that are removed from new files of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def shown(path):
    """The form of a path in messages: relative to the current directory, if the path is inside it."""
    here = pathlib.Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@dataclasses.dataclass
class Copy:
    """A working copy of a stage."""

    copies: pathlib.Path  # the directory of all working copies
    stage: book.Stage

    @property
    def directory(self):
        """The directory of this working copy."""
        return self.copies / self.stage.workload / self.stage.name

    @property
    def name(self):
        """The path of the source, in the form that messages use."""
        return shown(self.source)

    @property
    def source(self):
        """The path of the source, which the learner edits."""
        return self.directory / self.stage.source.name

    @property
    def command(self):
        """The workload and the stage of this copy, as on the command line."""
        return f"{self.stage.workload} {self.stage.name}"

    def make(self, anew, text=None):
        """Creates the copy with the code of the previous stage or with `text`. Replaces an existing copy only if `anew`."""
        if self.source.exists() and not anew:
            raise Refused(f"{self.name} exists already; --force deletes it and starts again")
        write_whole(self.source, text or starting_text(self))
        self.progress_file.unlink(missing_ok=True)
        self.record_progress(begun=today())

    def needed(self):
        """The path of the source. Raises Refused if the file does not exist."""
        if not self.source.exists():
            raise Refused(f"there is no working copy of {self.command} yet; ./climb exercise {self.command} creates one")
        return self.source

    @property
    def progress_file(self):
        """The file that records the progress of this copy."""
        return self.directory / "progress.json"

    def progress(self):
        """The recorded progress, with the keys begun, checks, passed, hints and solution. A file that is not a JSON object
        counts as no progress, and causes a warning."""
        try:
            recorded = json.loads(self.progress_file.read_text(encoding="utf-8"))
            if not isinstance(recorded, dict):
                raise ValueError("it is not an object")
            return recorded
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            warn(f"{shown(self.progress_file)} cannot be read ({reason}), so no progress is known for {self.command}")
            return {}

    def record_progress(self, **changes):
        """Adds entries to the recorded progress. A file that cannot be read is renamed to progress.json.damaged."""
        recorded = self.progress()
        if not recorded and self.progress_file.exists() and self.progress_file.stat().st_size > 0:
            try:
                os.replace(self.progress_file, self.progress_file.with_suffix(".json.damaged"))
            except OSError as error:
                raise CannotWrite(f"{shown(self.progress_file)} cannot be replaced: {error.strerror}") from error
        write_whole(self.progress_file, json.dumps(recorded | changes, indent=1) + "\n")

    def try_to_record_progress(self, **changes):
        """Adds entries to the recorded progress. If the file cannot be written, only a warning is printed, because the
        answer itself is not affected."""
        try:
            self.record_progress(**changes)
        except CannotWrite as failure:
            warn(f"{failure}; this step is not recorded")


def warn(sentence):
    """Prints a warning once per run of the program."""
    if sentence not in warn.printed:
        warn.printed.add(sentence)
        print(f"climb: {sentence}", file=sys.stderr)


warn.printed = set()


def today():
    """Today's date in the form YYYY-MM-DD."""
    return datetime.date.today().isoformat()


def commented(title, text):
    """A paragraph with a title, as lines of a header comment of a source."""
    lines, line = [], f"/// {title + ':':<8}"
    for word in text.split():
        if len(line) + 1 + len(word) > 100:
            lines.append(line)
            line = "///         "
        line += " " + word
    return "\n".join([*lines, line])


def head_of(copy, origin):
    """The header comment of a working copy: its task, and a sentence about the origin of the code below."""
    stage, header = copy.stage, header_of(copy.stage)
    head = [f"/// \\file\n/// An exercise: {stage.workload} {stage.name}.\n/// {origin}\n///",
            commented("Task", stage.idea + ".")]
    head += [commented("Hint", header["Expect"])] if "Expect" in header else []
    return "\n".join([*head, commented("Check", f"./climb check {copy.command}"), commented("Help", f"./climb hint {copy.command}")])


def starting_text(copy):
    """The initial text of a working copy: the code of the previous stage, a header comment with the task, and the title and
    idea of the stage."""
    stage = copy.stage
    lines, _ = book.numbered_body(stage.before.source)
    body = "\n".join(lines) + "\n"
    for field in ("title", "idea"):
        body = re.sub(rf'(\.{field} = ")[^"]*"', lambda match, text=getattr(stage, field): match[1] + text + '"', body)
    return head_of(copy, f"It starts with the code of {stage.before.name}.") + "\n" + body
