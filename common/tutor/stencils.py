"""Explains wrong results of the advection of a field: which weights a cell gets from its neighbours, which cells a border cell uses
across the border, and after which step the result is the right one.

One step is linear in the field. The weights that a solution uses are therefore the solution of a system of linear equations.
"""

import math

from naming import ranges
from products import random_number, solved

PROBE = {"rows": 37, "cols": 70, "steps": 1, "field": 2}  # one step of random values, on several tiles that are not full
REACH = 2  # the neighbours whose weights are looked for, in each direction
NEAR = 1e-9
MOST_STEPS = 24  # results after so many steps are compared

OFFSETS = [(di, dj) for di in range(-REACH, REACH + 1) for dj in range(-REACH, REACH + 1)]


def field_of(problem):
    """The initial field of a problem with random values."""
    rows, cols, seed = problem["rows"], problem["cols"], problem["seed"]
    return [[random_number(seed, i * cols + j) for j in range(cols)] for i in range(rows)]


def weights_of(problem):
    """The weights of the neighbours at -1, 0 and +1 along x and along y."""
    step = problem["cfl"] / max(problem["rows"], problem["cols"])
    courant = problem["vx"] * step * problem["cols"], problem["vy"] * step * problem["rows"]
    return [(c * (c + 1) / 2, 1 - c * c, c * (c - 1) / 2) for c in courant]


def right_weights(problem):
    """The right weights by offset."""
    along_x, along_y = weights_of(problem)
    return {(di, dj): along_y[di + 1] * along_x[dj + 1] if abs(di) <= 1 and abs(dj) <= 1 else 0.0 for di, dj in OFFSETS}


def applied(weights, field, i, j):
    """The sum of the neighbours of a cell with weights, on a periodic plane."""
    rows, cols = len(field), len(field[0])
    return sum(weight * field[(i + di) % rows][(j + dj) % cols] for (di, dj), weight in weights.items() if weight)


