"""Tests that the reports of the gallery's programs match the gallery: gallery_test.py COMMAND [--record]. Prints TAP.

A text file next to each program of gallery/ contains its report: findings and summary. --record writes these files.
"""

import pathlib
import subprocess
import sys
import tempfile

COMMAND = pathlib.Path(sys.argv[1]).resolve()
GALLERY = pathlib.Path(__file__).parent.parent / "gallery"


def report_of(source):
    """Returns the report of a program without the table of counters, and its exit status."""
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory, "program")
        subprocess.run([COMMAND, "--analyze", source, "-o", program], check=True)
        result = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    text = result.stderr
    table = text.find(" launches, ")
    return text[:text.rfind("\n", 0, table) if table >= 0 else None].strip() + "\n", result.returncode


def main():
    programs = sorted(GALLERY.glob("*.cu"))
    print(f"1..{len(programs)}")
    for number, source in enumerate(programs, 1):
        report, status = report_of(source)
        recorded = source.with_suffix(".txt")
        if "--record" in sys.argv:
            recorded.write_text(report)
        passed = status == 1 and recorded.exists() and recorded.read_text() == report
        print(f"{'ok' if passed else 'not ok'} {number} - the report of {source.stem} equals the recorded report",
              flush=True)
        if not passed:
            lines = [f"the exit status is {status}, and the report is:", *report.splitlines()]
            print("".join(f"# {line}\n" for line in lines), end="")


main()
