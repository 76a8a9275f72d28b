"""Tests the sentences that explain a symptom by its cause, on made-up solutions and sources: sentences_test.py ROOT.
Prints TAP."""

import array
import pathlib
import sys

import building
import comparing
import counting
import explaining
import hints
import launches
import naming
import products
import rules
import stencils
import sums
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
             (32, 32, of_rows(lambda n: [k % TILE for k in range(n)]),
              "rows 16 to 31 of A are never added, and rows 0 to 15 of A are added 2"),
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


def field_after(change_of_weights=lambda weights: weights, at=lambda index, count: index % count):
    """Explains one step of a field with other weights, or with other cells across the border."""
    problem = stencils.PROBE | {"seed": 1, "cfl": 0.25, "vx": 1.0, "vy": 1.0}
    field, right = stencils.field_of(problem), stencils.right_weights(problem)
    rows, cols = problem["rows"], problem["cols"]

    def step(weights, at):
        return [[sum(weight * field[at(i + di, rows)][at(j + dj, cols)] for (di, dj), weight in weights.items() if weight)
                 for j in range(cols)] for i in range(rows)]

    return stencils.explanation(problem, step(change_of_weights(right), at), step(right, lambda index, count: index % count)) or ""


def wrong_stencils():
    """A wrong step of a stencil is explained by its weights, by its offsets or by its border."""
    def without(offset):
        return lambda weights: {**weights, offset: 0.0}

    def row_twice(weights):
        return {(di, dj): weights[-1, dj] + weights[0, dj] if di == -1 else 0.0 if di == 0 else weight for (di, dj),
                weight in weights.items()}

    cases = [(field_after(lambda weights: stencils.moved(weights, lambda di, dj: (dj, di))), "along x and along y are exchanged"),
             (field_after(lambda weights: stencils.moved(weights, lambda di, dj: (di, -dj))), "the sign of an offset in x"),
             (field_after(lambda weights: stencils.moved(weights, lambda di, dj: (di, dj - 1))), "holds the value of cell (i, j - 1)"),
             (field_after(row_twice), "right along x and wrong along y: for cell (i, j), row i - 1 has the weight"),
             (field_after(lambda weights: {(di, dj): sum(weights[b, di] for b in range(-2, 3)) * sum(weights[a, dj] for a in range(-2, 3))
                                           for di, dj in weights}), "these are the weights along x"),
             (field_after(without((0, 1))), "neighbour (i, j + 1) has the weight 0"),
             (field_after(at=lambda index, count: min(max(index, 0), count - 1)),
              "row 0 uses row 0 as the row above it, and must use row 36"),
             (field_after(at=lambda index, count: (index if index >= 0 else 7) % count), "of row 0 and of column 0 of 37 x 70 are wrong")]
    yield from (f"'{fragment}' is not in: {sentence}" for sentence, fragment in cases if fragment not in sentence)
    if "instead of 4 steps" not in (stencils.of_steps(4, lambda steps: steps == 3) or "") or stencils.of_steps(4, lambda steps: False):
        yield "the number of steps is not explained"


def wrong_sums():
    """A wrong sum of the recursion is explained by its terms."""
    alphas = [((7 * k * k + 3) % 11 - 5) / 9 for k in range(40)]

    def solved(sum_of):
        r, _ = sums.recursion(alphas)
        y, beta, found = [], 1.0, []
        while len(found) < len(alphas) and abs(beta) < 1e9:
            k = len(found)
            found.append(-(r[k + 1] + sum_of([r[k - i] * y[i] for i in range(k)], r, y)) / beta)
            y = [y[i] + found[k] * y[k - 1 - i] for i in range(k)] + [found[k]]
            beta *= 1 - found[k] ** 2
        return found + [0.0] * (len(alphas) - len(found))

    for sum_of, fragment in ((lambda terms, r, y: sum(terms) + sum(terms[:32]), "term 0 of the 1 terms of the sum is added twice"),
                             (lambda terms, r, y: sum(terms[:32]), "term 32 of the 33 terms of the sum is never added"),
                             (lambda terms, r, y: sum(a * b for a, b in zip(r, y)), "are r(i) y(i) instead of"),
                             (lambda terms, r, y: 0.0, "the sum is zero")):
        if fragment not in (sums.explanation(alphas, solved(sum_of)) or ""):
            yield f"'{fragment}' is not in: {sums.explanation(alphas, solved(sum_of))}"
    if sums.explanation(alphas, solved(lambda terms, r, y: sum(terms))) is not None:
        yield "the right sum is explained"


