"""Explains wrong elements of a product of two matrices, AᵀA or A B: terms that were not added exactly once, elements that
belong to other rows and columns, and factors that were read at wrong indices. The explanations are tried one after the
other, and only an explanation that fits all elements is reported.

Element (i, j) of a product is the sum of left(k, i) right(k, j) over k.
"""

import dataclasses
import math

from naming import ranges

MOST = 1600  # maximum number of elements of a factor; the work grows quickly with this number
MASK = (1 << 64) - 1


def random_number(seed, index):
    """A random value of the harness; see common/harness/random.hpp."""
    z = ((seed << 40) + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    signed = z - (1 << 64) if z >> 63 else z
    return (signed >> 11) * 2.0 ** -52


def random_multiple(seed, index):
    """A random value of the harness that is a multiple of 2⁻²³."""
    return math.floor(random_number(seed, index) * 2.0 ** 23) * 2.0 ** -23


def matrix(problem):
    """The matrix A of a problem of AᵀA, as a list of rows."""
    rows, cols, seed = problem["rows"], problem["cols"], problem["seed"]
    return [[random_number(seed, k * cols + i) for i in range(cols)] for k in range(rows)]


@dataclasses.dataclass
class Factors:
    """The factors of a product as lists of their rows k, and the words for a message."""

    left: list
    right: list
    term: str = "row"  # a term of the sum, in the singular
    of_term: str = " of A"
    column: str = "the product of columns {p} and {q} instead of columns {i} and {j}"

    @property
    def is_symmetric(self):
        """Whether both factors are the same matrix."""
        return self.left is self.right


def factors_of(workload, problem):
    """The factors of the product that a problem asks for; None for other workloads, and for matrices that are too large."""
    if workload == "ata" and problem["rows"] * problem["cols"] <= MOST and problem["cols"] <= 128:
        a = matrix(problem)
        return Factors(a, a)
    if workload != "matmul" or max(problem["l"], problem["n"]) * problem["m"] > MOST or max(problem["l"], problem["n"]) > 128:
        return None
    rows, depth, cols, seed = (problem[name] for name in ("l", "m", "n", "seed"))
    left = [[random_multiple(seed, i * depth + k) for i in range(rows)] for k in range(depth)]
    right = [[random_multiple(seed, rows * depth + k * cols + j) for j in range(cols)] for k in range(depth)]
    return Factors(left, right, "term", "", "the product of row {p} of A and column {q} of B instead of row {i} and column "
                                            "{j}")


def explanation(factors, solution, wrong):
    """A sentence about a wrong product, or None. `wrong` contains the positions of the wrong elements in row-major order."""
    if factors is None or not all(map(math.isfinite, solution.values)):
        return None
    return of_terms(factors, solution) or of_columns(factors, solution, wrong) or of_indices(factors, solution, wrong)


def near(value, wanted, scale):
    """Whether two values are equal except for rounding errors."""
    return abs(value - wanted) <= 1e-9 * max(scale, 1e-300)


def scale_of(factors):
    """The magnitude of the elements of the product."""
    squares = [sum(value * value for row in rows for value in row) / len(rows[0]) for rows in (factors.left, factors.right)]
    return math.sqrt(squares[0] * squares[1])


def of_terms(factors, solution):
    """A sentence if the result is a sum of terms of which some were not added exactly once. The multiplicities n(k) are
    computed from the normal equations of C = Σ n(k) left(k)ᵀ right(k)."""
    left, right = factors.left, factors.right
    depth, rows, cols = len(left), len(left[0]), len(right[0])
    if depth > (rows * (rows + 1) // 2 if factors.is_symmetric else rows * cols):
        return None
    c = [solution.values[i * cols:(i + 1) * cols] for i in range(rows)]
    dots = [[[dot(one, other) for other in each] for one in each] for each in (left, right)]
    system = [[one * other for one, other in zip(dots[0][k], dots[1][k])]
              + [sum(x * dot(ci, right[k]) for x, ci in zip(left[k], c))]
              for k in range(depth)]
    counts = solved(system)
    if counts is None or any(abs(count - round(count)) > 1e-4 for count in counts):
        return None
    counts = [round(count) for count in counts]
    scale = scale_of(factors)
    for i in range(0, rows, max(1, rows // 16)):
        for j in range(cols):
            if not near(c[i][j], sum(n * one[i] * other[j] for n, one, other in zip(counts, left, right)),
                        scale * max(map(abs, counts))):
                return None
    groups = {}
    for k, count in enumerate(counts):
        if count != 1:
            groups.setdefault(count, []).append(k)
    if not groups:
        return None

    def group_text(count, group):
        many = factors.term + ("s" if len(group) > 1 else "")
        are = ("are" if len(group) > 1 else "is")
        return f"{many} {ranges(group)}{factors.of_term} {are} " + (
            "never added" if count == 0 else f"added {count} times" if count > 0 else f"subtracted {-count} times")

    parts = [group_text(*group) for group in sorted(groups.items())]
    loaded = "row" if factors.is_symmetric else "element"
    return "in each element, " + ", and ".join(parts[:3]) + (", and so on" if len(parts) > 3 else "") + \
        f": look at the loop over the {factors.term}s, at where the sum starts, and at the {loaded} that each thread loads"


def dot(one, other):
    """The inner product of two lists."""
    return sum(map(float.__mul__, one, other))


def solved(system):
    """Solves a system of linear equations by Gaussian elimination with partial pivoting. Each row of `system` ends with the
    right-hand side. Returns None if the system is singular."""
    n = len(system)
    for column in range(n):
        pivot = max(range(column, n), key=lambda row: abs(system[row][column]))
        if abs(system[pivot][column]) < 1e-12:
            return None
        system[column], system[pivot] = system[pivot], system[column]
        top = system[column]
        for row in range(column + 1, n):
            factor = system[row][column] / top[column]
            if factor:
                line = system[row]
                for k in range(column, n + 1):
                    line[k] -= factor * top[k]
    result = [0.0] * n
    for row in reversed(range(n)):
        rest = system[row][n] - sum(system[row][k] * result[k] for k in range(row + 1, n))
        result[row] = rest / system[row][row]
    return result


def of_columns(factors, solution, wrong):
    """A sentence if wrong elements are the products of other columns."""
    rows, cols, scale = len(factors.left[0]), len(factors.right[0]), scale_of(factors)
    lefts, rights = list(zip(*factors.left)), list(zip(*factors.right))
    products = {}
    for p in range(rows):
        for q in range(p if factors.is_symmetric else 0, cols):
            products.setdefault(round(dot(lefts[p], rights[q]) / scale, 8), (p, q))
    looked_up = [place for place in wrong if solution.values[place] != 0][:200]
    found = {place: products[key] for place in looked_up if (key := round(solution.values[place] / scale, 8)) in products}
    if not found or len(found) < len(looked_up) / 2:
        return None
    place, (p, q) = next(iter(found.items()))
    i, j = divmod(place, cols)
    return f"element ({i}, {j}) holds {factors.column.format(p=p, q=q, i=i, j=j)}"


TILES = (8, 16, 32, 64)


def changes_of_index():
    """Wrong indices: a text, and a function of the right index."""
    yield None, lambda index: index
    for by in (1, -1):
        yield f"{{0}} {'+' if by > 0 else '-'} 1", lambda index, by=by: index + by
    for tile in TILES:
        yield f"{{0}} % {tile}", lambda index, tile=tile: index % tile
    yield "0", lambda index: 0


def of_indices(factors, solution, wrong):
    """A sentence if a factor was read or stored at wrong indices: with exchanged row and column, within each tile or in the
    whole matrix, or with an index that is off by one or without the offset of its tile."""
    rows, cols = len(factors.left[0]), len(factors.right[0])
    depth, scale = len(factors.left), scale_of(factors)
    places = sorted({*wrong[::max(1, len(wrong) // 24)], *range(0, rows * cols, max(1, rows * cols // 24))})

    def value(factor, k, i):
        return factor[k][i] if 0 <= k < depth and 0 <= i < len(factor[0]) else 0.0

    def fits(one, other, last):
        return all(near(solution.values[place], sum(one(k, place // cols) * other(k, place % cols) for k in range(last)),
                        scale)
                   for place in places)

    def exchanged(factor, tile):
        return lambda k, i: value(factor, k - k % tile + i % tile, i - i % tile + k % tile)

    def right_one(factor):
        return lambda k, i: value(factor, k, i)

    names = ("the first factor", "the second factor")
    if min(depth, rows, cols) > 1:
        for tile in (*TILES, 1 << 20):
            for which in ((True, False), (False, True), (True, True)):
                one, other = ((exchanged if is_wrong else right_one)(factor, *([tile] if is_wrong else []))
                              for is_wrong, factor in zip(which, (factors.left, factors.right)))
                if fits(one, other, (depth + tile - 1) // tile * tile if tile < 1 << 20 else max(depth, rows, cols)):
                    whole = max(depth, rows, cols) <= tile
                    what = "both factors" if all(which) else names[which.index(True)]
                    return f"row and column are exchanged in {what}" \
                           f"{'' if whole else f', within each tile of {tile} x {tile}'}: " \
                           "is an element read, or stored, at the transposed place?"
    for which, name in enumerate(names):
        for (of_k, at_k), (of_i, at_i) in ((one, other) for one in changes_of_index() for other in changes_of_index()):
            if of_k is of_i is None:
                continue
            changed = lambda k, i, factor=(factors.left, factors.right)[which], at_k=at_k, at_i=at_i: value(factor, at_k(k), at_i(i))
            one, other = (right_one(factors.left), changed) if which else (changed, right_one(factors.right))
            if fits(one, other, depth):
                index = "j" if which else "i"
                said = [f"{text.format(letter)} instead of {letter}" for text, letter in ((of_k, "k"), (of_i, index))
                        if text]
                tiled = any(text and "%" in text for text in (of_k, of_i))
                return f"in the sum over k for element (i, j), {name} is read with the index {' and '.join(said)}" + (
                    ": is the offset of the tile missing in this index?" if tiled else "")
    return None