def fitted(field, result, cells):
    """The weights by offset that some cells of a result have in common, or None."""
    rows, cols = len(field), len(field[0])
    some = cells[::max(1, len(cells) // 150)]
    size = len(OFFSETS)
    system = [[0.0] * (size + 1) for _ in range(size)]
    for i, j in some:
        row = [field[(i + di) % rows][(j + dj) % cols] for di, dj in OFFSETS] + [result[i][j]]
        for p in range(size):
            for q in range(size + 1):
                system[p][q] += row[p] * row[q]
    found = solved(system)
    if found is None:
        return None
    weights = {offset: 0.0 if abs(value) < 1e-7 else value for offset, value in zip(OFFSETS, found)}
    return weights if all(abs(applied(weights, field, i, j) - result[i][j]) < 1e-6 for i, j in cells) else None


def are_near(one, other):
    """Whether two sets of weights agree."""
    return all(abs(one.get(offset, 0.0) - other.get(offset, 0.0)) < 1e-6 for offset in {*one, *other})


def moved(weights, change):
    """Weights at changed offsets."""
    return {change(di, dj): weight for (di, dj), weight in weights.items() if weight}


def offset_text(di, dj):
    """The neighbour at an offset as text."""
    def index(name, by):
        return name if by == 0 else f"{name} {'+' if by > 0 else '-'} {abs(by)}"
    return f"({index('i', di)}, {index('j', dj)})"


def of_weights(weights, right):
    """A sentence about weights that are not the right ones."""
    changes = [("the weights along x and along y are exchanged", lambda di, dj: (dj, di)),
               ("the weights along x belong to the opposite direction: the sign of an offset in x, or the order of these weights, is wrong",
                lambda di, dj: (di, -dj)),
               ("the weights along y belong to the opposite direction: the sign of an offset in y, or the order of these weights, is wrong",
                lambda di, dj: (-di, dj)),
               ("the weights of both directions belong to the opposite directions: the signs of the offsets are wrong",
                lambda di, dj: (-di, -dj))]
    for sentence, change in changes:
        if are_near(weights, moved(right, change)):
            return sentence
    for shift in OFFSETS:
        if shift != (0, 0) and are_near(weights, moved(right, lambda di, dj, s=shift: (di + s[0], dj + s[1]))):
            return f"cell (i, j) holds the value of cell {offset_text(*shift)}: an index is off by {max(map(abs, shift))}"
    return of_lines_of_weights(weights, right) or of_single_weights(weights, right)


def of_lines_of_weights(weights, right):
    """A sentence about weights that are right along one direction, and not along the other."""
    for name, along, across, key in (("y", "rows", "x", lambda a, b: (a, b)), ("x", "columns", "y", lambda a, b: (b, a))):
        # The weights of a line across are the right ones, times a factor.
        factors, whole = {}, True
        for a in range(-REACH, REACH + 1):
            reference = max((right[key(c, b)] for c in (-1, 0, 1) for b in (-1, 0, 1)), key=abs)
            c, b = next((c, b) for c in (-1, 0, 1) for b in (-1, 0, 1) if right[key(c, b)] == reference)
            factors[a] = weights[key(a, b)] / right[key(c, b)]
            whole = whole and all(abs(weights[key(a, d)] - factors[a] * right[key(c, d)]) < 1e-6 for d in range(-REACH, REACH + 1))
        if not whole:
            continue
        line = max((c for c in (-1, 0, 1)), key=lambda c: max(abs(right[key(c, b)]) for b in (-1, 0, 1)))
        total = sum(right[key(line, b)] for b in (-1, 0, 1))
        used = {a: factor * total for a, factor in factors.items()}
        wanted = {a: sum(right[key(a, b)] for b in range(-REACH, REACH + 1)) for a in range(-REACH, REACH + 1)}
        of_other = {a: sum(right[key(b, a)] for b in range(-REACH, REACH + 1)) for a in range(-REACH, REACH + 1)}
        exchanged = f"; these are the weights along {across}" if are_near(used, of_other) else ""
        letter = "i" if name == "y" else "j"
        parts = [f"{along[:-1]} {letter if a == 0 else f'{letter} {chr(43) if a > 0 else chr(45)} {abs(a)}'} has the weight {used[a]:.4g} "
                 f"and must have {wanted[a]:.4g}" for a in range(-REACH, REACH + 1) if abs(used[a] - wanted[a]) > 1e-6]
        return f"the result is right along {across} and wrong along {name}: for cell (i, j), {', '.join(parts)}{exchanged}"
    return None


def of_single_weights(weights, right):
    """A sentence about weights that differ at single neighbours."""
    wrong = [offset for offset in OFFSETS if abs(weights[offset] - right[offset]) > 1e-6]
    parts = [f"neighbour {offset_text(*offset)} has the weight {weights[offset]:.4g} and must have {right[offset]:.4g}"
             for offset in wrong[:4]]
    return f"for cell (i, j), {', '.join(parts)}" + (f", and {len(wrong) - 4} more weights are wrong" if len(wrong) > 4 else "")


# --- Borders

def whole_lines(rows, cols, cells):
    """Cells as text by the whole rows and columns that they fill; None if there are others, or if they are all cells."""
    cells = set(cells)
    full_rows = [i for i in range(rows) if all((i, j) in cells for j in range(cols))]
    full_cols = [j for j in range(cols) if all((i, j) in cells for i in range(rows))]
    if len(cells) == rows * cols or not (full_rows or full_cols) or any(i not in full_rows and j not in full_cols for i, j in cells):
        return None
    parts = [f"row{'s' if len(full_rows) > 1 else ''} {ranges(full_rows)}"] if full_rows else []
    parts += [f"column{'s' if len(full_cols) > 1 else ''} {ranges(full_cols)}"] if full_cols else []
    return " and of ".join(parts)


def triangle(rows, cols, cells):
    """Cells as text if they are all below or all above the diagonal of a square; None otherwise."""
    if rows != cols or len(cells) != rows * (rows - 1) // 2:
        return None
    return "all below the diagonal" if all(i > j for i, j in cells) else "all above the diagonal" if all(i < j for i, j in cells) else None


def of_cells(rows, cols, wrong, what="the cells", border="look at the wrap-around at the border"):
    """A sentence about the rows and columns that the wrong cells fill; None if they fill none or all."""
    wrong = set(wrong)
    lines = whole_lines(rows, cols, wrong)
    if lines is None:
        return None
    full_rows = [i for i in range(rows) if all((i, j) in wrong for j in range(cols))]
    full_cols = [j for j in range(cols) if all((i, j) in wrong for i in range(rows))]
    is_border = not set(full_rows) - {0, rows - 1} and not set(full_cols) - {0, cols - 1}
    sentence = f"{what} of {lines} of {rows} x {cols} are wrong, and all others are right"
    return sentence + (f": {border}" if is_border else tile_text(full_rows, full_cols))


def tile_text(full_rows, full_cols):
    """What wrong rows or columns at equal distances mean."""
    for lines in (full_rows, full_cols):
        steps = {after - before for before, after in zip(lines, lines[1:])}
        if len(lines) > (1 if lines and lines[0] > 0 else 2) and len(steps) == 1 and (step := steps.pop()) > 1:
            return f": every {step} cells, at the borders of tiles"
    return ""


SIDES = (("above", -1, True), ("below", 1, True), ("left of", -1, False), ("right of", 1, False))


def of_border(field, result, right, wrong):
    """A sentence about the cells that border cells use across the border; None if it is not found."""
    rows, cols = len(field), len(field[0])
    for name, side, is_row in SIDES:
        extent, others = (rows, cols) if is_row else (cols, rows)
        border = 0 if side < 0 else extent - 1
        cells = [(border, j) if is_row else (j, border) for j in range(2, others - 2)]
        if extent < 4 or not cells or not all(cell in wrong for cell in cells):
            continue

        def across(line, cell, is_row=is_row, side=side):
            i, j = cell
            return sum(right[(side, d) if is_row else (d, side)] * (0.0 if line is None else field[line][(j + d) % cols] if is_row else
                                                                  field[(i + d) % rows][line]) for d in (-1, 0, 1))

        def is_used(line, cell, across=across, border=border, side=side, extent=extent):
            i, j = cell
            rest = applied(right, field, i, j) - across((border + side) % extent, cell)
            return abs(rest + across(line, cell) - result[i][j]) < NEAR

        for line in [*range(extent), None]:
            if all(is_used(line, cell) for cell in cells):
                kind = "row" if is_row else "column"
                used = f"{kind} {line}" if line is not None else "zeros"
                return (f"{kind} {border} uses {used} as the {kind} {name} it, and must use {kind} {(border + side) % extent}: look at the "
                        "wrap-around at the border")
    return None


def explanation(problem, found, wanted):
    """A sentence about a wrong result after one step; None if there is none. Both results are lists of rows."""
    rows, cols = problem["rows"], problem["cols"]
    wrong = {(i, j) for i in range(rows) for j in range(cols) if abs(found[i][j] - wanted[i][j]) > NEAR}
    if not wrong or not all(math.isfinite(value) for row in found for value in row):
        return None
    field, right = field_of(problem), right_weights(problem)
    inner = [(i, j) for i in range(REACH, rows - REACH) for j in range(REACH, cols - REACH)]
    if not any(cell in wrong for cell in inner):
        return "; ".join(sentence for sentence in (of_cells(rows, cols, wrong), of_border(field, found, right, wrong)) if sentence) or None
    weights = fitted(field, found, inner)
    if weights is not None:
        return of_weights(weights, right)
    turned = [[field[j % rows][i % cols] for j in range(cols)] for i in range(rows)]
    weights = fitted(turned, found, [cell for cell in inner if max(cell) < min(rows, cols) - REACH])
    if weights is not None:
        return "the stencil is applied to the transposed field: are row and column exchanged where the field is read?"
    sentences = of_cells(rows, cols, wrong), of_other_cells(found, wanted, sorted(wrong))
    return "; ".join(sentence for sentence in sentences if sentence) or None


def of_other_cells(found, wanted, wrong):
    """A sentence about wrong cells that hold the values of other cells; None if fewer than a quarter of them do."""
    cells = {round(value, 9): (i, j) for i, row in enumerate(wanted) for j, value in enumerate(row)}
    others = {(i, j): cells[key] for i, j in wrong if (key := round(found[i][j], 9)) in cells}
    if len(others) < max(1, len(wrong) // 4):
        return None
    cell, other = next(iter(others.items()))
    shifts = {(p - i, q - j) for (i, j), (p, q) in others.items()}
    alike = f", and so on by {offset_text(*next(iter(shifts)))}" if len(shifts) == 1 else ""
    return (f"{len(others)} of {len(wrong)} wrong cells hold the values of other cells: cell {cell} holds the value of cell {other}{alike}; "
            "which index of the cell, of the thread or of the block is wrong?")


def of_steps(steps, is_right_after):
    """A sentence if a result is the right one after another number of steps. `is_right_after` tests a number."""
    for other in sorted(range(0, min(steps + 2, MOST_STEPS)), key=lambda other: abs(other - steps)):
        if other != steps and is_right_after(other):
            why = ("is the number of steps one too many?" if other > steps else
                   "are the two arrays exchanged after each step, and is the one copied that the last step has written?")
            return f"the result is the right one after {other} instead of {steps} steps: {why}"
    return None
