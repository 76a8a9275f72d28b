"""Compares the CPU device's counters with NVIDIA's: counters_test.py COUNTERS.json PROGRAM-analyze...

Every counter of every kernel recorded by docs/measure/counters.py must be equal to the CPU device's counter, or
differ as DIFFERENCES permits. Prints TAP.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GROUPS = {  # group in the report: groups of the recording, and the unit
    "global_loads": (["global_load"], "sectors"),
    "global_stores": (["global_store"], "sectors"),
    "global_atomics": (["global_atomic", "global_reduction"], "sectors"),
    "shared_loads": (["shared_load"], "wavefronts"),
    "shared_stores": (["shared_store"], "wavefronts"),
    "shared_atomics": (["shared_atomic"], "wavefronts"),
}


@dataclasses.dataclass
class Difference:
    """Counters that differ, and the permitted ratio of the CPU device's counter to NVIDIA's."""

    kernel: str  # a regular expression for RUN/KERNEL
    counter: str  # a regular expression for the counter
    least: float
    most: float
    cause: str


DIFFERENCES = [
    Difference("access_patterns/scan_of_a_block", "shared_stores .*", 276 / 256, 276 / 256,
               "a lane that skips a load in an iteration reaches the store of the next iteration before the other lanes"),
    Difference("access_patterns/matrix_product_unrolled", "shared_loads requests", 1.6, 1.6,
               "nvcc unrolls the loop and loads four neighbouring elements at once"),
    Difference("access_patterns/matrix_product_unrolled", "shared_loads wavefronts", 1.33, 1.34,
               "nvcc unrolls the loop and loads four neighbouring elements at once"),
    Difference("access_patterns/atomics_on_one", "global_atomics sectors", 32, 32,
               "nvcc adds the values of a warp first, because it knows that all lanes have the same address"),
    Difference("access_patterns/shared_atomics_on_one", "shared_atomics wavefronts", 32, 32,
               "nvcc adds the values of a warp first, because it knows that all lanes have the same address"),
    Difference("access_patterns/shared_histogram", "shared_atomics wavefronts", 1.14, 1.15,
               "for an increment, the GPU counts the lanes with equal addresses in one operation"),
    Difference("access_patterns/shared_atomics_on_floats", "shared_(loads|atomics) .*", 0.5, 1,
               "the GPU has no such atomic operation: it executes a load and a compare-and-swap"),
    Difference("access_patterns/shared_atomics_of_64_bits", "shared_(loads|atomics) .*", 0.05, 0.5,
               "the GPU has no such atomic operation: it repeats a load and a compare-and-swap until the swap succeeds"),
    Difference("advection-12_tiled .*/update", "global_loads sectors", 1.02, 1.05,
               "lanes that load one more column are ahead of the other lanes of their warp in the next row"),
    Difference("advection-12_tiled .*/update", "shared_stores requests", 0.99, 1,
               "lanes that load one more column are ahead of the other lanes of their warp in the next row"),
    Difference("advection-13_register_rolling .*/update", "global_(loads|stores) .*", 1.005, 1.5,
               "the last cell of an odd row has no neighbour: nvcc uses predicates, and g++ branches"),
    Difference("advection-14_skewed_time_tiling .*/carry", "global_loads .*", 0.99, 1.1,
               "the last cell of an odd row has no neighbour: nvcc uses predicates, and g++ branches"),
    Difference("advection-1[56]_.*/convolve", "global_loads sectors", 1.01, 1.02,
               "lanes that copy one more column are ahead of the other lanes of their warp in the next row"),
    Difference("advection-1[56]_.*/convolve", "global_stores .*", 1, 1.2,
               "the last cell of an odd row has no neighbour: nvcc uses predicates, and g++ branches"),
    Difference("advection-16_asynchronous_copies .*/convolve", "shared_stores .*", 30, 70,
               "an asynchronous copy writes to shared memory, but is not a store instruction on the GPU"),
    Difference("advection-17_tensor_core_filter .*/convolve", "shared_stores .*", 45, 100,
               "an asynchronous copy writes to shared memory, but is not a store instruction on the GPU"),
    Difference("advection-17_tensor_core_filter f64/convolve", "shared_loads requests", 0.98, 0.999,
               "ncu counts 1 % more loads than the code of the kernel contains, for an unknown reason"),
    Difference("advection-17_tensor_core_filter f32/convolve", "shared_loads requests", 1.98, 1.99,
               "the recording is of an earlier version, which kept the band matrix along x in registers"),
    Difference("advection-17_tensor_core_filter f32/convolve", "shared_loads wavefronts", 5, 5,
               "the recording is of an earlier version, which kept the band matrix along x in registers"),
    Difference("local_volatility-0[45].* .*/init_grid", "global_loads .*", 0.95, 0.96,
               "g++ keeps the last stored index in a register, and nvcc loads it again"),
    Difference("local_volatility-0[45].* .*/explicit_[xy]", "global_loads .*", 0.66, 0.95,
               "g++ keeps a sum that was stored before a branch in a register, and nvcc loads it again"),
    Difference("local_volatility-04_naive_cuda .*/solve_[xy]", "global_loads .*", 1.08, 1.09,
               "nvcc unrolls the back substitution by 4, and keeps 3 of 4 stored values in registers"),
    Difference("local_volatility-04_naive_cuda .*/solve_x", "global_stores .*", 1.01, 1.02,
               "u and r are the same array: nvcc omits the store of u(0) = r(0), and g++ does not"),
    Difference("local_volatility-06_coalesced f64/explicit_xy", "shared_stores requests", 0.96, 1,
               "lanes that wrote the row next to a tile reconverge with their warp only by chance"),
    Difference("local_volatility-0[67].* .*/init_operators", "global_loads .*", 1.02, 1.09,
               "nvcc loads fewer values, because the branches of derivatives() have values in common"),
    Difference("local_volatility-07_interleaved .*/half_step_x", "global_loads .*", 1.001, 1.02,
               "a lane that skips the load of its left neighbour is ahead of the other lanes in the next load"),
    Difference("local_volatility-09_factored .*/factorise_x", "global_loads .*", 1.01, 1.02,
               "nvcc does not load the upper neighbour of the last row, because it is not used"),
]


def recorded(counters):
    """Returns the recorded counters of a kernel under the names of the report."""
    result = {"launches": counters["launches"]}
    for group, (names, unit) in GROUPS.items():
        for what in ("requests", unit):
            result[f"{group} {what}"] = sum(counters[f"{name}_{what}"] for name in names)
    return result


def counted(kernel):
    """Returns the counters of a kernel from the report."""
    result = {"launches": kernel["launches"]}
    for group, (_, unit) in GROUPS.items():
        result |= {f"{group} {what}": kernel[group][what] for what in ("requests", unit)}
    return result


def report_of(program, arguments):
    """Runs a program. Returns its counters by kernel, and a problem if the run failed."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name, "report.json")
        result = subprocess.run([program, *arguments], check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace",
                                env=os.environ | {"CUDA_ON_CPU_REPORT": str(report)})
        if result.returncode != 0 or not report.exists():
            return {}, f"the exit status is {result.returncode}, and the output ends with {result.stdout[-1000:]!r}"
        kernels = json.loads(report.read_text())["kernels"]
        return {kernel["kernel"]: counted(kernel) for kernel in kernels}, ""


