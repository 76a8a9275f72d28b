"""Every stage as an exercise: the commands ./climb exercise, check, hint, solution and grade.

Usage: python3 common/tutor BUILD exercise WORKLOAD STAGE [--force] | exercise --list
       python3 common/tutor BUILD check WORKLOAD STAGE [--json] [--watch] [--seconds N] | check WORKLOAD STAGE --targets
       python3 common/tutor BUILD hint WORKLOAD STAGE [--level N] | solution WORKLOAD STAGE
       python3 common/tutor BUILD grade WORKLOAD STAGE FILE... [--csv FILE] [--json FILE]

BUILD is a directory that Meson has configured. Working copies are in exercises/, which git ignores, or in the directory of --copies.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import signal
import sys
import textwrap
import time

import building
import checking
import confining
import gaps
import grading
import hints
import warm_up
import workshop
from workshop import Copy, Refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
TITLES = {"compiles": "compiles", "agrees": "agrees with stage zero", "clean": "clean under analysis",
          "optimised": "has the optimisation", "GPU": "agrees on the GPU"}
STATES = {"clean": "yes", "not clean": "no"}  # texts for the states of the step *clean*


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence, as Refused."""

    def error(self, message):
        raise Refused(f"{message}; {' '.join(self.format_usage().split())}")


def add_questions_of_script(command):
    """Adds two options that only the script ./climb uses: --targets prints the programs to build, and --refuse only checks
    the arguments."""
    command.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)
    command.add_argument("--refuse", action="store_true", help=argparse.SUPPRESS)


def whole_number(option, lowest, highest, unit):
    """Returns a function that reads the value of an option as an integer from `lowest` to `highest`."""
    def read(text):
        if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
            raise Refused(f"{option} takes {lowest} to {highest} {unit}, not '{text}'")
        return int(text)
    return read


def add_grade(command):
    """Adds the arguments of the command grade."""
    usual = confining.Limits()
    command.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path,
                         help="a submission with any name, or a directory whose files are all submissions")
    command.add_argument("--csv", metavar="FILE", help="also write the results as CSV; - prints them instead of the table")
    command.add_argument("--json", metavar="FILE", help="also write the results as JSON; - prints them instead of the table")
    command.add_argument("--time", metavar="SECONDS", type=whole_number("--time", 5, 3600, "seconds"), default=usual.seconds,
                         help=f"the limit of processor time of each submission, with its build (default: {usual.seconds}); a submission "
                              f"that only waits is stopped after {grading.WAITING} times as long")
    command.add_argument("--memory", metavar="MIB", type=whole_number("--memory", 256, 1 << 20, "MiB"), default=usual.memory,
                         help=f"the memory limit of each submission (default: {usual.memory})")
    command.add_argument("--file-size", metavar="MIB", type=whole_number("--file-size", 16, 1 << 16, "MiB"), default=usual.files,
                         help=f"the largest file that a program may write (default: {usual.files})")
    add_questions_of_script(command)


