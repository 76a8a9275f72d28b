"""Planted bugs are found, their correct twins are silent: planted_bugs_test.py PROGRAM-analyze...

The source of PROGRAM-analyze is PROGRAM.cu beside this file. Its cases are namespaces; where a bug
should be found, the line ends in `// planted: KIND or KIND`, and in `// planted alone: KIND` if
nothing else may be told. Speaks TAP.
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
SECONDS = 120  # that a case may take


def planted_lines(source):
    """The kinds that may be told at each planted line, by case, those of all cases under None; and the
    cases in which they are told alone."""
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
                sys.exit(f"{source}:{number}: there is no kind of error {kinds - KINDS}")
            lines.setdefault(case, {})[number] = kinds
    return lines, alone


def run(program, case, version):
    """Exit status and errors of one run; no status where it took too long."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name, "report.json")
        # What a twin waits for comes, if late on a busy machine.
        patience = {"CUDA_ON_CPU_PATIENCE": "100"} if version == "twin" else {}
        environment = os.environ | {"CUDA_ON_CPU_REPORT": str(report)} | patience
        try:
            result = subprocess.run([program, case, version], env=environment, timeout=SECONDS,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return None, [], f"it did not end within {SECONDS} s"
        if not report.exists():
            return result.returncode, [], f"there is no report; {result.stdout[-500:]!r}"
        return result.returncode, json.loads(report.read_text())["errors"], ""


def told(error):
    """An error in one line."""
    return f"{error['kind']} at line {error['line']}, {error['other_line']}: {error['sentence']}"


def is_planted(error, source, lines):
    """Whether an error names a planted line, and a kind that may be told there."""
    places = ((error["file"], error["line"]), (error["other_file"], error["other_line"]))
    return any(error["kind"] in lines.get(line, ()) for file, line in places
               if pathlib.Path(file).name == source.name)


def problems(program, source, case, version, lines, is_alone):
    """Yields what is wrong with one run."""
    status, errors, problem = run(program, case, version)
    if problem:
        yield problem
    wanted = 1 if version == "bug" else 0
    if status != wanted:
        yield f"the exit status is {status}, not {wanted}"
    if version == "bug" and not any(is_planted(error, source, lines) for error in errors):
        yield f"not found at any of the lines {lines}"
        yield from map(told, errors)
    if version == "twin":
        yield from map(told, errors)
    if version == "bug" and is_alone:
        yield from (told(error) for error in errors if not is_planted(error, source, lines))
    if any(not error["sentence"] or error["count"] < 1 for error in errors):
        yield "an error has no sentence or no count"


def cases_of(program):
    """The runs of a program: (program, source, case, version, planted lines, whether they are told alone)."""
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
            sys.exit(f"{source}: nothing is planted in {case}")
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
            what = "is found" if version == "bug" else "has a silent twin"
            print(f"{verdict} {number} - {source.stem} {case} {what}", flush=True)
            for problem in found:
                print(f"# {problem}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
