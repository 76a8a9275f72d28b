"""Explains wrong updates of a matrix in place: which products of rows were subtracted.

A right-looking factorisation subtracts from element (i, j) the sum of l(i, k) l(j, k) over a range of columns k that are
complete.
"""

import math

MOST = 400  # maximum number of rows of a matrix that is explained
STEP = 16  # ranges of columns begin and end at multiples of this number
NEAR = 1e-9
CELLS = 4  # number of elements that are compared


def sums_of(matrix, p, q):
    """The sums of the products of two rows over the first 0, 16, 32, ... columns."""
    total, sums = 0.0, [0.0]
    for k in range(len(matrix)):
        total += matrix[p][k] * matrix[q][k]
        if (k + 1) % STEP == 0:
            sums.append(total)
    return sums


def range_of(matrix, cells, changes):
    """The range of columns whose products explain the changes of some elements, as its first and last column; None if
    there is none."""
    sums = [sums_of(matrix, i, j) for i, j in cells]
    marks = len(sums[0])
    for first in range(marks):
        for end in range(first + 1, marks):
            if all(abs(change + each[end] - each[first]) <= NEAR * max(1.0, abs(change)) for change,
                   each in zip(changes, sums)):
                return first * STEP, end * STEP - 1
    return None


def rows_of(matrix, cell, change, columns):
    """The rows whose product over some columns explains the change of an element, if they are not the rows of the element;
    None if there are none."""
    i, j = cell
    first, last = columns
    for p, q in [(p, j) for p in range(len(matrix))] + [(i, q) for q in range(len(matrix))]:
        if (p, q) != cell and abs(change + sum(matrix[p][k] * matrix[q][k]
                                               for k in range(first, last + 1))) <= NEAR * max(1e-3, abs(change)):
            return p, q
    return None


def explanation(before, mine, own, wrong):
    """A sentence about wrong elements of an updated matrix, or None. The matrices are lists of rows, and `wrong`
    contains the row and column of each wrong element."""
    some = wrong[::max(1, len(wrong) // CELLS)][:CELLS]
    values = [each[i][j] for i, j in some for each in (before, mine, own)]
    if len(before) > MOST or not all(map(math.isfinite, values)):
        return None
    complete = [[value if math.isfinite(value) else 0.0 for value in row] for row in before]
    right, found = ([each[i][j] - before[i][j] for i, j in some] for each in (own, mine))
    columns = range_of(complete, some, right)
    if columns is None:
        return None
    others = range_of(complete, some, found)
    text = f"columns {columns[0]} to {columns[1]}"
    if others is not None and others != columns:
        return f"the products of columns {others[0]} to {others[1]} are subtracted instead of the products of {text}"
    if (rows := rows_of(complete, some[0], found[0], columns)) is not None:
        i, j = some[0]
        return (f"from element ({i}, {j}), the products of rows {rows[0]} and {rows[1]} are subtracted instead of those of "
                f"rows {i} and {j} ({text})")
    return None


def of_launch(difference):
    """A sentence about a matrix that a launch has updated, or None."""
    shape, before = difference.mine.shape, difference.before
    if before is None or len(shape) != 2 or shape[0] != shape[1] or before.shape != shape:
        return None
    n = shape[0]
    matrices = [[each.values[i * n:(i + 1) * n] for i in range(n)] for each in (before, difference.mine, difference.own)]
    return explanation(*matrices, [divmod(place, n) for place in difference.wrong])
