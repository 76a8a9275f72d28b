"""Tests the sentences that explain a symptom by its cause, on made-up solutions and sources: sentences_test.py ROOT.
Prints TAP."""

import array
import pathlib
import sys

import building
import comparing
import counting
import explaining
import products
import rules
import tap

ROOT = pathlib.Path(sys.argv[1])
KERNEL = "__global__ void fill(double* x) { x[threadIdx.x] = 0; }\n"
TILE = 16


def solution_of(cols, element):
    """A square solution whose elements are a function of row and column."""
    return comparing.Solution((cols, cols), array.array("d", [element(i, j) for i in range(cols) for j in range(cols)]))


def explained(rows, cols, make):
    """The explanation of a wrong product; `make` returns the element at (i, j) by the matrix A."""
    problem = {"rows": rows, "cols": cols, "seed": 7}
    a = products.matrix(problem)
    right = solution_of(cols, lambda i, j: sum(row[i] * row[j] for row in a))
    found = solution_of(cols, make(a))
    wrong = [place for place in range(cols * cols) if abs(found.values[place] - right.values[place]) > 1e-9]
    return products.explanation(problem, found, wrong) if wrong else "nothing is wrong"


def of_rows(chosen):
    """The product of some rows, given by a function of the number of rows."""
    return lambda a: lambda i, j: sum(a[k][i] * a[k][j] for k in chosen(len(a)))


def exchanged(a):
    """The product if x and y are exchanged within a tile."""
    cols = len(a[0])

    def element(i, j):
        p, q = i // TILE * TILE + j % TILE, j // TILE * TILE + i % TILE
        return sum(row[p] * row[q] for row in a) if p < cols and q < cols else 0.0

    return element


def transposed(a):
    """The product if the tile of the first factor is stored transposed."""
    rows, cols = len(a), len(a[0])

    def value(k, i):
        return a[k][i] if k < rows and i < cols else 0.0

    return lambda i, j: sum(value(k0 + i % TILE, i // TILE * TILE + m) * value(k0 + m, j)
                            for k0 in range(0, rows, TILE) for m in range(TILE))


def wrong_products():
    """A wrong product of a matrix and itself is explained by rows, columns or factors."""
    cases = [(33, 33, of_rows(lambda n: range((n - 1) // TILE * TILE, n)), "rows 0 to 31 of A are never added"),
             (33, 33, of_rows(lambda n: range(n // TILE * TILE)), "row 32 of A is never added"),
             (32, 32, of_rows(lambda n: [k % TILE for k in range(n)]), "rows 16 to 31 of A are never added, and rows 0 to 15 of A are added 2"),
             (33, 33, of_rows(lambda n: [k for k in range(n) if k % 32 < TILE]), "rows 16 to 31 of A are never added"),
             (32, 32, exchanged, "element (0, 17) holds the product of columns 1 and 16 instead of columns 0 and 17"),
             (1, 77, exchanged, "element (0, 17) holds the product of columns 1 and 16"),
             (33, 33, transposed, "row and column are exchanged in the first factor, within each tile of 16 x 16"),
             (15, 15, transposed, "row and column are exchanged in the first factor")]
    for rows, cols, make, sentence in cases:
        if sentence not in (explained(rows, cols, make) or ""):
            yield f"{rows} x {cols}: '{sentence}' is not in: {explained(rows, cols, make)}"
    unknown = explained(33, 33, lambda a: lambda i, j: sum(row[i] * row[j] for row in a) + (i * 7 + j * 3) % 11)
    if unknown is not None:
        yield f"arbitrary errors are explained: {unknown}"


def other_elements():
    """Elements with the values of other elements are named."""
    right = solution_of(20, lambda i, j: 1 / (1 + i * 20 + j))
    found = solution_of(20, lambda i, j: 1 / (1 + (i + 7) % 20 * 20 + (j + 3) % 20))
    said = " ".join(comparing.differences(found, right, {"relative": 1e-12, "scale": "element", "floor": 0}))
    if "element (0, 0) has the value of element (7, 3)" not in said:
        yield said


def broken_rules():
    """Programs that nvcc refuses are refused with the line of the mistake, and correct ones are not."""
    host = "void run(double* x) {{\n  {}\n}}\n"
    for text, line, fragment in [(KERNEL + host.format("fill(x);"), 3, "execution configuration"),
                                 (KERNEL + host.format("fill<<1, 32>>(x);"), 3, "three brackets"),
                                 (KERNEL.replace("__global__ ", "") + host.format("fill<<<1, 32>>>(x);"), 1, "__global__ is missing"),
                                 (KERNEL.replace("void", "int"), 1, "must return void")]:
        found = list(rules.broken(text))
        if len(found) != 1 or found[0][0] != line or fragment not in found[0][1]:
            yield f"{text}: {found}"
    template = "template <typename T>\n__global__ void __launch_bounds__(32) fill(T* x) { *x = 0; }\n"
    for text in (KERNEL + host.format("fill<<<1, 32>>>(x);"), template + host.format("fill<double><<<1, 32>>>(x);"),
                 KERNEL + host.format("// fill(x);"), "void fill(int);\n" + KERNEL + host.format("fill(1);")):
        if list(rules.broken(text)):
            yield f"refused: {text}: {list(rules.broken(text))}"
    for source in sorted((ROOT / "stages").rglob("*.cu")):
        yield from (f"{source.name}:{line}: {sentence}" for line, sentence in rules.broken(source.read_text()))


def constants():
    """Extents of shared arrays and early returns are read from the source."""
    text = ("constexpr unsigned tile = 16, half = tile / 2;\n__global__ void f(int n) {\n  __shared__ double left[tile][half + 1];\n"
            "  if (threadIdx.x >= n) return;\n  __syncthreads();\n  if (n == 0) return;\n}\n")
    found = list(rules.arrays_in_shared(text)), list(rules.shared_elements(text, 8 * 9 * 3 + 8 * 4, 8 * 16 * 9))
    if found != ([("left", [16, 9])], [("left", "left[3][4]")]):
        yield f"the arrays are {found}"
    if rules.early_returns(text, 5) != [4]:
        yield f"the early returns are in lines {rules.early_returns(text, 5)}"


def places():
    """An error in a header counts at the line of the source that leads there, if the compiler names it."""
    output = ("../common/include/view.hpp: In instantiation of 'f':\nmine/x.cu:46:12:   required from here\n"
              "../common/include/view.hpp:25:7: error: no match\n")
    error = building.first_error(output, building.Places(ROOT, ROOT / "build"), ROOT / "build/mine/x.cu")
    if error["line"] != 46 or error["what"] != "no match":
        yield f"{error}"
    if not explaining.of_compiler("no matching function for call to 'View'", "f<<<1, 1>>>(a);"):
        yield "the arguments of a launch are not explained"


def limits():
    """A run that takes too long ends, with all its processes, and says so."""
    counting.start_clock(1)
    try:
        counting.run(["sh", "-c", "trap '' TERM; sleep 3601 & sleep 3602"], {})
        yield "the run was not ended"
    except counting.OutOfTime as late:
        if "did not end within" not in str(late):
            yield str(late)
    finally:
        counting.stop_clock()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes() in (b"sleep\0003601\0", b"sleep\0003602\0"):
                yield f"process {process.name} still runs"
        except OSError:
            pass


tap.report([(check.__doc__, check()) for check in (wrong_products, other_elements, broken_rules, constants, places, limits)])
