"""Compares least squares by the stage programs with LAPACK, and the chapter's tables with the programs' output:
coefficients_test.py PROGRAMS TABLES. Prints TAP.

NumPy calls LAPACK, which factorises a matrix without forming AᵀA.
"""

import os
import pathlib
import re
import sys
import tempfile

import tap

try:
    import numpy
except ImportError:
    tap.skip("NumPy is not installed")
    sys.exit(0)

from coefficients import least_squares

PROGRAMS, TABLES = sys.argv[1:]
SEED = int(os.environ.get("STAIRCASE_TEST_SEED", int.from_bytes(os.urandom(4), "little")))
RANDOM = numpy.random.default_rng(SEED)
SHAPES = ((1, 1), (5, 1), (2, 2), (7, 3), (40, 31), (33, 33), (100, 65), (1000, 5))
WAYS = {"two triangular solves": least_squares.solve,
        "a bordered matrix": lambda *system: least_squares.solve_bordered(*system)[0]}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def solved(way, a, b):
    """A solution by the stage programs."""
    with tempfile.TemporaryDirectory() as directory:
        return way(least_squares.Terminal(PROGRAMS, directory), a, b)


def is_within_bound(a, b, x):
    """Whether x agrees with LAPACK's solution within the error of the normal equations: the square of the condition
    number, times the rounding errors of sums of `rows` terms, on the scale of x (Higham 2002, section 20.4)."""
    rows, columns = a.shape
    expected = numpy.linalg.lstsq(a, b, rcond=None)[0]
    rounding = (rows + 3 * columns) * columns * 2.0 ** -53
    scale = numpy.linalg.norm(expected) + numpy.linalg.norm(b) / numpy.linalg.norm(a, 2)
    return bool(numpy.linalg.norm(x - expected) <= 4 * rounding * numpy.linalg.cond(a) ** 2 * scale)


def systems():
    """Random systems, with columns of equal norms, and with columns of different norms."""
    for rows, columns in SHAPES:
        for scales in (numpy.ones(columns), 10.0 ** RANDOM.uniform(-2, 2, columns)):
            a = RANDOM.standard_normal((rows, columns)) * scales
            if numpy.linalg.cond(a) < 1e6:
                yield a, RANDOM.standard_normal(rows)


def far_off(way):
    """Yields systems whose solution differs from LAPACK's."""
    for a, b in systems():
        # An exact fit has no residual, so its last pivot contains only rounding errors.
        if way == WAYS["a bordered matrix"] and a.shape[0] <= a.shape[1]:
            continue
        x = solved(way, a, b)
        if x.shape != (a.shape[1],) or not is_within_bound(a, b, x):
            yield (f"the solution of a {a.shape[0]} × {a.shape[1]} system is too far from LAPACK's "
                   f"(STAIRCASE_TEST_SEED={SEED})")


def accepted_solutions():
    """Yields wrong solutions that are accepted."""
    a, b = RANDOM.standard_normal((50, 4)), RANDOM.standard_normal(50)
    x = solved(least_squares.solve, a, b)
    for what, wrong in (("too large by 1e-9", x * (1 + 1e-9)), ("swapped", x[::-1]), ("not a number", x * numpy.nan),
                        ("in f32", x.astype(numpy.float32))):
        if is_within_bound(a, b, wrong):
            yield f"a solution that is {what} is accepted (STAIRCASE_TEST_SEED={SEED})"


def wrong_residuals():
    """Yields last pivots that differ from the norm of the residual."""
    for a, b in systems():
        if a.shape[0] > a.shape[1]:
            with tempfile.TemporaryDirectory() as directory:
                x, residual = least_squares.solve_bordered(least_squares.Terminal(PROGRAMS, directory), a, b)
            if not numpy.isclose(residual, numpy.linalg.norm(a @ x - b), rtol=1e-6):
                yield f"the last pivot for a matrix of shape {a.shape} is {residual} (STAIRCASE_TEST_SEED={SEED})"


def accepted_dependent_columns():
    """Yields a sentence if integer columns are accepted although one is twice another, so that the pivot is exactly zero."""
    a = RANDOM.integers(-9, 10, (20, 3)).astype(float)
    a[:, 0] = [8] * 16 + [0] * 4  # the norm of the column is 32, so divisions by it are exact
    a[:, 2] = 2 * a[:, 0]
    try:
        solved(least_squares.solve, a, a[:, 1])
        yield "the matrix is accepted"
    except least_squares.Refused as refused:
        if "pivot 2 is 0," not in str(refused):
            yield f"the message does not name the pivot: {refused}"


def accepted_lauchli_columns():
    """Yields a sentence if Läuchli's matrix is accepted: its columns are independent in f64, but their products are not."""
    a = numpy.array([[1, 1], [1e-8, 0], [0, 1e-8]])
    if numpy.linalg.matrix_rank(a) != 2:
        yield "LAPACK finds the columns dependent"
    try:
        solved(least_squares.solve, a, numpy.ones(3))
        yield "the matrix is accepted"
    except least_squares.Refused as refused:
        if "pivot 1 is 0," not in str(refused):
            yield f"the message does not name the pivot: {refused}"


def differences(name, shown, fresh, alike):
    """Yields lines that differ from the output of the programs; `alike` decides whether two numbers are close enough."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", fresh):
        yield f"{name}.txt differs from the output of `python3 docs fits`"
        return
    for old, new in zip(NUMBER.findall(shown), NUMBER.findall(fresh)):
        if not alike(float(old), float(new)):
            yield f"{name}.txt contains {old}, and the programs print {new}"


def outdated(name, fresh):
    """The differences between a table of the chapter and a new one. Errors come from rounding, so another compiler or
    LAPACK may change them by a factor of 300. Errors of the normal equations for degrees 11 to 13 are not compared,
    because their coefficients have no correct digit."""
    shown = pathlib.Path(TABLES, f"{name}.txt").read_text()
    if name not in ("degrees", "bases"):
        yield from differences(name, shown, fresh, lambda old, new: numpy.isclose(old, new, rtol=1e-6))
        return
    if name == "degrees" and "none: pivot" not in fresh.splitlines()[-1]:
        yield "the last polynomial is not refused"
    by_chance = re.compile(r"^( +1[1-3]\b(?: +\S+){3}).*", re.MULTILINE)
    yield from differences(name, by_chance.sub(r"\1", shown), by_chance.sub(r"\1", fresh),
                           lambda old, new: max(old, 1e-15) / 300 <= max(new, 1e-15) <= max(old, 1e-15) * 300)


def main():
    """Prints one TAP line per check."""
    fresh = least_squares.tables(PROGRAMS)
    tap.report([*((f"least squares with {name} agree with LAPACK", far_off(way)) for name, way in WAYS.items()),
                ("wrong solutions are refused", accepted_solutions()),
                ("the last pivot of the bordered matrix is the norm of the residual", wrong_residuals()),
                ("columns of integers of which one is twice another are refused", accepted_dependent_columns()),
                ("Läuchli's matrix, whose columns are almost dependent, is refused", accepted_lauchli_columns()),
                *((f"{name}.txt agrees with the output of the programs", outdated(name, text))
                  for name, text in fresh.items())])


main()
