"""Tests `slice --check` on loops that are hard to analyse, on the stages' parallel loops, and on bad input, and
compares its output with the chapter on proofs.

Usage: slice_test.py [ROOT SLICE]; without the program, all checks are skipped. Prints TAP.
"""

import json
import pathlib
import re
import resource
import shutil
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
    """Yields verdicts that differ from the comment after each loop; the verdicts of inner loops follow in the same
    comment."""
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
        yield f"hard.cpp contains only {len(expected)} loops"
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number) != found.get(number):
            yield f"line {number}: the verdict is {found.get(number)}, not {expected.get(number)}"


def claims():
    """Yields pragmas that make a loop parallel and whose claim has no verdict, or a wrong one."""
    source = ROOT / "tests/slicer/claims.cpp"
    result = run("--check", source, *HEADERS)
    found = {int(line): verdict for line, verdict in re.findall(
        r"^  line (\d+) +#pragma omp .*: (proved|refuted|beyond)", result.stdout, re.MULTILINE)}
    expected = {number: match[1] for number, line in enumerate(source.read_text().splitlines(), 1)
                if (match := re.search(r"/[/*] (proved|refuted|beyond)", line))}
    if len(expected) < 28 or result.returncode != 1:
        yield f"the file contains {len(expected)} pragmas, and the exit status is {result.returncode}: {result.stderr}"
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number) != found.get(number):
            yield f"line {number}: the verdict is {found.get(number)}, not {expected.get(number)}"


def common_loops():
    """Yields verdicts that differ from the comments after the loops and pragmas of two more files, in C++ and in C."""
    for name, least in (("coverage.cpp", 40), ("coverage.c", 5)):
        source = ROOT / "tests/slicer" / name
        result = run("--check", "--json", "-", source, *HEADERS)
        if result.returncode not in (0, 1):
            yield result.stderr
            continue
        found, claimed = {}, {}
        for loop in json.loads(result.stdout):
            found[loop["line"]] = loop["verdict"]
            if "claim" in loop:
                claimed[loop["claim"]["line"]] = loop["claim"]["verdict"].partition(" ")[0]
        lines = list(enumerate(source.read_text().splitlines(), 1))
        expected = {number: line.rpartition("// ")[2] for number, line in lines if re.match(r" *for .*// \w+$", line)}
        claims = {number: line.rpartition("// ")[2] for number, line in lines if re.match(r"#pragma omp .*// \w+$", line)}
        found = {number: verdict for number, verdict in found.items() if number in expected}
        if len(expected) < least:
            yield f"{name} contains only {len(expected)} loops"
        for what, wanted, got in (("loop", expected, found), ("pragma", claims, claimed)):
            for number in sorted(wanted):
                if wanted[number] != got.get(number):
                    yield f"{name}, {what} in line {number}: the verdict is {got.get(number)}, not {wanted[number]}"