def seconds_of(text):
    """The value of --seconds, as a number."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 86400:
        raise Refused(f"--seconds takes 1 to 86400, not '{text}'")
    return value


def parser():
    """Returns the parser of the command line."""
    whole = Parser(prog="./climb", usage="./climb exercise|check|hint|solution|grade WORKLOAD STAGE")
    commands = whole.add_subparsers(dest="command", required=True, parser_class=Parser)
    texts = {"exercise": "create a working copy of a stage, which starts with the code of the previous stage",
             "check": "build and check the working copy",
             "hint": "print the next hint", "solution": "print the difference between the working copy and the stage",
             "grade": "check submissions, and print a table of all results. Nothing is written into the submissions. Each program runs "
                      "without network, with the limits below, and as an unprivileged process. The exit status is 0 if all submissions "
                      "passed, 1 if one did not, and 2 if nothing could be graded."}
    for name, text in texts.items():
        command = commands.add_parser(name, prog=f"./climb {name}", description=text)
        optional = None if name == "grade" else "?"
        command.add_argument("workload", metavar="WORKLOAD", nargs=optional,
                             help="a workload" if name == "grade" else f"a workload, or {warm_up.NAME}")
        command.add_argument("stage", metavar="STAGE", nargs=optional, help="its number, its name or both: 04, tiled, 04_tiled")
        if name == "grade":
            add_grade(command)
            continue
        command.add_argument("--copies", metavar="DIRECTORY", type=pathlib.Path, default=ROOT / "exercises",
                             help="the directory of the working copies (default: exercises)")
        if name == "exercise":
            command.add_argument("--list", action="store_true", help="list all exercises and the progress of each working copy")
            command.add_argument("--skeleton", action="store_true",
                                 help="start with the code of the stage itself, with gaps; for " + ", ".join(map(" ".join, gaps.GAPS)))
            command.add_argument("--force", action="store_true", help="start again; an existing working copy is deleted")
        if name == "check":
            command.add_argument("--json", action="store_true", help="print the result as JSON")
            command.add_argument("--watch", action="store_true", help="check again whenever the working copy is saved")
            command.add_argument("--seconds", metavar="N", type=seconds_of, default=checking.SECONDS,
                                 help=f"the time limit of the check, without compilation (default: {checking.SECONDS})")
            add_questions_of_script(command)
        if name == "hint":
            command.add_argument("--level", type=int, help="print this hint: 1, 2, ...")
    return whole


# --- exercise

def exercise(arguments, copy):
    """Creates a working copy, and prints its path and the next commands."""
    copy.make(arguments.force, gaps.skeleton_of(copy) if arguments.skeleton else None)
    stage = copy.stage
    begin = f"is the code of {stage.name} with gaps" if arguments.skeleton else f"starts with the code of {stage.before.name}"
    print(f"{copy.name} {begin}.\nYour task: {stage.idea}.")
    print(f"Change the file, then: ./climb check {copy.command}")
    return 0


def state_of(copy):
    """The progress of a working copy, in words; empty if there is no copy."""
    progress = copy.progress()
    if not copy.source.exists():
        return ""
    state = f"done {progress['passed']}" if "passed" in progress else f"begun {progress.get('begun', '')}".rstrip()
    extras = [f"{progress['checks']} checks"] if progress.get("checks", 0) > 1 else ["1 check"] if progress.get("checks") else []
    extras += [f"{progress['hints']} hints"] if progress.get("hints", 0) > 1 else ["1 hint"] if progress.get("hints") else []
    extras += ["solution seen"] if "solution" in progress else []
    return state + (f" ({', '.join(extras)})" if extras else "")


def list_all(copies):
    """Prints the exercises of all workloads, with the progress of the working copies in a directory."""
    book = workshop.book
    count = done = 0
    print(f"{warm_up.NAME:<26} add two vectors, before the first exercise{' ' * 7}"
          f"{'begun' if warm_up.source_of(copies).exists() else ''}".rstrip())
    for workload, stages in book.in_reading_order(ROOT, book.find_stages(ROOT)).items():
        print(workload)
        for stage in stages:
            if stage.before:
                copy = Copy(copies, stage)
                count, done = count + 1, done + ("passed" in copy.progress() and copy.source.exists())
                print(f"  {stage.name:<24} {stage.idea:<48} {state_of(copy)}".rstrip())
    print(f"{done} of {count} done")
    return 0


# --- check

def printed(step):
    """The text of a step, as the terminal shows it."""
    lines = [f"{TITLES[step.name]:<24} {STATES.get(step.state, step.state)}"]
    for sentence in [*step.says, *(f"Remark: {remark}" for remark in step.remarks)]:
        for number, line in enumerate(sentence.splitlines()):
            lines += textwrap.wrap(line, 96, initial_indent="        " if number else "    ", subsequent_indent="        ",
                                   break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


class Progress:
    """A line on the terminal that shows which program runs."""

    def __init__(self, stream):
        self.stream = stream if stream.isatty() else None
        self.shown = 0

    def show(self, text):
        """Replaces the text of the line."""
        if self.stream:
            print("\r" + text[:100].ljust(self.shown), end="\r", file=self.stream, flush=True)
            self.shown = len(text[:100])

    def clear(self):
        """Removes the text of the line."""
        self.show("")


def check_once(copy, places, as_json, seconds):
    """Checks a working copy, prints the result, and returns whether the working copy passed."""
    progress = Progress(sys.stderr)
    job = checking.Job(places, copy.stage, copy.needed(), checking.place_for(places, copy.stage, copy.source), seconds, progress.show)
    steps = []
    for step in checking.check(job):
        progress.clear()
        if not as_json:
            if not steps:
                print(f"{copy.stage.workload} {copy.stage.heading}: {copy.name}")
            print(printed(step), flush=True)
        steps.append(step)
    progress.clear()
    result = checking.Result(steps)
    passed, recorded = result.passed, copy.progress()
    changes = {"checks": recorded.get("checks", 0) + 1}
    if counters := next((step.details["counters"] for step in steps if "counters" in step.details), None):
        changes["counters"] = counters  # the first hint shows the counters
    if passed and "passed" not in recorded:
        changes["passed"] = workshop.today()
    copy.try_to_record_progress(**changes)
    if as_json:
        print(json.dumps({"workload": copy.stage.workload, "stage": copy.stage.name, "progress": copy.progress()} | result.json(),
                         indent=1))
    elif passed:
        print(f"Done. ./climb solution {copy.command} shows how the stage does it.")
    return passed


def watch(copy, places, seconds):
    """Checks a working copy each time the file is saved, until Ctrl-C."""
    seen = None
    try:
        while True:
            now = copy.needed().stat().st_mtime_ns
            if now != seen:
                seen = now
                check_once(copy, places, False, seconds)
                print("Waiting for the next save; Ctrl-C ends.\n", flush=True)
            time.sleep(0.3)
    except KeyboardInterrupt:
        print()
        return 0


def check(arguments, copy, places):
    """Checks a working copy, once or with --watch, and returns the exit status."""
    copy.needed()
    if arguments.json and arguments.watch:
        raise Refused("--json and --watch exclude each other")
    if arguments.refuse:
        return 0
    if arguments.targets:
        print("\n".join(checking.targets(places, copy.stage)))
        return 0
    if arguments.watch:
        return watch(copy, places, arguments.seconds)
    return 0 if check_once(copy, places, arguments.json, arguments.seconds) else 1


# --- grade

def needed_output(name, files):
    """The path of a file for results. Raises Refused if the file cannot be written, or is in a directory of submissions."""
    path = pathlib.Path(name).resolve()
    for given in (each.resolve() for each in files):
        if path == given or given in path.parents:
            raise Refused(f"'{name}' lies among the submissions, and nothing is written there")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Refused(f"'{name}' cannot be written")
    return path


def grade(arguments, stage, places):
    """Grades submissions. Returns the exit status, which is 1 if at least one submission did not pass."""
    if arguments.csv == arguments.json == "-":
        raise Refused("only one of --csv and --json can be printed")
    outputs = {kind: needed_output(name, arguments.files) for kind in ("csv", "json")
               if (name := getattr(arguments, kind)) not in (None, "-")}
    submissions = list(grading.submissions_of(arguments.files))
    if arguments.refuse:
        return 0
    if arguments.targets:
        print("\n".join(checking.targets(places, stage)))
        return 0
    limits = confining.Limits(arguments.time, arguments.memory, arguments.file_size)
    rows = list(grading.grade(places, stage, submissions, arguments.files, limits))
    counters = checking.claims.claim_of(stage.workload, stage.name).counters
    texts = {"csv": grading.csv_text(rows, counters), "json": grading.json_text(rows, stage, limits)}
    for kind, path in outputs.items():
        path.write_text(texts[kind], encoding="utf-8")
    printed_kind = next((kind for kind in texts if getattr(arguments, kind) == "-"), None)
    print(texts[printed_kind] if printed_kind else grading.table_text(rows, counters), end="")
    return 0 if all(row.passed for row in rows) else 1


# --- hint and solution

def hint(arguments, copy):
    """Prints the next hint, or the hint that --level selects."""
    copy.needed()
    every = list(hints.hints_of(copy))
    level = arguments.level or min(copy.progress().get("hints", 0) + 1, len(every))
    if not 1 <= level <= len(every):
        raise Refused(f"--level takes 1 to {len(every)}, not {level}")
    copy.try_to_record_progress(hints=max(level, copy.progress().get("hints", 0)))
    print(f"Hint {level} of {len(every)}." + ("" if level < len(every) else f" ./climb solution {copy.command} shows the rest."))
    for line in every[level - 1].splitlines():
        # Lines of a skeleton are printed without line breaks.
        print(line if line.startswith("    ") else "\n".join(textwrap.wrap(line, 100, subsequent_indent="    ", break_long_words=False)))
    return 0


def solution(copy):
    """Prints the diff between the working copy and the stage."""
    mine, stages = copy.needed(), copy.stage.source
    copy.try_to_record_progress(solution=workshop.today())
    (before, _), (after, _) = (workshop.book.numbered_body(path) for path in (mine, stages))
    for line in difflib.unified_diff(before, after, copy.name, str(stages.relative_to(ROOT)), lineterm=""):
        print(line)
    return 0


def main(build, *words):
    """Runs a command. Returns the exit status: 1 if a check failed, 2 if the command cannot be carried out."""
    try:
        arguments = parser().parse_args(words)
        if arguments.command == "exercise" and arguments.list:
            return list_all(arguments.copies)
        if arguments.workload == warm_up.NAME and arguments.stage is None and arguments.command != "grade":
            arguments.copies = arguments.copies.resolve()
            return warm_up.run(arguments, building.Places(ROOT, pathlib.Path(build).resolve()), printed)
        if arguments.workload is None or arguments.stage is None:
            raise Refused(f"{arguments.command} takes a workload and a stage, such as ata 04_tiled; ./climb exercise --list lists all")
        if arguments.command == "grade":
            return grade(arguments, workshop.find(ROOT, arguments.workload, arguments.stage),
                         building.Places(ROOT, pathlib.Path(build).resolve()))
        copy = Copy(arguments.copies.resolve(), workshop.find(ROOT, arguments.workload, arguments.stage))
        if arguments.command == "check":
            return check(arguments, copy, building.Places(ROOT, pathlib.Path(build).resolve()))
        return {"exercise": lambda: exercise(arguments, copy), "hint": lambda: hint(arguments, copy),
                "solution": lambda: solution(copy)}[arguments.command]()
    except Refused as refused:
        print(f"climb: {refused}", file=sys.stderr)
    except FileNotFoundError as missing:
        print(f"climb: '{missing.filename}' was not found; it is needed to build and run the working copy", file=sys.stderr)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        print(f"climb: '{error.filename}': {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for ending in (signal.SIGTERM, signal.SIGHUP):  # a check then ends its program, and grade removes its temporary files
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main(*sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)
