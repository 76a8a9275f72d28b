"""Tests that the stages have the properties promised by their names, with counters of the CPU device:
optimisations_test.py DIRECTORY-OF-STAGE-PROGRAMS WORKLOAD. Prints TAP."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRIDED = "(solve|implicit)_[xy]"  # of local volatility: kernels with strided accesses in stage 04
SETTINGS = {"local_volatility": {"outer": 3, "numX": 64, "numY": 96, "numT": 4},
            "ata": {"rows": 64, "cols": 128},
            "matmul": {"l": 64, "m": 96, "n": 128, "Sl": 2, "Sn": 3},
            "advection": {"rows": 96, "cols": 512, "steps": 20},
            "advection_distributed": {"rows": 96, "cols": 512, "steps": 20},
            "nbody": {"bodies": 1024, "steps": 1},
            "triangular_solve": {"n": 320},
            "cholesky": {"n": 640},
            "durbin_levinson": {"n": 700},
            "durbin_levinson_batched": {"systems": 128, "n": 64}}


class Counters:
    """The counters of one stage on a problem, summed over the kernels whose names match."""

    def __init__(self, program, settings, precision):
        self.program = program
        arguments = [a for key, value in settings.items() for a in ("--set", f"{key}={value}")]
        with tempfile.TemporaryDirectory() as name:
            report = pathlib.Path(name, "report.json")
            ran = subprocess.run([program, *arguments, "--precision", precision, "--json", "-"], check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 env=os.environ | {"CUDA_ON_CPU_REPORT": str(report), "CUDA_ON_CPU_DEVICES": "2"})
            self.kernels = json.loads(report.read_text())["kernels"]
            self.record = json.loads(ran.stdout)
        self.bytes_of_number = 8 if precision == "f64" else 4

    def sum(self, kernels, *path):
        """Returns the sum of a value of the report over kernels."""
        total = 0
        for kernel in self.kernels:
            if re.fullmatch(kernels, kernel["kernel"]):
                value = kernel
                for key in path:
                    value = value[key]
                total += value
        return total

    def over_ideal(self, kernels, groups=("global_loads", "global_stores"), unit="sectors"):
        """Returns the ratio of sectors, or wavefronts, to the minimum for the same bytes."""
        cost = sum(self.sum(kernels, group, unit) for group in groups)
        ideal = sum(self.sum(kernels, group, "ideal_" + unit) for group in groups)
        return cost / ideal

    def shared_over_ideal(self, kernels):
        return self.over_ideal(kernels, ("shared_loads", "shared_stores"), "wavefronts")

    def sectors(self, kernels=".*"):
        return sum(self.sum(kernels, group, "sectors") for group in ("global_loads", "global_stores"))

    def launches(self):
        return self.sum(".*", "launches")

    def spans(self, name):
        """Returns begin and end of all intervals with this name, sorted by begin."""
        beside = self.record["repeats"][0]["beside"]
        return sorted((span["begin"], span["end"]) for span in beside if span["name"] == name)


def local_volatility(stage):
    """Yields each promise of the CUDA stages, and whether it holds."""
    naive, scan, coalesced, interleaved, shared, factored = (
        stage(name) for name in ("04_naive_cuda", "05_parallel_scan", "06_coalesced",
                                 "07_interleaved", "08_shared_grids", "09_factored"))
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
    for name, later in (("07", interleaved), ("08", shared), ("09", factored)):
        yield (f"{name} solves one system along x per thread",
               later.sum("half_step_x", "threads") == 3 * 3 * 128 < coalesced.sum("implicit_x", "threads"))
        yield f"{name} moves at most 1.1 times the ideal", later.over_ideal(".*") <= 1.1
        yield f"{name} has no bank conflicts", later.shared_over_ideal(".*") <= 1.01
    yield "07 moves less than 06", interleaved.sectors() < coalesced.sectors()
    yield "07 launches fewer kernels than 06", interleaved.launches() < coalesced.launches()
    yield "08 moves less than 0.7 of what 07 moves", shared.sectors() < 0.7 * interleaved.sectors()
    yield "08 launches fewer kernels than 07", shared.launches() < interleaved.launches()
    yield ("08 has no kernel for coefficients in the time loop, 07 has one",
           shared.sum("update_params", "launches") == 0 < interleaved.sum("update_params", "launches"))
    yield "09 moves less than 0.6 of what 07 moves", factored.sectors() < 0.6 * interleaved.sectors()
    yield ("09 stores three numbers per point along x, 08 four",
           4 * factored.sum("half_step_x", "global_stores", "sectors")
           == 3 * shared.sum("half_step_x", "global_stores", "sectors"))
    yield ("09 deals out a number of each row, 08 four",
           factored.sum("implicit_y", "shared_stores", "requests")
           < shared.sum("implicit_y", "shared_stores", "requests") / 2)
    increments = stage("10_increments")
    yield ("10 stores two numbers per point along x, 09 three",
           3 * increments.sum("half_step_x", "global_stores", "sectors")
           == 2 * factored.sum("half_step_x", "global_stores", "sectors"))
    yield "10 moves at most 1.1 times the ideal", increments.over_ideal(".*") <= 1.1
    yield "10 has no bank conflicts", increments.shared_over_ideal(".*") <= 1.01
    yield "10 launches as many kernels as 09", increments.launches() == factored.launches()
    yield from stays_on_chip(stage, factored)
    yield from sweeps_once(stage)


def stays_on_chip(stage, factored):
    """Yields the promises of 11 and 12: 12 on the common problem, and on one whose grids need clusters of 4 blocks,
    with a cluster for each of 2 options."""
    in_thread_block, medium = (stage(name, numX=256, numY=32) for name in ("11_grid_per_block", "12_grid_per_cluster"))
    yield "11 has a block per option, and all time steps in one launch", (
        in_thread_block.sum("roll_back", "blocks"), in_thread_block.sum("roll_back", "launches")) == (3, 1)
    yield ("11 moves in roll_back what 12 moves, and waits as often",
           in_thread_block.sectors("roll_back") == medium.sectors("roll_back")
           and in_thread_block.sum("roll_back", "block_barriers") == medium.sum("roll_back", "block_barriers") - 3)
    yield "11 has no bank conflicts", in_thread_block.shared_over_ideal("roll_back") <= 1.05
    yield ("11 moves less than 0.3 of what 09 moves",
           in_thread_block.sectors() < 0.3 * stage("09_factored", numX=256, numY=32).sectors())

    on_chip = stage("12_grid_per_cluster")
    yield "12 moves less than 0.2 of what 09 moves", on_chip.sectors() < 0.2 * factored.sectors()
    yield "12 moves at most 1.1 times the ideal", on_chip.over_ideal(".*") <= 1.1

    options, num_x, num_y, more_steps = 2, 128, 256, 5
    few, many = (stage("12_grid_per_cluster", outer=options, numX=num_x, numY=num_y, numT=num_t)
                 for num_t in (4, 4 + more_steps))

    def of_step(*path):
        """Returns the increase of a counter of roll_back per time step."""
        return (many.sum("roll_back", *path) - few.sum("roll_back", *path)) / more_steps

    blocks = few.sum("roll_back", "blocks")
    yield "12 spreads an option over a cluster", blocks == options * num_x * num_y / 8192
    yield "12 has all time steps in one launch", few.sum("roll_back", "launches") == 1
    yield "12 launches as many kernels for more steps", few.launches() == many.launches()
    pivots = options * num_x * num_y * few.bytes_of_number / 32  # sectors
    yield "12 writes nothing to memory between steps", of_step("global_stores", "sectors") == 0
    yield ("12 reads nothing from memory between steps but the inverse pivots",
           pivots <= of_step("global_loads", "sectors") <= 1.05 * pivots)
    yield ("12 waits three times per step for the cluster, once for the block",
           of_step("block_barriers") == 4 * blocks)
    wavefronts, ideal = (of_step("shared_loads", unit) + of_step("shared_stores", unit)
                         for unit in ("wavefronts", "ideal_wavefronts"))
    yield "12 has no bank conflicts between steps", wavefronts <= 1.01 * ideal


def sweeps_once(stage):
    """Yields the promises of 16 to 18, on the grid of *large*, which fits into a cluster of 16 blocks."""
    grid, few_steps, more_steps = {"numX": 256, "numY": 256}, 4, 5

    def stages(name):
        """Returns the counters of a stage for few steps, for more steps, and for few steps with more options."""
        return (stage(name, **grid, numT=few_steps), stage(name, **grid, numT=few_steps + more_steps),
                stage(name, **grid, numT=few_steps, outer=30))

    few, longer, more_options = stages("16_adjoint_cuda")
    yield ("16 launches three kernels per step, for more options, too",
           longer.launches() - few.launches() == 3 * more_steps and more_options.launches() == few.launches())
    yield ("16 has a thread per row and a thread per column",
           all(few.sum(kernel, "threads") == (few_steps - 1) * 256 for kernel in ("solve_x", "solve_y")))

    loads = {}
    for number, name, meetings in (("17", "17_single_cluster_adjoint", 2), ("18", "18_reduced_system", 3)):
        few, longer, more_options = stages(name)

        def of_step(*path, few=few, longer=longer):
            """Returns the increase of a counter of sweep per time step."""
            return (longer.sum("sweep", *path) - few.sum("sweep", *path)) / more_steps

        yield (f"{number} launches five kernels, for more steps and more options, too",
               few.launches() == longer.launches() == more_options.launches() == 5)
        yield (f"{number} moves ten times as much in price for ten times the options",
               more_options.sectors("price") >= 9 * few.sectors("price") > 0)
        yield (f"{number} moves no more than that for them",
               more_options.sectors() - more_options.sectors("price") == few.sectors() - few.sectors("price"))
        blocks = few.sum("sweep", "blocks")
        yield f"{number} spreads the grid over one cluster", blocks == 256 * 256 / 4096
        pivots = 256 * 256 * few.bytes_of_number / 32  # sectors
        yield f"{number} writes nothing to memory between steps", of_step("global_stores", "sectors") == 0
        yield (f"{number} reads nothing from memory between steps but the inverse pivots",
               pivots <= of_step("global_loads", "sectors") <= 1.05 * pivots)
        yield (f"{number} waits twice per step for the cluster, {meetings} times for the block",
               of_step("block_barriers") == (2 + meetings) * blocks)
        wavefronts, ideal = (of_step("shared_loads", unit) + of_step("shared_stores", unit)
                             for unit in ("wavefronts", "ideal_wavefronts"))
        yield f"{number} has hardly any bank conflicts between steps", wavefronts <= 1.1 * ideal
        loads[number] = of_step("shared_loads", "requests")
    yield "18 reads less from shared memory per step than 17", loads["18"] < 0.9 * loads["17"]


def ata(stage):
    """Yields the promises of the CUDA stages of AᵀA. The problem has one tile of stages 07 to 09, and 64 tiles of the
    earlier stages."""
    names = ("03_naive_cuda", "04_tiled", "05_unrolled", "06_symmetric", "07_register_tiled",
             "08_double_buffered", "09_tensor_core")
    naive, tiled, unrolled, symmetric, registers, buffered, tensor = map(stage, names)

    def requests(counters, group):
        return counters.sum("multiply", group, "requests")

    few = subprocess.run([tiled.program, "--set", "rows=64", "--set", "cols=128", "--analyze", "--blocks", "2"],
                         capture_output=True, text=True, check=True).stderr
    yield "04 analyses two of 64 blocks, if it is told to", "Of 64 blocks, 62 only ran" in few
    yield ("04 loads from global memory a sixteenth as often as 03",
           16 * requests(tiled, "global_loads") == requests(naive, "global_loads"))
    yield ("05 loads from shared memory as often as 04",
           requests(unrolled, "shared_loads") == requests(tiled, "shared_loads"))
    yield ("06 has the tiles of the upper triangle",
           (unrolled.sum("multiply", "blocks"), symmetric.sum("multiply", "blocks")) == (64, 36))
    yield ("06 writes as many sectors as 05",
           symmetric.sum("multiply", "global_stores", "sectors")
           == unrolled.sum("multiply", "global_stores", "sectors"))
    written = 128 * 128 // 32  # requests with which 07 and 08 read their results from shared memory
    yield ("07 loads operands from shared memory an eighth as often as 05",
           8 * (requests(registers, "shared_loads") - written) == requests(unrolled, "shared_loads"))
    yield ("08 loads from shared memory as often as 07",
           requests(buffered, "shared_loads") == requests(registers, "shared_loads"))
    yield ("08 copies as many bytes as 07 loads",
           buffered.sum("multiply", "global_loads", "ideal_sectors")
           == registers.sum("multiply", "global_loads", "ideal_sectors"))
    for name, once, often in (("07_register_tiled", registers, 2), ("08_double_buffered", buffered, 0)):
        deeper = stage(name, rows=128)
        waits = deeper.sum("multiply", "block_barriers") - once.sum("multiply", "block_barriers")
        yield (f"{name[:2]} {'waits twice' if often else 'never waits'} for the block between steps",
               waits == often * 64 / 16)
    yield ("09 loads without bank conflicts",
           tensor.over_ideal("multiply", ("shared_loads",), "wavefronts") == 1)
    yield ("09 loads operands from shared memory 3/16 as often as 08",
           16 * requests(tensor, "shared_loads") == 3 * (requests(buffered, "shared_loads") - written))
    yield ("09 cuts a tile that is left over into steps of 16 rows and adds up once",
           [tensor.sum(kernel, "blocks") for kernel in ("multiply", "add_up")] == [64 / 16, 1])
    yield ("09 waits for the block twice, whatever it multiplies between",
           tensor.sum("multiply", "block_barriers") == 2 * tensor.sum("multiply", "blocks"))
    at_once, in_strips = (stage(name, rows=16, cols=600) for name in ("09_tensor_core", "11_overlapped"))
    yield ("11 computes the tiles of 09 strip by strip",
           [(each.sum("multiply", "blocks"), each.launches()) for each in (at_once, in_strips)] == [(15, 1), (15, 5)])
    yield from in_bytes(stage)


def in_bytes(stage):
    """Yields the promises of 10, 12 and 13 of AᵀA. The problem has three tiles of stage 10, and one of stages 12 and
    13."""
    moduli, side, cols = 15, 64, SETTINGS["ata"]["cols"]
    tiles, columns, kernel = cols // side * (cols // side + 1) // 2, 128 + 256, "multiply_residues"
    for rows in (128, 256):
        names = ("10_emulated", "12_modulus_per_block", "13_warpgroups")
        plain, apart, piped = (stage(name, rows=rows) for name in names)
        yield (f"10 writes a byte of each of {rows} rows for each modulus",
               plain.sum("take_apart", "global_stores", "ideal_sectors") == moduli * rows * cols // 32)
        yield (f"10 waits twice for 128 of {rows} rows, in each tile on the diagonal and above it and for each modulus",
               plain.sum(kernel, "block_barriers") == 2 * moduli * tiles * rows // 128)
        yield (f"10 loads twelve words a lane for 32 of {rows} rows, without bank conflicts",
               plain.sum(kernel, "shared_loads", "requests") == moduli * tiles * 8 * 12 * rows // 32
               and plain.over_ideal(kernel, ("shared_loads",), "wavefronts") == 1)
        yield (f"12 waits twice for 128 of {rows} rows, in a block for each modulus",
               apart.sum(kernel, "block_barriers") == 2 * moduli * rows // 128
               and apart.sum(kernel, "blocks") == moduli)
        yield (f"12 copies {rows} rows of 384 columns into shared memory for each modulus",
               apart.sum(kernel, "shared_stores", "ideal_wavefronts") == moduli * columns * rows // 128)
        yield (f"12 loads 68 words a lane for 32 of {rows} rows, without bank conflicts",
               apart.sum(kernel, "shared_loads", "requests") == moduli * 8 * 68 * rows // 32
               and apart.over_ideal(kernel, ("shared_loads",), "wavefronts") == 1)
        yield (f"12 writes a byte of each sum for each modulus, whether of {rows} rows or others",
               apart.sum(kernel, "global_stores", "sectors") == moduli * 128 * 256 // 32)
        yield (f"12 writes C and its mirror image in hardly more sectors than they have, of {rows} rows",
               apart.over_ideal("put_together", ("global_stores",)) <= 1.2)
        yield (f"13 waits once for the block, whether it has {rows} rows or others",
               piped.sum(kernel, "block_barriers") == piped.sum(kernel, "blocks") == moduli)
        yield (f"13 loads less than a tenth as often as 12 from shared memory, for {rows} rows",
               10 * piped.sum(kernel, "shared_loads", "requests") < apart.sum(kernel, "shared_loads", "requests"))


def durbin_levinson(stage):
    """Yields the promises of the CUDA stages of Durbin-Levinson."""
    names = ("07_naive_cuda", "08_warp_reduction", "09_in_place_pairs", "10_graph", "11_persistent_kernel")
    naive, warp, halved, graph, persistent = map(stage, names)
    n = SETTINGS["durbin_levinson"]["n"]
    blocks = naive.sum("inner_product", "blocks")

    def barriers(counters, kernels=".*"):
        return counters.sum(kernels, "block_barriers")

    def atomics(counters):
        return counters.sum(".*", "global_atomics", "requests")

    yield "07 launches two kernels per step", naive.launches() == 2 * n
    yield "07 adds up by one atomic per block", atomics(naive) == blocks
    yield "08 needs no atomics", atomics(warp) == 0
    yield ("08 waits once per block in each kernel, 07 eight times in one",
           (barriers(naive, "inner_product"), barriers(naive, "update")) == (8 * blocks, 0)
           and barriers(warp, "inner_product") == barriers(warp, "update") == blocks)
    yield "08 launches as many kernels as 07", warp.launches() == naive.launches()
    yield ("09 reads and writes two numbers where 08 reads two and writes one, so by fewer threads",
           halved.sum("update", "threads") < 0.7 * warp.sum("update", "threads"))
    yield "09 moves less than 08", halved.sectors("update") < 0.85 * warp.sectors("update")
    yield ("09 leaves the inner product as it was",
           halved.sectors("inner_product") == warp.sectors("inner_product"))
    for name, counters in (("07", naive), ("08", warp), ("09", halved), ("10", graph),
                           ("11", persistent), ("12", stage("12_schur"))):
        yield f"{name} moves at most 1.2 times the ideal", counters.over_ideal(".*") <= 1.2
    graphs = -(-n // 128)
    yield ("10 launches graphs of 128 steps and a kernel that counts them",
           graph.launches() == graphs * (2 * 128 + 1))
    yield "10 writes what 09 writes, and the count", (
        graph.sum(".*", "global_stores", "sectors") == halved.sum(".*", "global_stores", "sectors") + graphs)
    for number, name in (("11", "11_persistent_kernel"), ("12", "12_schur")):
        yield from stays_in_registers(stage, number, name, n)
    yield from meets_rarely(stage, "13_blocked_schur", n)
    yield from meets_rarely(stage, "14_paired_steps", n)


def stays_in_registers(stage, number, name, n):
    """Yields the promises of 11 and 12 on one block. The tests persistent.cu and schur.cu of the CPU device cover
    clusters."""
    more_steps = 100
    few, longer = stage(name, n=n), stage(name, n=n + more_steps)
    yield f"{number} has all steps in one launch", few.launches() == longer.launches() == 1
    yield f"{number} waits once per step", (longer.sum(".*", "block_barriers")
                                          - few.sum(".*", "block_barriers") == more_steps)
    # 12 reads r twice: from r_0 and from r_1 on.
    moved = 3 if number == "11" else 4
    yield f"{number} moves r, y and the reflection coefficients alone", (
        few.sectors() <= 1.1 * moved * n * few.bytes_of_number / 32 + 40)


def meets_rarely(stage, name, n):
    """Yields the promises of 13 and 14: 64 steps per launch, whose warps read 128 pairs to keep 64. The number of
    sectors is the minimum for the accessed data: lanes have four pairs each and access one at a time."""
    number, blocked = name[:2], stage(name)
    launches = -(-n // 64)
    yield f"{number} launches a kernel for 64 steps, and two besides", (
        blocked.launches() == launches + 2 and blocked.sum("advance", "launches") == launches)
    yield f"{number} waits once per block and launch, and nowhere else", (
        blocked.sum(".*", "block_barriers") == blocked.sum("advance", "blocks"))
    pair = 2 * blocked.bytes_of_number / 32  # sectors
    # The first warp has no left neighbour. One warp of each block reads 64 leading pairs.
    numbers = launches * (2 * n - n % 64) + 64 * blocked.sum("advance", "blocks")
    read, written = (blocked.sum("advance", group, "ideal_sectors")
                     for group in ("global_loads", "global_stores"))
    yield f"{number} reads pairs twice and the leading ones for each block", (
        0.95 * numbers * pair <= read <= 1.05 * numbers * pair)
    yield f"{number} writes pairs once per launch", (
        launches * n * pair <= written <= 1.05 * (launches + 0.5) * n * pair)
    yield f"{number} has no bank conflicts", blocked.shared_over_ideal(".*") <= 1.01


def durbin_levinson_batched(stage):
    """Yields the promises of the CUDA stages for batches of systems, on four warps of systems."""
    naive, on_chip = stage("02_naive_cuda"), stage("03_register_resident")
    n, warps = 64, 4
    yield "02 strides: each lane in a line of its own", naive.over_ideal("solve_systems") >= 4
    yield "03 moves at most 1.1 times the ideal", on_chip.over_ideal(".*") <= 1.1
    wavefronts = on_chip.shared_over_ideal("solve_in_registers")
    yield "03 has no bank conflicts in f64, few in f32", wavefronts == 1 or (
        on_chip.bytes_of_number == 4 and wavefronts <= 1.1)
    # In addition, y and alpha of each system are stored: 4 n values in total.
    loads = warps * sum(k + 4 for k in range(0, n, 2)) + warps * 2 * n
    yield ("03 loads a number of r once for each two orders",
           on_chip.sum("solve_in_registers", "shared_loads", "requests") == loads)
    long = stage("04_system_per_block", systems=3, n=600)
    yield "04 gives a system a block", long.sum("solve_in_block", "blocks") == 3
    waits = (stage("04_system_per_block", systems=3, n=601).sum("solve_in_block", "block_barriers")
             - long.sum("solve_in_block", "block_barriers"))
    yield "04 waits once per order and block", waits == 3
    yield ("04 stays on the chip: it moves each number once, where 02 goes through y for each order",
           long.over_ideal(".*") <= 1.2 and long.sectors() < stage("02_naive_cuda", systems=3, n=600).sectors() / 100)
    in_lanes = stage("05_system_per_subwarp")
    yield "05 moves at most 1.1 times the ideal", in_lanes.over_ideal(".*") <= 1.1
    yield "05 never waits at a barrier", in_lanes.sum("solve_in_subwarps", "block_barriers") == 0
    yield "05 has no bank conflicts in f64, few in f32", in_lanes.shared_over_ideal("solve_in_subwarps") <= (
        1 if in_lanes.bytes_of_number == 8 else 1.1)
    # Each lane loads its 32 values of r, and the warp writes 32 rows of y and of the coefficients.
    yield ("05 loads no number of r from shared memory twice",
           in_lanes.sum("solve_in_subwarps", "shared_loads", "requests") == 8 * 3 * 32)


def matmul(stage):
    """Yields the promises of the CUDA stages of matrix products, on six slices, two of them narrower."""
    names = ("04_cuda_slices", "05_pinned", "06_double_buffered", "07_streams")
    sliced, pinned, buffered, streamed = stages = list(map(stage, names))
    l, m, slices = SETTINGS["matmul"]["l"], SETTINGS["matmul"]["m"], 6

    def requests(counters, group, kernel="multiply"):
        return counters.sum(kernel, group, "requests")

    blocks = sliced.sum("multiply", "blocks")
    yield "04 launches one kernel per slice, and a block for each 32 × 32 of it", (
        sliced.launches() == slices and blocks == 2 * sum(-(-cols // 32) for cols in (43, 43, 42)))
    yield "04 loads a number of A or B for 16 products where tiles are full", (
        stage("04_cuda_slices", n=96).sum("multiply", "global_loads", "requests") == l * m * 96 // 16 // 32)
    yield ("04 loads three numbers from shared memory for two products, one of A and two of B",
           requests(sliced, "shared_loads") == 3 * blocks * 16 * m)
    yield ("04 reads two rows of A's tile from one bank at a time",
           sliced.over_ideal("multiply", ("shared_loads",), "wavefronts") > 1)
    yield "05 to 07 have the kernels of 04", all(
        each.sum("multiply", *what) == sliced.sum("multiply", *what) for each in stages
        for what in (("launches",), ("blocks",), ("block_barriers",), ("global_loads", "requests"),
                     ("global_stores", "sectors"), ("shared_loads", "wavefronts")))
    yield "04 to 07 copy each slice in and out once", all(
        len(each.spans(what)) == slices for each in stages for what in ("copy in", "kernels", "copy out"))
    yield "04 to 06 serialise each slice, 07 none", (
        [len(each.spans("serialise")) for each in stages] == [len(each.spans("deserialise")) for each in stages]
        == [slices, slices, slices, 0])
    # The CPU device runs a kernel when the host waits for it.
    for number, counters, before in (("05", pinned, False), ("06", buffered, True)):
        ready, computed = counters.spans("serialise"), counters.spans("kernels")
        yield f"{number} serialises slice e + 1 {'before' if before else 'after'} it waits for slice e", all(
            (later[1] <= kernel[0]) == before for kernel, later in zip(computed, ready[1:]))

    # As many of the three panels of A and eight panels of B are kept as fit into the budget.
    number, rows, cols = sliced.bytes_of_number, -(-l // 3), 16
    budgets = {(kept, coming): number * ((kept * rows + coming * cols) * m + 2 * rows * cols)
               for kept, coming in ((1, 2), (1, 3), (2, 2), (2, 3), (3, 2))}
    panels = {(1, 2): 3 + 8 + 6 + 6, (1, 3): 3 + 8 + 5 + 5, (2, 2): 3 + 8 + 6, (2, 3): 3 + 8 + 5, (3, 2): 3 + 8}

    def sent(name, budget):
        return len(stage(name, budget=budget, Sl=3, Sn=8).spans("copy in"))

    for name, kernel in (("08_resident_panels", "multiply"), ("09_library_kernel", None)):
        yield (f"{name[:2]} sends each panel of A once, those of B once for each group of A's but for the last ones",
               {fit: sent(name, budget) for fit, budget in budgets.items()} == panels)
        if kernel:
            yield f"{name[:2]} has the kernels of 07", all(
                stage(name).sum(kernel, *what) == streamed.sum(kernel, *what)
                for what in (("launches",), ("blocks",), ("global_loads", "requests")))
    # The two devices claim slices alternately at first.
    for name in ("11_multi_gpu", "14_all_gather"):
        several = stage(name)
        of_gpu = [[len(several.spans(f"{what}, GPU {gpu}")) for what in ("copy in", "kernels", "copy out")]
                  for gpu in (0, 1)]
        yield f"{name[:2]} deals the slices to both devices, which send at most their panels", all(
            kernels == fetched > 0 and sent <= 2 + 3 for sent, kernels, fetched in of_gpu) and sum(
                fetched for _, _, fetched in of_gpu) == slices
    # Stages 12 and 13 also need room for two panels of A as they were sent, and stage 13 for a third slice of C.
    for name, of_c in (("12_transposed", 2), ("13_overlapped_kernels", 3)):
        fitting = {fit: budget + number * (2 * rows * m + (of_c - 2) * rows * cols) for fit, budget in budgets.items()}
        yield f"{name[:2]} sends the panels that 09 sends", {
            fit: sent(name, budget) for fit, budget in fitting.items()} == panels
        yield f"{name[:2]} transposes each panel of A once, however many are kept", all(
            len(stage(name, budget=budget, Sl=3, Sn=8).spans("transpose")) == 3 for budget in fitting.values())
        yield f"{name[:2]} computes and copies back each slice once", all(
            len(stage(name).spans(what)) == slices for what in ("kernels", "copy out"))
    if number == 8:
        return
    # A value of f32 takes two values of tf32, in panels and while the panels are copied into shared memory.
    apart, n = stage("10_split_tf32"), SETTINGS["matmul"]["n"]
    budgets = {fit: budget + 4 * (fit[0] * rows + fit[1] * cols + rows) * m for fit, budget in budgets.items()}
    yield "10 sends the panels that 09 sends", {
        fit: sent("10_split_tf32", budget) for fit, budget in budgets.items()} == panels
    yield ("10 takes each panel apart when it was sent", len(apart.spans("copy in")) == len(apart.spans("split"))
           == apart.sum("split", "launches") == 2 + 3)
    yield ("10 writes two numbers for each that it takes apart, by whole sectors",
           apart.sum("split", "global_stores", "sectors") == 2 * 4 * m * (l + n) // 32)
    blocks, warps = apart.sum("multiply_tiles", "blocks"), 8
    yield "10 has a block for each 128 × 256 of a slice", blocks == slices
    yield ("10 copies both parts of its rows and columns into shared memory once per block",
           requests(apart, "global_loads", "multiply_tiles") == 2 * 4 * m * (3 * l + 2 * n) // 16)
    looks = requests(apart, "shared_loads", "multiply_tiles")  # requests of a warp, each for 32 chunks of 16 bytes
    yield ("10 multiplies 8 numbers of each row three times, of 320 rows two chunks each by four warps",
           looks == blocks * warps * (m // 8) * 3 * 5)
    yield ("10 has no bank conflicts: 32 chunks take four wavefronts",
           apart.sum("multiply_tiles", "shared_loads", "wavefronts") == 4 * looks)


def advection(stage):
    """Yields the promises of the CUDA stages of advection, over 20 steps of a field whose rows are whole cache lines."""
    names = ("10_naive_cuda", "11_coalesced", "12_tiled", "13_register_rolling", "14_skewed_time_tiling", "15_convolved",
             "16_asynchronous_copies", "17_tensor_core_filter", "18_spectral")
    naive, coalesced, tiled, rolling, time_tiled, convolved, ahead, banded, spectral = map(stage, names)

    def sectors_of_request(counters, kernel, group):
        return counters.sum(kernel, group, "sectors") / counters.sum(kernel, group, "requests")

    of_row = 32 * naive.bytes_of_number // 32  # sectors of 32 adjacent cells
    yield "10 launches four kernels per step, 11 one", (naive.launches(), coalesced.launches()) == (4 * 20, 20)
    yield ("11 stores no more sectors than it must, 10 does, whose rows begin behind a halo",
           sectors_of_request(coalesced, "update", "global_stores") == of_row
           < sectors_of_request(naive, "update", "global_stores"))
    yield ("11 loads one sector more for two of three neighbours in a row",
           of_row < sectors_of_request(coalesced, "update", "global_loads") <= of_row + 2 / 3)
    yield ("12 loads a quarter as often as 11, and from shared memory without bank conflicts",
           4 * tiled.sum("update", "global_loads", "requests")
           <= coalesced.sum("update", "global_loads", "requests") and tiled.shared_over_ideal("update") == 1)
    yield ("12 waits twice for each block and step",
           tiled.sum("update", "block_barriers") == 2 * tiled.sum("update", "blocks"))
    yield ("13 loads less than a quarter as often as 11",
           4 * rolling.sum("update", "global_loads", "requests")
           < coalesced.sum("update", "global_loads", "requests"))
    yield ("13 stores two cells at once, and no sector twice",
           rolling.sum("update", "global_stores", "requests")
           == coalesced.sum("update", "global_stores", "requests") / 2
           and rolling.over_ideal("update", ("global_stores",)) == 1)
    pairs, streamed = stage("19_vectorised_accesses"), stage("20_software_pipelined")
    yield ("19 loads and stores half as often as 11, and no sector twice that it stores",
           [2 * pairs.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           == [coalesced.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           and pairs.over_ideal("update", ("global_stores",)) == 1)
    yield ("20 loads and stores as often as 13, in twice as many blocks",
           [streamed.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           == [rolling.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           and streamed.sum("update", "blocks") == 2 * rolling.sum("update", "blocks"))
    if naive.bytes_of_number == 4:  # the grids are the same in both precisions, and take long
        yield from takes_the_tallest(stage, coalesced)
    yield "14 sweeps four times for 20 steps", time_tiled.launches() == 4
    yield ("14 loads each pair once per sweep, by itself or beside a warp's edge",
           time_tiled.sectors("carry") < 1.5 * 4 * coalesced.sectors("update") / 20)
    yield "14 uses no shared memory and no barrier", time_tiled.sum(
        "carry", "shared_loads", "requests") + time_tiled.sum("carry", "block_barriers") == 0
    yield "15 sweeps twice for 20 steps", convolved.launches() == 2
    yield "15 reads and writes shared memory without bank conflicts", convolved.shared_over_ideal("convolve") == 1
    yield ("15 moves at most a quarter of the sectors of 13",
           4 * convolved.sectors() <= rolling.sectors())
    yield ("16 waits once for eight rows, 15 twice",
           2 * (ahead.sum("convolve", "block_barriers") - ahead.sum("convolve", "blocks"))
           == convolved.sum("convolve", "block_barriers"))
    yield "17 makes one filter of 20 steps", banded.launches() == 1
    yield "17 reads and writes shared memory without bank conflicts", banded.shared_over_ideal("convolve") == 1
    yield ("17 takes at most a fifth of the time of 16 to load from shared memory",
           5 * banded.sum("convolve", "shared_loads", "wavefronts")
           <= ahead.sum("convolve", "shared_loads", "wavefronts"))
    more = stage("18_spectral", steps=2000)
    yield ("18 launches and moves the same for 20 steps and for 2000",
           (spectral.launches(), spectral.sectors()) == (more.launches(), more.sectors()) and more.launches() == 2)


def takes_the_tallest(stage, coalesced):
    """Yields the promises of 11 to 13, 19 and 20 for a field with one column and the maximum number of rows."""
    described = json.loads(subprocess.run([coalesced.program, "--describe"], check=True,
                                          stdout=subprocess.PIPE).stdout)
    tallest = next(int(each["max"]) for each in described["parameters"] if each["name"] == "rows")
    yield "11 to 13, 19 and 20 have a block for each row of the tallest field that is allowed", all(
        stage(name, rows=tallest, cols=1, steps=1).launches() == 1
        for name in ("11_coalesced", "12_tiled", "13_register_rolling", "19_vectorised_accesses", "20_software_pipelined"))


def advection_distributed(stage):
    """Yields the promises of the stages for several GPUs, on two devices."""
    settings, gpus, edges = SETTINGS["advection_distributed"], 2, 2
    rows, cols, steps = settings["rows"], settings["cols"], settings["steps"]
    alone, copied, graphs, persistent = map(stage, ("08_host_staged_messages", "09_peer_copies", "10_nccl",
                                                    "11_gpu_initiated"))
    yield ("08 has the kernels of 09, on a rank's one GPU",
           alone.launches() == 2 * steps and all(
               alone.sum("update", *what) == copied.sum("update", *what)
               for what in (("blocks",), ("global_loads", "requests"), ("global_stores", "requests"))))
    yield ("09 launches a kernel for the edges of a GPU and one for its interior, per step",
           copied.launches() == gpus * 2 * steps)
    yield "09 has a block for 128 cells of a row", copied.sum("update", "blocks") == rows * cols // 128 * steps
    yield ("09 loads nine numbers and stores one for each cell, and no cell twice",
           copied.sum("update", "global_loads", "requests") == 9 * copied.sum("update", "global_stores", "requests")
           == 9 * rows * cols // 32 * steps)
    yield ("09 launches for edges alone where a GPU has no more",
           stage("09_peer_copies", rows=gpus * edges).launches() == gpus * steps)
    yield "10 has the kernels of 09", all(
        graphs.sum("update", *what) == copied.sum("update", *what)
        for what in (("launches",), ("blocks",), ("global_loads", "sectors"), ("global_stores", "sectors")))
    yield "11 launches one kernel per GPU, with a block for each row of so few", (
        persistent.launches() == gpus and persistent.sum("advance", "blocks") == rows)
    yield ("11 meets twice per tile, and once per block before the first",
           persistent.sum("advance", "block_barriers") == (2 * steps + 1) * rows)
    yield ("11 stores each cell once, two at a time, and edges once more, into the neighbour's halo",
           persistent.sum("advance", "global_stores", "requests") == (rows + gpus * edges) * cols // 64 * steps)
    tiled = stage("12_time_tiled", steps=24)  # four sweeps of six steps
    yield "12 launches twice for a GPU and six steps", tiled.launches() == gpus * 2 * 24 // 6
    yield ("12 moves less than a sixth of what 10 moves for a step",
           6 * tiled.sectors("carry") / 24 < graphs.sectors("update") / steps)


def nbody(stage):
    """Yields the promises of the CUDA stages of n-body, over two all-pairs evaluations of 1024 bodies."""
    names = ("04_naive_cuda", "05_tiled", "06_register_tiled", "10_split_reductions")
    naive, tiled, registers, split = map(stage, names)
    pairs = 2 * 1024 * 1024 // 32  # per warp

    def requests(counters, group):
        return counters.sum("evaluate", group, "requests")

    loads = registers.bytes_of_number * 8 // 16  # 16-byte loads per body
    yield ("04 loads seven numbers for each pair, and uses no shared memory",
           7 * pairs <= requests(naive, "global_loads") <= 7.01 * pairs
           and requests(naive, "shared_loads") == 0)
    yield ("05 loads each of the others once per block, 1/128 of the pairs",
           requests(tiled, "global_loads") <= (1 + 1 / 8) * loads * pairs / 128)
    yield ("05 loads from shared memory what 04 loads from global memory",
           requests(tiled, "shared_loads") == 7 * pairs)
    yield ("05 waits twice for each tile and block",
           tiled.sum("evaluate", "block_barriers") == 2 * (1024 // 128) * tiled.sum("evaluate", "blocks"))
    yield ("06 loads a body by 16 bytes, for four pairs",
           requests(registers, "shared_loads") == loads * pairs / 4)
    yield ("06 has a quarter of the threads of 05",
           4 * registers.sum("evaluate", "threads") == tiled.sum("evaluate", "threads"))
    yield ("10 loads as often as 06 from shared memory, by eight times the blocks",
           requests(split, "shared_loads") == requests(registers, "shared_loads")
           and split.sum("evaluate", "blocks") == 8 * registers.sum("evaluate", "blocks"))
    yield ("10 writes eight pieces of each sum",
           requests(split, "global_stores") == 8 * requests(registers, "global_stores"))
    for name, counters in (("04", naive), ("05", tiled), ("06", registers), ("10", split)):
        yield (f"{name} launches an evaluation for the start, and three kernels per step",
               counters.launches() == 1 + 3)
    blocks = -(-4224 // 512)  # for the 16 SMs of the CPU device
    for name, pieces in (("10_split_reductions", -(-8 * 16 // blocks)), ("11_short_last_wave", 32)):
        yield (f"{name[:2]} has {pieces} pieces of sums over 33 tiles",
               stage(name, bodies=4224, steps=0).sum("evaluate", "blocks") == pieces * blocks)
    replicated = stage("12_replicated")  # on two devices
    yield ("12 loads from shared memory what 10 loads, on two devices together",
           requests(replicated, "shared_loads") == requests(split, "shared_loads"))
    yield ("12 launches on each device what 10 launches", replicated.launches() == 2 * split.launches())
    if registers.bytes_of_number == 4:
        yield from streams_bodies(stage)
        mixed = stage("07_mixed_precision")
        yield ("07 loads half as much again as 06, by 16 bytes for four pairs",
               2 * requests(mixed, "shared_loads") == 3 * requests(registers, "shared_loads"))


def streams_bodies(stage):
    """Yields the promises of 08 and 09 for one evaluation of 2048 bodies, in slices of 512 and of 256, on two devices."""
    whole = stage("06_register_tiled", bodies=2048, steps=0)
    for slices in (4, 8):
        one, several = (stage(name, bodies=2048, steps=0, budget=44 * 4 * 2048 // slices)
                        for name in ("08_out_of_core", "09_multi_gpu"))
        for name, counters in (("08", one), ("09", several)):
            yield (f"{name} writes each sum once for each of {slices} slices of others, and goes on with it",
                   counters.sum("evaluate", "global_stores", "requests")
                   == slices * whole.sum("evaluate", "global_stores", "requests"))
            if slices == 4:  # slices consist of whole thread blocks
                yield (f"{name} loads from shared memory as often as 06",
                       counters.sum("evaluate", "shared_loads", "wavefronts")
                       == whole.sum("evaluate", "shared_loads", "wavefronts"))
        yield (f"08 sends each of {slices} slices once for its forces and once for each of the {slices}",
               [len(one.spans(what)) for what in ("copy in", "kernels", "copy out")]
               == [slices + slices ** 2, slices ** 2, slices])
        of_gpu = [[len(several.spans(f"{what}, GPU {gpu}")) for what in ("copy in", "kernels", "copy out")]
                  for gpu in (0, 1)]
        yield (f"09 deals {slices} slices to two devices, which send, compute and fetch what they are dealt",
               sum(fetched for _, _, fetched in of_gpu) == slices
               and all(fetched > 0 and (sent, kernels) == (fetched + slices * fetched, slices * fetched)
                       for sent, kernels, fetched in of_gpu))


def triangular_solve(stage):
    """Yields the promises of the CUDA stages of the triangular solve, on 5 blocks of 64 unknowns."""
    names = ("04_naive_cuda", "05_blocked_cuda", "06_inverted_blocks", "07_flags_in_data", "08_prefetched")
    naive, blocked, inverted, one, prefetched = map(stage, names)
    n, steps, block = SETTINGS["triangular_solve"]["n"], 5, 64
    below = steps * (steps - 1) // 2  # number of blocks of L below the diagonal
    loads = block * block // 2 // 32  # requests for such a block, two values per lane
    sectors = block * block * naive.bytes_of_number // 32

    def requests(counters, kernels, group="global_loads"):
        return counters.sum(kernels, group, "requests")

    yield "04 launches one kernel per column", naive.launches() == n
    yield ("04 walks down columns, each lane in a sector of its own",
           naive.over_ideal("eliminate", ("global_loads",)) >= 2)
    yield "05 launches two kernels for 64 columns", blocked.launches() == 2 * steps - 1
    yield "05 moves less than a third of the sectors of 04", 3 * blocked.sectors() < naive.sectors()
    for name, counters in (("05", blocked), ("06", inverted), ("07", one), ("08", prefetched)):
        yield f"{name} moves at most 1.1 times the ideal", counters.over_ideal(".*") <= 1.1
    yield ("05 waits for the block once per column on the diagonal",
           blocked.sum("solve_diagonal", "block_barriers") == n)
    yield ("06 waits once for 64 columns, but in a kernel that inverts all blocks at the same time",
           inverted.sum("solve_diagonal", "block_barriers") == steps
           and inverted.sum("invert", "blocks") == steps and inverted.sum("invert", "launches") == 1)
    yield ("06 takes unknowns out of rows below as 05",
           inverted.sectors("subtract") == blocked.sectors("subtract"))
    further = {name: stage(name, n=2 * n) for name in names[3:]}
    for name, counters in zip(names[3:], (one, prefetched)):
        yield (f"{name[:2]} launches one kernel, for more unknowns, too",
               counters.launches() == further[name].launches() == 1)
        yield (f"{name[:2]} has a block of threads for 64 rows",
               counters.sum("substitute_rows", "blocks") == steps)
        yield (f"{name[:2]} waits for the block once per block of L, three times more, and 64 times to invert",
               counters.sum("substitute_rows", "block_barriers") == below + (3 + block) * steps)
        yield (f"{name[:2]} reads each number below the diagonal once",
               (below + steps) * sectors <= counters.sum("substitute_rows", "global_loads", "sectors")
               <= 1.02 * (below + steps) * sectors + n * 2)
        yield (f"{name[:2]} writes nothing but the unknowns",
               counters.sum("substitute_rows", "global_stores", "sectors")
               + counters.sum("substitute_rows", "global_atomics", "requests") < sectors)
    yield ("08 loads L in as many requests as 07, pairs of them, and single numbers on the diagonal",
           loads * (below + 2 * steps) <= requests(prefetched, "substitute_rows")
           == requests(one, "substitute_rows"))
    for blocks in (1, 2):
        sliced = stage("09_out_of_core", budget=2 * blocks * block * n * naive.bytes_of_number)
        panels = -(-steps // blocks)
        yield (f"09 launches a kernel for a panel of {blocks * block} rows", sliced.launches() == panels)
        yield ("09 reads from the GPU's memory what 08 reads, in whatever panels",
               requests(sliced, "substitute_rows") == requests(prefetched, "substitute_rows"))
        yield ("09 copies each panel in a span of its own", len(sliced.spans("panels")) == panels)
    alone, many, more = (stage("10_multiple_right_hand_sides", rhs=sides) for sides in (1, block, block + 1))
    yield "10 launches as many kernels as 06, for many right-hand sides, too", (
        inverted.launches() == alone.launches() == more.launches() == 2 * steps)
    yield "10 moves as much for 64 right-hand sides as for one", many.sectors() == alone.sectors()
    yield ("10 reads a block of L once for 64 right-hand sides, with as many unknowns and what is left of them",
           many.sum("subtract", "global_loads", "sectors") == 3 * below * sectors)
    yield "10 moves twice as much for one more", more.sectors("subtract") == 2 * many.sectors("subtract")
    yield "10 moves at most 1.1 times the ideal", more.over_ideal(".*") <= 1.1
    rows, two = stage("11_register_tiled"), stage("12_two_step_prefetch")
    halves, watching = stage("13_recursive_inversion"), stage("14_polling_warp")
    yield ("14 meets once less for each block of L below the diagonal",
           halves.sum("substitute_rows", "block_barriers") - watching.sum("substitute_rows", "block_barriers")
           == below)
    yield ("13 meets 13 times to invert a block, where 12 meets 67 times",
           two.sum("substitute_rows", "block_barriers") - halves.sum("substitute_rows", "block_barriers")
           == (67 - 13) * steps)
    of_sector = 32 // halves.bytes_of_number
    yield ("13 loads nothing above the diagonal, and else what 12 loads",
           two.sum("substitute_rows", "global_loads", "sectors")
           - halves.sum("substitute_rows", "global_loads", "sectors")
           == sum((block - 1 - i) // of_sector for i in range(block)) * steps)
    folded, trip = stage("15_precomputed_product"), stage("16_batched_loads")
    yield ("15 meets as often as 14 before the chain, and once less behind it",
           watching.sum("substitute_rows", "block_barriers") - folded.sum("substitute_rows", "block_barriers") == steps)
    yield ("15 loads each block of L once, as 14",
           watching.sum("substitute_rows", "global_loads", "sectors")
           == folded.sum("substitute_rows", "global_loads", "sectors"))
    yield ("15 stores one block of L more in shared memory, for each block of threads but the first",
           requests(folded, "substitute_rows", "shared_stores") - requests(watching, "substitute_rows", "shared_stores")
           == block * block // 32 * (steps - 1))
    yield ("16 asks for two blocks of L as pairs, where 15 does so by single numbers",
           requests(folded, "substitute_rows") > requests(trip, "substitute_rows"))
    yield ("16 loads what 15 loads, and what is above the diagonal",
           trip.sum("substitute_rows", "global_loads", "sectors")
           - folded.sum("substitute_rows", "global_loads", "sectors")
           == sum((block - 1 - i) // of_sector for i in range(block)) * steps)
    staged, clustered = stage("17_asynchronous_copies"), stage("18_distributed_shared_memory")
    yield ("17 loads what 16 loads",
           staged.sum("substitute_rows", "global_loads", "sectors") == trip.sum("substitute_rows", "global_loads", "sectors"))
    yield ("17 stores each block of L in shared memory, but those on the diagonal and beside it",
           requests(staged, "substitute_rows", "shared_stores") - requests(trip, "substitute_rows", "shared_stores")
           == (below - (steps - 1)) * block * block // 2 // 32)
    of_clusters = sum(number - number // 8 * 8 for number in range(steps))
    yield ("18 looks for unknowns of other clusters only, and draws a number for a cluster",
           requests(staged, "substitute_rows", "global_atomics") - requests(clustered, "substitute_rows", "global_atomics")
           == 2 * of_clusters + steps - -(-steps // 8))
    for name, counters in (("11", rows), ("12", two)):
        yield f"{name} launches one kernel", counters.launches() == 1
        yield (f"{name} loads as many sectors of L as 08",
               counters.sum("substitute_rows", "global_loads", "sectors")
               == prefetched.sum("substitute_rows", "global_loads", "sectors"))
        yield (f"{name} reads unknowns from shared memory a quarter as often as 08, and the inverse once",
               requests(prefetched, "substitute_rows", "shared_loads")
               - requests(counters, "substitute_rows", "shared_loads")
               == loads * 3 // 4 * (below + steps) - loads * steps)



def cholesky(stage):
    """Yields the promises of the CUDA stages of A = L Lᵀ, on two panels of 256 columns and half a third one."""
    panels, tiled, tensor = map(stage, ("06_panel_and_update", "07_tiled_update", "08_tensor_cores"))
    n, block, panel, tile = SETTINGS["cholesky"]["n"], 64, 256, 128
    steps = n // block
    # Stage 05 takes long on the CPU device. It is compared with stage 06 on half of the columns.
    few = n // 2
    naive, beside = (stage(name, n=few) for name in ("05_naive_cuda", "06_panel_and_update"))

    def requests(counters, kernels, group):
        return counters.sum(kernels, group, "requests")

    yield "05 launches two kernels per column", naive.launches() == 2 * few
    yield ("05 writes all to the right of each column",
           naive.sum("update", "global_stores", "sectors") * 32 >= naive.bytes_of_number * few**3 / 6)
    yield ("06 launches a kernel for a block on the diagonal, one below it, one for the rest of its panel, and one a "
           "panel",
           [panels.sum(kernel, "launches") for kernel in ("factorise_block", "solve_below", "update")]
           == [steps, steps - 1, (steps - 1) - (steps - 1) // 4 + n // panel])
    yield ("06 writes less than a thirtieth of what 05 writes",
           30 * beside.sum(".*", "global_stores", "sectors") < naive.sum(".*", "global_stores", "sectors"))
    yield ("06 waits for the block once per column on the diagonal, and twice below it",
           panels.sum("factorise_block", "block_barriers") == n
           and panels.sum("solve_below", "block_barriers") == 2 * panels.sum("solve_below", "blocks"))
    for name, counters in (("06", panels), ("07", tiled), ("08", tensor)):
        yield (f"{name} moves at most 1.2 times the ideal on the diagonal and below it",
               counters.over_ideal("factorise_block|solve_below") <= 1.2)
    for name, counters in (("07", tiled), ("08", tensor)):
        yield (f"{name} leaves the diagonal and what is below it as they were",
               counters.sectors("factorise_block|solve_below") == panels.sectors("factorise_block|solve_below"))
        yield f"{name} launches as many kernels as 06", counters.launches() == panels.launches()
        yield f"{name} moves at most 1.1 times the ideal in the update", counters.over_ideal("update") <= 1.1
        yield f"{name} has no bank conflicts in the update", counters.shared_over_ideal("update") <= 1.001
        yield (f"{name} loads less than a tenth of the sectors of 06 in the update",
               10 * counters.sum("update", "global_loads", "sectors") < panels.sum("update", "global_loads", "sectors"))
        copies = 2 * tile * 128 // 16 // 32  # requests for 128 bytes of each row of both factors
        yield (f"{name} waits once for 128 bytes of each row of a tile", counters.sum("update", "block_barriers")
               == requests(counters, "update", "shared_stores") / copies)
    yield ("08 takes its factors from shared memory in a quarter of the wavefronts of 07",
           4 * tensor.sum("update", "shared_loads", "wavefronts") == tiled.sum("update", "shared_loads", "wavefronts"))
    yield ("08 stores two elements at a time",
           requests(tensor, "update", "global_stores") < 0.6 * requests(tiled, "update", "global_stores"))
    yield from keeps_busy(stage, tensor)
    yield from in_one_launch(stage, tensor)


def keeps_busy(stage, tensor):
    """Yields the promises of 09, 12 and 13 of A = L Lᵀ: other launches of the same kernels, in several streams."""
    n, block, panel = SETTINGS["cholesky"]["n"], 64, 256
    number, chain = tensor.bytes_of_number, "factorise_block|solve_below"
    ahead, panels = stage("09_look_ahead"), -(-n // panel)
    yield "09 has the kernels of 08 on the diagonal and below it", ahead.sectors(chain) == tensor.sectors(chain)
    yield ("09 updates in two launches where two panels are left, and one is the next",
           ahead.launches() == tensor.launches() + panels - 2)
    yield ("09 multiplies as much as 08, in tiles that do not reach into the next panel's columns",
           ahead.sum("update", "block_barriers") == tensor.sum("update", "block_barriers"))
    yield ("09 has a span for each panel, and one for what else is updated with each but the last",
           len(ahead.spans("panels")) == panels and len(ahead.spans("updates")) == panels - 1)
    for blocks in (1, 2, 4):
        width, slices = blocks * block, -(-n // (blocks * block))
        budget = number * width * (n + n - width + 2 * (n - 2 * width))
        sliced = stage("12_out_of_core", budget=budget)
        again = sum(e - 1 for e in range(1, slices))
        yield (f"12 sends each of {slices} slices of {width} columns once, and again for each behind the next one",
               len(sliced.spans("copy in")) == slices + again and len(sliced.spans("copy out")) == slices)
        yield (f"12 has the kernels of 08 on the diagonal and below it, in slices of {width} columns",
               sliced.sectors(chain) == tensor.sectors(chain))
    # Each of the two devices has every other panel.
    several = stage("13_multi_gpu")
    of_gpu = [[len(several.spans(f"{what}, GPU {gpu}")) for what in ("panels", "fetch", "updates")] for gpu in (0, 1)]
    yield ("13 makes each panel on one of two devices, and fetches it to the other",
           of_gpu == [[panels - panels // 2, panels // 2, panels - 1], [panels // 2, panels - panels // 2, panels - 1]])
    yield "13 has the kernels of 08 on the diagonal and below it", several.sectors(chain) == tensor.sectors(chain)
    yield ("13 multiplies as much as 09, on either device a part of it",
           several.sum("update", "block_barriers") == ahead.sum("update", "block_barriers"))


def in_one_launch(stage, tensor):
    """Yields the promises of 10 and 11, compared with 08."""
    gathered, one = stage("10_left_looking_tiles"), stage("11_one_launch")
    tile, tiles, square, squares = 128, SETTINGS["cholesky"]["n"] // 128, 16, 128 // 16
    below, all_tiles = tiles * (tiles - 1) // 2, tiles * (tiles + 1) // 2
    products = sum(j * (tiles - j) for j in range(tiles))  # number of products of tiles
    of_tile, of_square = (side**2 * one.bytes_of_number // 32 for side in (tile, square))
    on_diagonal = squares * (squares + 1) // 2 * of_square

    def sectors(group):
        return one.sum("factorise_tile", group, "sectors")

    yield "10 launches a kernel for each tile on the diagonal, and one for those below it", (
        gathered.launches() == 2 * tiles - 1 and gathered.sum("factorise_tile", "blocks") == all_tiles)
    for group in ("global_loads", "global_stores"):
        yield (f"11 has the {group.replace('_', ' ')} of 10",
               gathered.sum("factorise_tile", group, "sectors") == sectors(group))
    yield ("10 writes less than half of what 08 writes",
           2 * gathered.sum("factorise_tile", "global_stores", "sectors")
           < tensor.sum(".*", "global_stores", "sectors"))
    yield ("11 launches one kernel, for fewer rows, too",
           one.launches() == stage("11_one_launch", n=tile + 1).launches() == 1)
    yield "11 has a block of threads for a tile", one.sum("factorise_tile", "blocks") == all_tiles
    yield ("11 reads A once, two tiles per product, and for a tile below the diagonal the one on it and its inverses",
           sectors("global_loads") == (all_tiles + 2 * products + below) * of_tile + below * squares * of_square)
    yield ("11 writes L once, and inverses of squares on the diagonal",
           sectors("global_stores") == below * of_tile + tiles * (on_diagonal + squares * of_square))
    yield ("11 writes less than half of what 08 writes",
           2 * sectors("global_stores") < tensor.sum(".*", "global_stores", "sectors"))
    yield "11 moves no more than the ideal", one.over_ideal("factorise_tile") == 1
    yield "11 has bank conflicts in squares on the diagonal alone", one.shared_over_ideal("factorise_tile") <= 1.25
    yield from flags_per_sub_tile(stage)


def flags_per_sub_tile(stage):
    """Yields the promises of 14 to 20. The copy engine moves 16 bytes at a time, which is half a sector."""
    names = ("14_packed_tiles", "15_tma_bulk_copies", "16_split_barriers", "17_warp_specialisation", "18_flags_per_sub_tile",
             "19_root_free", "20_fragment_order")
    counted = {name[:2]: stage(name) for name in names}
    tile, tiles, square, squares = 128, SETTINGS["cholesky"]["n"] // 128, 16, 128 // 16
    below, all_tiles = tiles * (tiles - 1) // 2, tiles * (tiles + 1) // 2
    of_tile, of_square = (side**2 * counted["14"].bytes_of_number // 32 for side in (tile, square))
    products = sum(j * (2 * (tiles - 1 - j) + 1) for j in range(tiles)) * of_tile  # two tiles each, one on the diagonal
    under = squares * (squares - 1) // 2 * of_square  # the squares below the diagonal of a tile on the diagonal
    inverses = squares * of_square
    copied = products + below * (under + inverses)

    def count(number, group, what="sectors"):
        return counted[number].sum("factorise_tile", group, what)

    def meetings(number):
        return counted[number].sum("factorise_tile", "block_barriers")

    for number, name in zip(counted, names):
        engine, handed_on = number >= "15", number >= "18"
        yield (f"{number} launches one kernel, for fewer rows, too",
               counted[number].launches() == stage(name, n=tile + 1).launches() == 1)
        yield (f"{number} reads A once and copies two tiles per product, one on the diagonal, and what divides others",
               count(number, "global_loads") == all_tiles * of_tile + (2 if engine else 1) * copied)
        yield (f"{number} writes L once, and packed once more",
               count(number, "global_stores")
               == 2 * below * of_tile + (3 if handed_on else 2) * tiles * (under + inverses))
        yield f"{number} moves no more than the ideal", counted[number].over_ideal("factorise_tile") == 1
        yield (f"{number} has bank conflicts in squares on the diagonal alone",
               counted[number].shared_over_ideal("factorise_tile") <= 1.05)
    yield "15 has threads meet no more before they tell of a tile", meetings("14") - meetings("15") == all_tiles
    yield ("16 has no meetings for squares on the diagonal",
           meetings("15") - meetings("16") == 2 * squares * tiles)
    for number in list(counted)[3:]:
        yield f"{number} has all threads of a block meet once", meetings(number) == all_tiles
    yield ("19 leaves global memory as 18 had it", all(count("19", group, what) == count("18", group, what)
           for group in ("global_loads", "global_stores") for what in ("sectors", "requests")))
    yield ("20 loads a number where 19 loads two, in no more wavefronts",
           count("20", "shared_loads", "requests") > 1.6 * count("19", "shared_loads", "requests")
           and count("20", "shared_loads", "wavefronts") <= count("19", "shared_loads", "wavefronts"))
    yield from multi_gpu_dataflow(stage, counted["20"], below * of_tile)
    yield from swizzled_tile_order(stage, counted["20"], all_tiles)


def multi_gpu_dataflow(stage, one, packed_once):
    """Yields the promises of 21, compared with 20, on one device and on two."""
    alone, both = stage("21_multi_gpu_dataflow", gpus=1), stage("21_multi_gpu_dataflow")

    def count(counters, group):
        return counters.sum("factorise_tile", group, "sectors")

    yield "21 launches a kernel on each device", (alone.launches(), both.launches()) == (1, 2)
    yield ("21 deals out the blocks of 20",
           both.sum("factorise_tile", "blocks") == one.sum("factorise_tile", "blocks"))
    yield "21 loads what 20 loads", count(one, "global_loads") == count(alone, "global_loads") == count(both, "global_loads")
    yield ("21 stores what 20 stores, and what other devices need on each of them",
           count(one, "global_stores") == count(alone, "global_stores") == count(both, "global_stores") - packed_once)


def swizzled_tile_order(stage, apart, all_tiles):
    """Yields the promises of 22 and 23, compared with 20, with as many tiles as can start at once."""
    together, deep = stage("22_swizzled_tile_order"), stage("23_deeper_mma")

    def count(counters, group, what="sectors"):
        return counters.sum("factorise_tile", group, what)

    yield ("22 counts each tile once",
           count(together, "global_atomics", "requests") == count(apart, "global_atomics", "requests") + all_tiles)
    for number, counters in (("22", together), ("23", deep)):
        yield (f"{number} moves what 20 moves, as often", all(
            count(counters, group, what) == count(apart, group, what)
            for group in ("global_loads", "global_stores", "shared_stores") for what in ("sectors", "requests")
            if (group, what) != ("shared_stores", "sectors")))
        yield f"{number} launches one kernel", counters.launches() == 1
    yield ("23 loads what 22 loads from shared memory, in as many wavefronts",
           count(deep, "shared_loads", "wavefronts") == count(together, "shared_loads", "wavefronts"))


def main(directory, name):
    """Prints one TAP line per promise."""
    checks = []
    for precision in ("f64",) if name == "ata" else ("f64", "f32"):

        def stage(stage_name, precision=precision, **changes):
            program = pathlib.Path(directory, f"{name}-{stage_name}-cpu-analyze")
            return Counters(program.resolve(), SETTINGS[name] | changes, precision)

        checks += [(f"{precision}: {what}", well) for what, well in globals()[name](stage)]
    print(f"1..{len(checks)}")
    for number, (what, well) in enumerate(checks, 1):
        print(f"{'ok' if well else 'not ok'} {number} - {what}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in SETTINGS:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
