"""Records the results on a GPU of the tests that check the CPU device against CUDA.

Usage, on a machine with a GPU: python3 docs conformance MACHINE REVISION OUTPUT.json PROGRAM...

A PROGRAM is common/cuda_on_cpu/tests/PROGRAM.cu, compiled by nvcc for that GPU; it prints TAP. A table of the passed,
failed and skipped tests of each program is written to OUTPUT.txt, next to OUTPUT.json.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

from measure import recordings

SECONDS = 120  # the time limit of a program
RESULT = re.compile(r"^(ok|not ok) \d+ - (.*?)(?: # SKIP .*)?$", re.MULTILINE)


def read(text, status):
    """The names of a program's tests, by their result. A program that fails without naming a failed test fails as a
    whole."""
    tests = {"passed": [], "failed": [], "skipped": []}
    for found in RESULT.finditer(text):
        what = "failed" if found[1] == "not ok" else "skipped" if " # SKIP " in found[0] else "passed"
        tests[what].append(found[2])
    planned = re.search(r"^1\.\.(\d+)", text, re.MULTILINE)
    complete = planned is not None and int(planned[1]) == sum(map(len, tests.values()))
    if not complete or (status != 0) != bool(tests["failed"]):
        tests["failed"].append(f"it ends with status {status}")
    return tests


def run(program):
    """The results of the tests of a program."""
    try:
        result = subprocess.run([program], timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return {"passed": [], "failed": [f"it did not end within {SECONDS} s"], "skipped": []}
    return read(result.stdout, result.returncode)


def table(recording):
    """A table of the numbers of passed, failed and skipped tests of each program, and of all programs."""
    columns = ("passed", "failed", "skipped")
    rows = [(name, *(len(tests[column]) for column in columns)) for name, tests in sorted(recording["programs"].items())]
    rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, 4))))
    return "".join(f"{row[0]:<18}" + "".join(f"{value:>9}" for value in row[1:]) + "\n" for row in [("program", *columns), *rows])


def main(machine, revision, output, *programs):
    """Writes the recording and its table."""
    output = pathlib.Path(output)
    device, driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE,
                                    text=True, check=True).stdout.splitlines()[0].split(", ")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    recording = {"machine": machine, "device": device, "driver": driver, "revision": revision, "date": now,
                 "programs": {pathlib.Path(program).name: run(pathlib.Path(program).resolve()) for program in programs}}
    output.write_text(recordings.text_by_entry(recording))
    output.with_suffix(".txt").write_text(table(recording))
    print(table(recording), file=sys.stderr)
