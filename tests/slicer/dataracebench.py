"""The tables for DataRaceBench in the chapter on proofs: verdicts per kind of pragma, and reasons for undecided files.

Fetch the collection outside of this repository. A file counts as refuted if one of its pragmas is refuted, and as proved if
all of them are proved. A verdict that contradicts the name of its file is listed.

Usage: dataracebench.py SLICE DIRECTORY, where DIRECTORY is the directory micro-benchmarks of
https://github.com/LLNL/dataracebench
"""

import collections
import json
import pathlib
import resource
import subprocess
import sys

KINDS = (("`taskloop`", lambda words: "taskloop" in words), ("`ordered`", lambda words: "ordered" in words),
         ("`target` or `teams`", lambda words: words & {"target", "teams", "distribute"}),
         ("`parallel for`", lambda words: {"parallel", "for"} <= words), ("`for` in a parallel region", lambda words: "for" in words),
         ("`simd`", lambda words: "simd" in words))
ORDER = ("`parallel for`", "`for` in a parallel region", "`simd`", "`target` or `teams`", "`ordered`", "`taskloop`")
REASONS = (("too complicated", "the sets of iterations are too complicated (bounds that a polyhedral compiler has generated)"),
           ("omp_set_lock", "the loop uses a lock"), ("same memory", "two pointers may refer to the same memory"),
           ("leaves its elements", "a subscript leaves its row, which the program reports"),
           ("does not count", "an inner loop is a `while` loop"), ("in `teams`", "the loop is in a `teams` region, or `return` leaves it"),
           ("`return` leaves", "the loop is in a `teams` region, or `return` leaves it"),
           ("beyond affine", "a subscript or a condition contains a value from memory"))


def claims_of(program, source):
    """The claims of a file, with their verdicts."""
    result = subprocess.run([program, "--check", source.name, "--json", "-", "--", "-I.", "-Iutilities", "-Ipolybench"],
                            capture_output=True, text=True, cwd=source.parent, check=False)
    if result.returncode > 1:
        sys.exit(f"dataracebench.py: {source.name}: {result.stderr}")
    return [loop["claim"] for loop in json.loads(result.stdout) if "claim" in loop]


def kind_of(claims):
    """The kind of a file: the first kind in KINDS that fits one of its pragmas."""
    words = [set(claim["pragma"].replace("(", " ").replace(")", " ").split()) for claim in claims]
    return next(kind for kind, fits in KINDS if any(fits(each) for each in words))


def reason_of(claims):
    """The reason why a file is undecided."""
    reasons = [claim["reason"] for claim in claims if claim["verdict"] == "beyond affine"]
    return next((text for words, text in REASONS if any(words in each for each in reasons)), reasons[0])


def main():
    """Prints both tables."""
    if len(sys.argv) != 3 or not pathlib.Path(sys.argv[2]).is_dir():
        sys.exit("usage: dataracebench.py SLICE DIRECTORY")
    program, directory = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    counts, reasons, wrong, longest = collections.defaultdict(collections.Counter), collections.Counter(), [], 0
    for source in sorted([*directory.glob("*.c"), *directory.glob("*.cpp")]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        claims = claims_of(program, source)
        longest = max(longest, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        if not claims:
            continue
        verdicts = {claim["verdict"] for claim in claims}
        verdict = "refuted" if "refuted" in verdicts else "proved" if verdicts == {"proved"} else "undecided"
        for row in (kind_of(claims), "total"):
            counts[row][verdict] += 1
        if verdict == "undecided":
            reasons[reason_of(claims)] += 1
        elif (verdict == "proved") == ("-yes" in source.name):
            wrong.append(f"{source.name} is {verdict}")
    print("| pragma | files | proved | refuted | undecided |\n|---|---|---|---|---|")
    for row in (*ORDER, "total"):
        print(f"| {row} | {counts[row].total()} | " + " | ".join(str(counts[row][each]) for each in ("proved", "refuted", "undecided")) + " |")
    print("\n| reason | files |\n|---|---|")
    for reason, count in reasons.most_common():
        print(f"| {reason} | {count} |")
    print(f"\nThe longest analysis took {longest:.1f} s. These verdicts contradict names of files: {', '.join(wrong) or 'none'}.")


main()
