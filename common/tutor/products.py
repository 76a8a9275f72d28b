"""Explains wrong elements of AᵀA: rows of A that were not added exactly once, elements that belong to other columns, and
factors that were transposed. The explanations are tried one after the other, and only an explanation that fits all elements
is reported."""

import math

MOST = 1600  # maximum number of elements of A; the work grows quickly with it
MASK = (1 << 64) - 1


def random_number(seed, index):
    """A random value of the harness; see common/harness/random.hpp."""
    z = ((seed << 40) + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    signed = z - (1 << 64) if z >> 63 else z
    return (signed >> 11) * 2.0 ** -52


def matrix(problem):
    """The matrix A of a problem, as a list of rows."""
    rows, cols, seed = problem["rows"], problem["cols"], problem["seed"]
    return [[random_number(seed, k * cols + i) for i in range(cols)] for k in range(rows)]


def ranges(indices):
    """Converts indices to a text such as "0 to 15, 32"."""
    parts = []
    for index in sorted(indices):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ", ".join(f"{first} to {last}" if last > first else str(first) for first, last in parts)


def explanation(problem, solution, wrong):
    """A sentence about a wrong product, or None. `wrong` contains the positions of the wrong elements in row-major order."""
    if problem["rows"] * problem["cols"] > MOST or problem["cols"] > 128 or not all(map(math.isfinite, solution.values)):
        return None
    a = matrix(problem)
    return of_rows(a, solution) or of_columns(a, solution, wrong) or of_factors(a, solution)


def near(value, wanted, scale):
    """Whether two values are equal except for rounding errors."""
    return abs(value - wanted) <= 1e-9 * max(scale, 1e-300)


def norm(a):
    """The magnitude of the elements of AᵀA."""
    return sum(value * value for row in a for value in row) / len(a[0])


def of_rows(a, solution):
    """A sentence if the result is a sum over rows in which some rows were not added exactly once. The multiplicities n(k)
    are computed from the normal equations of C = Σ n(k) a(k)ᵀ a(k)."""
    rows, cols = len(a), len(a[0])
    if rows > cols * (cols + 1) // 2:
        return None
    c = [solution.values[i * cols:(i + 1) * cols] for i in range(cols)]
    dots = [[sum(map(float.__mul__, one, other)) for other in a] for one in a]
    system = [[dot * dot for dot in line] + [sum(x * sum(map(float.__mul__, ci, row)) for x, ci in zip(row, c))]
              for line, row in zip(dots, a)]
    counts = solved(system)
    if counts is None or any(abs(count - round(count)) > 1e-4 for count in counts):
        return None
    counts = [round(count) for count in counts]
    scale = norm(a)
    for i in range(0, cols, max(1, cols // 16)):
        for j in range(cols):
            if not near(c[i][j], sum(n * row[i] * row[j] for n, row in zip(counts, a)), scale * max(map(abs, counts))):
                return None
    groups = {}
    for k, count in enumerate(counts):
        if count != 1:
            groups.setdefault(count, []).append(k)
    if not groups:
        return None

    def group_text(count, group):
        many = "rows" if len(group) > 1 else "row"
        are = ("are" if len(group) > 1 else "is")
        return f"{many} {ranges(group)} of A {are} " + (
            "never added" if count == 0 else f"added {count} times" if count > 0 else f"subtracted {-count} times")

    parts = [group_text(*group) for group in sorted(groups.items())]
    return "in each element, " + ", and ".join(parts[:3]) + (", and so on" if len(parts) > 3 else "") + \
        ": look at the loop over the rows, at where the sum starts, and at the row that each thread loads"


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


def of_columns(a, solution, wrong):
    """A sentence if wrong elements are the products of other columns."""
    cols, scale = len(a[0]), norm(a)
    columns = list(zip(*a))
    products = {}
    for p in range(cols):
        for q in range(p, cols):
            products.setdefault(round(sum(map(float.__mul__, columns[p], columns[q])) / scale, 8), (p, q))
    looked_up = [place for place in wrong if solution.values[place] != 0][:200]
    found = {place: products[key] for place in looked_up if (key := round(solution.values[place] / scale, 8)) in products}
    if not found or len(found) < len(looked_up) / 2:
        return None
    place, (p, q) = next(iter(found.items()))
    i, j = divmod(place, cols)
    return f"element ({i}, {j}) holds the product of columns {p} and {q} instead of columns {i} and {j}"


def of_factors(a, solution):
    """A sentence if a factor was read or stored with exchanged row and column within each tile."""
    rows, cols = len(a), len(a[0])
    scale = norm(a)

    def left(tile, k0, i, m):  # row and column are exchanged within the tile
        return value(k0 + i % tile, i - i % tile + m)

    def value(k, i):
        return a[k][i] if k < rows and i < cols else 0.0

    for tile in (8, 16, 32, 64):
        for first, second in ((True, False), (False, True), (True, True)):
            def element(i, j, tile=tile, first=first, second=second):
                return sum((left(tile, k0, i, m) if first else value(k0 + m, i)) *
                           (left(tile, k0, j, m) if second else value(k0 + m, j))
                           for k0 in range(0, rows, tile) for m in range(tile))
            some = [(i, j) for i in range(cols) for j in range(0, cols, max(1, cols // 4))]
            if min(rows, cols) > 1 and all(near(solution.values[i * cols + j], element(i, j), scale) for i, j in some):
                which = "both factors" if first and second else "the first factor" if first else "the second factor"
                if max(rows, cols) <= tile:
                    return f"row and column are exchanged in {which}: is it read, or stored, at the transposed place?"
                return (f"row and column are exchanged in {which}, within each tile of {tile} x {tile}: is it read, or stored, at the "
                        "transposed place?")
    return None
