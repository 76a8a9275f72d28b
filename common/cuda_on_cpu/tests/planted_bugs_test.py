"""Tests that seeded bugs are found and correct counterparts give no finding: planted_bugs_test.py PROGRAM-analyze...

The source of PROGRAM-analyze is PROGRAM.cu next to this file. Its cases are namespaces. A line at which a bug should
be found ends in `// planted: KIND or KIND`, or in `// planted alone: KIND` if no other error may be reported. Prints
TAP.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PLANTED = re.compile(r"// planted( alone)?: (.+)$")
KINDS = {"race", "out of bounds", "use after free", "divergent barrier", "uninitialised read",
         "deadlock", "invalid mask", "host race", "stream race", "illegal host access",
         "illegal device access", "misaligned access", "ignored error", "failed assertion", "trap",
         "stack overflow", "not cooperative", "host function"}
SECONDS = 120  # time limit of a case


def planted_lines(source):
    """Returns the kinds that may be reported at each marked line, by case, with lines outside all cases under None.
    Also returns the cases in which no other error may be reported."""
    lines, alone, case = {}, set(), None
    for number, text in enumerate(source.read_text().splitlines(), 1):
        begin = re.match(r"namespace (\w+) \{$", text)
        if begin:
            case = begin[1]
        elif case and text == f"}}  // namespace {case}":
            case = None
        planted = PLANTED.search(text)
        if planted:
            kinds = set(planted[2].split(" or "))
            if planted[1]:
                alone.add(case)
            if not kinds <= KINDS:
                sys.exit(f"{source}:{number}: unknown kind of error: {kinds - KINDS}")
            lines.setdefault(case, {})[number] = kinds
    return lines, alone


def run(program, case, version):
    """Returns exit status, errors and a problem of one run. The status is None after a timeout."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name, "report.json")
        # The values that a correct counterpart waits for may arrive late on a busy machine.
        patience = {"CUDA_ON_CPU_PATIENCE": "100"} if version == "twin" else {}
        environment = os.environ | {"CUDA_ON_CPU_REPORT": str(report)} | patience
        try:
            result = subprocess.run([program, case, version], env=environment, timeout=SECONDS,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return None, [], f"the program did not end within {SECONDS} s"
        if not report.exists():
            return result.returncode, [], f"the program wrote no report; its output ends with {result.stdout[-500:]!r}"
        return result.returncode, json.loads(report.read_text())["errors"], ""


def line_of_text(error):
    """Returns an error as one line of text."""
    return f"{error['kind']} at lines {error['line']} and {error['other_line']}: {error['sentence']}"


def is_planted(error, source, lines):
    """Returns whether an error names a marked line and a kind that may be reported there."""
    places = ((error["file"], error["line"]), (error["other_file"], error["other_line"]))
    return any(error["kind"] in lines.get(line, ()) for file, line in places
               if pathlib.Path(file).name == source.name)


def problems(program, source, case, version, lines, is_alone):
    """Yields the problems of one run."""
    status, errors, problem = run(program, case, version)
    if problem:
        yield problem
    wanted = 1 if version == "bug" else 0
    if status != wanted:
        yield f"the exit status is {status}, not {wanted}"
    if version == "bug" and not any(is_planted(error, source, lines) for error in errors):
        yield f"no error of a marked kind was reported at any of the marked lines {lines}; the report has:"
        yield from map(line_of_text, errors)
    if version == "twin":
        yield from map(line_of_text, errors)
    if version == "bug" and is_alone:
        yield from (line_of_text(error) for error in errors if not is_planted(error, source, lines))
    if any(not error["sentence"] or error["count"] < 1 for error in errors):
        yield "an error in the report has no sentence or no count"


def cases_of(program):
    """Returns the runs of a program: (program, source, case, version, marked lines, whether no other error is
    permitted)."""
    source = HERE / (re.sub("(-cpu)?-analyze$", "", program.name) + ".cu")
    planted, alone = planted_lines(source)
    names = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    unknown = set(planted) - set(names) - {None}
    if unknown:
        sys.exit(f"{program} does not list {', '.join(sorted(unknown))}")
    for case in names:
        lines = planted.get(None, {}) | planted.get(case, {})
        if not lines:
            sys.exit(f"{source}: no line of case {case} is marked with '// planted: KIND'")
        for version in ("bug", "twin"):
            yield program, source, case, version, lines, case in alone


def main(programs):
    """Prints one TAP line per run."""
    cases = [case for program in programs
             for case in cases_of(pathlib.Path(program).resolve())]
    print(f"1..{len(cases)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda case: list(problems(*case)), cases)
        for number, ((_, source, case, version, *_), found) in enumerate(zip(cases, results), 1):
            verdict = "not ok" if found else "ok"
            what = "the seeded bug is found" if version == "bug" else "the correct counterpart gives no finding"
            print(f"{verdict} {number} - {source.stem} {case}: {what}", flush=True)
            for problem in found:
                print(f"# {problem}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
