"""Grades submissions. Checks each file in a separate process with limited resources, and prints the results as a table, CSV
or JSON.

Usage of this file as a program (the process that checks one submission):
python3 common/tutor/grading.py BUILD WORKLOAD STAGE KIND DIRECTORY SOURCE SECONDS MEMORY FILES
"""

import contextlib
import csv
import ctypes
import dataclasses
import io
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time

import building
import checking
import confining
import workshop
from workshop import Refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = ("compiles", "agrees", "clean", "optimised")
QUESTIONS = {"compiles": "whether it compiles", "agrees": "whether it agrees with stage zero", "clean": "whether it is clean under analysis",
             "optimised": "whether it has the optimisation"}
WORDS = {True: "yes", False: "no", None: "unknown"}
LARGEST = 1 << 20  # largest size of a submission in bytes
PATIENCE = 10  # the stage's own source may take this many time limits, because it also solves the cases by stage zero
WAITING = 10  # a submission that only waits is stopped after this many times the limit of processor time
PARTS = 3  # the runs of a check may take this part of the limit of processor time
PAUSE = 0.2  # seconds between two inspections of a running check
KEPT = 8  # all files of a submission together may be this many times as large as one file
BESIDE = ("progress.json", "progress.json.damaged")  # files in directories of working copies that are not submissions
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)  # signals that end this command
SET_CHILD_SUBREAPER = 36  # an option of prctl: orphaned descendants become children of this process


class NotRead(Exception):
    """A submission that cannot be read as a program. The text is a sentence with the reason."""


@dataclasses.dataclass
class Row:
    """The result of one submission."""

    name: str
    steps: list = dataclasses.field(default_factory=list)  # in the form that check --json prints
    problem: str = ""  # the reason why there are no further steps
    remarks: list = dataclasses.field(default_factory=list)
    hints: int | None = None
    solution_seen: bool | None = None

    @property
    def verdicts(self):
        """The verdicts by question: True, False or None (unknown). Questions that were not reached are missing."""
        return {step["name"]: step["passed"] for step in self.steps if step["name"] in STEPS}

    @property
    def passed(self):
        """Whether all questions were answered, none of them with *no*."""
        return not self.problem and set(self.verdicts) == set(STEPS) and False not in self.verdicts.values()

    @property
    def counts(self):
        """The counters of the submission, by name."""
        return {name: each["yours"] for step in self.steps for name, each in step.get("counters", {}).items()}

    @property
    def message(self):
        """The sentences about questions that were answered with *no*, and about a problem that ended the check."""
        failed = [step for step in self.steps if step["passed"] is False]
        return [f"{step['name']}: {'; '.join(step['says'])}" for step in failed] + ([self.problem] if self.problem else [])

    def json(self):
        """The row as a dictionary, which --json writes."""
        return {"name": self.name, "passed": self.passed, "verdicts": self.verdicts, "counts": self.counts,
                "reasons": self.message, "remarks": self.remarks, "hints": self.hints, "solution_seen": self.solution_seen,
                "steps": self.steps}


# --- Submissions

def submissions_of(paths):
    """Yields the name and the path of each submission: each given file, and each file below a given directory."""
    for given in paths:
        if not given.exists():
            raise Refused(f"there is no file or directory '{printable(given)}' to grade")
        if not given.is_dir():
            yield printable(given), given
            continue
        found = sorted(path for path in given.rglob("*") if not path.is_dir() and path.name not in BESIDE
                       and not any(part.startswith(".") for part in path.relative_to(given).parts))
        if not found:
            raise Refused(f"the directory '{printable(given)}' contains no file to grade")
        yield from ((printable(path.relative_to(given) if len(paths) == 1 else path), path) for path in found)