# The checked property, the source, and texts that the report must contain.
CLAUSES = (
    ("a loop with nowait is proved under the assumption that the following loop accesses other memory",
     """void f(double* a, double* b, long n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (long i = 0; i < n; ++i) a[i] = 1;
#pragma omp for
    for (long i = 0; i < n; ++i) b[i] = 2;
  }
}
void g(double* a, long n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (long i = 0; i < n; ++i) a[i] = 1;
#pragma omp for
    for (long i = 0; i < n; ++i) a[n - i - 1] += 2;
  }
}
""", ("line 4    #pragma omp for nowait: proved", "line 5    `a` and `b` do not overlap",
      "line 13   #pragma omp for nowait: beyond affine: line 16 uses `a`")),
    ("a pointer in a clause private has no initial value in a thread",
     """void f(double* a, double* b, long n) {
  double* p = a;
#pragma omp parallel for private(p)
  for (long i = 0; i < n; ++i) p[i] = b[i];
}
void g(double* a, long n) {
#pragma omp parallel for lastprivate(a)
  for (long i = 0; i < n; ++i) a[i] = i;
}
""", ("private(p): beyond affine: `p` has no initial value in a thread", "lastprivate(a): beyond affine: ")),
    ("lastprivate keeps only the value of the last iteration",
     """long f(const int* a, long n) {
  long x = 0, y = 0;
#pragma omp parallel for lastprivate(x)
  for (long i = 0; i < n; ++i) x = a[i];
#pragma omp parallel for lastprivate(y)
  for (long i = 0; i < n; ++i)
    if (a[i] > 0) y = i;
  return x + y;
}
""", ("lastprivate(x): proved", "lastprivate(y): beyond affine: ", "line 4    an iteration runs, so `x` has a value")),
    ("reduction(&&) matches logical updates, and does not match bitwise updates",
     """bool all(const bool* x, long n) {
  bool s = true;
#pragma omp parallel for reduction(&&: s)
  for (long i = 0; i < n; ++i) s = s && x[i];
  return s;
}
int bits(const int* x, long n) {
  int s = -1;
#pragma omp parallel for reduction(&&: s)
  for (long i = 0; i < n; ++i) s &= x[i];
  return s;
}
""", ("line 3    #pragma omp parallel for reduction(&&: s): proved",
      "line 9    #pragma omp parallel for reduction(&&: s): beyond affine: ")),
    ("a reduction of an array section does not cover other elements",
     """void f(const int* k, double* h, long n) {
  double all[8] = {};
#pragma omp parallel for reduction(+ : all[:8])
  for (long i = 0; i < n; ++i) all[k[i] & 7] += 1;
#pragma omp parallel for reduction(+ : all[:4])
  for (long i = 0; i < n; ++i) all[k[i] & 7] += 1;
#pragma omp parallel for reduction(+ : h[:9])
  for (long i = 0; i < n; ++i) h[k[i] & 7] += 1;
  h[0] += all[7];
}
""", ("all[:8]): proved", "all[:4]): beyond affine: the clause `reduction` names only a part of `all`", "h[:9]): proved",
      "line 8    subscripts of `h` are within `h[:9]`")),
    ("a loop counter that a later pragma reads is live after the loop",
     """void f(double* a, int n) {
  int i;
#pragma omp parallel for
  for (i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for num_threads(i)
  for (int j = 0; j < n; ++j) a[j] += 1;
}
""", ("line 3    #pragma omp parallel for: beyond affine: each thread has a `i` of its own, and the pragma in line 5 may need `i`",)),
    ("a loop counter is live after the loop only if later code reads it",
     """#include <cstdlib>
void g(int);
void f(int n) {
  double* a = (double*)malloc(n * sizeof(double));
  int i, j;
#pragma omp parallel for
  for (i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for
  for (j = 0; j < n; ++j) a[j] += 1;
  free(a);
  g(j);
}
""", ("line 6    #pragma omp parallel for: proved", "line 8    #pragma omp parallel for: beyond affine: each thread has a `j` of its own")),
    ("a loop is refuted if no barrier separates it from a conflicting write before it",
     """int f() {
  int a, i;
#pragma omp parallel shared(a) private(i)
  {
#pragma omp master
    a = 0;
#pragma omp for reduction(+ : a)
    for (i = 0; i < 10; ++i) a += i;
  }
#pragma omp parallel shared(a) private(i)
  {
#pragma omp master
    a = 0;
#pragma omp barrier
#pragma omp for reduction(+ : a)
    for (i = 0; i < 10; ++i) a += i;
  }
  return a;
}
""", ("line 7    #pragma omp for reduction(+ : a): refuted: line 6 writes a, which i = 0 reads, and no barrier is between them",
      "line 15   #pragma omp for reduction(+ : a): proved")),
    ("a loop with too complicated iteration sets is unknown after a bounded amount of work",
     "void f(double* a, long n" + "".join(f", long k{k}" for k in range(24)) + ") {\n"
     "#pragma omp parallel for\n"
     "  for (long i = 0; i < n; ++i) a[" + " + ".join(f"(i > k{k} ? i : k{k})" for k in range(24)) + "] = 1;\n}\n",
     ("line 3    for i      unknown: the sets of iterations are too complicated",
      "line 2    #pragma omp parallel for: beyond affine: the sets of iterations are too complicated")),
    ("a loop in a template is independent for arithmetic types, and unknown for classes with operators",
     """#include <vector>
template <typename T>
void added(std::vector<T>& x, const std::vector<T>& y, long n) {
  for (long i = 0; i < n; ++i) x[i] += y[i];
}
struct Odd {
  double v;
  Odd& operator+=(const Odd&);
};
template <typename T>
void others(std::vector<T>& x, const std::vector<T>& y, long n) {
  for (long i = 0; i < n; ++i) x[i] += y[i];
}
void use(std::vector<double>& a, std::vector<double>& b, std::vector<Odd>& c, std::vector<Odd>& d) {
  added(a, b, 9);
  others(c, d, 9);
}
""", ("line 4    for i      independent", "line 12   for i      unknown: line 16 instantiates a template with types that are not numbers")))


