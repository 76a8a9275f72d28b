"""Runs `meson test`, says once more what failed, and closes with the line «N passed, N failed, N skipped» over all
test cases.

Usage: run_tests.py MESON BUILD_DIRECTORY
"""

import pathlib
import subprocess
import sys
import xml.etree.ElementTree


def outcome(case):
    """Whether a test case passed, failed or was skipped."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def message(case):
    """What a failed test case said, without saying it twice."""
    said = [f.text or f.get("message") or "" for kind in ("failure", "error") for f in case.findall(kind)]
    return "\n".join(dict.fromkeys(said)).strip()


def read(report):
    """Counts by outcome from a JUnit report, and pairs of name and message of the failed test cases."""
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    failures = []
    for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
        for case in suite.findall("testcase"):
            counts[outcome(case)] += 1
            if outcome(case) == "failed":
                failures.append((f"{suite.get('name')}: {case.get('name')}", message(case)))
    return counts, failures


def main(meson, build):
    """The exit status: that of Meson, or 1 where no test passed."""
    report = pathlib.Path(build, "meson-logs", "testlog.junit.xml")
    report.unlink(missing_ok=True)
    status = subprocess.run([meson, "test", "-C", build, "--no-rebuild", "--print-errorlogs"]).returncode
    if not report.exists():
        print("0 passed, 1 failed, 0 skipped")
        return status or 1
    counts, failures = read(report)
    for name, said in failures:
        print(f"Failed: {name}", *said.splitlines()[:40], sep="\n  ")
    if status != 0 and counts["failed"] == 0:
        counts["failed"] = 1  # a program that ended badly after its last test case
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    return status if status != 0 else int(counts["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