def printable(name):
    """The name of a file as printable text: control characters and invalid bytes are replaced."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)


def text_of(path, is_given):
    """The text of a submission. Raises NotRead if the file is not a text file. Symbolic links are followed only if they were
    given by name."""
    try:
        if path.is_symlink() and not is_given:
            raise NotRead("it is a symbolic link, and links in a directory are not followed")
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise NotRead("it is no regular file")
        if about.st_size > LARGEST:
            raise NotRead(f"it has {about.st_size} bytes, and a program has at most {LARGEST}")
        data = path.read_bytes()
    except OSError as error:
        raise NotRead(f"it cannot be read: {error.strerror}") from error
    strange = next((place for place, byte in enumerate(data) if byte < 9 or 13 < byte < 27 or 27 < byte < 32), None)
    if strange is not None:
        raise NotRead(f"it is no text file: byte {strange} is {data[strange]}")
    if not data.strip():
        raise NotRead("it is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def code_of(text):
    """The code of a program without comments, empty lines and surrounding spaces, for comparing programs."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return "\n".join(line.strip() for line in code.splitlines() if line.strip() and not line.strip().startswith((".title", ".idea")))


def remarks_of(name, text, stage, earlier):
    """Sentences about the origin of a program's code, which do not affect the verdict. `earlier` maps the code of a
    submission to its name, and is updated."""
    code = code_of(text)
    for included in re.findall(r'^\s*#\s*include\s*["<]([^">]+\.(?:cu|cpp))[">]', text, re.MULTILINE):
        yield f"it includes another program: {included}"
    if code == code_of(stage.source.read_text()):
        yield f"its code is the code of {stage.name} itself"
    elif code == code_of(stage.before.source.read_text()):
        yield f"its code is the unchanged code of {stage.before.name}"
    elif code in earlier:
        yield f"its code is the same as in {earlier[code]}"
    earlier.setdefault(code, name)


def progress_of(path, stage):
    """The number of used hints and whether the solution was shown, if the submission is a working copy with recorded
    progress."""
    if path.parent.name != stage.name:
        return None, None
    try:
        progress = json.loads(path.with_name("progress.json").read_text(encoding="utf-8"))
        return int(progress.get("hints", 0)), "solution" in progress
    except (OSError, ValueError, TypeError, AttributeError):
        return None, None


# --- Running a check under limits

@contextlib.contextmanager
def temporary_directory():
    """A temporary directory, which is removed afterwards, even if a signal ends this process."""
    directory = pathlib.Path(tempfile.gettempdir()).resolve() / f"staircase-grade-{secrets.token_hex(8)}"
    try:
        directory.mkdir(0o700)
        yield directory
    finally:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        finally:
            end_descendants()  # a process that was starting when the signal arrived could still write to the directory
            shutil.rmtree(directory, ignore_errors=True)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@dataclasses.dataclass
class Process:
    """A running process."""

    identity: int
    parent: int
    memory: int  # bytes
    seconds: float  # processor time of the process and of its terminated children


def processes():
    """Yields all processes on this machine."""
    tick = os.sysconf("SC_CLK_TCK")
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        yield Process(int(entry), int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), sum(map(int, fields[11:15])) / tick)


def descendants():
    """The processes that this process has started, directly or indirectly."""
    below = {}
    for each in processes():
        below.setdefault(each.parent, []).append(each)
    found, waiting = [], below.get(os.getpid(), [])
    while waiting:
        found += waiting
        waiting = [child for each in waiting for child in below.get(each.identity, [])]
    return found


