"""What `slice --check` says: of loops that are hard to see through, of the stages' parallel loops, and on bad input; and
what the chapter on proofs shows of it.

Usage: slice_test.py [ROOT SLICE]; without the program all is skipped. Speaks TAP.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import tap
from book import proved

if len(sys.argv) < 3:
    tap.skip("the slicer needs libclang and isl")
    sys.exit()
ROOT, SLICE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SHOWN = ROOT / "docs" / "proving"
HEADERS = ["--", "-Icommon/include", "-Icommon"]
PARALLEL = re.compile(r"^#pragma omp .*\b(for|simd)\b", re.MULTILINE)


def run(*arguments):
    return subprocess.run([SLICE, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)


def hard_loops():
    """The verdicts that the file names behind each loop; those of loops within it follow."""
    source = ROOT / "tests/slicer/hard.cpp"
    found = {}
    result = run("--check", "--json", "-", source, *HEADERS)
    if result.returncode != 0:
        yield result.stderr
        return
    for loop in json.loads(result.stdout):
        found.setdefault(loop["line"], []).append(loop["verdict"])
    expected = {number: line.rpartition("// ")[2].split() for number, line in enumerate(
        source.read_text().splitlines(), 1) if line.strip().startswith("for ")}
    if len(expected) < 50:
        yield f"only {len(expected)} loops"
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number) != found.get(number):
            yield f"line {number}: {found.get(number)} instead of {expected.get(number)}"


def asked_transformations():
    """The verdicts that the file names behind each pragma, and that is refused what should be."""
    source = ROOT / "tests/slicer/asked.cpp"
    found = {}
    result = run("--check", "--json", "-", source, *HEADERS)
    for loop in json.loads(result.stdout or "[]"):
        for ruling in loop.get("transformations", []):
            found.setdefault(ruling["line"], []).append(ruling["verdict"])
            if not ruling["reason"] and ruling["verdict"] != "legal":
                yield f"{ruling}: no reason"
    expected = {number: line.rpartition("// ")[2].split() for number, line in enumerate(
        source.read_text().splitlines(), 1) if line.startswith("#pragma staircase")}
    if len(expected) < 30 or result.returncode != 1:
        yield f"{len(expected)} pragmas, status {result.returncode}: {result.stderr}"
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number) != found.get(number):
            yield f"line {number}: {found.get(number)} instead of {expected.get(number)}"


def allowed_reductions():
    """A sum may be made in another order only if one says so."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "sum.cpp")
        source.write_text("void f(double* x, double& s) {\n#pragma staircase interchange(i, j)\n"
                          "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j) s += x[4 * i + j];\n}\n")
        for options, status, said in (([], 1, "reduction: i = 1, j = 0 reads s, which i = 0, j = 1 writes (flow)"),
                                      (["--reductions"], 0, "interchange(i, j): legal up to rounding (+ s)")):
            result = run("--check", *options, source)
            if result.returncode != status or said not in result.stdout:
                yield f"{options}: {result.returncode}, {result.stdout}"


def bad_requests():
    """Each pragma that cannot be judged is refused in one sentence with its line."""
    nest = "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j) x[4 * i + j] = 0;\n"
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "bad.cpp")
        for pragma, fragment in (("unroll(i)", "`unroll`; there are"), ("interchange(i)", "`interchange(i, j)`"),
                                 ("interchange(i, k)", "`k`"), ("interchange(i, i)", "twice"), ("tile(i: 0)", "`tile(i: 0)`"),
                                 ("tile(i: n, j: 2)", "`tile(i: 32, j: 32)`"), ("skew(j)", "`skew(j: 2 * i)`"),
                                 ("skew(j: 2 * k)", "`k`"), ("tile(i: 9999999)", "look like"), ("fuse(i)", "`fuse`"),
                                 ("expand(y)", "no variable"), ("fuse distribute", "behind `fuse`"),
                                 ("tile(i: 2) interchange(i, j)", "has to be the last")):
            source.write_text(f"void f(double* x) {{\n#pragma staircase {pragma}\n{nest}}}\n")
            yield from refused(["--check", source], ["line 2", fragment])
        source.write_text(f"void f(double* x) {{\n{nest}#pragma staircase fuse\n  x[0] = 1;\n}}\n")
        yield from refused(["--check", source], ["line 4", "there is no loop"])


def refused(arguments, fragments):
    result = run(*arguments)
    if result.returncode != 2 or result.stdout or result.stderr.count("\n") != 1 or any(
            fragment not in result.stderr for fragment in fragments):
        yield f"{arguments}, {fragments}: {result.returncode}, {result.stdout[:80]}, {result.stderr}"


def launches():
    """The verdicts that a CUDA source names behind each loop, and the reasons of those around launches."""
    source = ROOT / "tests/slicer/launches.cu"
    result = run("--check", "--json", "-", source, *HEADERS, "-Icommon/cuda_on_cpu/include")
    if result.returncode != 0:
        yield result.stderr
        return
    found = {loop["line"]: loop for loop in json.loads(result.stdout)}
    lines = source.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip().startswith("for ") and found.get(number, {}).get("verdict") != line.rpartition("// ")[2]:
            yield f"line {number}: {found.get(number)}"
        if "<<<" in line and f"in line {number}" not in found[number - 1]["reason"]:
            yield f"line {number}: {found[number - 1]['reason']}"


