"""The counters of the CPU device against NVIDIA's: counters_test.py COUNTERS.json PROGRAM-analyze...

Every kernel and every counter that record_counters.py recorded must be equal, or differ as DIFFERENCES
says. Speaks TAP.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GROUPS = {  # of the report: counters of the recording, its unit
    "global_loads": (["global_load"], "sectors"),
    "global_stores": (["global_store"], "sectors"),
    "global_atomics": (["global_atomic", "global_reduction"], "sectors"),
    "shared_loads": (["shared_load"], "wavefronts"),
    "shared_stores": (["shared_store"], "wavefronts"),
    "shared_atomics": (["shared_atomic"], "wavefronts"),
}


@dataclasses.dataclass
class Difference:
    """Counters that differ, and by which factor: the CPU device's over NVIDIA's."""

    kernel: str  # a regular expression for RUN/KERNEL
    counter: str  # likewise
    least: float
    most: float
    cause: str


DIFFERENCES = [
    Difference("access_patterns/atomics_on_one", "global_atomics sectors", 32, 32,
               "nvcc adds up the values of a warp first, where it knows that the address is one"),
    Difference("access_patterns/shared_atomics_on_one", "shared_atomics wavefronts", 32, 32,
               "nvcc adds up the values of a warp first, where it knows that the address is one"),
    Difference("access_patterns/shared_atomics_on_floats", "shared_loads .*", 0.5, 0.5,
               "the GPU has no such atomic: it loads and then compares and swaps"),
    Difference("access_patterns/shared_atomics_on_floats", "shared_atomics wavefronts", 0.5, 0.5,
               "the GPU has no such atomic: it loads and then compares and swaps"),
    Difference("local_volatility-04_naive_cuda .*/init_grid", "global_loads .*", 0, 0,
               "g++ keeps the index that it has just stored, nvcc loads it again"),
    Difference("local_volatility-04_naive_cuda .*/explicit_[xy]", "global_loads .*", 0.66, 0.95,
               "g++ keeps a sum over the condition behind which it was stored, nvcc loads it again"),
    Difference("local_volatility-04_naive_cuda .*/solve_[xy]", "global_loads .*", 1.08, 1.09,
               "nvcc unrolls the backward substitution by 4 and keeps 3 of 4 values that it stored"),
]


def recorded(counters):
    """A kernel's recorded counters, named as the report has them."""
    result = {"launches": counters["launches"]}
    for group, (names, unit) in GROUPS.items():
        for what in ("requests", unit):
            result[f"{group} {what}"] = sum(counters[f"{name}_{what}"] for name in names)
    return result


def counted(kernel):
    """A kernel's counters from the report."""
    result = {"launches": kernel["launches"]}
    for group, (_, unit) in GROUPS.items():
        result |= {f"{group} {what}": kernel[group][what] for what in ("requests", unit)}
    return result


def report_of(program, arguments):
    """What the CPU device counts in one run: kernel → counters."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name, "report.json")
        result = subprocess.run([program, *arguments], check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace",
                                env=os.environ | {"CUDA_ON_CPU_REPORT": str(report)})
        if result.returncode != 0:
            print(f"# {program} ended with status {result.returncode}: {result.stdout[-2000:]!r}")
            return {}
        kernels = json.loads(report.read_text())["kernels"]
        return {kernel["kernel"]: counted(kernel) for kernel in kernels}


class Comparison:
    """Holds counters to the recorded ones, and to the differences that are listed."""

    def __init__(self):
        self.compared = self.equal = 0
        self.met = set()  # the differences that were seen

    def problems(self, name, ours, theirs):
        """Yields what differs in the kernel RUN/KERNEL without being listed."""
        for counter in theirs:
            listed = [(index, each) for index, each in enumerate(DIFFERENCES)
                      if re.fullmatch(each.kernel, name) and re.fullmatch(each.counter, counter)]
            mine, wanted = ours[counter], theirs[counter]
            self.compared += bool(mine or wanted)
            if mine == wanted:
                self.equal += bool(mine)
                continue
            said = f"{counter}: {mine} here, {wanted} on the GPU"
            if not listed:
                yield said
            for index, each in listed:
                self.met.add(index)
                if not each.least * wanted <= mine <= each.most * wanted:
                    yield f"{said}; listed is a factor from {each.least} to {each.most}"


def main(recording, programs):
    """Prints one TAP line a kernel and one a listed difference."""
    recording = json.loads(pathlib.Path(recording).read_text())
    paths = {pathlib.Path(path).name.removesuffix("-analyze"): path for path in programs}
    checks, comparison = [], Comparison()
    for run, how in recording["programs"].items():
        program = run.split()[0]
        report = report_of(paths[program], how["arguments"]) if program in paths else {}
        names = {name.split("/")[1]: name for name in recording["kernels"]
                 if name.startswith(run + "/")}
        for kernel, name in names.items():
            theirs = recorded(recording["kernels"][name])
            problems = (list(comparison.problems(name, report[kernel], theirs)) if kernel in report
                        else ["it is recorded, but did not run here"])
            checks.append((name, problems))
        checks += [(f"{run}/{kernel}", ["it is not recorded"]) for kernel in set(report) - set(names)]
    for index, each in enumerate(DIFFERENCES):
        checks.append((f"{each.kernel} differs in {each.counter}",
                       [] if index in comparison.met else ["it is listed, but does not"]))
    print(f"1..{len(checks)}")
    for number, (what, problems) in enumerate(checks, 1):
        print(f"{'not ok' if problems else 'ok'} {number} - {what}")
        for problem in problems:
            print(f"# {problem}")
    print(f"# {comparison.equal} of {comparison.compared} counters are equal")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
