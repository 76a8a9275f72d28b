"""Measures the effect of precision on the simulation of bodies: python3 docs energy PROGRAMS [OUTPUT.txt]

PROGRAMS is the directory of the stage programs. The programs for a GPU run if there is a GPU. Otherwise, the programs for
the CPU device run, with fewer bodies and steps. Two tables are printed, or written to OUTPUT, both by stage and precision:
the change of the energy of a sphere of bodies over the steps, and the errors of the changes of velocity after one step. The
command needs NumPy.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

SOFTENING, STEP = 1 / 32, 1 / 512  # the values in the workload's data sets
LONG_STEP = 1 / 4  # makes the changes of velocity large compared with the rounding of the output
SOLVERS = (("06_register_tiled", "f64"), ("04_naive_cuda", "f32"), ("06_register_tiled", "f32"), ("07_mixed_precision", "f32"))


class Programs:
    """The stage programs, for a GPU or for the CPU device."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.suffix = ""
        try:
            self.has_gpu = self.run("06_register_tiled", "--dataset", "tiny").returncode == 0
        except FileNotFoundError:
            self.has_gpu = False
        self.suffix = "" if self.has_gpu else "-cpu"

    def run(self, stage, *arguments):
        """Runs a stage to its end."""
        program = (self.directory / f"nbody-{stage}{self.suffix}").resolve()
        return subprocess.run([program, *arguments], capture_output=True, text=True)

    def moved(self, stage, precision, bodies, steps, step=STEP):
        """The positions and velocities after `steps` steps."""
        with tempfile.TemporaryDirectory() as name:
            after = pathlib.Path(name, "after.npy")
            settings = {"bodies": bodies, "steps": steps, "dt": step, "softening": SOFTENING}
            sets = [a for key, value in settings.items() for a in ("--set", f"{key}={value!r}")]
            result = self.run(stage, *sets, "--precision", precision, "--output", after)
            if result.returncode != 0:
                sys.exit(f"{stage}, {precision}: {result.stderr}")
            return numpy.load(after).astype(numpy.float64)


def energy(bodies):
    """The total energy of bodies of equal mass, computed in f64."""
    n = len(bodies)
    x, v = bodies[:, :3], bodies[:, 3:]
    potential = 0.0
    for i in range(1, n):
        d2 = ((x[:i] - x[i])**2).sum(axis=1) + SOFTENING**2
        potential -= (1 / numpy.sqrt(d2)).sum()
    return (v**2).sum() / (2 * n) + potential / n**2


def line(what, cells):
    """A line of a table."""
    return f"{what:<22}" + "".join(f"{cell:>12}" for cell in cells) + "\n"


def text_of(programs):
    """Both tables, with the machine and the programs from which they come."""
    n, lengths, many = (2048, (1, 10, 100, 1000), 65536) if programs.has_gpu else (256, (1, 4, 16), 1024)
    about = json.loads(programs.run("06_register_tiled", "--dataset", "tiny", "--json", "-").stdout)
    text = (f"{about['device_name']}, revision {about['revision']}, {datetime.date.today()}; "
            f"dt = 1/512 and, for velocities, 1/4; softening = 1/32\n\n")
    text += line(f"energy, {n} bodies", [f"{steps} steps" for steps in lengths])
    at_first = energy(programs.moved("06_register_tiled", "f64", n, 0))
    for stage, precision in SOLVERS:
        changes = [energy(programs.moved(stage, precision, n, steps)) / at_first - 1 for steps in lengths]
        text += line(f"{stage[:2]} {precision}", [f"{change:.1e}" for change in changes])
    # A step changes a velocity by dt times the mean acceleration, and by a term with the jerks at both ends.
    before, exact = (programs.moved("06_register_tiled", "f64", many, steps, LONG_STEP)[:, 3:] for steps in (0, 1))
    size = numpy.sqrt(((exact - before)**2).sum(axis=1).mean())
    text += "\n" + line(f"change of v, {many}", ["rms error", "largest"])
    for stage, precision in SOLVERS[1:]:
        off = programs.moved(stage, precision, many, 1, LONG_STEP)[:, 3:] - exact
        off = numpy.sqrt((off**2).sum(axis=1))
        text += line(f"{stage[:2]} {precision}",
                     [f"{numpy.sqrt((off**2).mean()) / size:.1e}", f"{off.max() / size:.1e}"])
    return text


def main(directory, output=None):
    """Prints or writes the tables."""
    text = text_of(Programs(directory))
    if output:
        pathlib.Path(output).write_text(text)
    else:
        print(text, end="")