def examples():
    """What the chapter shows is what the program prints."""
    for source in sorted(SHOWN.glob("*.cpp")):
        printed = run("--check", "--reductions", source.relative_to(ROOT), *HEADERS).stdout
        if printed != source.with_suffix(".txt").read_text():
            yield f"{source.name}: the program prints\n{printed}"


def wrong_lines(source, printed, claims):
    """Lines that the page of a stage names for a claim, and that are not those that are printed."""
    for text, claim, pragma in zip(printed, claims, proved.pragma_lines(source, claims)):
        if not text.startswith(f"  line {pragma} "):
            yield f"the page says line {pragma} of: {text}"
        named = re.search(r" in line (\d+)", text)
        if named and proved.named_line(claim["why"], source, pragma) != int(named[1]):
            yield f"the page says line {proved.named_line(claim['why'], source, pragma)} of: {text}"


def program():
    """The listing of a nest in slices, and why another nest has none."""
    with tempfile.TemporaryDirectory() as directory:
        out, marked = pathlib.Path(directory, "sliced.cpp"), pathlib.Path(directory, "forms.cpp")
        result = run(SHOWN / "product.cpp", "-o", out, *HEADERS)
        text = out.read_text() if result.returncode == 0 else result.stderr
        if text[text.find("void product"):] != (SHOWN / "product_sliced.txt").read_text() + "// [product]\n":
            yield text
        form = (SHOWN / "forms.cpp").read_text()
        at = form.index("  for ")
        marked.write_text(form[:at] + "#pragma staircase slice(i: 4)\n" + form[at:])
        result = run(marked, "-o", out.with_name("other.cpp"), *HEADERS)
        if result.stderr != (SHOWN / "refused.txt").read_text():
            yield result.stderr


def stages():
    """What is said of the parallel loops of the stages for the processor, but for lines."""
    said = []
    for source in sorted(ROOT.glob("stages/*/[0-9]*/*.cpp")):
        if not PARALLEL.search(source.read_text()):
            continue
        result = run("--check", source.relative_to(ROOT), *HEADERS)
        if result.returncode not in (0, 1):
            yield result.stderr
        claims = result.stdout.partition("OpenMP\n")[2].partition("Assumed")[0].splitlines()
        said.append(f"{source.parent.parent.name} {source.parent.name}")
        said += [re.sub(r" in line \d+", "", re.sub(r"^  line \d+ +#pragma ", "  ", claim)) for claim in claims]
        if len(claims) != len(PARALLEL.findall(source.read_text())):
            yield f"{source}: {len(claims)} claims"
        yield from wrong_lines(source.read_text(), claims, proved.read("x x\n" + "\n".join(
            said[len(said) - len(claims):]))["x", "x"])
    text = "\n".join(said) + "\n"
    if text != (SHOWN / "stages.txt").read_text():
        yield f"stages.txt should be\n{text}"
    if "refuted" in text:
        yield "a parallel loop is refuted"


def json_is_all():
    """With --json - nothing else is printed; a file gets the same."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "found.json")
        result = run("--check", "--json", path, SHOWN / "claims.cpp")
        alone = run("--check", "--json", "-", SHOWN / "claims.cpp")
        if path.read_text() != alone.stdout or "claims" not in result.stdout:
            yield "the file and standard output differ"
        for loop in json.loads(alone.stdout):
            if list(loop) != ["file", "line", "variable", "verdict", "pair", "reason"]:
                yield f"keys {list(loop)}"
        if alone.returncode != 1:
            yield f"a refuted claim ends with status {alone.returncode}"


def bad_input():
    """Each is refused in one sentence, with nothing on standard output."""
    with tempfile.TemporaryDirectory() as directory:
        wrong = pathlib.Path(directory, "wrong.cpp")
        wrong.write_text("void f( {\n")
        lacking = pathlib.Path(directory, "lacking.cpp")
        lacking.write_text('#include "nowhere.hpp"\n')
        pathlib.Path(directory, "compile_commands.json").write_text("{")
        good = SHOWN / "claims.cpp"
        for arguments, fragment in (([], "--check"), (["--check"], "FILE"), ([good], "--check"),
                                    (["--check", "nowhere.cpp"], "'nowhere.cpp'"), (["--check", directory], directory),
                                    (["--check", wrong, *HEADERS], "line 1"), (["--check", lacking, *HEADERS], "nowhere.hpp"),
                                    (["--check", good, "-p", "nowhere"], "nowhere"), (["--check", lacking], "no list"),
                                    (["--check", good, "--json", "/nowhere/at/all"], "/nowhere/at/all"),
                                    (["--check", good, "--fast"], "--fast")):
            yield from refused(arguments, [fragment])


tap.report((what, check()) for what, check in (
    ("loops that are hard to see through have their verdicts", hard_loops),
    ("transformations that are asked for have theirs", asked_transformations),
    ("reductions are reordered if one says so", allowed_reductions), ("what cannot be judged is refused", bad_requests),
    ("loops around launches are unknown", launches), ("the chapter shows what is printed", examples),
    ("the chapter shows what is made of a nest", program),
    ("parallel loops of stages are proved, or it is said why not", stages), ("JSON is all there is", json_is_all),
    ("bad input is refused", bad_input)))
