"""What the names of the stages promise, held to what the CPU device counts: optimisations_test.py
DIRECTORY-OF-STAGE-PROGRAMS. Speaks TAP."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRIDED = "(solve|implicit)_[xy]"  # of local volatility: they stride through memory in stage 04
SETTINGS = {"local_volatility": ["outer=3", "numX=64", "numY=96", "numT=4"]}


class Counters:
    """What one stage did on a problem: sums over the kernels whose names match."""

    def __init__(self, program, workload, precision):
        arguments = [a for value in SETTINGS[workload] for a in ("--set", value)]
        with tempfile.TemporaryDirectory() as name:
            report = pathlib.Path(name, "report.json")
            subprocess.run([program, *arguments, "--precision", precision], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=os.environ | {"CUDA_ON_CPU_REPORT": str(report)})
            self.kernels = json.loads(report.read_text())["kernels"]

    def sum(self, kernels, *path):
        """The sum of a number of the report over kernels."""
        total = 0
        for kernel in self.kernels:
            if re.fullmatch(kernels, kernel["kernel"]):
                value = kernel
                for key in path:
                    value = value[key]
                total += value
        return total

    def over_ideal(self, kernels, groups=("global_loads", "global_stores"), unit="sectors"):
        """Sectors, or wavefronts, over the least that the same bytes need."""
        cost = sum(self.sum(kernels, group, unit) for group in groups)
        ideal = sum(self.sum(kernels, group, "ideal_" + unit) for group in groups)
        return cost / ideal

    def shared_over_ideal(self, kernels):
        return self.over_ideal(kernels, ("shared_loads", "shared_stores"), "wavefronts")

    def sectors(self, kernels=".*"):
        return sum(self.sum(kernels, group, "sectors") for group in ("global_loads", "global_stores"))

    def launches(self):
        return self.sum(".*", "launches")


def local_volatility(stage):
    """Yields what the CUDA stages promise, and whether it holds."""
    naive, scan, coalesced, interleaved, factored = (
        stage(name) for name in ("04_naive_cuda", "05_tridag_scan", "06_coalesced",
                                 "07_interleaved", "08_factored"))
    yield ("04 solves a system a thread, each lane in a line of its own",
           naive.over_ideal("solve_[xy]") >= 2)
    for kernel, systems in (("solve_x", 3 * 96), ("solve_y", 3 * 64)):
        yield (f"05 puts more threads to {kernel} than there are systems, 04 does not",
               naive.sum(kernel, "threads") <= 3 * 8 * systems < scan.sum(kernel, "threads"))
    yield ("05 moves less than half of the sectors of 04's solves",
           scan.sectors("solve_[xy]") < naive.sectors("solve_[xy]") / 2)
    yield ("05 leaves the other kernels as they were",
           all(scan.sectors(kernel) == naive.sectors(kernel)
               for kernel in ("update_params", "explicit_[xy]", "implicit_[xy]", "set_payoff")))
    yield ("06 moves at most 1.1 times the ideal in the kernels that solve",
           coalesced.over_ideal("implicit_[xy]") <= 1.1)
    yield ("06 moves at most 1.1 times the ideal in all kernels", coalesced.over_ideal(".*") <= 1.1)
    yield "05 does not, where it strides", scan.over_ideal(STRIDED) > 1.5
    yield "06 has no bank conflicts", coalesced.shared_over_ideal(".*") <= 1.01
    yield ("06 moves less than half of what 05 moves",
           coalesced.sectors() < scan.sectors() / 2)
    yield "06 launches fewer kernels than 05", coalesced.launches() < scan.launches() == naive.launches()
    for name, later in (("07", interleaved), ("08", factored)):
        yield (f"{name} solves a system along x a thread",
               later.sum("half_step_x", "threads") == 3 * 3 * 128 < coalesced.sum("implicit_x", "threads"))
        yield f"{name} moves at most 1.1 times the ideal", later.over_ideal(".*") <= 1.1
        yield f"{name} has no bank conflicts", later.shared_over_ideal(".*") <= 1.01
    yield "07 moves less than 06", interleaved.sectors() < coalesced.sectors()
    yield "07 launches fewer kernels than 06", interleaved.launches() < coalesced.launches()
    yield "08 moves less than 0.6 of what 07 moves", factored.sectors() < 0.6 * interleaved.sectors()
    yield "08 launches fewer kernels than 07", factored.launches() < interleaved.launches()


def main(directory):
    """Prints one TAP line a promise."""
    checks = []
    for precision in ("f64", "f32"):
        for workload in (local_volatility,):
            name = workload.__name__

            def stage(stage_name, name=name, precision=precision):
                program = pathlib.Path(directory, f"{name}-{stage_name}-cpu-analyze")
                return Counters(program.resolve(), name, precision)

            checks += [(f"{name} {precision}: {what}", well) for what, well in workload(stage)]
    print(f"1..{len(checks)}")
    for number, (what, well) in enumerate(checks, 1):
        print(f"{'ok' if well else 'not ok'} {number} - {what}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
