"""Runs `meson test`, repeats the failures at the end, and prints a last line «N passed, N failed, N skipped» over all
test cases.

Usage: run_tests.py MESON BUILD_DIRECTORY [--targets | --announce STEPS] [--quick | WORD ...]

A word is a workload, such as ata, for the tests of its programs and of its stage zero; or a suite, such as runner or
cpu-device; or gpu, for the tests that start a program for a GPU. Without words, all tests run; with --quick, the tests
in QUICK run. With --targets no test runs: the targets that have to be built for the tests are printed, one per line.
With --announce no test runs either: a sentence names the numbers of build steps (STEPS) and tests, and an estimate of
their duration.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree


# The number of lines of a failure that are shown.
LINES = 40

# The tests of --quick: every stage on the data set tiny, the unit tests, and tests of each tool that need few programs.
QUICK = {"quick": None, "unit": None, "runner": ["launcher", "runs of tests"], "CPU device": ["rewriter", "gallery"],
         "slicer": ["directives", "slice"], "book": ["hosted", "spelling"]}

# The processor time, in seconds, of a build step with an empty compiler cache, and of a test program that has not run
# in this build directory. These are means over all of them, measured on 2026-11-29.
SECONDS_PER_STEP, SECONDS_PER_TEST = 1.6, 2.9


class Unknown(Exception):
    """A word that selects no tests."""


def outcome(case):
    """Whether a test case passed, failed or was skipped."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def message(case):
    """The message of a failed test case, without repetitions."""
    texts = [f.text or f.get("message") or "" for kind in ("failure", "error") for f in case.findall(kind)]
    return "\n".join(dict.fromkeys(texts)).strip()


def read(report):
    """Counts by outcome from a JUnit report, and pairs of name and message of the failed test cases."""
    counts = collections.Counter()
    failures = []
    for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
        for case in suite.findall("testcase"):
            counts[outcome(case)] += 1
            if outcome(case) == "failed":
                failures.append((f"{suite.get('name')}: {case.get('name')}", message(case)))
    return counts, failures


def introspection(build, what):
    """Meson's description of the tests or of the targets."""
    return json.loads(pathlib.Path(build, "meson-info", f"intro-{what}.json").read_text())


def tests_by_word(build):
    """The tests of each workload, as pairs of suite and name, and the suites by the words that select them."""
    tests = [(suite.partition(":")[2], test["name"])
             for test in introspection(build, "tests") for suite in test["suite"]]
    workloads = {name.partition("-")[0]: [] for suite, name in tests if suite == "contract"}
    for suite, name in tests:
        # Stage zero's own test is called «local volatility».
        workloads.get(name.partition("-")[0].replace(" ", "_"), []).append((suite, name))
    return workloads, {suite.lower().replace(" ", "-"): suite for suite, _ in tests}


def tests_for_gpu(build):
    """The tests that start a program for a GPU, as pairs of suite and name."""
    programs = {name for target in introspection(build, "targets") for name in target["filename"]
                if target["type"] == "executable"
                and any(sources.get("language") == "cuda" for sources in target["target_sources"])}
    return [(suite.partition(":")[2], test["name"]) for test in introspection(build, "tests") for suite in test["suite"]
            if programs.intersection(str(pathlib.Path(build).resolve() / word) for word in test["cmd"])]


def selection(build, words):
    """The suites that words select, and the other tests that they select, as pairs of suite and name."""
    workloads, suites = tests_by_word(build)
    if words == ["--quick"]:
        present = {(suite.partition(":")[2], test["name"]) for test in introspection(build, "tests") for suite in test["suite"]}
        return ([suite for suite, names in QUICK.items() if names is None and suite in suites.values()],
                [(suite, name) for suite, names in QUICK.items() for name in names or [] if (suite, name) in present])
    if "gpu" in words:
        workloads["gpu"] = tests_for_gpu(build)
        if not workloads["gpu"]:
            raise Unknown("there are no tests 'gpu': no program is built for a GPU; ./climb --gpu 90a test gpu builds them")
    for word in words:
        if word not in workloads and word not in suites and word not in suites.values():
            raise Unknown(f"there are no tests '{word}'; choose from {', '.join(['gpu', *sorted(workloads), *sorted(suites)])}")
    whole = sorted({suites.get(word, word) for word in words if word not in workloads})
    return whole, [test for word in words for test in workloads.get(word, []) if test[0] not in whole]


def chosen(build, words):
    """The arguments of `meson test` for each run that is needed to run each selected test once."""
    if not words:
        return [[]]
    whole, tests = selection(build, words)
    others = dict.fromkeys(name for _, name in tests)
    runs = [[f"--suite={suite}" for suite in whole], [f"--no-suite={suite}" for suite in whole] + list(others)]
    return [runs[0]] * bool(whole) + [runs[1]] * bool(others)


def chosen_tests(build, words):
    """The tests that the words select, as Meson describes them."""
    whole, tests = selection(build, words)
    for test in introspection(build, "tests"):
        suites = [suite.partition(":")[2] for suite in test["suite"]]
        if not words or any(suite in whole or (suite, test["name"]) in tests for suite in suites):
            yield test