def end_descendants():
    """Ends all descendants of this process, and waits for them."""
    for _ in range(1000):
        for each in descendants():
            try:
                os.kill(each.identity, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def size_of(directory):
    """The disk space of the files below a directory, in bytes."""
    total = 0
    for place, _, files in os.walk(directory):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def excess(began, limits, directory):
    """A sentence about the limit that a running check has exceeded; empty if no limit is exceeded."""
    running = descendants()
    if sum(each.seconds for each in running) > limits.seconds:
        return f"stopped after {limits.seconds} seconds of processor time"
    if time.monotonic() - began > WAITING * limits.seconds:
        return f"stopped after {WAITING * limits.seconds} seconds"
    if sum(each.memory for each in running) > limits.memory * confining.MIB:
        return f"stopped because its processes used more than {limits.memory} MiB of memory"
    if len(running) > confining.PROCESSES:
        return f"stopped because it started more than {confining.PROCESSES} processes"
    if size_of(directory) > KEPT * limits.files * confining.MIB:
        return f"stopped because its files took more than {KEPT * limits.files} MiB"
    return ""


def checked(places, stage, source, kind, directory, limits):
    """Checks a source in a separate process. Returns the steps, and a sentence if the check was not completed."""
    command = [sys.executable, __file__, places.build, stage.workload, stage.name, kind, directory, source,
               *map(str, dataclasses.astuple(limits))]
    # Other builds share the compiler's cache, so no submission may write to it.
    environment = os.environ | {"TMPDIR": str(directory / "tmp"), "CCACHE_DISABLE": "1"}
    (directory / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as errors:
        began, why = time.monotonic(), ""
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=answers, stderr=errors, env=environment,
                              start_new_session=True) as process:
            try:
                while not why:
                    try:
                        process.wait(PAUSE)
                        break
                    except subprocess.TimeoutExpired:
                        why = excess(began, limits, directory)
            finally:
                process.kill()
                process.wait()
                end_descendants()
        answers.seek(0)
        errors.seek(0)
        lines = answers.read().decode(errors="replace").splitlines()
        steps = [json.loads(line) for line in lines if line.startswith("{")]
        if "end" in lines:
            return steps, ""
        if why:
            running = next((name for name in STEPS if name not in {step["name"] for step in steps}), STEPS[-1])
            return steps, f"{why}, while checking {QUESTIONS[running]}"
        last = (errors.read().decode(errors="replace").splitlines() or ["it ended without an error message"])[-1]
        return steps, f"the check failed with an error of its own: {last}"


def check_in_directory(places, stage, text, name, kind, limits):
    """Checks the text of a program in a temporary directory, which is then removed."""
    with temporary_directory() as directory:
        # The harness derives the names of workload and stage from the path.
        source = directory / stage.workload / stage.name / stage.source.name
        source.parent.mkdir(parents=True)
        source.write_text(text, encoding="utf-8")
        steps, problem = checked(places, stage, source, kind, directory, limits)
    return with_name(steps, str(source), name), problem


def with_name(value, path, name):
    """Replaces the path of a submission's copy by the submission's name in a JSON value."""
    if isinstance(value, list):
        return [with_name(each, path, name) for each in value]
    if isinstance(value, dict):
        return {key: with_name(each, path, name) for key, each in value.items()}
    return value.replace(path, name) if isinstance(value, str) else value


def seconds_of(seconds, *_):
    """The time limit of a check with a limit of processor time: a test case that does not end is named before this limit stops the
    whole check, also if the program keeps two processors busy."""
    return max(5, seconds / PARTS)


def check_one(build, workload, stage, kind, directory, source, *limits):
    """The main function of the process that checks one submission. Prints each step as a line of JSON."""
    places = building.Places(ROOT, pathlib.Path(build))
    directory = pathlib.Path(directory)
    confining.CURRENT.append(confining.Confinement(kind, directory, confining.Limits(*map(int, limits))))
    job = checking.Job(places, workshop.find(ROOT, workload, stage), pathlib.Path(source), directory / "out", seconds_of(*map(int, limits)))
    for step in checking.check(job):
        print(json.dumps(step.json()), flush=True)
        if step.name == STEPS[-1]:
            break  # the step *GPU* is omitted, because a GPU cannot be confined
    print("end", flush=True)


# --- Results

def kind_for(places, limits):
    """The kind of confinement on this machine. Raises Refused if an unprivileged user could not check anything."""
    with temporary_directory() as directory:
        kind = confining.kind_here(directory, limits)
        if kind is None:
            raise Refused(f"submissions cannot be confined in '{directory.parent}': 'prlimit' of util-linux must be there, and the user "
                          "who runs submissions must have access to this directory; TMPDIR selects another one")
        if not confining.works(confining.Confinement(kind, directory, limits), ["test", "-r", places.build / "build.ninja"]):
            raise Refused(f"'{places.build}' cannot be read by the user nobody, who runs submissions if root starts the command; "
                          "start it as another user, or from a checkout that all users can read")
        return kind


def grade(places, stage, submissions, given, limits):
    """Yields one row per submission."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    kind = kind_for(places, limits)
    if confining.sentence(kind):
        workshop.warn(confining.sentence(kind))
    # Checks the stage's own source first. This check also solves the test cases by stage zero, and shows that the limits do
    # not stop a correct solution.
    print(f"climb: checking the source of {stage.workload} {stage.name} itself ...", file=sys.stderr)
    own = Row("", *check_in_directory(places, stage, stage.source.read_text(), stage.source.name, kind,
                                      dataclasses.replace(limits, seconds=PATIENCE * limits.seconds)))
    if not own.passed:
        raise Refused(f"the source of {stage.workload} {stage.name} itself does not pass under these limits, so nothing can be graded: "
                      + (" ".join(own.message) or "a question remained open"))
    earlier = {}
    for number, (name, path) in enumerate(submissions, 1):
        print(f"climb: {number} of {len(submissions)}: {name}", file=sys.stderr)
        row = Row(name)
        row.hints, row.solution_seen = progress_of(path, stage)
        try:
            text = text_of(path, path in given)
            row.remarks = list(remarks_of(name, text, stage, earlier))
            row.steps, row.problem = check_in_directory(places, stage, text, name, kind, limits)
            row.remarks += [remark for step in row.steps for remark in step.get("remarks", [])]
        except NotRead as why:
            row.problem = f"not checked: {why}"
        yield row


def number_text(value):
    """A counter as a cell of the table."""
    return "" if value is None else checking.number(value)


def table_text(rows, counters):
    """All rows as a table, followed by the messages and remarks of each submission."""
    heads = ["submission", "passed", *STEPS, *counters, "hints"]
    cells = [[row.name, WORDS[row.passed], *(WORDS[row.verdicts[name]] if name in row.verdicts else "-" for name in STEPS),
              *(number_text(row.counts.get(name)) for name in counters),
              "" if row.hints is None else f"{row.hints}{', solution seen' if row.solution_seen else ''}"] for row in rows]
    widths = [max(len(line[n]) for line in [heads, *cells]) for n in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in [heads, *cells]]
    for row in rows:
        sentences = [*row.message, *(f"remark: {remark}" for remark in row.remarks)]
        lines += ["", row.name] if sentences else []
        for sentence in sentences:
            lines += textwrap.wrap(printable_text(sentence), 100, initial_indent="    ", subsequent_indent="        ",
                                   break_long_words=False, break_on_hyphens=False)
    lines += ["", f"{sum(row.passed for row in rows)} of {len(rows)} passed"]
    return "\n".join(lines) + "\n"


def printable_text(sentence):
    """A sentence without control characters. The sentence may quote a submission, whose control characters could change the
    terminal."""
    return "".join(each if each.isprintable() else " " for each in sentence)


def as_cell(text):
    """A text as a CSV cell that no spreadsheet interprets as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def csv_text(rows, counters):
    """All rows as CSV, with the column titles in the first line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "passed", *STEPS, *counters, "hints", "solution_seen", "reasons", "remarks"])
    for row in rows:
        writer.writerow([as_cell(row.name), WORDS[row.passed], *(WORDS[row.verdicts[name]] if name in row.verdicts else "" for name in STEPS),
                         *(row.counts.get(name, "") for name in counters), "" if row.hints is None else row.hints,
                         "" if row.solution_seen is None else WORDS[row.solution_seen],
                         as_cell(printable_text(" | ".join(row.message))), as_cell(printable_text(" | ".join(row.remarks)))])
    return out.getvalue()


def json_text(rows, stage, limits):
    """All rows as JSON."""
    return json.dumps({"workload": stage.workload, "stage": stage.name, "limits": dataclasses.asdict(limits),
                       "submissions": [row.json() for row in rows]}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 10:
        sys.exit(__doc__)
    check_one(*sys.argv[1:])
