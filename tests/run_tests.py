"""Runs `meson test` and closes with the line «N passed, N failed, N skipped» over all test cases.

Usage: run_tests.py MESON BUILD_DIRECTORY
"""

import pathlib
import subprocess
import sys
import xml.etree.ElementTree


def count(report):
    """Passed, failed and skipped test cases of a JUnit report."""
    passed = failed = skipped = 0
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(meson, build):
    """The exit status: that of Meson, or 1 where no test passed."""
    report = pathlib.Path(build, "meson-logs", "testlog.junit.xml")
    report.unlink(missing_ok=True)
    status = subprocess.run([meson, "test", "-C", build, "--no-rebuild", "--print-errorlogs"]).returncode
    if not report.exists():
        print("0 passed, 1 failed, 0 skipped")
        return status or 1
    passed, failed, skipped = count(report)
    if status != 0 and failed == 0:
        failed = 1  # a program that ended badly after its last test case
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return status if status != 0 else int(passed == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