def shows(source, lines):
    """Yields lines that the report on a source lacks."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "clauses.cpp")
        path.write_text(source)
        result = run("--check", path)
        for line in lines:
            if line not in result.stdout:
                yield f"the report lacks '{line}':\n{result.stdout}{result.stderr}"


def commands():
    """Checks that options come from compile_commands.json, in both of its forms, and that options after -- replace them."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve()
        for name in ("build", "include", "src", "elsewhere"):
            (root / name).mkdir()
        (root / "include/sizes.hpp").write_text("#define LENGTH 9\n")
        loop = '#include "sizes.hpp"\nvoid f(double* a) {\n  for (int i = 0; i < LENGTH; ++i) a[i] = a[i + FAR];\n}\n'
        for name in ("loop", "other"):
            (root / f"src/{name}.cpp").write_text(loop)
        listed = {"directory": str(root / "build"), "file": "../src/loop.cpp"}
        for where, entry in (("build", {"command": "c++ '-DFAR=9' -I ../include -c ../src/loop.cpp"}),
                             ("elsewhere", {"arguments": ["c++", "-DFAR=1", "-I../include", "-c", "../src/loop.cpp"]})):
            (root / where / "compile_commands.json").write_text(json.dumps([listed | entry]))
        include = f"-I{root / 'include'}"
        for arguments, expected in ((["src/loop.cpp"], "independent"), (["src/loop.cpp", "-p", root / "elsewhere"], "dependent: "),
                                    (["src/loop.cpp", "--", include, "-DFAR=9"], "independent"),
                                    (["src/loop.cpp", "--", include, "-DFAR=2"], "dependent: "),
                                    (["src/other.cpp"], "'FAR'"), (["src/loop.cpp", "--", "-DFAR=9"], "'sizes.hpp' file not found")):
            result = run("--check", root / arguments[0], *arguments[1:])
            if expected not in result.stdout + result.stderr or result.returncode != (2 if "'" in expected else 0):
                yield f"{arguments}: exit status {result.returncode}, {result.stdout}{result.stderr}"


def sarif():
    """Checks that refuted pragmas are errors with both iterations, and that a directive that is not covered is a note."""
    with tempfile.TemporaryDirectory() as directory:
        source, out = pathlib.Path(directory, "loops.cpp"), pathlib.Path(directory, "out.sarif")
        source.write_text("void f(double* a, long n) {\n#pragma omp parallel for\n"
                          "  for (long i = 1; i < n; ++i) a[i] = a[i - 1];\n#pragma omp taskwait\n}\n")
        result = run("--check", source, "--json", out)
        if result.returncode != 1 or result.stdout:
            yield f"the exit status is {result.returncode}, and the output is {result.stdout}{result.stderr}"
            return
        results = json.loads(out.read_text())["runs"][0]["results"]
        found = [(each["ruleId"], each["level"], each["locations"][0]["physicalLocation"]["region"]["startLine"])
                 for each in results]
        if found != [("refuted", "error", 2), ("not-covered", "note", 4)]:
            yield f"the SARIF results are {found}"
        elif "i = 2 reads a[1], which i = 1 writes" not in results[0]["message"]["text"]:
            yield f"the message does not name both iterations: {results[0]['message']['text']}"


def requested_transformations():
    """Yields verdicts that differ from the comment after each pragma, and illegal transformations that are not refused."""
    source = ROOT / "tests/slicer/asked.cpp"
    found = {}
    result = run("--check", "--json", "-", source, *HEADERS)
    for loop in json.loads(result.stdout or "[]"):
        for ruling in loop.get("transformations", []):
            found.setdefault(ruling["line"], []).append(ruling["verdict"])
            if not ruling["reason"] and ruling["verdict"] != "legal":
                yield f"the verdict has no reason: {ruling}"
    expected = {number: line.rpartition("// ")[2].split() for number, line in enumerate(
        source.read_text().splitlines(), 1) if line.startswith("#pragma staircase")}
    if len(expected) < 30 or result.returncode != 1:
        yield f"the file contains {len(expected)} pragmas, and the exit status is {result.returncode}: {result.stderr}"
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number) != found.get(number):
            yield f"line {number}: the verdict is {found.get(number)}, not {expected.get(number)}"