def kernel(**changes):
    """A kernel of a report, with counts as the analysis writes them."""
    none = {"requests": 0}
    own = {"kernel": "sum", "launches": 2, "blocks": 2, "threads": 512, "block_barriers": 2, "lines": [], "unread": [],
           "arrays": [[1, 2], [2, 1]],
           "shapes": [{"grid": [2, 1, 1], "block": [16, 16, 1], "launches": 2}], "shared_loads": {"requests": 8},
           "global_loads": {"requests": 8},
           "shared_atomics": none, "barriers": [{"file": "sum.cu", "line": 5, "count": 2, "some_have_ended": False}],
           "shuffles": [{"file": "sum.cu", "line": 9, "kind": "xor", "distance": distance, "width": 32, "count": 4}
                        for distance in (16, 8, 4, 2, 1)]}
    return {"kernels": [own | changes]}


def compared_kernels():
    """Counts of a kernel that differ from the stage's are named with their likely cause; equal counts are not."""
    text = ("__global__ void sum(View<const double, 1> x, View<double, 1> y) {\n  __shared__ double of_warp[8];\n  __syncthreads();\n"
            "  v += __shfl_xor_sync(~0u, v, 1);\n}\nvoid run() {\n  sum<<<2, 256>>>(x, y);\n}\n")
    at = building.Places(ROOT, ROOT / "build")
    shuffles = kernel()["kernels"][0]["shuffles"]

    def shape(grid, block):
        return {"shapes": [{"grid": grid, "block": block, "launches": 2}]}

    wrong = [(shape([2, 1, 1], [256, 1, 1]), "in line 7 has blocks of 256 x 1 threads, so threadIdx.y is always 0; the stage launches 16 x 16"),
             (shape([16, 16, 1], [2, 1, 1]), "are grid and block exchanged?"), (shape([1, 2, 1], [16, 16, 1]), "are x and y exchanged?"),
             (shape([1, 1, 1], [16, 16, 1]), "too few in x"), ({"arrays": [[1, 1]]}, "gets the same array as x and as y"),
             ({"arrays": [[1, 2]]}, "is std::swap missing?"), ({"block_barriers": 0}, "although the source contains __syncthreads"),
             ({"shuffles": shuffles[1:]}, "executes 4 shuffles per sum of a warp (stage: 5)"),
             ({"shuffles": [shuffles[0] | {"distance": 32}, *shuffles]}, "distance 32 reaches no other lane"),
             ({"shuffles": [each | {"width": 16} for each in shuffles]}, "only within groups of 16"),
             ({"shuffles": [each | {"kind": "up"} for each in shuffles]}, "only the last lane has it"),
             ({"unread": [{"variable": "of_warp", "blocks": 1, "first": 56, "bytes": 8, "of_bytes": 64}]},
              "of_warp[7] is stored, but no thread")]
    for changes, fragment in wrong:
        said = launches.of_wrong(kernel(**changes), kernel(), text, at)
        if len(said) != 1 or fragment not in said[0]:
            yield f"'{fragment}' is not in: {said}"
    partial = [{"file": "sum.cu", "line": 5, "count": 2, "some_have_ended": True}]
    right = [({"launches": 3}, "launched 3 times (stage: 2)"), ({"barriers": partial}, "only some threads of a block reach this barrier"),
             ({"block_barriers": 4}, "barriers of sum: 2 per thread block (stage: 1 per thread block), in line 5"),
             ({"shared_atomics": {"requests": 3}, "lines": [{"file": "sum.cu", "line": 5, "access": "shared atomic"}]},
              "3 atomic requests"),
             ({"shared_loads": {"requests": 12}, "lines": [{"file": "sum.cu", "line": 6, "access": "shared load", "requests": 12}]},
              "requests to load from shared memory of sum: 12 (stage: 8)")]
    for changes, fragment in right:
        said = launches.of_right(kernel(**changes), kernel(), text, at)
        if len(said) != 1 or fragment not in said[0]:
            yield f"'{fragment}' is not in: {said}"
    said = " ".join(launches.of_unused_indices(kernel(**shape([2, 3, 1], [16, 16, 1])), text + "int i = blockIdx.x + threadIdx.x + threadIdx.y;"))
    if said != "the launch of sum in line 7 has 3 blocks in y, but the source never uses blockIdx.y":
        yield f"an index that is not used: {said}"
    if said := [*launches.of_wrong(kernel(), kernel(), text, at), *launches.of_right(kernel(), kernel(), text, at)]:
        yield f"equal counts are named: {said}"
    if "__shared__ missing" not in " ".join(launches.of_missing(kernel(shared_loads={"requests": 0}), kernel(), "")):
        yield "a missing __shared__ is not named"


