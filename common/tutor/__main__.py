"""Every stage as an exercise: the commands ./climb exercise, check, hint and solution.

Usage: python3 common/tutor BUILD exercise WORKLOAD STAGE [--force] | exercise --list
       python3 common/tutor BUILD check WORKLOAD STAGE [--json] [--watch] | check WORKLOAD STAGE --targets
       python3 common/tutor BUILD hint WORKLOAD STAGE [--level N] | solution WORKLOAD STAGE

BUILD is a directory that Meson has configured. Working copies are in exercises/, which git ignores, or in the directory of --copies.
"""

import argparse
import difflib
import json
import pathlib
import sys
import textwrap
import time

import building
import checking
import workshop
from workshop import Copy, Refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
TITLES = {"compiles": "compiles", "agrees": "agrees with stage zero", "clean": "clean under analysis",
          "optimised": "has the optimisation", "GPU": "agrees on the GPU"}
SIGNS = {True: "yes", False: "no", None: "not checked"}


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence."""

    def error(self, message):
        raise Refused(f"{message}; {' '.join(self.format_usage().split())}")


def parser():
    """The parser of the command line."""
    whole = Parser(prog="./climb", usage="./climb exercise|check|hint|solution WORKLOAD STAGE")
    commands = whole.add_subparsers(dest="command", required=True, parser_class=Parser)
    texts = {"exercise": "create a working copy of a stage, which starts with the code of the previous stage",
             "check": "build and check the working copy",
             "hint": "print the next hint", "solution": "print the difference between the working copy and the stage"}
    for name, text in texts.items():
        command = commands.add_parser(name, prog=f"./climb {name}", description=text)
        optional = "?" if name == "exercise" else None
        command.add_argument("workload", metavar="WORKLOAD", nargs=optional)
        command.add_argument("stage", metavar="STAGE", nargs=optional, help="its number, its name or both: 04, tiled, 04_tiled")
        command.add_argument("--copies", metavar="DIRECTORY", type=pathlib.Path, default=ROOT / "exercises",
                             help="the directory of the working copies (default: exercises)")
        if name == "exercise":
            command.add_argument("--list", action="store_true", help="list all exercises and the progress of each working copy")
            command.add_argument("--force", action="store_true", help="start again; an existing working copy is deleted")
        if name == "check":
            command.add_argument("--json", action="store_true", help="print the result as JSON")
            command.add_argument("--watch", action="store_true", help="check again whenever the working copy is saved")
            # For the script ./climb: print the programs that it has to build first; only check the arguments.
            command.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)
            command.add_argument("--refuse", action="store_true", help=argparse.SUPPRESS)
        if name == "hint":
            command.add_argument("--level", type=int, help="print this hint: 1, 2, ...")
    return whole


# --- exercise

def exercise(arguments, copy):
    """Creates a working copy."""
    copy.make(arguments.force)
    stage = copy.stage
    print(f"{copy.name} starts with the code of {stage.before.name}.\nYour task: {stage.idea}.")
    print(f"Change the file, then: ./climb check {copy.command}")
    return 0


def state_of(copy):
    """The progress of a working copy in words; empty if there is no copy."""
    progress = copy.progress()
    if not copy.source.exists():
        return ""
    state = f"done {progress['passed']}" if "passed" in progress else f"begun {progress.get('begun', '')}".rstrip()
    extras = [f"{progress['checks']} checks"] if progress.get("checks", 0) > 1 else ["1 check"] if progress.get("checks") else []
    extras += [f"{progress['hints']} hints"] if progress.get("hints", 0) > 1 else ["1 hint"] if progress.get("hints") else []
    extras += ["solution seen"] if "solution" in progress else []
    return state + (f" ({', '.join(extras)})" if extras else "")


def list_all(copies):
    """Prints the exercises of all workloads with the progress of the working copies in a directory."""
    book = workshop.book
    count = done = 0
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
    """The text of a step for the terminal."""
    lines = [f"{TITLES[step.name]:<24} {SIGNS[step.passed]}"]
    for sentence in step.says:
        lines += textwrap.wrap(sentence, 96, initial_indent="    ", subsequent_indent="        ", break_long_words=False,
                               break_on_hyphens=False)
    return "\n".join(lines)


def check_once(copy, places, as_json):
    """Checks a working copy and prints the result; returns whether it passed."""
    job = checking.Job(places, copy.stage, copy.needed(), checking.place_for(places, copy.stage, copy.source))
    steps = []
    for step in checking.check(job):
        if not as_json:
            if not steps:
                print(f"{copy.stage.workload} {copy.stage.heading}: {copy.name}")
            print(printed(step), flush=True)
        steps.append(step)
    passed = all(step.passed is not False for step in steps)
    progress = copy.progress()
    changes = {"checks": progress.get("checks", 0) + 1}
    if passed and "passed" not in progress:
        changes["passed"] = workshop.today()
    copy.try_to_record_progress(**changes)
    if as_json:
        print(json.dumps({"workload": copy.stage.workload, "stage": copy.stage.name, "passed": passed,
                          "progress": copy.progress(), "steps": [step.json() for step in steps]}, indent=1))
    elif passed:
        print(f"Done. ./climb solution {copy.command} shows how the stage does it.")
    return passed


def watch(copy, places):
    """Checks a working copy whenever it is saved, until Ctrl-C."""
    seen = None
    try:
        while True:
            now = copy.needed().stat().st_mtime_ns
            if now != seen:
                seen = now
                check_once(copy, places, as_json=False)
                print("Waiting for the next save; Ctrl-C ends.\n", flush=True)
            time.sleep(0.3)
    except KeyboardInterrupt:
        print()
        return 0


def check(arguments, copy, places):
    """The exit status of a check."""
    copy.needed()
    if arguments.json and arguments.watch:
        raise Refused("--json and --watch exclude each other")
    if arguments.refuse:
        return 0
    if arguments.targets:
        print("\n".join(checking.targets(places, copy.stage)))
        return 0
    if arguments.watch:
        return watch(copy, places)
    return 0 if check_once(copy, places, arguments.json) else 1


# --- hint and solution

def hints_of(stage):
    """The hints of a stage, the least specific first: the expected effect, the idea, the change, and its lines."""
    header = workshop.header_of(stage)
    if "Expect" in header:
        yield "Expected effect: " + header["Expect"]
    if idea := workshop.idea_of(stage):
        yield "The idea: " + idea
    if "Changed" in header:
        yield "What changes: " + header["Changed"] + (f" Why this is legal: {header['Legal']}" if "Legal" in header else "")
    lines = [f"Lines that change in {stage.before.source.relative_to(ROOT)}:"]
    for first, last, removed, added, piece in workshop.places_of_change(stage):
        where = f"lines {first} to {last}" if last > first else f"line {first}"
        lines.append(f"{where}{f', in [{piece}]' if piece else ''}: {removed} lines of code are removed, {added} are added")
    yield "\n".join(lines)


def hint(arguments, copy):
    """Prints the next hint, or the hint of --level."""
    copy.needed()
    hints = list(hints_of(copy.stage))
    level = arguments.level or min(copy.progress().get("hints", 0) + 1, len(hints))
    if not 1 <= level <= len(hints):
        raise Refused(f"--level takes 1 to {len(hints)}, not {level}")
    copy.try_to_record_progress(hints=max(level, copy.progress().get("hints", 0)))
    for line in hints[level - 1].splitlines():
        print("\n".join(textwrap.wrap(line, 100, subsequent_indent="    ", break_long_words=False)))
    print(f"Hint {level} of {len(hints)}." + (
        "" if level < len(hints) else f" ./climb solution {copy.command} shows the rest."))
    return 0


def solution(copy):
    """Prints the diff from the working copy to the stage."""
    mine, stages = copy.needed(), copy.stage.source
    copy.try_to_record_progress(solution=workshop.today())
    (before, _), (after, _) = (workshop.book.numbered_body(path) for path in (mine, stages))
    for line in difflib.unified_diff(before, after, copy.name, str(stages.relative_to(ROOT)), lineterm=""):
        print(line)
    return 0


def main(build, *words):
    """Runs a command. Returns the exit status: 1 if a check fails, 2 if the command cannot be carried out."""
    try:
        arguments = parser().parse_args(words)
        if arguments.command == "exercise" and arguments.list:
            return list_all(arguments.copies)
        if arguments.workload is None or arguments.stage is None:
            raise Refused("exercise takes a workload and a stage, such as ata 04_tiled; ./climb exercise --list lists all")
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
    try:
        sys.exit(main(*sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)
