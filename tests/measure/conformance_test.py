"""Tests docs/measure/conformance.py: how it reads the output of tests, and its recording: conformance_test.py ROOT.
Prints TAP."""

import json
import pathlib
import re
import sys

import tap
from measure import conformance

ROOT = pathlib.Path(sys.argv[1])
TESTS = ROOT / "common/cuda_on_cpu/tests"
RECORDING = ROOT / "docs/results/h200/conformance.json"
OUTPUT = ("# STAIRCASE_TEST_SEED=7\nok 1 - threads run\n# x.cu:3: 1 instead of 2\nnot ok 2 - blocks run\n"
          "ok 3 - two devices # SKIP one is here\n1..3\n")


def readings():
    """Yields errors in reading the output of a program."""
    expected = {"passed": ["threads run"], "failed": ["blocks run"], "skipped": ["two devices"]}
    if (found := conformance.read(OUTPUT, 1)) != expected:
        yield f"the output of three tests is read as {found}"
    passing = "ok 1 - threads run\n1..1\n"
    if (found := conformance.read(passing, 0)) != {"passed": ["threads run"], "failed": [], "skipped": []}:
        yield f"the output of a passed test is read as {found}"
    for text, status in ((passing, 1), ("ok 1 - threads run\n", -11), ("ok 1 - threads run\n1..2\n", 0), ("", 0),
                         (OUTPUT, 0)):
        if not any("ends with status" in name for name in conformance.read(text, status)["failed"]):
            yield f"the output {text!r} with status {status} is accepted as complete"


def recorded():
    """Yields errors in the recording: programs or tests that no longer exist, and a wrong table."""
    recording = json.loads(RECORDING.read_text())
    for program, tests in recording["programs"].items():
        source = TESTS / f"{program}.cu"
        known = {name.replace("_", " ") for name in re.findall(r"^TEST\((\w+)\)", source.read_text(), re.MULTILINE)} if source.exists() else set()
        for outcome, names in tests.items():
            yield from (f"{program}: the test '{name}' is recorded as {outcome}, and does not exist any more"
                        for name in names if name not in known)
    if RECORDING.with_suffix(".txt").read_text() != conformance.table(recording):
        yield f"{RECORDING.with_suffix('.txt').name} differs from the table of {RECORDING.name}"


tap.report([("results of tests are read from their output and exit status", readings()),
            ("the recording names existing tests, and its table is current", recorded())])