def targets(build, words):
    """The targets that the selected tests need, with the names that ninja uses."""
    needed = {target for test in chosen_tests(build, words) for target in test["depends"]}
    return sorted(str(pathlib.Path(target["filename"][0]).relative_to(pathlib.Path(build).resolve()))
                  for target in introspection(build, "targets") if target["id"] in needed)


def durations_file(build):
    """The path of the file that stores the duration of each test between runs."""
    return pathlib.Path(build, "test_durations.json")


def durations(build):
    """The seconds that each test took in its last run in this build directory."""
    try:
        return json.loads(durations_file(build).read_text())
    except (FileNotFoundError, ValueError):
        return {}


def name_in_log(test):
    """The name of a test in Meson's log. It contains the suite and the project, because two suites may have tests of
    the same name."""
    project, _, suite = test["suite"][0].partition(":")
    return f"{suite} - {project}:{test['name']}"


def keep_durations(build, log):
    """Stores the durations of the tests of a run."""
    new = {test["name"]: test["duration"] for test in map(json.loads, log.read_text().splitlines() if log.exists() else [])
           if "duration" in test}
    durations_file(build).write_text(json.dumps(durations(build) | new))


def in_minutes(seconds):
    """A duration, rounded up to minutes."""
    minutes = max(1, round(seconds / 60 + 0.4))
    return f"{minutes} minute{'s' if minutes > 1 else ''}"


def announcement(build, steps, words):
    """A sentence about what will be built and run, with an estimate of its duration on this machine."""
    cores = len(os.sched_getaffinity(0))
    names = [name_in_log(test) for test in chosen_tests(build, words)]
    known = durations(build)
    # The recorded duration of a test was measured while one test more than there are cores ran at a time.
    seconds = sum(known[name] * cores / (cores + 1) if name in known else SECONDS_PER_TEST for name in names) / cores
    build_part = f"{steps} build steps (with an empty compiler cache, about {in_minutes(steps * SECONDS_PER_STEP / cores)}), then "
    return (f"On {cores} core{'s' if cores > 1 else ''}: {build_part if steps else ''}"
            f"{len(names)} test programs (about {in_minutes(seconds)}).")


def bad_tests(log):
    """Yields the names of the tests that did not pass, their results, and the last lines of their output."""
    for test in map(json.loads, log.read_text().splitlines() if log.exists() else []):
        if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL"):
            output = [*test.get("stdout", "").splitlines(), *test.get("stderr", "").splitlines()]
            yield test["name"], f"{test['result']}, status {test['returncode']}", "\n".join(output[-LINES:])


def with_output(failures, tests):
    """The failures, with the output of their tests if a case has no message. Tests that failed although each of their
    cases passed are added; they failed after the last case, or exceeded the time limit."""
    def belongs(name, test):
        return any(f".{test}{end}" in name for end in ".:")

    for name, text in failures:
        yield name, text or next((output for test, _, output in tests if belongs(name, test)), "")
    for test, ending, output in tests:
        if not any(belongs(name, test) for name, _ in failures):
            yield f"{test}: {ending}", output


def run(meson, build, arguments):
    """Runs `meson test`; returns its exit status, counts by outcome, and the failures."""
    report, log = (pathlib.Path(build, "meson-logs", f"testlog.{kind}") for kind in ("junit.xml", "json"))
    for file in (report, log):
        file.unlink(missing_ok=True)
    # One test more than there are cores runs at a time, because some tests wait for a browser, for ranks or for their
    # child processes.
    environment = {"MESON_TESTTHREADS": str(len(os.sched_getaffinity(0)) + 1)} | os.environ
    status = subprocess.run([meson, "test", "-C", build, "--no-rebuild", "--print-errorlogs", *arguments],
                            env=environment).returncode
    if not report.exists():
        return status, collections.Counter(failed=1), []
    counts, failures = read(report)
    failures = list(with_output(failures, list(bad_tests(log))))
    keep_durations(build, log)
    counts["failed"] = max(len(failures), int(status != 0))
    return status, counts, failures


def main(meson, build, *words):
    """Runs the tests; returns Meson's exit status, 1 if no test passed, or 2 if a word selects no test."""
    try:
        if words[:1] == ("--targets",):
            print("\n".join(targets(build, list(words[1:]))))
            return 0
        if words[:1] == ("--announce",):
            print(announcement(build, int(words[1]), list(words[2:])))
            return 0
        if "--quick" in words and len(words) > 1:
            raise Unknown("--quick selects the tests itself and takes no workload or suite")
        words = list(words)
        runs = chosen(build, words)
    except Unknown as unknown:
        print(f"run_tests: {unknown}", file=sys.stderr)
        return 2
    results = [run(meson, build, arguments) for arguments in runs]
    counts = sum((counts for _, counts, _ in results), collections.Counter())
    for name, text in (failure for _, _, failures in results for failure in failures):
        print(f"Failed: {name}", *text.splitlines()[:LINES], sep="\n  ")
    print(", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "skipped")))
    return max(status for status, _, _ in results) or int(counts["passed"] == 0 or counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
