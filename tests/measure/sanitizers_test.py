"""Tests docs/measure/sanitizers.py: how it reads the output of compute-sanitizer, and its recording: sanitizers_test.py
ROOT. Prints TAP.
"""

import json
import pathlib
import sys

import tap
from measure import sanitizers

ROOT = pathlib.Path(sys.argv[1])
TESTS = ROOT / "common/cuda_on_cpu/tests"
RECORDING = ROOT / "docs/results/h200/sanitizers.json"
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at void k<(bool)1>(int *)+0xa0 in planted_x.cu:28
=========     and Read access at void k<(bool)1>(int *)+0xb0 in planted_x.cu:30 [256 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
CLEAN = "========= COMPUTE-SANITIZER\nplanted_x.cu:7 is printed by the program\n========= ERROR SUMMARY: 0 errors\n"


def readings():
    """Yields errors in reading the output of a tool."""
    source = pathlib.Path("planted_x.cu")
    race = sanitizers.said(RACE, source)
    if race["errors"] != 1 or race["lines"] != [28, 30] or not race["first"].startswith("Error: Race reported between Write"):
        yield f"a race is read as {race}"
    if (clean := sanitizers.said(CLEAN, source)) != {"errors": 0, "first": "ERROR SUMMARY: 0 errors", "lines": []}:
        yield f"a clean run is read as {clean}"
    if sanitizers.said("Killed", source)["errors"] is not None:
        yield "a run without a summary counts as clean"


def cases():
    """Yields seeded faults without kinds or lines, and recorded cases that no longer exist."""
    known = {f"{source.stem}/{case}": entry for source in TESTS.glob("planted_*.cu")
             for case, entry in sanitizers.planted(source).items()}
    yield from (f"the seeded fault {name} has no line or no kind"
                for name, entry in known.items() if not entry["lines"] or not entry["kinds"])
    yield from (f"the recorded case {name} does not exist any more"
                for name in json.loads(RECORDING.read_text())["cases"] if name not in known)


def tables():
    """Yields errors in the table of three cases, and a stored table that does not belong to the recording."""
    tool = {"errors": 0, "first": "", "lines": []}
    race = {"kinds": ["race"], "lines": [28]}
    of_two = {"twin": {"memcheck": tool | {"errors": 1, "first": "Program hit cudaErrorInvalidDevice"}}}
    small = {"cases": {"a": race | {"bug": {"racecheck": tool | {"errors": 2, "lines": [28]}}, "twin": {"racecheck": tool}},
                       "b": race | {"bug": {"racecheck": tool | {"errors": None}}, "twin": {"racecheck": tool | {"errors": 3}}},
                       "c": {"kinds": ["deadlock"], "lines": [3], "twin": {"racecheck": tool}}, "d": race | of_two}}
    rows = {line[:22].strip(): line[22:].split() for line in sanitizers.table(small).splitlines()}
    if rows["race"] != list("22111") or rows["deadlock"] != list("10000") or rows["all"] != list("32111"):
        yield f"the table counts three cases as {rows}"
    if RECORDING.with_suffix(".txt").read_text() != sanitizers.table(json.loads(RECORDING.read_text())):
        yield f"{RECORDING.with_suffix('.txt').name} differs from the table of {RECORDING.name}"


tap.report([("errors and their lines are read from the output of compute-sanitizer", readings()),
            ("every seeded fault has a kind and a line, and every recorded case exists", cases()),
            ("the table counts the cases of the recording", tables())])
