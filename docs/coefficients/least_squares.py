"""The listings of the chapter on least squares: python3 docs fits PROGRAMS [TABLES]

PROGRAMS is the directory of the stage programs. The programs run in a temporary directory, and each program reads files that
another program has written. The commands and their output without times are printed. With TABLES, the commands and their
output are written to commands.txt and bordered.txt in the directory TABLES, and the tables of errors to degrees.txt and
bases.txt. The command needs NumPy.
"""

import pathlib
import subprocess
import tempfile

import numpy

TRUE = (1.5, 20, -4.905)  # height in m, speed in m/s, half of the acceleration in m/s²
POINTS, DEGREES = 100, range(1, 14)


class Refused(Exception):
    """The message of a program that rejects its input."""


class Terminal:
    """Runs stage programs in a directory, and records their commands and output."""

    def __init__(self, programs, directory):
        self.programs, self.directory, self.shown = pathlib.Path(programs).resolve(), pathlib.Path(directory), ""

    def save(self, **arrays):
        """Writes each array to a file with its name."""
        for name, array in arrays.items():
            numpy.save(self.directory / f"{name}.npy", array)

    def run(self, program, *inputs, output, options=()):
        """Runs a program on files; returns the array that it writes.

        :raises Refused: if the program rejects its input
        """
        words = [f"{program}-00_original", *(f"--input {name}.npy" for name in inputs), *options, f"--output {output}.npy"]
        self.shown += f"$ {' '.join(words)}\n"
        result = subprocess.run([self.programs / words[0], *" ".join(words[1:]).split()], cwd=self.directory,
                                capture_output=True, text=True)
        self.shown += result.stderr or result.stdout.splitlines()[-1] + "\n"
        if result.returncode != 0:
            raise Refused(result.stderr)
        return numpy.load(self.directory / f"{output}.npy")


def solve(terminal, a, b):
    """The vector x that minimises |A x - b|, computed with two triangular solves."""
    terminal.save(Ab=numpy.column_stack((a, b)))
    products = terminal.run("ata", "Ab", output="C")
    # [normal equations]
    ata, atb = products[:-1, :-1], products[:-1, -1]
    # [normal equations]
    terminal.save(AtA=ata, Atb=atb)
    terminal.run("cholesky", "AtA", output="L")
    terminal.run("triangular_solve", "L", "Atb", output="y")
    return terminal.run("triangular_solve", "L", "y", options=("--set transposed=1",), output="x")


def solve_bordered(terminal, a, b):
    """The vector x that minimises |A x - b|, computed with one triangular solve, and |A x - b|, which is the last pivot."""
    terminal.save(Ab=numpy.column_stack((a, b)))
    terminal.run("ata", "Ab", output="C")
    factor = terminal.run("cholesky", "C", output="F")
    # [bordered]
    l, y, residual = factor[:-1, :-1], factor[-1, :-1], factor[-1, -1]
    # [bordered]
    terminal.save(L=l, y=y)
    return terminal.run("triangular_solve", "L", "y", options=("--set transposed=1",), output="x"), residual


# [measurements]
def measurements():
    """A and b for a ball whose height is measured every 20 ms, with an error of about 5 cm."""
    time = numpy.linspace(0, 4, 201)
    noise = 0.05 * numpy.random.default_rng(1).standard_normal(len(time))
    a = numpy.vander(time, 3, increasing=True)  # columns 1, t, t²
    return a, a @ TRUE + noise
# [measurements]


# [polynomial]
def polynomial(degree):
    """A and b for a polynomial whose coefficients are all one, at points from 0 to 1."""
    a = numpy.vander(numpy.linspace(0, 1, POINTS), degree + 1, increasing=True)
    return a, a.sum(axis=1)
# [polynomial]


def by_qr(a, b):
    """The solution by Householder reflections, which avoid forming AᵀA."""
    q, r = numpy.linalg.qr(a)
    return numpy.linalg.solve(r, q.T @ b)


def error_of(programs, a, b):
    """The largest error of a coefficient from the normal equations, or the reason why there is no result."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            return f"{abs(solve(Terminal(programs, directory), a, b) - 1).max():.0e}"
        except Refused as refused:
            return "none: pivot " + str(refused).partition(": pivot ")[2].partition(",")[0]


def line_of_degrees(programs, degree):
    """A line of the table: the condition number, its square times the unit roundoff, and the errors of both methods."""
    a, b = polynomial(degree)
    condition = numpy.linalg.cond(a)
    return (f"{degree:6}   {condition:7.0e}   {condition ** 2 * 2.0 ** -53:8.0e}   {abs(by_qr(a, b) - 1).max():7.0e}   "
            f"{error_of(programs, a, b)}\n")


def line_of_bases(programs, degree):
    """A line of the table: condition numbers and errors for polynomials of one degree in three bases."""
    line, points = f"{degree:6}", numpy.linspace(-1, 1, POINTS)
    for a in (polynomial(degree)[0], numpy.vander(points, degree + 1, increasing=True),
              numpy.polynomial.chebyshev.chebvander(points, degree)):
        line += f"   {numpy.linalg.cond(a):8.0e} {error_of(programs, a, a.sum(axis=1)):>7}"
    return line + "\n"


def tables(programs):
    """The contents of the files that the chapter shows, by their names."""
    texts = {}
    for name, way in (("commands", solve), ("bordered", solve_bordered)):
        with tempfile.TemporaryDirectory() as directory:
            terminal = Terminal(programs, directory)
            way(terminal, *measurements())
            texts[name] = terminal.shown
    texts["degrees"] = "degree   cond(A)   cond²(A) u   by QR   by normal equations\n" + "".join(
        line_of_degrees(programs, degree) for degree in DEGREES)
    bases = "".join(f"{name:>19}" for name in ("powers, 0 to 1", "powers, -1 to 1", "Chebyshev"))
    texts["bases"] = f"degree{bases}\n      {3 * '    cond(A)   error'}\n" + "".join(
        line_of_bases(programs, degree) for degree in (4, 7, 10))
    return texts


def main(programs, directory=None):
    """Prints the tables, or writes them to a directory."""
    for name, text in tables(programs).items():
        if directory:
            (pathlib.Path(directory) / f"{name}.txt").write_text(text)
        else:
            print(text)
