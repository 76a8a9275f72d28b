"""Tests the .npy files of the stages with NumPy: numpy_test.py STAGE_PROGRAM. Prints TAP."""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("1..0 # SKIP NumPy is not installed")
    sys.exit(0)


def solve(program, directory, *arguments):
    """The solution of a program, read by NumPy."""
    output = directory / "solution.npy"
    subprocess.run([program, "--dataset", "tiny", "--output", output, *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    return numpy.load(output)


def main(program):
    """Prints one TAP line per check."""
    strikes = numpy.array([0.0, 0.0105, 0.031, 0.0105])
    checks = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        expected = None
        for dtype in ("<f8", "<f4"):
            for order in ("C", "F"):
                path = directory / "strikes.npy"
                numpy.save(path, numpy.array(strikes, dtype=dtype, order=order))
                for precision in ("f64", "f32"):
                    prices = solve(program, directory, "--input", path, "--precision", precision)
                    expected = prices if expected is None else expected
                    passed = (prices.dtype == {"f64": "<f8", "f32": "<f4"}[precision]
                            and prices.shape == strikes.shape
                            and numpy.allclose(prices, expected, rtol=1e-5, atol=0)
                            and prices[1] == prices[3])
                    checks.append((passed, f"a stage reads strikes of type {dtype} in {order} order, "
                                           f"and writes prices in {precision}"))
        for version in ((1, 0), (2, 0), (3, 0)):
            path = directory / "strikes.npy"
            with open(path, "wb") as file:
                numpy.lib.format.write_array(file, strikes, version=version)
            prices = solve(program, directory, "--input", path)
            checks.append((numpy.array_equal(prices, expected), f"a stage reads version {version[0]} of the .npy format"))
    print(f"1..{len(checks)}")
    for number, (passed, title) in enumerate(checks, 1):
        print(f"{'ok' if passed else 'not ok'} {number} - {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