def allowed_reductions():
    """Checks that a new order of a sum is accepted only with the option for reductions."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "sum.cpp")
        source.write_text("void f(double* x, double& s) {\n#pragma staircase interchange(i, j)\n"
                          "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j) s += x[4 * i + j];\n}\n")
        for options, status, fragment in (([], 1, "reduction: i = 1, j = 0 reads s, which i = 0, j = 1 writes (flow)"),
                                          (["--reductions"], 0, "interchange(i, j): legal up to rounding (+ s)")):
            result = run("--check", *options, source)
            if result.returncode != status or fragment not in result.stdout:
                yield f"{options}: exit status {result.returncode}, {result.stdout}"


def bad_requests():
    """Yields pragmas that cannot be judged and that are not refused in one sentence with their line."""
    nest = "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j) x[4 * i + j] = 0;\n"
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "bad.cpp")
        for pragma, fragment in (("unroll(i)", "`unroll`; there are"), ("interchange(i)", "`interchange(i, j)`"),
                                 ("interchange(i, k)", "`k`"), ("interchange(i, i)", "twice"), ("tile(i: 0)", "`tile(i: 0)`"),
                                 ("tile(i: n, j: 2)", "`tile(i: 32, j: 32)`"), ("skew(j)", "`skew(j: 2 * i)`"),
                                 ("skew(j: 2 * k)", "`k`"), ("tile(i: 9999999)", "look like"), ("fuse(i)", "`fuse`"),
                                 ("expand(y)", "no variable"), ("fuse distribute", "follows `fuse`"),
                                 ("tile(i: 2) interchange(i, j)", "has to be the last")):
            source.write_text(f"void f(double* x) {{\n#pragma staircase {pragma}\n{nest}}}\n")
            yield from refused(["--check", source], ["line 2", fragment])
        source.write_text(f"void f(double* x) {{\n{nest}#pragma staircase fuse\n  x[0] = 1;\n}}\n")
        yield from refused(["--check", source], ["line 4", "there is no loop"])


def refused(arguments, fragments):
    result = run(*arguments)
    if result.returncode != 2 or result.stdout or result.stderr.count("\n") != 1 or any(
            fragment not in result.stderr for fragment in fragments):
        yield (f"{arguments}: status 2 and one line with {fragments} expected, but the exit status is {result.returncode}: "
               f"{result.stdout[:80]}{result.stderr}")


def launches():
    """Yields verdicts that differ from the comments after the loops of a CUDA source, and wrong reasons for loops
    around launches."""
    source = ROOT / "tests/slicer/launches.cu"
    result = run("--check", "--json", "-", source, *HEADERS, "-Icommon/cuda_on_cpu/include")
    if result.returncode != 0:
        yield result.stderr
        return
    found = {loop["line"]: loop for loop in json.loads(result.stdout)}
    lines = source.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip().startswith("for ") and found.get(number, {}).get("verdict") != line.rpartition("// ")[2]:
            yield f"line {number}: the verdict differs from the comment: {found.get(number)}"
        if "<<<" in line and f"in line {number}" not in found[number - 1]["reason"]:
            yield f"line {number}: the reason does not name the line of the launch: {found[number - 1]['reason']}"
    # Precompiled headers are ignored if the language options differ, or if a header is newer.
    without_precompiled = run("--check", "--json", "-", source, *HEADERS, "-Icommon/cuda_on_cpu/include", "-std=c++17")
    if without_precompiled.stdout != result.stdout:
        yield f"without precompiled headers, the output differs: {without_precompiled.stderr or without_precompiled.stdout}"


def examples():
    """Yields examples of the chapter that differ from the program's output."""
    for source in sorted(SHOWN.glob("*.cpp")):
        printed = run("--check", "--reductions", source.relative_to(ROOT), *HEADERS).stdout
        if printed != source.with_suffix(".txt").read_text():
            yield f"{source.name}: the program prints\n{printed}"


def wrong_lines(source, printed, claims):
    """Yields line numbers that the page of a stage names for a claim and that differ from the printed ones."""
    for text, claim, pragma in zip(printed, claims, proved.pragma_lines(source, claims)):
        if not text.startswith(f"  line {pragma} "):
            yield f"the page names line {pragma} for the claim: {text}"
        named = re.search(r" in line (\d+)", text)
        if named and proved.named_line(claim["why"], source, pragma) != int(named[1]):
            yield f"the page names line {proved.named_line(claim['why'], source, pragma)} in the reason of: {text}"


class Recorded:
    """A nest that runs in Python. For each cell it stores the last write and the reads since then, and it collects the
    dependences."""

    def __init__(self):
        self.arrows, self.points, self.slices = set(), set(), {}
        self.memory = {}

    def touch(self, statement, point, reads, writes, number=None):
        """Records that the statement at a point reads some cells and then writes some cells; a cell is an array and its
        subscripts."""
        here = (statement, point)
        self.points.add(here)
        for cell in reads:
            write, since = self.memory.setdefault(cell, [None, set()])
            self.add("flow", cell, {write} - {None}, here)
            since.add(here)
        for cell in writes:
            write, since = self.memory.get(cell, [None, set()])
            self.add("anti", cell, since, here)
            self.add("output", cell, {write} - {None} if not since else set(), here)
            self.memory[cell] = [here, set()]
        cells = self.slices.setdefault(number, (set(), set()))
        cells[0].update(cell[:2] for cell in reads)
        cells[1].update(cell[:2] for cell in writes)

    def add(self, kind, cell, sources, sink):
        self.arrows |= {(kind, *cell[:2], source, sink) for source in sources if source != sink}


