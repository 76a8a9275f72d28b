"""Tests which tests run_tests.py runs, and its output: run_tests_test.py. Prints TAP.

Meson is replaced by a script that logs its arguments and writes a log and a report with one test case of each outcome.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import tap

TESTS = [("quick", "tiny ata"), ("unit", "common"), ("runner", "launcher"), ("CPU device", "gallery"), ("unit", "harness"),
         ("contract", "ata-00_original"), ("contract", "ata-01_openmp"), ("contract", "some_work-00_original"),
         ("rounding", "ata-00_original"), ("stage zero", "some work"), ("runner", "climb"), ("CPU device", "CUDA warps")]
REPORT = """<testsuites><testsuite name="s"><testcase name="good"/><testcase name="none"><skipped/></testcase>%s</testsuite>
</testsuites>"""
BAD = '<testcase name="bad"><failure message="why"/></testcase>'
PROGRAMS = {"ata-01_openmp": "cuda", "some_work-00_original": "cpp"}
ATA, ALL_OF_SOME = ["ata-00_original", "ata-01_openmp"], ["some_work-00_original", "some work"]


def run(words, report=REPORT % "", status=0, log=(), durations=None):
    """Runs run_tests.py; returns its status, its output, and the arguments of Meson."""
    with tempfile.TemporaryDirectory() as name:
        build = pathlib.Path(name)
        (build / "meson-info").mkdir()
        (build / "meson-logs").mkdir()
        (build / "meson-info" / "intro-tests.json").write_text(
            json.dumps([{"name": name, "suite": [f"project:{suite}"], "cmd": ["/test", f"stages/{name}"], "depends": [name]}
                        for suite, name in TESTS]))
        (build / "meson-info" / "intro-targets.json").write_text(json.dumps(
            [{"id": name, "type": "executable", "filename": [str(build.resolve() / "stages" / name)], "target_sources": [{"language": language}]}
             for name, language in PROGRAMS.items()]))
        if durations:
            (build / "test_durations.json").write_text(json.dumps(durations))
        (build / "report").write_text(report)
        (build / "log").write_text("".join(json.dumps(test) + "\n" for test in log))
        meson = build / "meson"
        meson.write_text(f"""#!/bin/sh