def names():
    """Elements and variables of findings have the names of the source, and the line of the statement."""
    text = ("__global__ void sum(std::size_t n, View<const double, 2> x, double* y) {\n  __shared__ double total, part[4][8];\n"
            "  for (int i = 0; i < 4; ++i)\n    total += x(i, 0);\n}\n")
    argument = {"pointer": 0, "pointers": 2, "byte": 8 * 4257, "bytes": 8, "of_bytes": 8 * 4257, "words": [129, 33, 0, 0]}
    if (found := naming.element_of({"kernel": "sum", "argument": argument}, text, 8)) != ("x(129, 0)", "129 x 33 elements"):
        yield f"the element is {found}"
    if (found := naming.element_of({"kernel": "sum", "argument": argument | {"pointer": 1, "byte": 16}}, text, 8)) != ("y(2)",
                                                                                                                       "4257 elements"):
        yield f"the element is {found}"
    total = {"name": "total", "byte": 0, "bytes": 8, "of_bytes": 8}
    part = {"name": "part", "byte": 72, "bytes": 8, "of_bytes": 256}
    if (found := naming.variable_of({"variable": total}, text)) != ("total", 2, "total", True):
        yield f"the variable is {found}"
    if (found := naming.variable_of({"variable": part}, text)) != ("part", 2, "part[1][1]", False):
        yield f"the variable is {found}"
    if naming.line_of_statement(text, 3, "total") != 4 or naming.line_of_statement(text, 4, "total") != 4:
        yield "the line of a statement is not found"
    said = explaining.of_index({"sentence": "index 8 of an array 'double [8]'", "line": 0}, ROOT / "README.md", text)
    if said != ["the array has 8 elements in this dimension, so the last index is 7"]:
        yield f"an index is explained by {said}"


def sources():
    """A brace that is not closed, variables of type float, and a lost value are found in a source."""
    text = ("__global__ void sum(float value) {\n  for (int i = 0; i < 4; ++i) {\n    if (i) {\n      value = 1;\n    }\n"
            "  __shared__ float a[4], b[4];\n}\nvoid run(int n, View<float, 2> x) {\n}\n")
    if rules.unclosed(text) != (2, "sum") or rules.unclosed(text.replace("++i) {", "++i)")) is not None:
        yield f"the brace in {rules.unclosed(text)} is not closed"
    if (found := list(rules.floats(text))) != [(1, "value"), (6, "a"), (6, "b"), (8, "")]:
        yield f"variables of type float: {found}"
    lost, kept = "value = __shfl_xor_sync(~0u, value, 1);", "value += __shfl_xor_sync(~0u, value, 1); v = value + __shfl_sync(~0u, value, 1);"
    if "lane's own value is lost" not in " ".join(explaining.of_lost_values(lost)) or explaining.of_lost_values(kept):
        yield "a lost value is not found, or one is found that is not lost"
    if rules.copies("a.copy_from(x); cudaMemcpy(p, q, n, cudaMemcpyHostToDevice); // b.copy_from(x);", "in") != 2:
        yield "copies are counted wrongly"
    if hints.plain("**Have** *once* what `a*b*c` is, 2 * 3 * 4") != "Have once what `a*b*c` is, 2 * 3 * 4":
        yield hints.plain("**Have** *once* what `a*b*c` is, 2 * 3 * 4")


def rounded():
    """Rounded values are named by their first wrong digit, and an arbitrary factor is no pattern."""
    right = solution_of(8, lambda i, j: 1 + i / 7 + j / 3)
    tolerance = {"relative": 1e-12, "scale": "element", "floor": 0}
    of_floats = comparing.Solution(right.shape, array.array("d", array.array("f", right.values)))
    said = " ".join(comparing.differences(of_floats, right, tolerance))
    if "wrong from the 8th digit on" not in said:
        yield said
    for factor, is_named in ((2.0, True), (0.5, True), (2.275, False), (1.00001, False)):
        said = " ".join(comparing.differences(solution_of(8, lambda i, j, f=factor: f * (1 + i / 7 + j / 3)), right, tolerance))
        if ("times the correct value" in said) != is_named:
            yield f"{factor}: {said}"


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


tap.report([(check.__doc__, check()) for check in (wrong_products, wrong_stencils, wrong_sums, compared_kernels, names, sources, rounded,
                                                   other_elements,
                                                   broken_rules, constants, places, limits)])