def solved_by_rows(n):
    """Records the row-oriented form of the triangular solve; each iteration over i has its own `s`."""
    run_here = Recorded()
    for i in range(n):
        s = ("s", (), i)
        run_here.touch(0, (i,), [], [s])
        for j in range(i):
            run_here.touch(1, (i, j), [s, ("a", (i, j)), ("x", (j,))], [s])
        run_here.touch(2, (i,), [("b", (i,)), s, ("a", (i, i))], [("x", (i,))])
    return run_here


def solved_by_columns(n):
    run_here = Recorded()
    for i in range(n):
        run_here.touch(0, (i,), [("b", (i,)), ("a", (i, i))], [("x", (i,))])
        for j in range(i + 1, n):
            run_here.touch(1, (i, j), [("b", (j,)), ("a", (j, i)), ("x", (i,))], [("b", (j,))])
    return run_here


def multiplied(n):
    run_here = Recorded()
    for i in range(n):
        for j in range(n):
            e = i // -(-n // 3) + 3 * (j // -(-n // 5))
            total = ("sum", (), i, j)
            run_here.touch(0, (i, j), [], [total], e)
            for k in range(n):
                run_here.touch(1, (i, j, k), [total, ("a", (i, k)), ("b", (k, j))], [total], e)
            run_here.touch(2, (i, j), [total], [("c", (i, j))], e)
    return run_here


def smoothed(n):
    """Records the nest of SMOOTHED, which has flow, anti and output dependences."""
    run_here = Recorded()
    for t in range(2):
        for i in range(n - 1, 0, -1):
            run_here.touch(0, (t, i), [("u", (i - 1,)), ("u", (i,))], [("u", (i,))])
            run_here.touch(1, (t, i), [], [("m", ())])
    return run_here


SMOOTHED = """void f(double* u, double& m, int n) {
  for (int t = 0; t < 2; ++t)
    for (int i = n - 1; i > 0; --i) {
      u[i] = u[i - 1] + u[i];
      m = 0;
    }
}
"""


def pairs_of(cells):
    return {(name, tuple(at)) for name, elements in cells.items() for at in elements}


def wrong_picture(nest, expected):
    """Yields points, dependences and slices that differ from those of a run."""
    points = [(s, tuple(point)) for s, each in enumerate(nest["statements"]) for point in each["points"]]
    if len(points) != len(set(points)) or set(points) != expected.points:
        yield f"{nest['function']}: the points differ from the points of a run: {points}"
    found = [(arrow["kind"], arrow["array"], tuple(arrow["element"]), *((end[0], tuple(end[1])) for end in (
        arrow["source"], arrow["sink"]))) for arrow in nest["arrows"]]
    if len(found) != len(set(found)) or set(found) != expected.arrows:
        yield f"{nest['function']}: these dependences differ from the dependences of a run: {set(found) ^ expected.arrows}"
    if "slices" not in nest:
        return
    for each in nest["slices"]["each"]:
        outside = [{cell for cell in cells if cell[0] != "sum"} for cells in expected.slices[each["number"]]]
        if [pairs_of(each["reads"]), pairs_of(each["writes"])] != outside:
            yield f"the cells that a slice reads or writes differ from the cells of a run: {each}"
    if len(nest["slices"]["each"]) != len(expected.slices):
        yield f"there are {len(nest['slices']['each'])} slices, not {len(expected.slices)}"
    for statement in nest["statements"]:
        for (i, j, *_), number in zip(statement["points"], statement["slices"], strict=True):
            length, other = [loop["length"] for loop in nest["slices"]["loops"]]
            if number != i // length + 3 * (j // other):
                yield f"iteration {i}, {j} belongs to slice {number}"