class Comparison:
    """Compares counters with the recorded ones, except for the listed differences."""

    def __init__(self):
        self.compared = self.equal = 0
        self.matched = set()  # indices of the listed differences that matched a counter

    def problems(self, name, ours, theirs):
        """Yields the differences of the kernel RUN/KERNEL that are not listed."""
        for counter in theirs:
            listed = [(index, each) for index, each in enumerate(DIFFERENCES)
                      if re.fullmatch(each.kernel, name) and re.fullmatch(each.counter, counter)]
            mine, wanted = ours[counter], theirs[counter]
            self.compared += bool(mine or wanted)
            self.equal += bool(mine == wanted != 0)
            difference = f"{counter}: {mine} on the CPU device, {wanted} on the GPU"
            if mine != wanted and not listed:
                yield difference
            for index, each in listed:
                self.matched.add(index)
                if not each.least * wanted <= mine <= each.most * wanted:
                    yield f"{difference}; DIFFERENCES permits a factor from {each.least} to {each.most}"


def main(recording, programs):
    """Prints one TAP line per kernel and one per listed difference."""
    recording = json.loads(pathlib.Path(recording).read_text())
    paths = {re.sub("(-cpu)?-analyze$", "", path.name): path.resolve()
             for path in map(pathlib.Path, programs)}
    checks, comparison = [], Comparison()
    for run, how in recording["programs"].items():
        program = run.split()[0]
        report, problem = (report_of(paths[program], how["arguments"]) if program in paths
                           else ({}, "the program is not an argument of this test"))
        checks.append((f"{run} writes a report", [problem] if problem else []))
        names = {name.split("/")[1]: name for name in recording["kernels"]
                 if name.startswith(run + "/")}
        for kernel in sorted(set(report) & set(names)):
            theirs = recorded(recording["kernels"][names[kernel]])
            checks.append((f"{names[kernel]} has the recorded counters",
                           list(comparison.problems(names[kernel], report[kernel], theirs))))
        if report and set(report) != set(names):
            checks.append((f"{run} launches exactly the recorded kernels",
                           [f"{kernel} is only in the recording or only in the report"
                            for kernel in set(report) ^ set(names)]))
    for index, each in enumerate(DIFFERENCES):
        checks.append((f"{each.kernel} may differ in {each.counter}: {each.cause}",
                       [] if index in comparison.matched else ["this entry of DIFFERENCES matches no counter"]))
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
