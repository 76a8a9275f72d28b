"""Checks every figure in the text against the recorded runs.

A number on a page is followed by an HTML comment that names its source:

    1.16 s<!-- MACHINE WORKLOAD DATASET PRECISION STAGE seconds -->
    2.02 ×<!-- MACHINE WORKLOAD DATASET PRECISION STAGE/STAGE speedup -->

The last word names the quantity. These quantities belong to one stage:

    seconds        the time of the phase by which the workload is timed
    in_all         the total time of a solve
    memory         the total size of the stage's arrays in bytes
    error          the difference from the reference solution
    of_limit       the lower bound of the time divided by the time
    of_copy        the time of a copy of the bytes that the kernels move, divided by the time
    phase:NAME     the time of a phase, or the sum of the intervals of that name that overlap the phases
    copy_seconds   the time of a copy of the bytes that the problem has to read and write, measured with the same clock
    times_copy     the time divided by copy_seconds

The quantities speedup, speedup_in_all and efficiency belong to two stages. A speed-up is the time of the first stage
divided by the time of the second stage.

For a run of a sweep, WORKLOAD is the name of the recording and DATASET the value of the parameter, as in
`MACHINE local_volatility_over_outer 64 f64 07_interleaved seconds`. `MACHINE ceilings NAME` is a ceiling of the processor,
and `MACHINE ceilings gpu NAME` is a ceiling of the GPU. `MACHINE WORKLOAD ceilings` selects the ceiling that was measured
with the recording of that workload. `MACHINE RECORDING figures NAME` is a figure of another kind of recording, such as
communication. `<!-- model -->` marks a number that is derived on the page. `<!-- published: SOURCE -->` marks a number from
the literature, or from a record without keys if SOURCE names a file in docs/results. That file must contain the number,
rounded as on the page and in any unit. If SOURCE begins with "spans in", the number is computed from the beginning and the
end of recorded intervals instead. In a section *The cost*, and on a page of notes, every time, every rate and every ratio
needs such a comment.

The top README also contains a generated table, *Where each ladder ends* (ends.py).

Usage: python3 docs figures --check|--update ROOT
"""

import functools
import pathlib
import re
import sys

from book import ends
from measure import figures

NUMBER = r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)"
UNIT = r"(?:[ \n](?P<unit>ms|µs|ns|s|MB|GB/s|GB|TB/s|GFLOP/s|TFLOP/s|×|%))?"
MARKED = re.compile(NUMBER + UNIT + r"<!-- (?P<key>[^>]*?) -->")
GROUPED = r"(?P<number>(?!0\d)(?:\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?)"  # accepts 65 536, but not 06
PUBLISHED = re.compile(GROUPED + UNIT + r"<!-- published: (?P<source>[^>]*?) -->")
RECORD = re.compile(r"\bdocs/results/(\S*[^\s,])")
UNMARKED = re.compile(r"(?<![\w.])\d+(?:\.\d+)? (?:ms|µs|ns|s|×|[GT]B/s|[GT]FLOP/s)(?!<!--|[\w*]| \d)")


def written_like(text, value):
    """A value with as many significant digits as a written number."""
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    if not exponent:
        return f"{value:.{digits}f}"
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def corrected(match, results):
    """The correct text of a number with a source."""
    scale = figures.SCALE.get(match["unit"], 1)
    return written_like(match["number"], results.value(match["key"]) * scale)


def is_recorded(match):
    """Whether the source of a number is a recorded run."""
    return match["key"] != "model" and not match["key"].startswith("published: ")


@functools.cache
def numbers_in(path):
    """The numbers in a file, in ascending order."""
    found = re.findall(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d+)?(?:e[-+]?\d+)?", path.read_text())
    return sorted({float(number.replace(",", "")) for number in found})


def is_in(match, path):
    """Whether a file contains a quoted number, rounded as on the page, in any unit of its kind."""
    written = match["number"].replace(" ", "")
    scales = {"×": (1,), "%": (1, 100)}.get(match["unit"], [1000.0 ** power for power in range(-4, 5)])
    return any(written_like(written, value * scale) == written for scale in scales for value in numbers_in(path))


def unpublished(page, text, results):
    """Yields a sentence for each number that its named source, a record, does not contain."""
    for match in PUBLISHED.finditer(text):
        named = RECORD.search(match["source"])
        if not named:
            continue
        path = results.directory / named[1]
        place = f"{page}:{line_of(text, match.start())}"
        if not path.is_file():
            yield f"{place}: docs/results/{named[1]} is not a file"
        elif not match["source"].startswith("spans in ") and not is_in(match, path):
            yield f"{place}: docs/results/{named[1]} does not contain {match['number']}"


def line_of(text, offset):
    """The index of the line that contains an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def problems(page, text, results):
    """Yields a sentence for each wrong figure of a page."""
    for match in filter(is_recorded, MARKED.finditer(text)):
        place = f"{page}:{line_of(text, match.start())}: {match['key']}"
        try:
            expected = corrected(match, results)
        except figures.UnknownKey as error:
            yield f"{place}: {error}"
            continue
        if expected != match["number"]:
            yield f"{place}: written {match['number']}, recorded {expected}"
    yield from unpublished(page, text, results)
    held = r"\A.*" if pathlib.Path(page).name == "notes.md" else r"^## The cost$.*?(?=^## |\Z)"
    section = re.search(held, text, re.MULTILINE | re.DOTALL)
    for match in UNMARKED.finditer(text, *section.span()) if section else ():
        yield f"{page}:{line_of(text, match.start())}: '{match[0]}' needs a comment that names its source"


def update(text, results):
    """A page's text with its numbers replaced by the recorded values."""
    def replace(match):
        try:
            number = corrected(match, results) if is_recorded(match) else match["number"]
        except figures.UnknownKey:
            return match[0]  # --check reports the unknown key
        return match[0].replace(match["number"], number, 1)
    return MARKED.sub(replace, text)


def pages(root):
    """The pages that quote figures."""
    yield root / "README.md"
    yield from sorted(root.glob("stages/**/*.md"))
    yield from sorted(root.glob("docs/pages/*.md"))


def main(mode, root):
    """Checks or updates all pages and returns the exit status, 1 if a figure is wrong; returns the usage for any other mode."""
    if mode not in ("--check", "--update"):
        return __doc__
    root = pathlib.Path(root)
    results = figures.Results(root / "docs" / "results")
    found = []
    for page in filter(pathlib.Path.exists, pages(root)):
        text = page.read_text()
        whole = ends.updated(text, root, results)
        if mode == "--update":
            page.write_text(update(whole, results))
        else:
            found += problems(page.relative_to(root), text, results)
            found += [f"{page.relative_to(root)}: the table differs from the recordings: {line}" for line in ends.differing_lines(text, whole)]
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))
