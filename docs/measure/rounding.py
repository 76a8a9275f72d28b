"""Measures the rounding errors of the stages of Durbin-Levinson: python3 docs rounding PROGRAMS [OUTPUT.txt]

PROGRAMS is the directory of the stage programs; a CUDA stage runs on the CPU device. All programs solve the same
problems. Each solution is compared with the same recursion in extended precision (64 bits), applied to the
autocorrelations after rounding to the stage's precision. The errors of y, of the reflection coefficients and of the
residual are printed as three tables, or written to OUTPUT. The command needs NumPy.
"""

import concurrent.futures
import datetime
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

PROBLEMS = {  # the program's arguments, by the name of the problem
    "ARFIMA, n = 1000": ("n=1000",),
    "ARFIMA, n = 15000": ("n=15000",),
    "ARFIMA, d = 0.45, n = 1000": ("n=1000", "d=0.45"),
    "ARFIMA, d = -0.49, n = 4000": ("n=4000", "d=-0.49"),
    "Gaussian noise, n = 4000": ("n=4000", "model=1"),
    "damped cosines, n = 4000": ("n=4000", "model=2"),
}
TYPES = {"f64": (numpy.float64, 2.0**-53), "f32": (numpy.float32, 2.0**-24)}


def value_of(settings, key, default):
    """A parameter among settings like d=0.3."""
    return next((setting.partition("=")[2] for setting in settings if setting.startswith(f"{key}=")), default)


def autocorrelations(settings):
    """r_0 ... r_n of a problem, computed as in durbin_levinson.hpp."""
    n, d, model = (int(value_of(settings, "n", "0")), float(value_of(settings, "d", "0.3")),
                   int(value_of(settings, "model", "0")))
    k = numpy.arange(1, n + 1, dtype=numpy.float64)
    if model == 0:
        r = numpy.cumprod((k - 1 + d) / (k - d))
    elif model == 1:
        power = 2 * d + 1
        with numpy.errstate(divide="ignore"):  # at k = 1, log1p is -inf and expm1 of it is -1
            r = k**power / 2 * (numpy.expm1(power * numpy.log1p(1 / k)) + numpy.expm1(power * numpy.log1p(-1 / k)))
    else:
        r = sum(scale * numpy.exp(-decay * k) * numpy.cos(frequency * k)
                for scale, decay, frequency in ((0.5, 0.001, 0.2), (0.3, 0.01, 0.7), (0.15, 0.1, 1.9)))
    return numpy.concatenate(([1.0], r))


def durbin(r):
    """y and the reflection coefficients in extended precision (Golub and Van Loan, algorithm 4.7.1)."""
    r = r.astype(numpy.longdouble)
    y, alphas, beta = numpy.zeros(0, numpy.longdouble), [], numpy.longdouble(1)
    for k in range(len(r) - 1):
        alpha = -(r[k + 1] + numpy.dot(r[k:0:-1], y)) / beta
        y = numpy.append(y + alpha * y[::-1], alpha)
        alphas.append(alpha)
        beta *= 1 - alpha * alpha
    return y, numpy.array(alphas)


def residual(r, y):
    """The norm of T y + r divided by the norm of r, by a direct product."""
    r, y = r.astype(numpy.longdouble), y.astype(numpy.longdouble)
    n = len(y)
    row = numpy.concatenate((r[n - 1:0:-1], r[:n]))  # r_(n-1) ... r_0 ... r_(n-1)
    left = [r[i + 1] + numpy.dot(row[n - 1 - i:2 * n - 1 - i], y) for i in range(n)]
    return numpy.sqrt(numpy.dot(left, left) / numpy.dot(r[1:], r[1:]))


def errors(program, settings, precision, r, exact):
    """The largest errors of a program's y and alpha, and its residual, in units of the roundoff u; None for a
    precision that the program lacks."""
    number, unit = TYPES[precision]
    with tempfile.TemporaryDirectory() as name:
        given, solution = pathlib.Path(name, "r.npy"), pathlib.Path(name, "solution.npy")
        numpy.save(given, r)
        result = subprocess.run([program, "--input", given, "--output", solution, "--precision", precision,
                                 "--warmup", "0", "--repeat", "1"], capture_output=True, text=True)
        if "--precision must be" in result.stderr:
            return None
        if result.returncode != 0:
            sys.exit(f"{program.name}, {' '.join(settings)}, {precision}: {result.stderr}")
        found = numpy.load(solution)
    return [float(value / unit) for value in (*(abs(row - truth).max() for row, truth in zip(found, exact)),
                                              residual(r.astype(number), found[0]))]


def programs_in(directory):
    """The stage programs by number, and the baseline."""
    found = {}
    for path in sorted(directory.glob("durbin_levinson-*")):
        name = path.name.removeprefix("durbin_levinson-")
        if path.is_file() and not path.suffix and not name.endswith("analyze"):
            host = not (directory / f"{path.name.removesuffix('-cpu')}-cpu").exists()
            if host or name.endswith("-cpu"):
                found["dposv" if name.startswith("baseline") else name[:2]] = path.resolve()
    return found


def line(what, cells):
    """A line of a table."""
    return f"{what:<36}" + "".join(f"{cell:>7}" for cell in cells) + "\n"


def measured(programs):
    """Errors by problem, precision and program."""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (name, settings), precision in itertools.product(PROBLEMS.items(), TYPES):
            r = autocorrelations(settings)
            exact = durbin(r.astype(TYPES[precision][0]))
            solved = pool.map(lambda program, *case: errors(program, *case), programs.values(),
                              *(itertools.repeat(each) for each in (settings, precision, r, exact)))
            results[name, precision] = dict(zip(programs, solved))
    return results


def text_of(results, programs):
    """Three tables, with the machine and the revision from which they come."""
    about = json.loads(subprocess.run([programs["01"], "--dataset", "tiny", "--json", "-"], check=True,
                                      capture_output=True, text=True).stdout)
    text = (f"{about['machine']['cpu']}, {about['machine']['cores']} cores, revision {about['revision']}, "
            f"{datetime.date.today()}; 07 to 14 on the CPU device, which fuses no multiplication with an addition\n")
    for part, what in enumerate(("largest error of y", "largest error of alpha", "residual")):
        text += "\n" + line(f"{what}, in u", programs)
        for (name, precision), of_programs in results.items():
            text += line(f"{name}, {precision}", ["" if found is None else f"{found[part]:.2g}" if found[part] < 10
                                                  else f"{found[part]:.0f}" for found in of_programs.values()])
    return text


def main(directory, output=None):
    """Prints or writes the tables."""
    programs = programs_in(pathlib.Path(directory))
    text = text_of(measured(programs), programs)
    if output:
        pathlib.Path(output).write_text(text)
    else:
        print(text, end="")
