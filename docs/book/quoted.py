"""Holds every figure in the prose to the recorded runs.

A number in a page is followed by an HTML comment that says where it comes from:

    1.16 s<!-- MACHINE WORKLOAD DATASET PRECISION STAGE seconds -->
    2.02 ×<!-- MACHINE WORKLOAD DATASET PRECISION STAGE/STAGE speedup -->

The last word is one of seconds, in_all, memory, error, of_limit, of_copy, phase:NAME, copy_seconds and times_copy
(of one stage; `seconds` are those of the phase that a workload is timed by, `in_all` those of whole solves; a copy of
what the problem has to read and write, by the same clock, and the stage's time over that), speedup, speedup_in_all
and efficiency (of two: the first one's time over the second one's). What ran beside the phases and is none of them,
such as copies while kernels run, is a phase:NAME, too, of the sum of its spans. For a run of a sweep, WORKLOAD is
the recording's name and DATASET the value of the parameter, as in
`MACHINE local_volatility_over_outer 64 f64 07_interleaved seconds`. `MACHINE ceilings NAME` is a ceiling
of the processor, `MACHINE ceilings gpu NAME` one of the GPU; with `MACHINE WORKLOAD ceilings` it is the
one that was measured when that workload was recorded. `MACHINE RECORDING figures NAME` is a figure that a recording of another
kind gives, such as communication. `<!-- model -->` marks a number that is derived on
the page, `<!-- published: SOURCE -->` one from the literature. In a section *The cost*, and on a page of notes, every time,
every rate and every ratio needs such a comment.

Usage: python3 docs figures --check|--update ROOT
"""

import pathlib
import re
import sys

from measure import figures

NUMBER = r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)"
UNIT = r"(?:[ \n](?P<unit>ms|µs|ns|s|MB|GB/s|GB|TB/s|GFLOP/s|TFLOP/s|×|%))?"
MARKED = re.compile(NUMBER + UNIT + r"<!-- (?P<key>[^>]*?) -->")
UNMARKED = re.compile(r"(?<![\w.])\d+(?:\.\d+)? (?:ms|µs|ns|s|×|[GT]B/s|[GT]FLOP/s)(?!<!--|[\w*]| \d)")


def written_like(text, value):
    """A value with as many digits as a text that stands for one has."""
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    if not exponent:
        return f"{value:.{digits}f}"
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def corrected(match, results):
    """The marked number as it should be written."""
    scale = figures.SCALE.get(match["unit"], 1)
    return written_like(match["number"], results.value(match["key"]) * scale)


def is_recorded(match):
    """Whether a marked number has to be found among the recorded runs."""
    return match["key"] != "model" and not match["key"].startswith("published: ")


def line_of(text, offset):
    """The number of the line that an offset lies in."""
    return text.count("\n", 0, offset) + 1


def problems(page, text, results):
    """Yields a sentence for each figure of a page that does not hold."""
    for match in filter(is_recorded, MARKED.finditer(text)):
        place = f"{page}:{line_of(text, match.start())}: {match['key']}"
        try:
            expected = corrected(match, results)
        except figures.UnknownKey as error:
            yield f"{place}: {error}"
            continue
        if expected != match["number"]:
            yield f"{place}: written {match['number']}, recorded {expected}"
    held = r"\A.*" if pathlib.Path(page).name == "notes.md" else r"^## The cost$.*?(?=^## |\Z)"
    section = re.search(held, text, re.MULTILINE | re.DOTALL)
    for match in UNMARKED.finditer(text, *section.span()) if section else ():
        yield f"{page}:{line_of(text, match.start())}: '{match[0]}' says not where it comes from"


def update(text, results):
    """A page's text with its marked numbers taken from the recorded runs."""
    def replace(match):
        try:
            number = corrected(match, results) if is_recorded(match) else match["number"]
        except figures.UnknownKey:
            return match[0]  # --check tells
        return match[0].replace(match["number"], number, 1)
    return MARKED.sub(replace, text)


def pages(root):
    """The pages that quote figures."""
    yield root / "README.md"
    yield from sorted(root.glob("stages/**/*.md"))
    yield from sorted(root.glob("docs/pages/*.md"))


def main(mode, root):
    """The exit status, 1 if a figure does not hold, or how it is called."""
    if mode not in ("--check", "--update"):
        return __doc__
    root = pathlib.Path(root)
    results = figures.Results(root / "docs" / "results")
    found = []
    for page in filter(pathlib.Path.exists, pages(root)):
        text = page.read_text()
        if mode == "--update":
            page.write_text(update(text, results))
        else:
            found += problems(page.relative_to(root), text, results)
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))