cd "{build}"
printf '%s|' "$@" >>calls
echo >>calls
[ -s report ] && cp report meson-logs/testlog.junit.xml
cp log meson-logs/testlog.json
exit {status}
""")
        meson.chmod(0o700)
        result = subprocess.run([sys.executable, pathlib.Path(__file__).parents[1] / "run_tests.py", meson, build, *words],
                                capture_output=True, text=True, check=False)
        calls = (build / "calls").read_text().splitlines() if (build / "calls").exists() else []
        return result, [call.split("|")[5:-1] for call in calls]


def wrong_choices():
    """Yields words that select wrong tests."""
    for words, expected in (
            ([], [[]]), (["ata"], [ATA]), (["some_work"], [ALL_OF_SOME]), (["runner"], [["--suite=runner"]]),
            (["cpu-device"], [["--suite=CPU device"]]), (["CPU device"], [["--suite=CPU device"]]),
            (["some_work", "ata", "ata"], [ALL_OF_SOME + ATA]),
            (["ata", "runner"], [["--suite=runner"], ["--no-suite=runner", *ATA]]),
            (["ata", "contract"], [["--suite=contract"], ["--no-suite=contract", "ata-00_original"]]),
            (["ata", "contract", "rounding"], [["--suite=contract", "--suite=rounding"]]),
            (["gpu"], [["ata-01_openmp"]]),
            (["--quick"], [["--suite=quick", "--suite=unit"],
                           ["--no-suite=quick", "--no-suite=unit", "launcher", "gallery"]])):
        result, calls = run(words)
        if calls != expected or result.returncode != 0:
            yield f"run_tests.py {words} calls Meson with {calls}, not with {expected}: {result.stderr}"


def accepted_words():
    """Yields words that select nothing and are not refused in one sentence."""
    for word in ("atta", "", "00_original", "Runner"):
        result, calls = run(["ata", word])
        if result.returncode != 2 or calls or result.stdout or result.stderr != (
                f"run_tests: there are no tests '{word}'; choose from gpu, ata, some_work, contract, cpu-device, quick, "
                "rounding, runner, stage-zero, unit\n"):
            yield f"the word {word!r} leads to status {result.returncode} and to: {result.stderr}"
    result, calls = run(["--quick", "ata"])
    if result.returncode != 2 or calls or "takes no workload" not in result.stderr:
        yield f"--quick with a workload leads to status {result.returncode} and to: {result.stderr}"


def wrong_announcements():
    """Yields announcements with a wrong amount of work."""
    for words, durations, fragments in (
            (["--announce", "600"], None, ("600 build steps", f"{len(TESTS)} test programs (about 1 minute)")),
            (["--announce", "0", "ata"], None, (": 3 test programs", "about 1 minute")),
            (["--announce", "0", "--quick"], {"quick - project:tiny ata": 36000.0}, (": 5 test programs", " minutes)"))):
        result, calls = run(words, durations=durations)
        if result.returncode != 0 or calls or result.stdout.count("\n") != 1 or any(
                fragment not in result.stdout for fragment in fragments) or (words[1] == "0") == ("build" in result.stdout):
            yield f"{words} leads to status {result.returncode} and to: {result.stdout}{result.stderr}"
    if "about 1 minute" in run(["--announce", "0", "--quick"], durations={"quick - project:tiny ata": 36000.0})[0].stdout:
        yield "the estimate ignores the duration of an earlier run"


def wrong_sums():
    """Yields last lines that do not report the result."""
    for words, report, status, expected in (
            ([], REPORT % "", 0, (0, "1 passed, 0 failed, 1 skipped")),
            (["ata", "runner"], REPORT % "", 0, (0, "2 passed, 0 failed, 2 skipped")),
            ([], REPORT % BAD, 1, (1, "1 passed, 1 failed, 1 skipped")),
            ([], REPORT % "", 3, (3, "1 passed, 1 failed, 1 skipped")),
            ([], "<testsuites/>", 0, (1, "0 passed, 0 failed, 0 skipped")),
            ([], "", 1, (1, "0 passed, 1 failed, 0 skipped"))):
        result, _ = run(words, report, status)
        lines = result.stdout.splitlines()
        if (result.returncode, lines[-1]) != expected:
            yield f"the output should be {expected}, but the status is {result.returncode}: {result.stdout}{result.stderr}"
        if (report == REPORT % BAD) != (lines[0] == "Failed: s: bad"):
            yield f"the first line does not name the failed test case: {result.stdout}"


def unnamed_failures():
    """Yields tests that did not pass and that are not named with their output."""
    good = {"name": "runner - project:good", "result": "OK", "returncode": 0, "stdout": "fine"}
    late = {"name": "book - project:late", "result": "TIMEOUT", "returncode": -9, "stdout": "1..2\nok 1", "stderr": "waits"}
    bad = {"name": "runner - project:of", "result": "FAIL", "returncode": 1, "stdout": "not ok 1"}
    silent = """<testsuite name="project.runner - project:of"><testcase name="words"><failure/></testcase></testsuite>"""
    for report, log, expected in (
            (REPORT % "", [good, late], ["Failed: book - project:late: TIMEOUT, status -9", "  1..2", "  ok 1", "  waits",
                                         "1 passed, 1 failed, 1 skipped"]),
            (silent, [bad], ["Failed: project.runner - project:of: words", "  not ok 1", "0 passed, 1 failed, 0 skipped"]),
            (f"<testsuites>{silent}{REPORT % ''}</testsuites>", [bad, late],
             ["Failed: project.runner - project:of: words", "  not ok 1", "Failed: book - project:late: TIMEOUT, status -9",
              "  1..2", "  ok 1", "  waits", "1 passed, 2 failed, 1 skipped"])):
        result, _ = run([], report, 1, log)
        if result.stdout.splitlines() != expected or result.returncode != 1:
            yield f"the output should be {expected}, but the status is {result.returncode}: {result.stdout}{result.stderr}"


CHECKS = (("--announce prints the numbers of build steps and tests, and their estimated duration", wrong_announcements),
          ("words select the tests of workloads and suites", wrong_choices),
          ("words that select no tests are refused in one sentence", accepted_words),
          ("the last line sums up all runs, and the exit status agrees", wrong_sums),
          ("each failed test is named with its output", unnamed_failures))

tap.report((title, check()) for title, check in CHECKS)