def pictures():
    """Yields differences between the data for figures and runs of the nests, for several sizes; the book uses the
    default sizes."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "smoothed.cpp")
        source.write_text(SMOOTHED)
        for path, runs in ((SHOWN / "forms.cpp", [solved_by_rows, solved_by_columns]), (SHOWN / "product.cpp", [multiplied]),
                           (source, [smoothed])):
            for n in (1, 2, 4, 5, 7):
                result = run("--report", "--set", f"n={n}", path, *HEADERS)
                nests = json.loads(result.stdout)["nests"] if result.returncode == 0 else []
                if len(nests) != len(runs):
                    yield f"{path.name}: the report has {len(nests)} nests, not {len(runs)}: {result.stderr}"
                for nest, of in zip(nests, runs):
                    yield from wrong_picture(nest, of(n))
    for shown in sorted(SHOWN.glob("*.json")):
        drawn = run("--report", shown.with_suffix(".cpp").relative_to(ROOT), *HEADERS).stdout
        if drawn != shown.read_text():
            yield f"{shown.name} differs from the output of --report"


def undrawable_nests():
    """Yields nests that cannot be drawn and that are not refused in one sentence."""
    texts = {"empty": "int f() { return 1; }\n",
             "indirect": "void f(double* x, int* p, int n) {\n  for (int i = 0; i < n; ++i) x[p[i]] = 0;\n}\n",
             "called": "double g(double*);\nvoid f(double* x, int n) {\n  for (int i = 0; i < n; ++i) x[i] = g(x);\n}\n",
             "endless": "void f(double* x) {\n  for (int i = 0; i >= 0; ++i) x[i] = 0;\n}\n",
             "silent": "void f(int n) {\n  for (int i = 0; i < n; ++i) {\n  }\n}\n",
             "while": "void f(double* x) {\n  while (x[0] > 0) x[0] -= 1;\n}\n",
             "dense": "void f(double* x) {\n  for (int i = 0; i < 70000; ++i) x[i] = 0;\n}\n",
             "chain": "void f(double* x, int n) {\n#pragma staircase slice(i: 2)\n  for (int i = 1; i < n; ++i) x[i] = x[i - 1];\n}\n",
             "counted": "void f(double* x, int n, int s) {\n#pragma staircase slice(i: s)\n"
                        "  for (int i = 1; i < n; ++i) x[i] = 0;\n}\n"}
    with tempfile.TemporaryDirectory() as directory:
        for name, fragments in (
                ("empty", ["has no loop"]), ("indirect", ["line 2", "`p[i]`"]), ("called", ["line 3", "`g(x)`"]),
                ("endless", ["line 2", "`i >= 0`"]), ("silent", ["line 2", "no memory"]), ("while", ["line 2"]),
                ("dense", ["line 2", "50000"]), ("chain", ["line 3", "i = 1"]), ("counted", ["line 2", "`s`"])):
            source = pathlib.Path(directory, f"{name}.cpp")
            source.write_text(texts[name])
            yield from refused(["--report", source, *HEADERS], fragments)
    good = SHOWN / "forms.cpp"
    for words, fragment in ((["n"], "'n'"), (["n=0"], "'n=0'"), (["n=65"], "1 to 64"), (["n=five"], "'n=five'"), (["=5"], "'=5'"),
                            (["m=5"], "'m'"), (["n=4", "--set", "n=5"], "twice")):
        yield from refused(["--report", "--set", *words, good, *HEADERS], [fragment])
    for arguments, fragment in ((["--report", "--check", good], "exclude"), (["--report"], "--report needs a FILE"),
                                (["--check", "--set", "n=5", good], "--set"), (["--report", "--reductions", good], "--check"),
                                (["--report", "--form", "3", good], "-o OUT")):
        yield from refused(arguments, [fragment])


def program():
    """Yields the sliced product or the refusal of another nest if it differs from the text that the chapter shows."""
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


def headers_of_mpi():
    """The compiler's options for the headers of MPI; empty if MPI is missing."""
    compiler = shutil.which("mpicxx")
    if compiler is None:
        return []
    shown = subprocess.run([compiler, "--showme:incdirs"], capture_output=True, text=True, check=True)
    return [f"-I{directory}" for directory in shown.stdout.split()]


def stages():
    """Yields differences between the reports on the stages' parallel loops and the stored ones, apart from line numbers."""
    lines, of_mpi, shown = [], headers_of_mpi(), (SHOWN / "stages.txt").read_text()
    for source in sorted(ROOT.glob("stages/*/[0-9]*/*.cpp")):
        if not PARALLEL.search(source.read_text()):
            continue
        if "<staircase/mpi.hpp>" in source.read_text() and not of_mpi:
            shown = re.sub(rf"^{source.parent.parent.name} {source.parent.name}\n(  .*\n)*", "", shown, flags=re.MULTILINE)
            continue
        result = run("--check", source.relative_to(ROOT), *HEADERS, *of_mpi)
        if result.returncode not in (0, 1):
            yield result.stderr
        claims = result.stdout.partition("OpenMP\n")[2].partition("Assumed")[0].splitlines()
        claims = [claim for claim in claims if not claim.endswith(": not covered")]  # for example, a barrier
        lines.append(f"{source.parent.parent.name} {source.parent.name}")
        lines += [re.sub(r" in line \d+", "", re.sub(r"^  line \d+ +#pragma ", "  ", claim)) for claim in claims]
        if len(claims) != len(PARALLEL.findall(source.read_text())):
            yield f"{source}: the number of claims, {len(claims)}, differs from the number of pragmas"
        yield from wrong_lines(source.read_text(), claims, proved.read("x x\n" + "\n".join(
            lines[len(lines) - len(claims):]))["x", "x"])
    text = "\n".join(lines) + "\n"
    if text != shown:
        yield f"stages.txt differs from the reports, which are\n{text}"
    if "refuted" in text:
        yield "a parallel loop is refuted"


