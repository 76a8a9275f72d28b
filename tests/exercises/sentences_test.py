"""Tests the sentences that explain a symptom by its cause, on made-up solutions and sources: sentences_test.py ROOT.
Prints TAP."""

import array
import json
import pathlib
import sys

import bodies
import building
import checking
import comparing
import contents
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
import teams
import updates

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
    return products.explanation(products.factors_of("ata", problem), found, wrong) if wrong else "nothing is wrong"


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


def wrong_products_of_two():
    """A wrong product of two matrices is explained by terms, by other rows and columns, or by wrong indices."""
    problem = {"l": 33, "m": 33, "n": 33, "seed": 7}
    factors = products.factors_of("matmul", problem)
    rows, depth, cols = problem["l"], problem["m"], problem["n"]

    def left(k, i):
        return factors.left[k][i] if k < depth and i < rows else 0.0

    def right(k, j):
        return factors.right[k][j] if k < depth and j < cols else 0.0

    def said(element):
        found, wanted = ([of(i, j) for i in range(rows) for j in range(cols)]
                         for of in (element, lambda i, j: sum(left(k, i) * right(k, j) for k in range(depth))))
        wrong = [place for place, (value, other) in enumerate(zip(found, wanted)) if abs(value - other) > 1e-9]
        return products.explanation(factors, comparing.Solution((rows, cols), array.array("d", found)), wrong) or ""

    for element, fragment in (
            (lambda i, j: sum(left(k, i) * right(k % 32, j) for k in range(depth)), "the second factor is read with the "
                                                                                    "index k % 32 instead of k"),
            (lambda i, j: sum(left(k + 1, i) * right(k, j) for k in range(depth)), "the first factor is read with the "
                                                                                   "index k + 1 instead of k"),
            (lambda i, j: sum(left(k, i) * right(k, j) for k in range(32)), "term 32 is never added"),
            (lambda i, j: sum(left(k, i) * right(j, k) for k in range(depth)), "exchanged in the second factor"),
            (lambda i, j: sum(left(k, (i + 3) % rows) * right(k, j) for k in range(depth)), "the product of row 3 of A and "
                                                                                            "column 0 of B instead")):
        if fragment not in said(element):
            yield f"'{fragment}' is not in: {said(element)}"
    if said(lambda i, j: (i * 7 + j * 3) % 11):
        yield "arbitrary errors are explained"


