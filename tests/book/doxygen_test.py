"""Checks the documentation that Doxygen makes outside of the build: doxygen_test.py ROOT. Prints TAP."""

import pathlib
import re
import subprocess
import sys
import tempfile

import tap
from book import hosted, page, stages

ROOT = pathlib.Path(sys.argv[1]).resolve()


def setting(name):
    """The value of a setting in the Doxyfile, which may continue on several lines or be quoted."""
    lines = (ROOT / "Doxyfile").read_text().replace("\\\n", " ")
    return re.search(rf"^{name} *= *(.*)$", lines, re.MULTILINE)[1].strip('"')


def complaints(directory):
    """Yields the messages of Doxygen, which should print none. Doxygen reads all pages as its filter would print
    them."""
    made = page.write([ROOT / path for path in setting("INPUT").split()], pathlib.Path(directory, "texts"), whole=False)
    result = subprocess.run(["doxygen", "-"], cwd=ROOT, capture_output=True, text=True, input=(
        f'@INCLUDE = Doxyfile\nOUTPUT_DIRECTORY = "{directory}"\nFILTER_PATTERNS = "*.md={made}"\n'))
    if result.returncode != 0:
        yield f"the exit status of Doxygen is {result.returncode}"
    yield from (result.stdout + result.stderr).splitlines()


def filtered_otherwise():
    """Yields a page if the Doxyfile's own filter prints a text other than the one that Doxygen has read."""
    pattern, _, command = setting("FILTER_PATTERNS").partition("=")
    path = next(path for path in sorted(ROOT.glob("stages/*/*/README.md")) if path.with_name("notes.md").exists())
    result = subprocess.run(f'{command} "{path}"', shell=True, cwd=ROOT, capture_output=True, text=True)
    if pattern != "*.md" or result.returncode != 0 or result.stdout != page.text_of(path, whole=False):
        yield f"'{command}' for '{pattern}' turns {path.relative_to(ROOT)} into: {result.stderr or result.stdout[:300]}"


def incomplete(html):
    """Yields pages that are missing, or that lack the source or the sentence that replaces the diff."""
    workloads = stages.find_stages(ROOT)
    wanted = {"index", *workloads, *stages.labels_on_main_page(ROOT)} - {"results"}
    yield from (f"the page {label} is missing" for label in sorted(wanted) if not (html / f"{label}.html").exists())
    for stage in (stage for of_workload in workloads.values() for stage in of_workload):
        path = html / f"{stage.page}.html"
        text = path.read_text() if path.exists() else ""
        if "run_stage" not in text:
            yield f"the page {stage.page} does not show the program"
        if (stage.source.parent / "notes.md").exists() and not (html / f"{stage.page}_notes.html").exists():
            yield f"the notes of {stage.page} are missing"
        if stage.before and "The diff is here in the book" not in text:
            yield f"the page {stage.page} does not refer to the book for the diff"


def left_over():
    """Yields requests on pages that Doxygen would not understand, and pages that lose other text."""
    for path in ROOT.glob("stages/**/*.md"):
        text = page.by_hand(hosted.read(path), path)
        if re.search(r"(?<!`)\\(htmlinclude|subpage \w+_source)", text):
            yield f"{path.relative_to(ROOT)} keeps a request for something that only the book has"
    for text, expected in (
            ("see \\htmlinclude a_diff.html\nb", "see <em>The diff is here in the book that `./climb book` makes.</em>\nb"),
            ("\\htmlinclude ladder.m.w.d.f64.html", "<em>A plot is here in the book that `./climb book` makes.</em>"),
            ("\\htmlinclude diagram.x.html", "<em>A diagram is here in the book that `./climb book` makes.</em>"),
            ("`\\htmlinclude a_diff.html`", "`\\htmlinclude a_diff.html`"), ("\\ref results_h200", "\\ref results_h200"),
            ("\\verbinclude h200/ata.txt", "\\verbinclude h200/ata.txt")):
        if page.by_hand(text, ROOT) != expected:
            yield f"{text!r} becomes {page.by_hand(text, ROOT)!r}"
    for text, expected in (("takes 12 s<!-- m w --> and", "takes 12&nbsp;s and"), ("a <!-- b", "a <!-- b"),
                           ("`<!-- b -->` 1<!-- c -->", "`<!-- b -->` 1"), ("```\n1<!-- c -->\n```", "```\n1<!-- c -->\n```")):
        if page.without_marks(text) != expected:
            yield f"{text!r} becomes {page.without_marks(text)!r}"


with tempfile.TemporaryDirectory() as name:
    html = pathlib.Path(name, "html")
    tap.report((("Doxygen prints no message", complaints(name)),
                ("the filter of the Doxyfile prints the text that this test gives to Doxygen", filtered_otherwise()),
                ("every page exists and shows its program", incomplete(html)),
                ("pages without the book refer to it for diffs, plots and diagrams", left_over())))