def only_json():
    """Checks that --json prints only the JSON text, and that a file gets the same text."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "found.json")
        result = run("--check", "--json", path, SHOWN / "claims.cpp")
        alone = run("--check", "--json", "-", SHOWN / "claims.cpp")
        if path.read_text() != alone.stdout or result.stdout or result.stderr:
            yield "the text in the file differs from standard output, or something else is printed"
        for loop in json.loads(alone.stdout):
            if list(loop) != ["file", "line", "variable", "verdict", "pair", "reason", "assumptions"] + ["claim"] * (
                    "claim" in loop):
                yield f"a loop has the keys {list(loop)}"
        if alone.returncode != 1:
            yield f"the exit status for a refuted claim is {alone.returncode}, not 1"


ASSUMING = """template <typename T>
void added(T* x, const T* y, int n) {
  for (int i = 0; i < n; ++i) x[i] += y[i];
}
void overlap(double* a, double* b, long n) {
  for (long i = 0; i < n; ++i) a[i] = b[i + 1];
}
void apart(double* a, double* b, long n, long m) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < m; ++j) a[i * m + j] = b[i];
}
void whole(long n) {
  static double global[10][10];
  for (long i = 1; i < 10; ++i)
    for (long j = 0; j < 10; ++j) global[i][j] = 1;
}
double rows[10][10];
void leaves() {
  for (long i = 1; i < 10; ++i)
    for (long j = 0; j < 10; ++j) rows[i][j] = rows[0][j - 1];
}
void use(double* x) { overlap(x, x + 4, 5); }
template <typename T>
void set(T* elements, long i) { elements[i] = 1; }
void by_call(double* p, double* q, long n) {
  for (long i = 0; i < n; ++i) {
    p[i] += 1;
    set(q, i);
  }
}
"""


def assumptions():
    """Checks that an assumption of a verdict is printed with its line, that the file can refute it, and that --strict
    excludes it."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "assuming.cpp")
        source.write_text(ASSUMING)
        printed_text = run("--check", source).stdout
        for line in ("line 3    template parameters stand for numbers, and not for bool", "line 3    `x` and `y` do not overlap",
                     "line 6    for i      unknown: line 22 gives `b` and `a` the same memory", "line 26   `p` and `q` do not overlap", "line 9    `a` and `b` do not overlap",
                     "line 10   `i * m + j` does not overflow", "line 14   for i      independent", "line 19   for i      unknown: the "
                     "subscript `j - 1` of `rows` in line 20 leaves its 10 elements"):
            if line not in printed_text:
                yield f"the report lacks '{line}':\n{printed_text}"
        strict = run("--check", "--strict", source).stdout
        if "Assumed" in strict or strict.count("nothing proves that") < 3 or "line 14   for i      independent" not in strict:
            yield f"--strict still uses an assumption, or prints another report: {strict}"
        yield from refused(["--strict", source, "-o", pathlib.Path(directory, "out.cpp")], ["--strict belongs"])


def bad_input():
    """Yields bad input that is not refused in one sentence, with nothing on standard output."""
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
                                    (["--check", good, "--fast"], "--fast"),
                                    (["--check", good, "--", "-std=c++99"], "arguments"),
                                    (["--check", good, "--", "--target=nonsense"], "arguments"),
                                    (["--check", good, "--", "--nonsense"], "'--nonsense'"),
                                    (["--check", good, "--", "-DN=1", "-fnonsense"], "'-fnonsense'"),
                                    (["--check", good, "--", "-include", "nowhere.h"], "nowhere.h")):
            yield from refused(arguments, [fragment])