def wrong_recursions():
    """A wrong step of the recursion over pairs, and a wrong unknown of a triangular system, are explained."""
    alphas = [((7 * k * k + 3) % 11 - 5) / (9 * (k + 1)) for k in range(40)]

    def durbin(fault):
        r, y, alpha, beta, found = sums.recursion(alphas)[0], [0.0] * 40, alphas[0], 1.0, []
        for k in range(1, 41):
            total = 0.0 if fault == "term" else r[1] * alpha
            for i in range(k - 1 if fault == "twice" else k // 2):
                j = k - 2 - i
                low, high = y[i], y[j]
                y[i] = low + alpha * high
                y[j] = high + alpha * (y[i] if fault == "new" else low)
                total += r[k - i] * y[i] + (r[k - j] * y[j] if i != j or fault == "middle" else 0.0)
            y[k - 1] = alpha
            found.append(alpha)
            before, beta = beta, beta * (1 - alpha * (1.0 if fault == "beta" else alpha))
            alpha = -(total + (r[k + 1] if k < 40 else 0.0)) / (before if fault == "late" else beta)
        return sums.explanation(alphas, found) or ""

    for fault, fragment in (("term", "in step 1, the sum is zero"), ("middle", "term 0 of the 2 terms of the sum is added "
                                                                               "twice"),
                            ("new", "computed from the new value of the other one"), ("twice", "updated and added twice"),
                            ("beta", "the factor 1 - alpha instead of"), ("late", "divided by beta of the step before")):
        if fragment not in durbin(fault):
            yield f"'{fragment}' is not in: {durbin(fault)}"
    if durbin(""):
        yield f"the right recursion is explained: {durbin('')}"
    problem = {"n": 96, "seed": 3}
    l, b = sums.system_of(problem)

    def solved(term, divisor=l):
        x = []
        for i in range(problem["n"]):
            x.append((b[i] - sum(term(i, j, l(i, j) * x[j]) for j in range(i))) / divisor(i, i))
        return x

    right = solved(lambda i, j, term: term)
    for term, divisor, fragment in (
            (lambda i, j, term: term, lambda i, j: 1.0, "x(0): it is not divided by the diagonal element l(0, 0)"),
            (lambda i, j, term: 0.0 if j < 64 <= i else term, l, "x(64): of the sum over l(64, i) x(i), the sum is zero"),
            (lambda i, j, term: 0.0 if j < 64 <= i and j // 2 % 4 > 1 else term, l, "only the terms i with i / 4 % 2 = 0 "
                                                                                    "are added"),
            (lambda i, j, term: -term, l, "x(1): of the sum over l(1, i) x(i), the sum has the wrong sign"),
            (lambda i, j, term: term * l(j, j), l, "times the undivided x(i)")):
        said = sums.of_substitution(problem, right, solved(term, divisor)) or ""
        if fragment not in said:
            yield f"'{fragment}' is not in: {said}"
    if sums.of_substitution(problem, right, right):
        yield "the right unknowns are explained"


def wrong_forces():
    """Wrong forces are explained by the source bodies that were not added once."""
    count, block = 70, 64
    values = [[((i * 37 + n * 11) % 23) / 11 - 1 for n in range(3)] + [1 / count]
              + [((i * 29 + n * 7) % 19) / 9 - 1 for n in range(3)] + [0.0] for i in range(count)]
    pulls = [[bodies.pull(body, other, 0.25) for other in values] for body in values]

    def said(sources):
        forces = [sum(pulls[i][j][axis] for j in sources(i)) for i in range(count) for axis in range(bodies.FORCE)]
        return bodies.of_forces([each for body in values for each in body], forces, 0.5) or ""

    for sources, fragment in ((lambda i: range(block), "source bodies 64 to 69 are never added"),
                              (lambda i: range(block, count), "only source bodies 64 to 69 are added"),
                              (lambda i: [j for j in range(count) if j % block != i % block], "in the force on body 0, "
                                                                                              "source body 64 is never"),
                              (lambda i: [*range(count), *range(block)], "source bodies 0 to 63 are added twice")):
        if fragment not in said(sources):
            yield f"'{fragment}' is not in: {said(sources)}"
    start = [((i * 37) % 23) / 11 - 1 for i in range(18)]
    few = [(1 / 3, start[6 * i:6 * i + 3], start[6 * i + 3:6 * i + 6]) for i in range(3)]
    problem = {"bodies": 3, "steps": 3, "dt": 1 / 64, "softening": 0.125}
    for sentence, changes in [(None, {}), *bodies.SCHEMES.items()]:
        found = [value for _, x, v in bodies.advanced(few, bodies.Scheme(**changes), problem) for value in [*x, *v]]
        if bodies.of_steps(problem, start, found) != ([sentence] if sentence else []):
            yield f"'{sentence}' is explained by: {bodies.of_steps(problem, start, found)}"
    if said(lambda i: range(count)):
        yield f"right forces are explained: {said(lambda i: range(count))}"


def wrong_updates():
    """A wrong update of a matrix in place is explained by its columns, by its rows, or by its sign."""
    n, first = 80, 64
    before = [[((i * 31 + j * 17) % 29) / 14 - 1 if j <= i else float("nan") for j in range(n)] for i in range(n)]

    def updated(product):
        return [[before[i][j] - product(i, j) if first <= j <= i else before[i][j] for j in range(n)] for i in range(n)]

    def product(p, q, begin, end):
        return sum(before[p][k] * before[q][k] for k in range(begin, end))

    right = updated(lambda i, j: product(i, j, 32, 64))
    for wrong, fragment in ((lambda i, j: product(i, j, 0, 32), "columns 0 to 31 are subtracted instead of the products of "
                                                                "columns 32 to 63"),
                            (lambda i, j: product(i, i, 32, 64), "the products of rows 65 and 65 are subtracted instead of "
                                                                 "those of rows 65 and 64"),
                            (lambda i, j: 0.5, None)):
        mine = updated(wrong)
        cells = [(i, j) for i in range(first, n) for j in range(first, i + 1) if abs(mine[i][j] - right[i][j]) > 1e-9]
        said = updates.explanation(before, mine, right, cells)
        if (fragment or "None") not in str(said):
            yield f"'{fragment}' is not in: {said}"


def contents_of(launches_of, count=6):
    """The records of some launches: tuples of the kernel, the values of its array before and after it."""
    data = b""
    for kernel_name, *both in launches_of:
        for when, values in zip(("before", "after"), both):
            line = {"when": when, "kernel": kernel_name, "arrays": [{"number": 1, "offset": 0, "bytes": 8 * len(values),
                                                                     "words": [2, 3, 0, 0],
                                                                     "changed": True}],
                    "others": [[1, 2], [2, 3], [3, count]]}
            data += json.dumps(line).encode() + b"\n" + array.array("d", values).tobytes()
    return {"contents": contents.records_in(data), "kernels": [{"kernel": "scale", "lines": [
        {"file": "scale.cu", "line": 2, "access": "global store"}]}]}


def compared_contents():
    """The first launch whose array differs from the stage's is named, and the first one that is missing."""
    text = ("template <typename T>\n__global__ void scale(View<T, 2> x) { x(0, threadIdx.x) *= 2; }\n"
            "__global__ void shift(View<T, 2> x) {}\n")
    at = building.Places(ROOT, ROOT / "build")
    one, two, three = [1.0] * 6, [2.0] * 6, [3.0, 3.0, 3.0, 2.0, 2.0, 2.0]
    stage = contents_of([("scale", one, two), ("scale", two, three), ("shift", three, three)])
    nan = [3.0, float("nan"), 3.0, 2.0, 2.0, 2.0]
    for mine, fragments in (
            ([("scale", one, two), ("scale", two, two), ("shift", two, two)],
             ["the arrays that launch 2 of scale gets are right, and afterwards, x(0, 0) is 2 (stage: 3); 3 of 6 values "
              "differ, those with index 1 = 0",
              "scale.cu:2: __global__ void scale"]),
            ([("scale", one, two), ("scale", two, nan), ("shift", nan, nan)], ["x(0, 1) is nan (stage: 3); 1 of 6 values "
                                                                               "differ"]),
            ([("scale", two, two), ("scale", two, three), ("shift", three, three)],
             ["before launch 1 of scale, an array differs from the stage's: x(0, 0) is 2 (stage: 1); all values differ: is "
              "it copied or filled"]),
            ([("scale", one, two), ("scale", two, three)], ["the source never launches shift (stage: 1 times)"]),
            ([("scale", one, two), ("shift", two, two), ("scale", two, three)], ["launch 2 is of shift, but in the stage "
                                                                                 "it is of scale"])):
        said = " ".join(contents.of_contents(contents_of(mine), stage, text, at, 8))
        yield from (f"'{fragment}' is not in: {said}" for fragment in fragments if fragment not in said)
    text = text.replace("View<T, 2> x)", "View<T, 2> x, std::size_t n)")
    said = contents.of_contents(contents_of([("scale", one, two)], 5), contents_of([("scale", one, two)]), text, at, 8)
    if said != ["the launch of scale gets 5 as n (stage: 6)"]:
        yield f"an argument: {said}"
    for values, fragment in (([0.0] * 6, "changed by the right amount with the wrong sign"), (one, "the launch does not "
                                                                                                   "change these values"),
                             ([4.0] * 6, "changed by 3 times the right amount")):
        said = " ".join(contents.of_contents(contents_of([("scale", one, values)]), contents_of([("scale", one, two)]),
                                             text, at, 8))
        if fragment not in said:
            yield f"'{fragment}' is not in: {said}"
    layout = "struct Range {\n  unsigned first, end;\n};\n__global__ void f(View<T, 2> l, Range k, unsigned n, T dt, Other o, int m) {}\n"
    if naming.numbers_of(layout, "f", 8) != ([("an extent of l", 8, 8, False), ("an extent of l", 16, 8, False),
                                              ("k.first", 24, 4, False),
                                              ("k.end", 28, 4, False), ("n", 32, 4, False), ("dt", 40, 8, True)], 48):
        yield f"the layout of the arguments is {naming.numbers_of(layout, 'f', 8)}"
    if said := contents.of_contents(stage, stage, text, at, 8):
        yield f"equal contents differ: {said}"
    text = ("namespace local_volatility {\n#include \"../expanded.hpp\"\ntemplate <typename R>\n__global__ void f(State<R> "
            "s, double* z) {}\n")
    names = [name for _, name in naming.arrays_of(text.replace("namespace local_volatility {\n",
                                                               "\nnamespace local_volatility {\n"), "f")]
    if names[:4] != ["s.strikes", "s.ix", "s.iy", "s.dt_inv"] or names[-2:] != ["s.prices", "z"]:
        yield f"the arrays in a structure are {names}"


def directives():
    """Directives of OpenMP that hardly have the intended meaning are named, and the variables and elements of a race."""
    def program(pragma, body="for (int j = 0; j < n; ++j) x(i) += j;", before=""):
        return (f"void f(int n, View<double, 1> x) {{\n  {before}\n#pragma omp {pragma}\n  for (int i = 0; i < n; ++i) "
                f"{{\n    {body}\n  }}\n}}\n")

    for text, fragment in (
            (program("parallel"), "should the directive be parallel for?"),
            (program("for"), "there is none: should the directive be parallel for?"),
            (program("parallel for private(s)", "s += i; x(i) = s;", "double s = 0;"), "a variable s without a value"),
            (program("parallel for reduction(+ : s)", "s += i; x(i) = s;", "double s = 0;"), "s is never set to zero "
                                                                                             "between two elements")):
        said = " ".join(sentence for _, sentence in teams.of_source(text))
        if fragment not in said:
            yield f"'{fragment}' is not in: {said}"
    for text in (program("parallel for"), program("parallel for private(s)", "s = 0; s += i; x(i) = s;", "double s;")):
        if list(teams.of_source(text)):
            yield f"named in {text}: {list(teams.of_source(text))}"
    for text, fragment in (
            (program("parallel for", "s = 0; for (int j = 0; j < i; ++j) s += j;", "double s;"), "s, declared in line 2, "
                                                                                                 "is one variable for all"),
            (program("parallel for", "for (int j = 0; j < n; ++j) x(j) += i;"), "x(j) does not depend on i")):
        said = " ".join(teams.of_race(text, [5]))
        if fragment not in said:
            yield f"'{fragment}' is not in: {said}"
    parts = ("void f(int n, View<double, 1> x) {\n#pragma omp parallel\n  {\n    const int t = omp_get_thread_num();\n    "
             "const int first = t * n;\n"
             "#pragma omp single\n    g(first);\n  }\n}\n")
    said = " ".join(sentence for _, sentence in teams.of_source(parts)), teams.of_parts(parts)
    if "first is different in each thread" not in said[0] or said[1] is None or not said[1].startswith("lines 4 and 5 compute the part"):
        yield f"the parts of threads: {said}"
    swapped = " ".join(sentence for _, sentence in teams.of_source(parts.replace("g(first);", "t = 0;").replace("const int t", "int t")))
    if "each thread has its own t, which stays as it is" not in swapped:
        yield f"a private variable that one thread changes: {swapped}"
    if list(teams.of_source(parts.replace("g(first)", "g(n)"))) or teams.of_parts(program("parallel for")) is not None:
        yield "a single statement is named, or parts are found that are none"
    said = list(teams.of_counts({"regions": 2, "team_threads": 4, "team_barriers": 9},
                                {"regions": 2, "team_threads": 6, "team_barriers": 9}))
    if said != ["threads in all teams: 4 (stage: 6): is the clause num_threads missing or wrong?"]:
        yield f"counts: {said}"
    critical = program("parallel for", "\n#pragma omp critical\n    x(0) += i;")
    if len(list(teams.serial(critical, ""))) != 1 or list(teams.serial(critical, critical)):
        yield "a critical section is not named, or is named although the stage has one"


def memory():
    """Copies with wrong arguments, arrays that are only updated, and reports of AddressSanitizer are explained."""
    host = "void run(int n) {\n  float* d;\n  cudaMalloc(&d, n * sizeof(float));\n  const int bytes = n * sizeof(float), count = n + 1;\n  cudaMemcpy("
    for arguments, fragment in (("a, d, bytes, cudaMemcpyHostToDevice", "the first argument must be an array on the device"),
                                ("d, a, bytes, cudaMemcpyDeviceToHost",
                                 "the second argument must be an array on the device"),
                                ("d, a, count, cudaMemcpyHostToDevice", "count has no factor sizeof"),
                                ("d, a, bytes, cudaMemcpyHostToDevice", ""), ("d, a, n * sizeof(float), "
                                                                              "cudaMemcpyHostToDevice", "")):
        said = " ".join(f"{line}: {sentence}" for line, sentence in rules.suspicious(f"{host}{arguments});\n}}\n"))
        if fragment not in said or bool(said) != bool(fragment) or said and not said.startswith("5: "):
            yield f"{arguments}: {said}"
    for index, wrong in (("blockIdx.x + threadIdx.x", True), ("blockIdx.x * 16 + threadIdx.x", False),
                         ("blockIdx.x + threadIdx.x * 4", False)):
        if bool(list(rules.suspicious(KERNEL.replace("threadIdx.x", index)))) != wrong:
            yield f"{index}: {list(rules.suspicious(KERNEL.replace('threadIdx.x', index)))}"
    text = "__global__ void f(View<double, 2> c, double* x) {\n  c(0, 1) += x[0];\n  x[1] = 0;\n  x[2] -= 1;\n}\n"
    if list(rules.only_updated(text)) != [(2, "c")]:
        yield f"only updated: {list(rules.only_updated(text))}"
    report = ("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\nWRITE of size 8 at 0x6 thread T3\n"
              "    #0 0x5 in f() mine/sentences_test.py:2\n0x6 is located 0 bytes to the right of 616-byte region\n")
    said = checking.bounds_sentences(report, building.Places(ROOT, ROOT / "build"), pathlib.Path(__file__))
    if len(said) != 2 or said[0] != "out of bounds: writes 8 bytes, directly after the end of an array of 616 bytes" or "sentences_test.py:2: " not in said[1]:
        yield f"AddressSanitizer: {said}"


def patterns():
    """Elements that are not finite are located, and sums that are not set to zero are recognised."""
    tolerance = {"relative": 1e-12, "scale": "element", "floor": 0}
    right = solution_of(20, lambda i, j: 1 / (1 + i * 20 + j))
    nan = solution_of(20, lambda i, j: float("nan") if j > 15 else 1 / (1 + i * 20 + j))
    said = " ".join(comparing.differences(nan, right, tolerance))
    if "element (0, 16) is nan and must be" not in said or "80 of 400 elements are not finite: those with index 2 = 16 to 19" not in said:
        yield said
    total = 0.0
    values = array.array("d", [total := total + each for each in right.values])
    said = " ".join(comparing.differences(comparing.Solution((20, 20), values), right, tolerance))
    if "element (0, 1) also contains the sum of element (0, 0)" not in said:
        yield said


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

    return stencils.explanation(problem, step(change_of_weights(right), at),
                                step(right, lambda index, count: index % count)) or ""


def wrong_stencils():
    """A wrong step of a stencil is explained by its weights, by its offsets or by its border."""
    def without(offset):
        return lambda weights: {**weights, offset: 0.0}

    def row_twice(weights):
        return {(di, dj): weights[-1, dj] + weights[0, dj] if di == -1 else 0.0 if di == 0 else weight for (di, dj),
                weight in weights.items()}

    cases = [(field_after(lambda weights: stencils.moved(weights, lambda di, dj: (dj, di))), "along x and along y are "
                                                                                             "exchanged"),
             (field_after(lambda weights: stencils.moved(weights, lambda di, dj: (di, -dj))), "the sign of an offset in x"),
             (field_after(lambda weights: stencils.moved(weights, lambda di, dj: (di, dj - 1))), "holds the value of cell "
                                                                                                 "(i, j - 1)"),
             (field_after(row_twice), "right along x and wrong along y: for cell (i, j), row i - 1 has the weight"),
             (field_after(lambda weights: {(di, dj): sum(weights[b, di]
                                                         for b in range(-2, 3)) * sum(weights[a, dj] for a in range(-2, 3))
                                           for di, dj in weights}), "these are the weights along x"),
             (field_after(without((0, 1))), "neighbour (i, j + 1) has the weight 0"),
             (field_after(at=lambda index, count: min(max(index, 0), count - 1)),
              "row 0 uses row 0 as the row above it, and must use row 36"),
             (field_after(at=lambda index, count: (index if index >= 0 else 7) % count), "of row 0 and of column 0 of 37 x "
                                                                                         "70 are wrong")]
    yield from (f"'{fragment}' is not in: {sentence}" for sentence, fragment in cases if fragment not in sentence)
    if "instead of 4 steps" not in (stencils.of_steps(4, lambda steps: steps == 3)
                                    or "") or stencils.of_steps(4, lambda steps: False):
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

    for sum_of, fragment in ((lambda terms, r, y: sum(terms) + sum(terms[:32]), "term 0 of the 1 terms of the sum is added "
                                                                                "twice"),
                             (lambda terms, r, y: sum(terms[:32]), "term 32 of the 33 terms of the sum is never added"),
                             (lambda terms, r, y: sum(a * b for a, b in zip(r, y)), "are r(i) y(i) instead of"),
                             (lambda terms, r, y: sum(terms) + sum(r[k - i] * sums.recursion(alphas)[1][k][0][i]
                                                                   for k in range(1, len(y))
                                                                   for i in range(k)), "the sums of the steps before are "
                                                                                       "added again"),
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
    text = ("__global__ void sum(View<const double, 1> x, View<double, 1> y) {\n  __shared__ double of_warp[8];\n  "
            "__syncthreads();\n"
            "  v += __shfl_xor_sync(~0u, v, 1);\n}\nvoid run() {\n  sum<<<2, 256>>>(x, y);\n}\n")
    at = building.Places(ROOT, ROOT / "build")
    shuffles = kernel()["kernels"][0]["shuffles"]

    def shape(grid, block):
        return {"shapes": [{"grid": grid, "block": block, "launches": 2}]}

    wrong = [(shape([2, 1, 1], [256, 1, 1]), "in line 7 has blocks of 256 x 1 threads, so threadIdx.y is always 0; the "
                                             "stage launches 16 x 16"),
             (shape([16, 16, 1], [2, 1, 1]), "are grid and block exchanged?"),
             (shape([1, 2, 1], [16, 16, 1]), "are x and y exchanged?"),
             (shape([1, 1, 1], [16, 16, 1]), "too few in x"), ({"arrays": [[1, 1]]}, "gets the same array as x and as y"),
             ({"arrays": [[1, 2]]}, "is std::swap missing?"), ({"block_barriers": 0}, "although the source contains "
                                                                                      "__syncthreads"),
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
    right = [({"launches": 3}, "launched 3 times (stage: 2)"), ({"barriers": partial}, "only some threads of a block reach "
                                                                                       "this barrier"),
             ({"block_barriers": 4}, "barriers of sum: 2 per thread block (stage: 1 per thread block), in line 5"),
             ({"shared_atomics": {"requests": 3}, "lines": [{"file": "sum.cu", "line": 5, "access": "shared atomic"}]},
              "3 atomic requests"),
             ({"shared_loads": {"requests": 12}, "lines": [{"file": "sum.cu", "line": 6, "access": "shared load",
                                                            "requests": 12}]},
              "requests to load from shared memory of sum: 12 (stage: 8)")]
    for changes, fragment in right:
        said = launches.of_right(kernel(**changes), kernel(), text, at)
        if len(said) != 1 or fragment not in said[0]:
            yield f"'{fragment}' is not in: {said}"
    said = " ".join(launches.of_unused_indices(kernel(**shape([2, 3, 1], [16, 16, 1])), text + "int i = blockIdx.x + "
                                                                                               "threadIdx.x + threadIdx.y;"))
    if said != "the launch of sum in line 7 has 3 blocks in y, but the source never uses blockIdx.y":
        yield f"an index that is not used: {said}"
    if said := [*launches.of_wrong(kernel(), kernel(), text, at), *launches.of_right(kernel(), kernel(), text, at)]:
        yield f"equal counts are named: {said}"
    if "__shared__ missing" not in " ".join(launches.of_missing(kernel(shared_loads={"requests": 0}), kernel(), "")):
        yield "a missing __shared__ is not named"


def names():
    """Elements and variables of findings have the names of the source, and the line of the statement."""
    text = ("__global__ void sum(std::size_t n, View<const double, 2> x, double* y) {\n  __shared__ double total, "
            "part[4][8];\n"
            "  for (int i = 0; i < 4; ++i)\n    total += x(i, 0);\n}\n")
    argument = {"pointer": 0, "pointers": 2, "byte": 8 * 4257, "bytes": 8, "of_bytes": 8 * 4257, "words": [129, 33, 0, 0]}
    if (found := naming.element_of({"kernel": "sum", "argument": argument}, text, 8)) != ("x(129, 0)", "129 x 33 elements"):
        yield f"the element is {found}"
    if (found := naming.element_of({"kernel": "sum", "argument": argument | {"pointer": 1, "byte": 16}}, text,
                                   8)) != ("y[2]",
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
        said = " ".join(comparing.differences(solution_of(8, lambda i, j, f=factor: f * (1 + i / 7 + j / 3)), right,
                                              tolerance))
        if ("times the correct value" in said) != is_named:
            yield f"{factor}: {said}"


def broken_rules():
    """Programs that nvcc refuses are refused with the line of the mistake, and correct ones are not."""
    host = "void run(double* x) {{\n  {}\n}}\n"
    for text, line, fragment in [(KERNEL + host.format("fill(x);"), 3, "execution configuration"),
                                 (KERNEL + host.format("fill<<1, 32>>(x);"), 3, "three brackets"),
                                 (KERNEL.replace("__global__ ", "") + host.format("fill<<<1, 32>>>(x);"), 1,
                                  "__global__ is missing"),
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
    text = ("constexpr unsigned tile = 16, half = tile / 2;\n__global__ void f(int n) {\n  __shared__ double "
            "left[tile][half + 1];\n"
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


tap.report([(check.__doc__, check()) for check in (wrong_products, wrong_stencils, wrong_sums, compared_kernels, names,
                                                   sources, rounded,
                                                   other_elements, wrong_products_of_two, wrong_recursions, wrong_forces,
                                                   wrong_updates, compared_contents,
                                                   directives, memory, patterns,
                                                   broken_rules, constants, places, limits)])
