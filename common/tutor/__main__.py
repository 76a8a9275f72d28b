"""Every stage as an exercise: what ./climb exercise, check, hint and solution do.

Usage: python3 common/tutor BUILD exercise WORKLOAD STAGE [--force] | exercise --list
       python3 common/tutor BUILD check WORKLOAD STAGE [--json] [--watch] | check WORKLOAD STAGE --targets
       python3 common/tutor BUILD hint WORKLOAD STAGE [--level N] | solution WORKLOAD STAGE

BUILD is a directory that Meson has configured. Working copies are in exercises/, which git ignores, or in --copies DIRECTORY.
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
          "optimised": "what the step is about", "GPU": "agrees on the GPU"}
SIGNS = {True: "yes", False: "no", None: "not told"}


class Parser(argparse.ArgumentParser):
    """One that says what is wrong in one sentence."""

    def error(self, message):
        raise Refused(f"{message}; {' '.join(self.format_usage().split()).replace('usage', 'it is')}")


def parser():
    """What the command line takes."""
    whole = Parser(prog="./climb", usage="./climb exercise|check|hint|solution WORKLOAD STAGE")
    commands = whole.add_subparsers(dest="command", required=True, parser_class=Parser)
    texts = {"exercise": "make a working copy of a stage, which begins as the stage before it",
             "check": "build the working copy, and say how far it is",
             "hint": "the next hint", "solution": "the difference between the working copy and the stage"}
    for name, text in texts.items():
        command = commands.add_parser(name, prog=f"./climb {name}", description=text)
        optional = "?" if name == "exercise" else None
        command.add_argument("workload", metavar="WORKLOAD", nargs=optional)
        command.add_argument("stage", metavar="STAGE", nargs=optional, help="a number, a name or both: 04, tiled, 04_tiled")
        command.add_argument("--copies", metavar="DIRECTORY", type=pathlib.Path, default=ROOT / "exercises",
                             help="where the working copies are (default exercises)")
        if name == "exercise":
            command.add_argument("--list", action="store_true", help="all exercises, and how far each working copy is")
            command.add_argument("--force", action="store_true", help="begin anew; the working copy is thrown away")
        if name == "check":
            command.add_argument("--json", action="store_true", help="print the answer as JSON")
            command.add_argument("--watch", action="store_true", help="check again whenever the working copy is saved")
            # Which programs ./climb has to build before; and whether there is anything to refuse before that.
            command.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)
            command.add_argument("--refuse", action="store_true", help=argparse.SUPPRESS)
        if name == "hint":
            command.add_argument("--level", type=int, help="this hint again: 1, 2, ...")
    return whole


# --- Making

def exercise(arguments, copy):
    """Makes a working copy."""
    copy.make(arguments.force)
    stage = copy.stage
    print(f"{copy.name} begins as {stage.before.name}.\nYour task: {stage.idea}.")
    print(f"Change the file, then: ./climb check {copy.command}")
    return 0


def state_of(copy):
    """How far a working copy is, in words; nothing where there is none."""
    noted = copy.progress()
    if not copy.source.exists():
        return ""
    state = f"done {noted['passed']}" if "passed" in noted else f"begun {noted.get('begun', '')}".rstrip()
    extras = [f"{noted['checks']} checks"] if noted.get("checks", 0) > 1 else ["1 check"] if noted.get("checks") else []
    extras += [f"{noted['hints']} hints"] if noted.get("hints", 0) > 1 else ["1 hint"] if noted.get("hints") else []
    extras += ["solution seen"] if "solution" in noted else []
    return state + (f" ({', '.join(extras)})" if extras else "")


def list_all(copies):
    """Prints the exercises of all workloads, and how far the working copies of a directory are."""
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


# --- Checking

def printed(step):
    """A step as the terminal shows it."""
    lines = [f"{TITLES[step.name]:<24} {SIGNS[step.passed]}"]
    for sentence in step.says:
        lines += textwrap.wrap(sentence, 96, initial_indent="    ", subsequent_indent="        ", break_long_words=False,
                               break_on_hyphens=False)
    return "\n".join(lines)


def check_once(copy, places, as_json):
    """Checks a working copy; whether it passed."""
    job = checking.Job(places, copy.stage, copy.needed(), checking.place_for(places, copy.stage, copy.source))
    steps = []
    for step in checking.check(job):
        if not as_json:
            if not steps:
                print(f"{copy.stage.workload} {copy.stage.heading}: {copy.name}")
            print(printed(step), flush=True)
        steps.append(step)
    passed = all(step.passed is not False for step in steps)
    noted = copy.progress()
    changes = {"checks": noted.get("checks", 0) + 1}
    if passed and "passed" not in noted:
        changes["passed"] = workshop.today()
    copy.note(**changes)
    if as_json:
        print(json.dumps({"workload": copy.stage.workload, "stage": copy.stage.name, "passed": passed,
                          "progress": copy.progress(), "steps": [step.json() for step in steps]}, indent=1))
    elif passed:
        print(f"Done. ./climb solution {copy.command} shows how the stage does it.")
    return passed


def watch(copy, places):
    """Checks a working copy whenever it is saved, until the user has enough."""
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


# --- Helping

def hints_of(stage):
    """The hints of a stage, the vaguest first: what it should lead to, the idea, what changes, and where."""
    said = workshop.header_of(stage)
    if "Expect" in said:
        yield "What it should lead to: " + said["Expect"]
    if idea := workshop.idea_of(stage):
        yield "The idea: " + idea
    if "Changed" in said:
        yield "What changes: " + said["Changed"] + (f" Why that is legal: {said['Legal']}" if "Legal" in said else "")
    lines = [f"Where, in {stage.before.source.relative_to(ROOT)}:"]
    for first, last, removed, added, piece in workshop.places_of_change(stage):
        where = f"lines {first} to {last}" if last > first else f"line {first}"
        lines.append(f"{where}{f', in [{piece}]' if piece else ''}: {removed} go, {added} come")
    yield "\n".join(lines)


def hint(arguments, copy):
    """Prints the next hint, or the one that is asked for."""
    copy.needed()
    hints = list(hints_of(copy.stage))
    level = arguments.level or min(copy.progress().get("hints", 0) + 1, len(hints))
    if not 1 <= level <= len(hints):
        raise Refused(f"--level takes 1 to {len(hints)}, not {level}")
    copy.note(hints=max(level, copy.progress().get("hints", 0)))
    for line in hints[level - 1].splitlines():
        print("\n".join(textwrap.wrap(line, 100, subsequent_indent="    ", break_long_words=False)))
    print(f"Hint {level} of {len(hints)}." + (
        "" if level < len(hints) else f" ./climb solution {copy.command} shows the rest."))
    return 0


def solution(copy):
    """Prints what there is to change in the working copy so that it is the stage."""
    mine, stages = copy.needed(), copy.stage.source
    copy.note(solution=workshop.today())
    (before, _), (after, _) = (workshop.book.numbered_body(path) for path in (mine, stages))
    for line in difflib.unified_diff(before, after, copy.name, str(stages.relative_to(ROOT)), lineterm=""):
        print(line)
    return 0


def main(build, *words):
    """The exit status: 1 where a check finds something, 2 where what was asked for cannot be done."""
    try:
        arguments = parser().parse_args(words)
        if arguments.command == "exercise" and arguments.list:
            return list_all(arguments.copies)
        if arguments.workload is None or arguments.stage is None:
            raise Refused("exercise takes a workload and a stage, such as ata 04_tiled; ./climb exercise --list has all")
        copy = Copy(arguments.copies.resolve(), workshop.find(ROOT, arguments.workload, arguments.stage))
        if arguments.command == "check":
            return check(arguments, copy, building.Places(ROOT, pathlib.Path(build).resolve()))
        return {"exercise": lambda: exercise(arguments, copy), "hint": lambda: hint(arguments, copy),
                "solution": lambda: solution(copy)}[arguments.command]()
    except Refused as refused:
        print(f"climb: {refused}", file=sys.stderr)
    except FileNotFoundError as missing:
        print(f"climb: '{missing.filename}' is not there, and is needed to build or to run the working copy", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)