def openmp():
    """Checks that a source that includes omp.h is read with and without the macro _OPENMP, and with the slicer's omp.h."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "openmp.cpp")
        source.write_text("#include <omp.h>\n#include <vector>\n#ifdef OWN\n"
                          "std::vector<double, omp::allocator::default_mem<double>> kept;\n#endif\n"
                          "void f(double* x, omp_lock_t& lock) {\n  omp_set_lock(&lock);\n#pragma omp parallel for\n"
                          "  for (int i = 0; i < omp_get_max_threads(); ++i) x[i] = omp_get_wtime();\n"
                          "  omp_unset_lock(&lock);\n}\n"
                          "#ifdef _OPENMP\nvoid g(double* x) {\n  for (int i = 0; i < 4; ++i) x[i] = 0;\n}\n#endif\n")
        own = ["-DOWN", "-isystem", ROOT / "common/slicer/openmp"]
        for arguments, loops in (([], 2), (["-fopenmp"], 2), (["-U_OPENMP"], 1), (own, 2), ([*own, "-fopenmp"], 2), ([*own, "-U_OPENMP"], 1)):
            result = run("--check", source, "--", *arguments)
            if result.returncode != 0 or "line 8    #pragma omp" not in result.stdout or result.stdout.count("  for i ") != loops:
                yield f"{arguments}: exit status {result.returncode}, {result.stdout}{result.stderr}"


def output_options():
    """Checks that options for output files have no effect, and that options for one part of the compiler are refused."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "loop.cpp")
        source.write_text("#define END n\nvoid f(double* x, long n) {\n#pragma omp parallel for\n  for (long i = 0; i < END; ++i) x[i] = 1;\n}\n")
        for options in ("-MD", "-MMD -MF deps.d -MT loop.o", "-MF deps.d -MD", "-MFdeps.d -MD", "-o loop.o -c", "-oloop.o", "-E -P",
                        "-S", "-M", "-MM -MG -MP", "-save-temps", "-save-temps=obj", "--save-temps", "-MJ commands.json",
                        "-Wp,-MD,deps.d", "-Wp,-DN=1,-MMD,deps.d,-DM=2", "-ftime-trace", "-Xclang -fopenmp", "-Xpreprocessor -fopenmp",
                        "-dumpdir here", "--write-dependencies"):
            result = subprocess.run([SLICE, "--check", source, "--", *options.split()], capture_output=True, text=True, cwd=directory)
            if result.returncode != 0 or result.stderr or "independent" not in result.stdout or ": proved" not in result.stdout:
                yield f"{options}: exit status {result.returncode}, {result.stdout}{result.stderr}"
            left = sorted(path.name for path in pathlib.Path(directory).iterdir())
            if left != ["loop.cpp"]:
                yield f"{options}: the directory contains {left} afterwards"
        for options, fragment in (("-Xclang -dependency-file -Xclang deps.d", "'-Xclang -dependency-file'"), ("-Xpreprocessor -MD", "'-Xpreprocessor -MD'"),
                                  ("-MD -MF", "'-MF'"), ("-o", "'-o'"), ("-Wp,-MD", "'-MD'"), ("-Xclang", "'-Xclang'")):
            yield from refused(["--check", source, "--", *options.split()], [fragment])


def crashes():
    """Checks that a crash prints one sentence and has its own exit status. A stack that is too small causes the
    crash."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "deep.cpp")
        source.write_text("void f(double* x) {\n  for (int i = 0; i < 4; ++i) x[i] = 1" + " + 1" * 20000 + ";\n}\n")
        small = 1 << 19, resource.getrlimit(resource.RLIMIT_STACK)[1]
        result = subprocess.run([SLICE, "--check", source], capture_output=True, text=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, small))
        if result.returncode != 3 or result.stdout or "crashed" not in result.stderr or str(source) not in result.stderr:
            yield f"the exit status is {result.returncode}, not 3: {result.stdout[:200]}, {result.stderr[:400]}"


tap.report([(what, shows(source, lines)) for what, source, lines in CLAUSES] + [(what, check()) for what, check in (
    ("loops that are hard to analyse get the expected verdicts", hard_loops),
    ("common loops in C++ and C get the expected verdicts", common_loops),
    ("SARIF output reports refuted pragmas as errors, and directives that are not covered as notes", sarif),
    ("claims of OpenMP pragmas are proved, refuted or beyond affine as expected", claims),
    ("requested transformations get the expected verdicts", requested_transformations),
    ("a reduction is reordered only with --reductions", allowed_reductions),
    ("requests that cannot be judged are refused in one sentence", bad_requests),
    ("loops around kernel launches get the expected verdicts, and the reason names the launch", launches),
    ("the chapter quotes the reports of the program exactly", examples),
    ("the chapter quotes a generated nest and a refusal exactly", program),
    ("--report computes the points, dependences and slices of a real run", pictures),
    ("--report refuses nests that it cannot draw in one sentence", undrawable_nests),
    ("no parallel loop of a stage is refuted, and all reports equal the stored ones", stages),
    ("--json prints only JSON, and writes the same text to a file", only_json),
    ("assumptions are printed with their lines, refuted by calls, and excluded by --strict", assumptions),
    ("bad input is refused in one sentence", bad_input),
    ("sources that include omp.h are read with and without _OPENMP", openmp),
    ("compiler options for output files write no file", output_options),
    ("a crash prints one sentence and has its own exit status", crashes),
    ("compiler options come from compile_commands.json or follow --", commands))])
