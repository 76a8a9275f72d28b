"""Tests that reports do not depend on the number of threads that run blocks: trials_test.py TRIALS-analyze
PLANTED-analyze...

TRIALS is trials.cu. The other programs contain seeded bugs, and all their cases run except those whose blocks wait
for each other, because the number of polls depends on timing. Exit status, output and report must equal those of a
run with one thread. Prints TAP.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
WAITS = re.compile("cooperative|cluster", re.IGNORECASE)  # matches the source of a case with waiting blocks
THREADS = (2, 5)
SECONDS = 120  # time limit of a run
PRINTED = {f"# block {number} prints": 1 for number in range(8)} | {"# a line of its own": 1}


def run(program, arguments, threads):
    """Returns exit status, output and report of one run."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name, "report.json")
        environment = os.environ | {"CUDA_ON_CPU_REPORT": str(report), "CUDA_ON_CPU_THREADS": str(threads), "STAIRCASE_TEST_SEED": "1"}
        result = subprocess.run([program, *arguments], env=environment, timeout=SECONDS, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
        return result.returncode, result.stdout, json.loads(report.read_text()) if report.exists() else None


def differences(one, other):
    """Yields the differences between two runs."""
    for what, mine, theirs in zip(("exit status", "output"), one, other):
        if mine != theirs:
            yield f"the {what} is {theirs!r}, but {mine!r} with one thread"
    if one[2] is None or other[2] is None:
        yield "a run wrote no report"
        return
    for part in one[2].keys() | other[2].keys():
        if one[2].get(part) != other[2].get(part):
            yield (f"'{part}' in the report is {str(other[2].get(part))[:500]}, "
                   f"but {str(one[2].get(part))[:500]} with one thread")


def problems(program, arguments):
    """Yields the problems of the runs of one case."""
    one = run(program, arguments, 1)
    for threads in THREADS:
        for problem in differences(one, run(program, arguments, threads)):
            yield f"with {threads} threads: {problem}"
    if arguments:
        return
    if one[0] != 0:
        yield f"the exit status is {one[0]} with one thread, not 0"
    lines = collections.Counter(line for line in one[1].splitlines() if line in PRINTED)
    if lines != PRINTED:
        yield f"kernels printed the lines {dict(lines)}, not {PRINTED}"


def text_of(source, name):
    """Returns the text of the namespace of a case."""
    found = re.search(rf"^namespace {name} {{$.*?^}}  // namespace {name}$", source.read_text(), re.MULTILINE | re.DOTALL)
    return found[0] if found else sys.exit(f"{source}: there is no namespace {name}")


def cases_of(program):
    """Returns the arguments of the runs of a program with seeded bugs."""
    source = HERE / (re.sub("(-cpu)?-analyze$", "", pathlib.Path(program).name) + ".cu")
    names = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    names = [name for name in names if not WAITS.search(text_of(source, name))]
    return [(program, (name, version)) for name in names for version in ("bug", "twin")]


def main(trials, *programs):
    """Prints one TAP line per case."""
    several = " and ".join(map(str, THREADS))
    cases = [(trials, ())] + [case for program in programs for case in cases_of(program)]
    print(f"1..{len(cases)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda case: list(problems(*case)), cases)
        for number, ((program, arguments), found) in enumerate(zip(cases, results), 1):
            name = " ".join([pathlib.Path(program).name, *arguments])
            print(f"{'not ok' if found else 'ok'} {number} - "
                  f"{name} has the same output and report with {several} threads as with one", flush=True)
            for problem in found:
                print(f"# {problem}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
