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
        self.bytes_of_value = 8 if precision == "f64" else 4

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

    def intervals(self, name):
        """Returns begin and end of all intervals with this name, sorted by begin."""
        overlapping = self.record["repeats"][0]["beside"]
        return sorted((interval["begin"], interval["end"]) for interval in overlapping if interval["name"] == name)


def local_volatility(stage):
    """Yields the title of each check of the CUDA stages, and whether the check passes."""
    naive, scan, coalesced, interleaved, shared, factored = (
        stage(name) for name in ("04_naive_cuda", "05_parallel_scan", "06_coalesced",
                                 "07_interleaved", "08_shared_grids", "09_factored"))
    yield ("stage 04 moves at least twice the minimum number of sectors in solve_x and solve_y, because lanes access "
           "different rows",
           naive.over_ideal("solve_[xy]") >= 2)
    for kernel, systems in (("solve_x", 3 * 96), ("solve_y", 3 * 64)):
        yield (f"stage 05 launches more threads of {kernel} than there are systems, and stage 04 does not",
               naive.sum(kernel, "threads") <= 3 * 8 * systems < scan.sum(kernel, "threads"))
    yield ("stage 05 moves less than half of the sectors of stage 04 in solve_x and solve_y",
           scan.sectors("solve_[xy]") < naive.sectors("solve_[xy]") / 2)
    yield ("stage 05 moves as many sectors as stage 04 in all other kernels",
           all(scan.sectors(kernel) == naive.sectors(kernel)
               for kernel in ("update_params", "explicit_[xy]", "implicit_[xy]", "set_payoff")))
    yield ("stage 06 moves at most 1.1 times the minimum number of sectors in the kernels that solve systems",
           coalesced.over_ideal("implicit_[xy]") <= 1.1)
    yield ("stage 06 moves at most 1.1 times the minimum number of sectors in all kernels together",
           coalesced.over_ideal(".*") <= 1.1)
    yield ("stage 05 moves more than 1.5 times the minimum number of sectors in its kernels with strided accesses",
           scan.over_ideal(STRIDED) > 1.5)
    yield ("stage 06 has hardly any bank conflicts: at most 1.01 times the minimum number of wavefronts",
           coalesced.shared_over_ideal(".*") <= 1.01)
    yield ("stage 06 moves less than half of the sectors of stage 05",
           coalesced.sectors() < scan.sectors() / 2)
    yield ("stage 06 launches fewer kernels than stage 05, which launches as many as stage 04",
           coalesced.launches() < scan.launches() == naive.launches())
    for name, counters in (("07", interleaved), ("08", shared), ("09", factored)):
        yield (f"stage {name} solves one system along x per thread",
               counters.sum("half_step_x", "threads") == 3 * 3 * 128 < coalesced.sum("implicit_x", "threads"))
        yield f"stage {name} moves at most 1.1 times the minimum number of sectors", counters.over_ideal(".*") <= 1.1
        yield (f"stage {name} has hardly any bank conflicts: at most 1.01 times the minimum number of wavefronts",
               counters.shared_over_ideal(".*") <= 1.01)
    yield "stage 07 moves fewer sectors than stage 06", interleaved.sectors() < coalesced.sectors()
    yield "stage 07 launches fewer kernels than stage 06", interleaved.launches() < coalesced.launches()
    yield "stage 08 moves less than 0.7 times the sectors of stage 07", shared.sectors() < 0.7 * interleaved.sectors()
    yield "stage 08 launches fewer kernels than stage 07", shared.launches() < interleaved.launches()
    yield ("stage 08 does not launch update_params in the time loop, and stage 07 does",
           shared.sum("update_params", "launches") == 0 < interleaved.sum("update_params", "launches"))
    yield "stage 09 moves less than 0.6 times the sectors of stage 07", factored.sectors() < 0.6 * interleaved.sectors()
    yield ("stage 09 stores three values per point in half_step_x, stage 08 four",
           4 * factored.sum("half_step_x", "global_stores", "sectors")
           == 3 * shared.sum("half_step_x", "global_stores", "sectors"))
    yield ("stage 09 distributes one value per row through shared memory in implicit_y, stage 08 four",
           factored.sum("implicit_y", "shared_stores", "requests")
           < shared.sum("implicit_y", "shared_stores", "requests") / 2)
    increments = stage("10_increments")
    yield ("stage 10 stores two values per point in half_step_x, stage 09 three",
           3 * increments.sum("half_step_x", "global_stores", "sectors")
           == 2 * factored.sum("half_step_x", "global_stores", "sectors"))
    yield "stage 10 moves at most 1.1 times the minimum number of sectors", increments.over_ideal(".*") <= 1.1
    yield ("stage 10 has hardly any bank conflicts: at most 1.01 times the minimum number of wavefronts",
           increments.shared_over_ideal(".*") <= 1.01)
    yield "stage 10 launches as many kernels as stage 09", increments.launches() == factored.launches()
    yield from stays_on_chip(stage, factored)
    yield from sweeps_one_grid(stage)


def stays_on_chip(stage, factored):
    """Yields the checks of stages 11 and 12. Stage 12 solves the common problem, and a problem of 2 options whose grids need
    a cluster of 4 blocks each."""
    many_options = 9  # with so many options, stage 12 has long segments, like stage 11
    in_thread_block, in_cluster = (stage(name, outer=many_options, numX=256, numY=32)
                                   for name in ("11_grid_per_block", "12_grid_per_cluster"))
    yield "stage 11 has one thread block per option, and executes all time steps in one launch", (
        in_thread_block.sum("roll_back", "blocks"), in_thread_block.sum("roll_back", "launches")) == (many_options, 1)
    yield ("stage 11 moves at most 2 % fewer sectors in roll_back than stage 12, and waits at one barrier fewer per thread "
           "block",
           0.98 * in_cluster.sectors("roll_back") <= in_thread_block.sectors("roll_back") <= in_cluster.sectors("roll_back")
           and in_thread_block.sum("roll_back", "block_barriers")
           == in_cluster.sum("roll_back", "block_barriers") - many_options)
    yield ("stage 11 has hardly any bank conflicts in roll_back: at most 1.05 times the minimum number of wavefronts",
           in_thread_block.shared_over_ideal("roll_back") <= 1.05)
    yield ("stage 11 moves less than 0.3 times the sectors of stage 09",
           in_thread_block.sectors() < 0.3 * stage("09_factored", outer=many_options, numX=256, numY=32).sectors())

    on_chip = stage("12_grid_per_cluster")
    yield "stage 12 moves less than 0.2 times the sectors of stage 09", on_chip.sectors() < 0.2 * factored.sectors()
    yield "stage 12 moves at most 1.1 times the minimum number of sectors", on_chip.over_ideal(".*") <= 1.1

    options, num_x, num_y, more_steps = 2, 128, 256, 5
    short, longer = (stage("12_grid_per_cluster", outer=options, numX=num_x, numY=num_y, numT=num_t)
                 for num_t in (4, 4 + more_steps))

    def of_step(*path):
        """Returns the increase of a counter of roll_back per time step."""
        return (longer.sum("roll_back", *path) - short.sum("roll_back", *path)) / more_steps

    blocks = short.sum("roll_back", "blocks")
    yield ("stage 12 distributes the grid of an option over the thread blocks of a cluster",
           blocks == options * num_x * num_y / 8192)
    yield "stage 12 executes all time steps in one launch", short.sum("roll_back", "launches") == 1
    yield "stage 12 launches as many kernels for 9 time steps as for 4", short.launches() == longer.launches()
    pivots = options * num_x * num_y * short.bytes_of_value / 32  # sectors
    yield "stage 12 stores nothing in global memory between time steps", of_step("global_stores", "sectors") == 0
    yield ("stage 12 loads only the inverse pivots from global memory between time steps",
           pivots <= of_step("global_loads", "sectors") <= 1.05 * pivots)
    yield ("stage 12 waits at three barriers of the cluster and one of the thread block per time step",
           of_step("block_barriers") == 4 * blocks)
    wavefronts, ideal = (of_step("shared_loads", unit) + of_step("shared_stores", unit)
                         for unit in ("wavefronts", "ideal_wavefronts"))
    yield ("stage 12 has hardly any bank conflicts between time steps: at most 1.01 times the minimum number of "
           "wavefronts",
           wavefronts <= 1.01 * ideal)


def sweeps_one_grid(stage):
    """Yields the checks of stages 16 to 18, on the grid of *large*, which fits into a cluster of 16 blocks."""
    grid, few_steps, more_steps = {"numX": 256, "numY": 256}, 4, 5

    def stages(name):
        """Returns the counters of a stage for few steps, for more steps, and for few steps with more options."""
        return (stage(name, **grid, numT=few_steps), stage(name, **grid, numT=few_steps + more_steps),
                stage(name, **grid, numT=few_steps, outer=30))

    short, longer, more_options = stages("16_adjoint_cuda")
    yield ("stage 16 launches three kernels per time step, independent of the number of options",
           longer.launches() - short.launches() == 3 * more_steps and more_options.launches() == short.launches())
    yield ("stage 16 has one thread per row in solve_x and one thread per column in solve_y",
           all(short.sum(kernel, "threads") == (few_steps - 1) * 256 for kernel in ("solve_x", "solve_y")))

    loads = {}
    for number, name, of_cluster in (("17", "17_single_cluster_adjoint", 2), ("18", "18_reduced_system", 0)):
        short, longer, more_options = stages(name)

        def of_step(*path, short=short, longer=longer):
            """Returns the increase of a counter of sweep per time step."""
            return (longer.sum("sweep", *path) - short.sum("sweep", *path)) / more_steps

        yield (f"stage {number} launches five kernels, independent of the number of time steps and of options",
               short.launches() == longer.launches() == more_options.launches() == 5)
        yield (f"stage {number} moves at least nine times as many sectors in price for ten times as many options",
               more_options.sectors("price") >= 9 * short.sectors("price") > 0)
        yield (f"stage {number} moves as many sectors in all other kernels for ten times as many options",
               more_options.sectors() - more_options.sectors("price") == short.sectors() - short.sectors("price"))
        blocks = short.sum("sweep", "blocks")
        yield f"stage {number} distributes the grid over one cluster", blocks == 256 * 256 / 4096
        pivots = 256 * 256 * short.bytes_of_value / 32  # sectors
        yield (f"stage {number} stores nothing in global memory between time steps",
               of_step("global_stores", "sectors") == 0)
        yield (f"stage {number} loads only the inverse pivots from global memory between time steps",
               pivots <= of_step("global_loads", "sectors") <= 1.05 * pivots)
        yield (f"stage {number} waits at {of_cluster or 'no'} barriers of the cluster and two of the thread block per time "
               "step",
               of_step("block_barriers") == (of_cluster + 2) * blocks)
        wavefronts, ideal = (of_step("shared_loads", unit) + of_step("shared_stores", unit)
                             for unit in ("wavefronts", "ideal_wavefronts"))
        yield (f"stage {number} has few bank conflicts between time steps: at most 1.1 times the minimum number of "
               "wavefronts",
               wavefronts <= 1.1 * ideal)
        loads[number] = of_step("shared_loads", "requests")
    yield ("stage 18 executes less than 0.9 times the shared-memory load requests of stage 17 per time step",
           loads["18"] < 0.9 * loads["17"])


def ata(stage):
    """Yields the checks of the CUDA stages of AᵀA. The problem consists of one tile in stages 07 to 09, and
    of 64 tiles in the earlier stages."""
    names = ("03_naive_cuda", "04_tiled", "05_unrolled", "06_symmetric", "07_register_tiled",
             "08_double_buffered", "09_tensor_core")
    naive, tiled, unrolled, symmetric, registers, buffered, tensor = map(stage, names)

    def requests(counters, group):
        return counters.sum("multiply", group, "requests")

    report = subprocess.run([tiled.program, "--set", "rows=64", "--set", "cols=128", "--analyze", "--blocks", "2"],
                         capture_output=True, text=True, check=True).stderr
    yield ("stage 04 analyses two of 64 thread blocks with the options --analyze --blocks 2",
           "Of 64 blocks, 62 only ran" in report)
    yield ("stage 04 executes a sixteenth of the global load requests of stage 03",
           16 * requests(tiled, "global_loads") == requests(naive, "global_loads"))
    yield ("stage 05 loads from shared memory as often as stage 04",
           requests(unrolled, "shared_loads") == requests(tiled, "shared_loads"))
    yield ("stage 06 has a thread block only for tiles on and above the diagonal: 36 instead of the 64 of stage 05",
           (unrolled.sum("multiply", "blocks"), symmetric.sum("multiply", "blocks")) == (64, 36))
    yield ("stage 06 stores as many sectors as stage 05",
           symmetric.sum("multiply", "global_stores", "sectors")
           == unrolled.sum("multiply", "global_stores", "sectors"))
    result_loads = 128 * 128 // 32  # requests with which 07 and 08 read their results from shared memory
    yield ("stage 07 loads operands from shared memory an eighth as often as stage 05",
           8 * (requests(registers, "shared_loads") - result_loads) == requests(unrolled, "shared_loads"))
    yield ("stage 08 loads from shared memory as often as stage 07",
           requests(buffered, "shared_loads") == requests(registers, "shared_loads"))
    yield ("stage 08 copies as many bytes from global memory as stage 07 loads",
           buffered.sum("multiply", "global_loads", "ideal_sectors")
           == registers.sum("multiply", "global_loads", "ideal_sectors"))
    for name, short, barriers in (("07_register_tiled", registers, 2), ("08_double_buffered", buffered, 0)):
        deeper = stage(name, rows=128)
        further_barriers = deeper.sum("multiply", "block_barriers") - short.sum("multiply", "block_barriers")
        yield (f"stage {name[:2]} waits at {'two' if barriers else 'no'} barriers of the thread block per step of 16 rows",
               further_barriers == barriers * 64 / 16)
    yield ("stage 09 loads from shared memory without bank conflicts",
           tensor.over_ideal("multiply", ("shared_loads",), "wavefronts") == 1)
    yield ("stage 09 loads operands from shared memory 3/16 as often as stage 08",
           16 * requests(tensor, "shared_loads") == 3 * (requests(buffered, "shared_loads") - result_loads))
    yield ("stage 09 splits the last tile into steps of 16 rows (split-K), and adds the partial sums in one thread block",
           [tensor.sum(kernel, "blocks") for kernel in ("multiply", "add_up")] == [64 / 16, 1])
    yield ("stage 09 waits at exactly two barriers per thread block",
           tensor.sum("multiply", "block_barriers") == 2 * tensor.sum("multiply", "blocks"))
    single_launch, by_strips = (stage(name, rows=16, cols=600) for name in ("09_tensor_core", "11_overlapped"))
    yield ("stages 09 and 11 compute 15 tiles: stage 09 in one launch, stage 11 in five launches, one per strip of "
           "columns",
           [(each.sum("multiply", "blocks"), each.launches()) for each in (single_launch, by_strips)] == [(15, 1), (15, 5)])
    yield from multiplies_residues(stage)


def multiplies_residues(stage):
    """Yields the checks of stages 10, 12 and 13 of AᵀA. The problem consists of three tiles in stage 10, and
    of one tile in stages 12 and 13."""
    moduli, side, cols = 15, 64, SETTINGS["ata"]["cols"]
    tiles, columns, kernel = cols // side * (cols // side + 1) // 2, 128 + 256, "multiply_residues"
    for rows in (128, 256):
        names = ("10_emulated", "12_modulus_per_block", "13_warpgroups")
        emulated, per_modulus, warpgroups = (stage(name, rows=rows) for name in names)
        yield (f"stage 10 stores one byte per element and modulus for {rows} rows of A",
               emulated.sum("take_apart", "global_stores", "ideal_sectors") == moduli * rows * cols // 32)
        yield (f"stage 10 waits at two barriers per tile and modulus for each 128 of {rows} rows",
               emulated.sum(kernel, "block_barriers") == 2 * moduli * tiles * rows // 128)
        yield (f"stage 10 loads twelve words per lane, tile and modulus for each 32 of {rows} rows, without bank "
               "conflicts",
               emulated.sum(kernel, "shared_loads", "requests") == moduli * tiles * 8 * 12 * rows // 32
               and emulated.over_ideal(kernel, ("shared_loads",), "wavefronts") == 1)
        yield (f"stage 12 has one thread block per modulus, which waits at two barriers for each 128 of {rows} rows",
               per_modulus.sum(kernel, "block_barriers") == 2 * moduli * rows // 128
               and per_modulus.sum(kernel, "blocks") == moduli)
        yield (f"stage 12 copies {rows} rows of 384 columns into shared memory for each modulus",
               per_modulus.sum(kernel, "shared_stores", "ideal_wavefronts") == moduli * columns * rows // 128)
        yield (f"stage 12 loads 68 words per lane and modulus for each 32 of {rows} rows, without bank conflicts",
               per_modulus.sum(kernel, "shared_loads", "requests") == moduli * 8 * 68 * rows // 32
               and per_modulus.over_ideal(kernel, ("shared_loads",), "wavefronts") == 1)
        yield (f"stage 12 stores one byte per sum and modulus, independent of the number of rows ({rows})",
               per_modulus.sum(kernel, "global_stores", "sectors") == moduli * 128 * 256 // 32)
        yield ("stage 12 stores C and its transposed copy in at most 1.2 times the minimum number of sectors, for "
               f"{rows} rows",
               per_modulus.over_ideal("put_together", ("global_stores",)) <= 1.2)
        yield ("stage 13 has one thread block per modulus, which waits at one barrier, independent of the number of "
               f"rows ({rows})",
               warpgroups.sum(kernel, "block_barriers") == warpgroups.sum(kernel, "blocks") == moduli)
        yield (f"stage 13 executes less than a tenth of the shared-memory load requests of stage 12, for {rows} rows",
               10 * warpgroups.sum(kernel, "shared_loads", "requests") < per_modulus.sum(kernel, "shared_loads", "requests"))


def durbin_levinson(stage):
    """Yields the checks of the CUDA stages of Durbin-Levinson."""
    names = ("07_naive_cuda", "08_warp_reduction", "09_in_place_pairs", "10_graph", "11_persistent_kernel")
    naive, warp, in_place, graph, persistent = map(stage, names)
    n = SETTINGS["durbin_levinson"]["n"]
    blocks = naive.sum("inner_product", "blocks")

    def barriers(counters, kernels=".*"):
        return counters.sum(kernels, "block_barriers")

    def atomics(counters):
        return counters.sum(".*", "global_atomics", "requests")

    yield "stage 07 launches two kernels per step", naive.launches() == 2 * n
    yield "stage 07 executes one atomic addition per thread block", atomics(naive) == blocks
    yield "stage 08 executes no atomic operation", atomics(warp) == 0
    yield ("stage 08 waits at one barrier per thread block in each kernel, stage 07 at eight in inner_product and at "
           "none in update",
           (barriers(naive, "inner_product"), barriers(naive, "update")) == (8 * blocks, 0)
           and barriers(warp, "inner_product") == barriers(warp, "update") == blocks)
    yield "stage 08 launches as many kernels as stage 07", warp.launches() == naive.launches()
    yield ("stage 09 updates two elements per thread, so it has less than 0.7 times the threads of stage 08 in update",
           in_place.sum("update", "threads") < 0.7 * warp.sum("update", "threads"))
    yield ("stage 09 moves less than 0.85 times the sectors of stage 08 in update",
           in_place.sectors("update") < 0.85 * warp.sectors("update"))
    yield ("stage 09 moves as many sectors as stage 08 in inner_product",
           in_place.sectors("inner_product") == warp.sectors("inner_product"))
    for name, counters in (("07", naive), ("08", warp), ("09", in_place), ("10", graph),
                           ("11", persistent), ("12", stage("12_schur"))):
        yield f"stage {name} moves at most 1.2 times the minimum number of sectors", counters.over_ideal(".*") <= 1.2
    graphs = -(-n // 128)
    yield ("stage 10 launches graphs of 128 steps, each with one more kernel that advances the step counter",
           graph.launches() == graphs * (2 * 128 + 1))
    yield "stage 10 stores as many sectors as stage 09, and one more per graph for the step counter", (
        graph.sum(".*", "global_stores", "sectors") == in_place.sum(".*", "global_stores", "sectors") + graphs)
    for number, name in (("11", "11_persistent_kernel"), ("12", "12_schur")):
        yield from stays_in_registers(stage, number, name, n)
    yield from synchronises_rarely(stage, "13_blocked_schur", n)
    yield from synchronises_rarely(stage, "14_paired_steps", n)
    persistent = stage("15_persistent_blocks")
    yield "stage 15 executes all steps in one launch", persistent.launches() == 1
    yield "stage 15 waits at one barrier per thread block and 64 steps", (
        persistent.sum(".*", "block_barriers") == -(-n // 64) * persistent.sum(".*", "blocks"))


def stays_in_registers(stage, number, name, n):
    """Yields the checks of stages 11 and 12 on one block. The tests persistent.cu and schur.cu of the CPU device cover
    clusters."""
    more_steps = 100
    short, longer = stage(name, n=n), stage(name, n=n + more_steps)
    yield f"stage {number} executes all steps in one launch", short.launches() == longer.launches() == 1
    yield (f"stage {number} waits at one barrier of the thread block per step",
           longer.sum(".*", "block_barriers") - short.sum(".*", "block_barriers") == more_steps)
    # Stage 12 reads r twice: once beginning with r_0, and once beginning with r_1.
    rows_moved = 3 if number == "11" else 4
    yield f"stage {number} moves hardly any sectors except for r, y and the reflection coefficients", (
        short.sectors() <= 1.1 * rows_moved * n * short.bytes_of_value / 32 + 40)


def synchronises_rarely(stage, name, n):
    """Yields the checks of stages 13 and 14. A launch executes 64 steps, in which each warp reads 128 pairs and keeps 64.
    The number of sectors is the minimum for the accessed data: lanes have four pairs each and access one at a time."""
    number, blocked = name[:2], stage(name)
    launches = -(-n // 64)
    yield f"stage {number} launches one kernel per 64 steps, and two further kernels", (
        blocked.launches() == launches + 2 and blocked.sum("advance", "launches") == launches)
    yield f"stage {number} waits at one barrier per thread block of advance, and at no other barrier", (
        blocked.sum(".*", "block_barriers") == blocked.sum("advance", "blocks"))
    pair = 2 * blocked.bytes_of_value / 32  # sectors
    # The first warp has no left neighbour. One warp of each block reads 64 leading pairs.
    pairs_read = launches * (2 * n - n % 64) + 64 * blocked.sum("advance", "blocks")
    read, written = (blocked.sum("advance", group, "ideal_sectors")
                     for group in ("global_loads", "global_stores"))
    yield f"stage {number} loads each pair twice per launch, and the 64 leading pairs once per thread block", (
        0.95 * pairs_read * pair <= read <= 1.05 * pairs_read * pair)
    yield f"stage {number} stores each pair once per launch", (
        launches * n * pair <= written <= 1.05 * (launches + 0.5) * n * pair)
    yield (f"stage {number} has hardly any bank conflicts: at most 1.01 times the minimum number of wavefronts",
           blocked.shared_over_ideal(".*") <= 1.01)


def durbin_levinson_batched(stage):
    """Yields the checks of the CUDA stages for batches of systems, on four warps of systems."""
    naive, on_chip = stage("02_naive_cuda"), stage("03_register_resident")
    n, warps = 64, 4
    yield ("stage 02 moves at least four times the minimum number of sectors, because lanes access different rows",
           naive.over_ideal("solve_systems") >= 4)
    yield "stage 03 moves at most 1.1 times the minimum number of sectors", on_chip.over_ideal(".*") <= 1.1
    wavefronts = on_chip.shared_over_ideal("solve_in_registers")
    yield ("stage 03 has no bank conflicts in f64, and at most 1.1 times the minimum number of wavefronts in f32",
           wavefronts == 1 or (on_chip.bytes_of_value == 4 and wavefronts <= 1.1))
    # In addition, y and alpha of each system are stored: 4 n values in total.
    loads = warps * sum(k + 4 for k in range(0, n, 2)) + warps * 2 * n
    yield ("stage 03 loads each element of r from shared memory once per two orders",
           on_chip.sum("solve_in_registers", "shared_loads", "requests") == loads)
    long = stage("04_system_per_block", systems=3, n=600)
    yield "stage 04 solves each system in a thread block of its own", long.sum("solve_in_block", "blocks") == 3
    further_barriers = (stage("04_system_per_block", systems=3, n=601).sum("solve_in_block", "block_barriers")
             - long.sum("solve_in_block", "block_barriers"))
    yield "stage 04 waits at one barrier per order and thread block", further_barriers == 3
    yield ("stage 04 moves each element once, and less than 1/100 of the sectors of stage 02, which reads y in each "
           "order",
           long.over_ideal(".*") <= 1.2 and long.sectors() < stage("02_naive_cuda", systems=3, n=600).sectors() / 100)
    subwarps = stage("05_system_per_subwarp")
    yield "stage 05 moves at most 1.1 times the minimum number of sectors", subwarps.over_ideal(".*") <= 1.1
    yield "stage 05 waits at no barrier of the thread block", subwarps.sum("solve_in_subwarps", "block_barriers") == 0
    yield ("stage 05 has no bank conflicts in f64, and at most 1.1 times the minimum number of wavefronts in f32",
           subwarps.shared_over_ideal("solve_in_subwarps") <= (1 if subwarps.bytes_of_value == 8 else 1.1))
    # Each lane loads its 32 values of r, and the warp writes 32 rows of y and of the coefficients.
    yield ("stage 05 loads each element of r from shared memory only once",
           subwarps.sum("solve_in_subwarps", "shared_loads", "requests") == 8 * 3 * 32)


def matmul(stage):
    """Yields the checks of the CUDA stages of matrix products, on six slices, two of them narrower."""
    names = ("04_cuda_slices", "05_pinned", "06_double_buffered", "07_streams")
    sliced, pinned, buffered, streamed = stages = list(map(stage, names))
    l, m, slices = SETTINGS["matmul"]["l"], SETTINGS["matmul"]["m"], 6

    def requests(counters, group, kernel="multiply"):
        return counters.sum(kernel, group, "requests")

    blocks = sliced.sum("multiply", "blocks")
    yield "stage 04 launches one kernel per slice, with one thread block per tile of 32 × 32 elements", (
        sliced.launches() == slices and blocks == 2 * sum(-(-cols // 32) for cols in (43, 43, 42)))
    yield "stage 04 loads one element of A or B from global memory per 16 products, if all tiles are full", (
        stage("04_cuda_slices", n=96).sum("multiply", "global_loads", "requests") == l * m * 96 // 16 // 32)
    yield ("stage 04 loads three elements from shared memory per two products: one of A and two of B",
           requests(sliced, "shared_loads") == 3 * blocks * 16 * m)
    yield ("stage 04 has bank conflicts, because a warp reads two rows of A's tile from the same bank",
           sliced.over_ideal("multiply", ("shared_loads",), "wavefronts") > 1)
    yield "stages 05 to 07 have the same counters in multiply as stage 04", all(
        each.sum("multiply", *what) == sliced.sum("multiply", *what) for each in stages
        for what in (("launches",), ("blocks",), ("block_barriers",), ("global_loads", "requests"),
                     ("global_stores", "sectors"), ("shared_loads", "wavefronts")))
    yield "stages 04 to 07 copy in, compute and copy out each slice once", all(
        len(each.intervals(what)) == slices for each in stages for what in ("copy in", "kernels", "copy out"))
    yield "stages 04 to 06 serialise and deserialise each slice once, stage 07 none", (
        [len(each.intervals("serialise")) for each in stages] == [len(each.intervals("deserialise")) for each in stages]
        == [slices, slices, slices, 0])
    # The CPU device runs a kernel when the host waits for it.
    for number, counters, before in (("05", pinned, False), ("06", buffered, True)):
        ready, computed = counters.intervals("serialise"), counters.intervals("kernels")
        yield (f"stage {number} serialises slice e + 1 {'before' if before else 'after'} it waits for the kernel of "
               "slice e",
               all((later[1] <= kernel[0]) == before for kernel, later in zip(computed, ready[1:])))

    # Of the three panels of A and the eight panels of B, as many are kept as fit into the budget.
    value_bytes, rows, cols = sliced.bytes_of_value, -(-l // 3), 16
    budgets = {(kept, coming): value_bytes * ((kept * rows + coming * cols) * m + 2 * rows * cols)
               for kept, coming in ((1, 2), (1, 3), (2, 2), (2, 3), (3, 2))}
    panels = {(1, 2): 3 + 8 + 6 + 6, (1, 3): 3 + 8 + 5 + 5, (2, 2): 3 + 8 + 6, (2, 3): 3 + 8 + 5, (3, 2): 3 + 8}

    def panels_sent(name, budget):
        return len(stage(name, budget=budget, Sl=3, Sn=8).intervals("copy in"))

    for name, kernel in (("08_resident_panels", "multiply"), ("09_library_kernel", None)):
        yield (f"stage {name[:2]} sends each panel of A once, and B once per group of panels of A, except for panels "
               "still on the GPU",
               {fit: panels_sent(name, budget) for fit, budget in budgets.items()} == panels)
        if kernel:
            yield f"stage {name[:2]} has the same counters in multiply as stage 07", all(
                stage(name).sum(kernel, *what) == streamed.sum(kernel, *what)
                for what in (("launches",), ("blocks",), ("global_loads", "requests")))
    # The two devices claim slices alternately at first.
    for name in ("11_multi_gpu", "14_all_gather"):
        multi_gpu = stage(name)
        of_gpu = [[len(multi_gpu.intervals(f"{what}, GPU {gpu}")) for what in ("copy in", "kernels", "copy out")]
                  for gpu in (0, 1)]
        yield f"stage {name[:2]} distributes the slices to two GPUs, and sends each panel at most once to each GPU", all(
            kernels == fetched > 0 and sent <= 2 + 3 for sent, kernels, fetched in of_gpu) and sum(
                fetched for _, _, fetched in of_gpu) == slices
    # Stages 12 and 13 also need room for two panels of A as they were sent, and stage 13 for a third slice of C.
    for name, of_c in (("12_transposed", 2), ("13_overlapped_kernels", 3)):
        fitting = {fit: budget + value_bytes * (2 * rows * m + (of_c - 2) * rows * cols) for fit, budget in budgets.items()}
        yield f"stage {name[:2]} sends as many panels as stage 09, for each memory budget", {
            fit: panels_sent(name, budget) for fit, budget in fitting.items()} == panels
        yield f"stage {name[:2]} transposes each panel of A once, for each memory budget", all(
            len(stage(name, budget=budget, Sl=3, Sn=8).intervals("transpose")) == 3 for budget in fitting.values())
        yield f"stage {name[:2]} computes and copies back each slice once", all(
            len(stage(name).intervals(what)) == slices for what in ("kernels", "copy out"))
    if value_bytes == 8:
        return
    # A value of f32 takes two values of tf32, in panels and while the panels are copied into shared memory.
    split, n = stage("10_split_tf32"), SETTINGS["matmul"]["n"]
    budgets = {fit: budget + 4 * (fit[0] * rows + fit[1] * cols + rows) * m for fit, budget in budgets.items()}
    yield "stage 10 sends as many panels as stage 09, for each memory budget", {
        fit: panels_sent("10_split_tf32", budget) for fit, budget in budgets.items()} == panels
    yield ("stage 10 splits each panel once after it was sent",
           len(split.intervals("copy in")) == len(split.intervals("split"))
           == split.sum("split", "launches") == 2 + 3)
    yield ("stage 10 stores two tf32 values per element that it splits, in fully coalesced stores",
           split.sum("split", "global_stores", "sectors") == 2 * 4 * m * (l + n) // 32)
    blocks, warps = split.sum("multiply_tiles", "blocks"), 8
    yield "stage 10 has one thread block per 128 × 256 elements of a slice", blocks == slices
    yield ("stage 10 copies both parts of its rows and columns into shared memory once per thread block",
           requests(split, "global_loads", "multiply_tiles") == 2 * 4 * m * (3 * l + 2 * n) // 16)
    warp_requests = requests(split, "shared_loads", "multiply_tiles")  # requests of a warp, each for 32 chunks of 16 bytes
    yield ("stage 10 loads 8 elements of 320 rows per warpgroup from shared memory, for each of three products",
           warp_requests == blocks * warps * (m // 8) * 3 * 5)
    yield ("stage 10 has no bank conflicts: a request for 32 chunks of 16 bytes takes four wavefronts",
           split.sum("multiply_tiles", "shared_loads", "wavefronts") == 4 * warp_requests)


def advection(stage):
    """Yields the checks of the CUDA stages of advection, over 20 steps of a field whose rows are whole cache lines."""
    names = ("10_naive_cuda", "11_coalesced", "12_tiled", "13_register_rolling", "14_skewed_time_tiling", "15_convolved",
             "16_asynchronous_copies", "17_tensor_core_filter", "18_spectral")
    naive, coalesced, tiled, rolling, time_tiled, convolved, asynchronous, tensor_cores, spectral = map(stage, names)

    def sectors_of_request(counters, kernel, group):
        return counters.sum(kernel, group, "sectors") / counters.sum(kernel, group, "requests")

    of_row = 32 * naive.bytes_of_value // 32  # sectors of 32 adjacent cells
    yield ("stage 10 launches four kernels per step, stage 11 one",
           (naive.launches(), coalesced.launches()) == (4 * 20, 20))
    yield ("stage 11 stores fully coalesced, and stage 10 does not, because its rows begin after a halo cell",
           sectors_of_request(coalesced, "update", "global_stores") == of_row
           < sectors_of_request(naive, "update", "global_stores"))
    yield ("stage 11 loads at most one extra sector for two of three neighbours in a row",
           of_row < sectors_of_request(coalesced, "update", "global_loads") <= of_row + 2 / 3)
    yield ("stage 12 executes at most a quarter of the global load requests of stage 11, and has no bank conflicts",
           4 * tiled.sum("update", "global_loads", "requests")
           <= coalesced.sum("update", "global_loads", "requests") and tiled.shared_over_ideal("update") == 1)
    yield ("stage 12 waits at two barriers per thread block and step",
           tiled.sum("update", "block_barriers") == 2 * tiled.sum("update", "blocks"))
    yield ("stage 13 executes less than a quarter of the global load requests of stage 11",
           4 * rolling.sum("update", "global_loads", "requests")
           < coalesced.sum("update", "global_loads", "requests"))
    yield ("stage 13 stores two cells at once, in the minimum number of sectors",
           rolling.sum("update", "global_stores", "requests")
           == coalesced.sum("update", "global_stores", "requests") / 2
           and rolling.over_ideal("update", ("global_stores",)) == 1)
    vectorised, pipelined = stage("19_vectorised_accesses"), stage("20_software_pipelined")
    yield ("stage 19 loads and stores half as often as stage 11, and stores in the minimum number of sectors",
           [2 * vectorised.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           == [coalesced.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           and vectorised.over_ideal("update", ("global_stores",)) == 1)
    yield ("stage 20 loads and stores as often as stage 13, in twice as many thread blocks",
           [pipelined.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           == [rolling.sum("update", group, "requests") for group in ("global_loads", "global_stores")]
           and pipelined.sum("update", "blocks") == 2 * rolling.sum("update", "blocks"))
    if naive.bytes_of_value == 4:  # the grids are the same in both precisions, and take a long time
        yield from covers_tallest_field(stage, coalesced)
    yield "stage 14 executes 20 steps in four launches", time_tiled.launches() == 4
    yield ("stage 14 loads each pair about once per sweep: less than 1.5 times as many sectors as stage 11 moves per "
           "step",
           time_tiled.sectors("carry") < 1.5 * 4 * coalesced.sectors("update") / 20)
    yield "stage 14 uses neither shared memory nor barriers of the thread block", time_tiled.sum(
        "carry", "shared_loads", "requests") + time_tiled.sum("carry", "block_barriers") == 0
    yield "stage 15 executes 20 steps in two launches", convolved.launches() == 2
    yield ("stage 15 loads from and stores in shared memory without bank conflicts",
           convolved.shared_over_ideal("convolve") == 1)
    yield ("stage 15 moves at most a quarter of the sectors of stage 13",
           4 * convolved.sectors() <= rolling.sectors())
    yield ("stage 16 waits at one barrier per eight rows, stage 15 at two",
           2 * (asynchronous.sum("convolve", "block_barriers") - asynchronous.sum("convolve", "blocks"))
           == convolved.sum("convolve", "block_barriers"))
    yield "stage 17 executes 20 steps in one launch", tensor_cores.launches() == 1
    yield ("stage 17 loads from and stores in shared memory without bank conflicts",
           tensor_cores.shared_over_ideal("convolve") == 1)
    # In f32, the band matrix along x is in shared memory as well.
    times, fraction = (5, "a fifth of") if tensor_cores.bytes_of_value == 8 else (1, "as many as")
    yield (f"stage 17 loads from shared memory in at most {fraction} the wavefronts of stage 16",
           times * tensor_cores.sum("convolve", "shared_loads", "wavefronts")
           <= asynchronous.sum("convolve", "shared_loads", "wavefronts"))
    longer = stage("18_spectral", steps=2000)
    yield ("stage 18 launches two kernels and moves as many sectors for 2000 steps as for 20",
           (spectral.launches(), spectral.sectors()) == (longer.launches(), longer.sectors()) and longer.launches() == 2)


def covers_tallest_field(stage, coalesced):
    """Yields the checks of stages 11 to 13, 19 and 20 for a field with one column and the maximum number of rows."""
    described = json.loads(subprocess.run([coalesced.program, "--describe"], check=True,
                                          stdout=subprocess.PIPE).stdout)
    tallest = next(int(each["max"]) for each in described["parameters"] if each["name"] == "rows")
    yield "stages 11 to 13, 19 and 20 compute a step of the tallest permitted field in one launch", all(
        stage(name, rows=tallest, cols=1, steps=1).launches() == 1
        for name in ("11_coalesced", "12_tiled", "13_register_rolling", "19_vectorised_accesses", "20_software_pipelined"))


def advection_distributed(stage):
    """Yields the checks of the stages for several GPUs, on two devices."""
    settings, gpus, edges = SETTINGS["advection_distributed"], 2, 2
    rows, cols, steps = settings["rows"], settings["cols"], settings["steps"]
    staged, peer, nccl, persistent = map(stage, ("08_host_staged_messages", "09_peer_copies", "10_nccl",
                                                    "11_gpu_initiated"))
    yield ("stage 08 launches two kernels per step on one GPU, and has the same counters in update as stage 09",
           staged.launches() == 2 * steps and all(
               staged.sum("update", *what) == peer.sum("update", *what)
               for what in (("blocks",), ("global_loads", "requests"), ("global_stores", "requests"))))
    yield ("stage 09 launches one kernel for the edges and one for the interior, per GPU and step",
           peer.launches() == gpus * 2 * steps)
    yield ("stage 09 has one thread block per 128 cells of a row",
           peer.sum("update", "blocks") == rows * cols // 128 * steps)
    yield ("stage 09 loads nine values and stores one per cell, and stores each cell once",
           peer.sum("update", "global_loads", "requests") == 9 * peer.sum("update", "global_stores", "requests")
           == 9 * rows * cols // 32 * steps)
    yield ("stage 09 launches only the kernel for the edges if a GPU has no interior rows",
           stage("09_peer_copies", rows=gpus * edges).launches() == gpus * steps)
    yield "stage 10 has the same counters in update as stage 09", all(
        nccl.sum("update", *what) == peer.sum("update", *what)
        for what in (("launches",), ("blocks",), ("global_loads", "sectors"), ("global_stores", "sectors")))
    yield "stage 11 launches one kernel per GPU, with one thread block per row of this small field", (
        persistent.launches() == gpus and persistent.sum("advance", "blocks") == rows)
    yield ("stage 11 waits at two barriers per tile, and at one per thread block before its first tile",
           persistent.sum("advance", "block_barriers") == (2 * steps + 1) * rows)
    yield ("stage 11 stores each cell once, two cells at a time, and edge cells also in the halo of the neighbour",
           persistent.sum("advance", "global_stores", "requests") == (rows + gpus * edges) * cols // 64 * steps)
    tiled = stage("12_time_tiled", steps=24)  # four sweeps of six steps
    yield "stage 12 launches two kernels per GPU and six steps", tiled.launches() == gpus * 2 * 24 // 6
    yield ("stage 12 moves less than a sixth of the sectors of stage 10 per step",
           6 * tiled.sectors("carry") / 24 < nccl.sectors("update") / steps)


def nbody(stage):
    """Yields the checks of the CUDA stages of n-body, over two all-pairs evaluations of 1024 bodies."""
    names = ("04_naive_cuda", "05_tiled", "06_register_tiled", "10_split_reductions")
    naive, tiled, registers, split = map(stage, names)
    pairs = 2 * 1024 * 1024 // 32  # per warp

    def requests(counters, group):
        return counters.sum("evaluate", group, "requests")

    loads = registers.bytes_of_value * 8 // 16  # 16-byte loads per body
    yield ("stage 04 loads seven values per pair from global memory, and none from shared memory",
           7 * pairs <= requests(naive, "global_loads") <= 7.01 * pairs
           and requests(naive, "shared_loads") == 0)
    yield ("stage 05 loads each source body from global memory once per thread block, that is, once per 128 pairs",
           requests(tiled, "global_loads") <= (1 + 1 / 8) * loads * pairs / 128)
    yield ("stage 05 loads from shared memory as often as stage 04 from global memory: seven values per pair",
           requests(tiled, "shared_loads") == 7 * pairs)
    yield ("stage 05 waits at two barriers per tile and thread block",
           tiled.sum("evaluate", "block_barriers") == 2 * (1024 // 128) * tiled.sum("evaluate", "blocks"))
    yield ("stage 06 loads each source body with 16-byte loads, once per four pairs",
           requests(registers, "shared_loads") == loads * pairs / 4)
    yield ("stage 06 has a quarter of the threads of stage 05",
           4 * registers.sum("evaluate", "threads") == tiled.sum("evaluate", "threads"))
    yield ("stage 10 loads from shared memory as often as stage 06, in eight times as many thread blocks",
           requests(split, "shared_loads") == requests(registers, "shared_loads")
           and split.sum("evaluate", "blocks") == 8 * registers.sum("evaluate", "blocks"))
    yield ("stage 10 stores eight partial sums per sum",
           requests(split, "global_stores") == 8 * requests(registers, "global_stores"))
    for name, counters in (("04", naive), ("05", tiled), ("06", registers), ("10", split)):
        yield (f"stage {name} launches one evaluation at the start and three kernels per step",
               counters.launches() == 1 + 3)
    blocks = -(-4224 // 512)  # for the 16 SMs of the CPU device
    for name, partial_sums in (("10_split_reductions", -(-8 * 16 // blocks)), ("11_short_last_wave", 32)):
        yield (f"stage {name[:2]} has {partial_sums} partial sums per sum over 33 tiles",
               stage(name, bodies=4224, steps=0).sum("evaluate", "blocks") == partial_sums * blocks)
    replicated = stage("12_replicated")  # on two devices
    yield ("stage 12 loads from shared memory as often on two GPUs together as stage 10 on one",
           requests(replicated, "shared_loads") == requests(split, "shared_loads"))
    yield ("stage 12 launches as many kernels on each of two GPUs as stage 10 on one",
           replicated.launches() == 2 * split.launches())
    if registers.bytes_of_value == 4:
        yield from streams_bodies(stage)
        mixed = stage("07_mixed_precision")
        yield ("stage 07 loads from shared memory 1.5 times as often as stage 06: three 16-byte loads per four pairs "
               "instead of two",
               2 * requests(mixed, "shared_loads") == 3 * requests(registers, "shared_loads"))


def streams_bodies(stage):
    """Yields the checks of stages 08 and 09 for one evaluation of 2048 bodies, in slices of 512 and of 256, on two GPUs."""
    register_tiled = stage("06_register_tiled", bodies=2048, steps=0)
    for slices in (4, 8):
        one, several = (stage(name, bodies=2048, steps=0, budget=44 * 4 * 2048 // slices)
                        for name in ("08_out_of_core", "09_multi_gpu"))
        for name, counters in (("08", one), ("09", several)):
            yield (f"stage {name} continues and stores each sum once for each of {slices} slices of source bodies",
                   counters.sum("evaluate", "global_stores", "requests")
                   == slices * register_tiled.sum("evaluate", "global_stores", "requests"))
            if slices == 4:  # slices consist of whole thread blocks
                yield (f"stage {name} loads from shared memory with as many wavefronts as stage 06, for {slices} slices",
                       counters.sum("evaluate", "shared_loads", "wavefronts")
                       == register_tiled.sum("evaluate", "shared_loads", "wavefronts"))
        yield (f"stage 08 sends each of {slices} slices once as bodies and {slices} times as source bodies",
               [len(one.intervals(what)) for what in ("copy in", "kernels", "copy out")]
               == [slices + slices ** 2, slices ** 2, slices])
        of_gpu = [[len(several.intervals(f"{what}, GPU {gpu}")) for what in ("copy in", "kernels", "copy out")]
                  for gpu in (0, 1)]
        yield (f"stage 09 distributes {slices} slices to two GPUs, each of which sends, computes and fetches its own "
               "slices",
               sum(fetched for _, _, fetched in of_gpu) == slices
               and all(fetched > 0 and (sent, kernels) == (fetched + slices * fetched, slices * fetched)
                       for sent, kernels, fetched in of_gpu))


def triangular_solve(stage):
    """Yields the checks of the CUDA stages of the triangular solve, on 5 blocks of 64 unknowns."""
    names = ("04_naive_cuda", "05_blocked_cuda", "06_inverted_blocks", "07_flags_in_data", "08_prefetched")
    naive, blocked, inverted, flags, prefetched = map(stage, names)
    n, steps, block = SETTINGS["triangular_solve"]["n"], 5, 64
    below = steps * (steps - 1) // 2  # number of blocks of L below the diagonal
    loads = block * block // 2 // 32  # requests for such a block, two values per lane
    sectors = block * block * naive.bytes_of_value // 32

    def requests(counters, kernels, group="global_loads"):
        return counters.sum(kernels, group, "requests")

    yield "stage 04 launches one kernel per column", naive.launches() == n
    yield ("stage 04 loads at least twice the minimum number of sectors in eliminate, because lanes load from "
           "different rows",
           naive.over_ideal("eliminate", ("global_loads",)) >= 2)
    yield ("stage 05 launches two kernels per 64 columns, and only one for the last 64 columns",
           blocked.launches() == 2 * steps - 1)
    yield "stage 05 moves less than a third of the sectors of stage 04", 3 * blocked.sectors() < naive.sectors()
    for name, counters in (("05", blocked), ("06", inverted), ("07", flags), ("08", prefetched)):
        yield f"stage {name} moves at most 1.1 times the minimum number of sectors", counters.over_ideal(".*") <= 1.1
    yield ("stage 05 waits at one barrier per column in solve_diagonal",
           blocked.sum("solve_diagonal", "block_barriers") == n)
    yield ("stage 06 waits at one barrier per 64 columns in solve_diagonal, and inverts all blocks on the diagonal in "
           "one launch",
           inverted.sum("solve_diagonal", "block_barriers") == steps
           and inverted.sum("invert", "blocks") == steps and inverted.sum("invert", "launches") == 1)
    yield ("stage 06 moves as many sectors as stage 05 in subtract",
           inverted.sectors("subtract") == blocked.sectors("subtract"))
    larger = {name: stage(name, n=2 * n) for name in names[3:]}
    for name, counters in zip(names[3:], (flags, prefetched)):
        yield (f"stage {name[:2]} launches one kernel, independent of the number of unknowns",
               counters.launches() == larger[name].launches() == 1)
        yield (f"stage {name[:2]} has one thread block per 64 rows",
               counters.sum("substitute_rows", "blocks") == steps)
        yield (f"stage {name[:2]} waits at one barrier per block of L below the diagonal, and at 3 + 64 further ones "
               "per thread block",
               counters.sum("substitute_rows", "block_barriers") == below + (3 + block) * steps)
        yield (f"stage {name[:2]} loads each block of L on and below the diagonal once",
               (below + steps) * sectors <= counters.sum("substitute_rows", "global_loads", "sectors")
               <= 1.02 * (below + steps) * sectors + n * 2)
        yield (f"stage {name[:2]} stores only the unknowns in global memory",
               counters.sum("substitute_rows", "global_stores", "sectors")
               + counters.sum("substitute_rows", "global_atomics", "requests") < sectors)
    yield ("stage 08 executes as many load requests for L as stage 07: for pairs of elements, and for single elements "
           "on the diagonal",
           loads * (below + 2 * steps) <= requests(prefetched, "substitute_rows")
           == requests(flags, "substitute_rows"))
    for blocks in (1, 2):
        sliced = stage("09_out_of_core", budget=2 * blocks * block * n * naive.bytes_of_value)
        panels = -(-steps // blocks)
        yield (f"stage 09 launches one kernel per panel of {blocks * block} rows", sliced.launches() == panels)
        yield (f"stage 09 executes as many global load requests as stage 08, with panels of {blocks * block} rows",
               requests(sliced, "substitute_rows") == requests(prefetched, "substitute_rows"))
        yield (f"stage 09 logs one interval per panel of {blocks * block} rows", len(sliced.intervals("panels")) == panels)
    one_side, full_block, one_more = (stage("10_multiple_right_hand_sides", rhs=sides) for sides in (1, block, block + 1))
    yield "stage 10 launches as many kernels as stage 06, for one right-hand side as well as for 65", (
        inverted.launches() == one_side.launches() == one_more.launches() == 2 * steps)
    yield "stage 10 moves as many sectors for 64 right-hand sides as for one", full_block.sectors() == one_side.sectors()
    yield ("stage 10 loads each block of L once for 64 right-hand sides, with as many unknowns and partially updated "
           "elements",
           full_block.sum("subtract", "global_loads", "sectors") == 3 * below * sectors)
    yield ("stage 10 moves twice as many sectors in subtract for 65 right-hand sides as for 64",
           one_more.sectors("subtract") == 2 * full_block.sectors("subtract"))
    yield "stage 10 moves at most 1.1 times the minimum number of sectors", one_more.over_ideal(".*") <= 1.1
    register_tiled, two_step = stage("11_register_tiled"), stage("12_two_step_prefetch")
    recursive, polling = stage("13_recursive_inversion"), stage("14_polling_warp")
    yield ("stage 14 waits at one barrier fewer than stage 13 per block of L below the diagonal",
           recursive.sum("substitute_rows", "block_barriers") - polling.sum("substitute_rows", "block_barriers")
           == below)
    yield ("stage 13 waits at 13 barriers to invert a block on the diagonal, stage 12 at 67",
           two_step.sum("substitute_rows", "block_barriers") - recursive.sum("substitute_rows", "block_barriers")
           == (67 - 13) * steps)
    of_sector = 32 // recursive.bytes_of_value
    yield ("stage 13 loads the sectors that stage 12 loads, except those above the diagonal",
           two_step.sum("substitute_rows", "global_loads", "sectors")
           - recursive.sum("substitute_rows", "global_loads", "sectors")
           == sum((block - 1 - i) // of_sector for i in range(block)) * steps)
    precomputed, batched = stage("15_precomputed_product"), stage("16_batched_loads")
    yield ("stage 15 waits at one barrier fewer per thread block than stage 14",
           polling.sum("substitute_rows", "block_barriers") - precomputed.sum("substitute_rows", "block_barriers") == steps)
    yield ("stage 15 loads as many sectors as stage 14, and thus each block of L once",
           polling.sum("substitute_rows", "global_loads", "sectors")
           == precomputed.sum("substitute_rows", "global_loads", "sectors"))
    yield ("stage 15 stores one more block of L in shared memory than stage 14, in each thread block except the first",
           requests(precomputed, "substitute_rows", "shared_stores") - requests(polling, "substitute_rows", "shared_stores")
           == block * block // 32 * (steps - 1))
    yield ("stage 16 executes fewer global load requests than stage 15: it loads two blocks of L in pairs instead of "
           "single elements",
           requests(precomputed, "substitute_rows") > requests(batched, "substitute_rows"))
    yield ("stage 16 loads the sectors that stage 15 loads, and those above the diagonal",
           batched.sum("substitute_rows", "global_loads", "sectors")
           - precomputed.sum("substitute_rows", "global_loads", "sectors")
           == sum((block - 1 - i) // of_sector for i in range(block)) * steps)
    asynchronous, clustered = stage("17_asynchronous_copies"), stage("18_distributed_shared_memory")
    yield ("stage 17 loads as many sectors as stage 16",
           asynchronous.sum("substitute_rows", "global_loads", "sectors")
           == batched.sum("substitute_rows", "global_loads", "sectors"))
    yield ("stage 17 also stores those blocks of L in shared memory that are neither on the diagonal nor next to it",
           requests(asynchronous, "substitute_rows", "shared_stores") - requests(batched, "substitute_rows", "shared_stores")
           == (below - (steps - 1)) * block * block // 2 // 32)
    same_cluster = sum(number - number // 8 * 8 for number in range(steps))
    yield ("stage 18 polls only for unknowns of other clusters, and claims one index per cluster",
           requests(asynchronous, "substitute_rows", "global_atomics")
           - requests(clustered, "substitute_rows", "global_atomics")
           == 2 * same_cluster + steps - -(-steps // 8))
    tensor_cores = stage("21_tensor_core_inversion")
    yield ("stage 21 executes less than half of the shared-memory load requests of stage 18",
           requests(tensor_cores, "substitute_rows", "shared_loads")
           < 0.5 * requests(clustered, "substitute_rows", "shared_loads"))
    for name, counters in (("11", register_tiled), ("12", two_step)):
        yield f"stage {name} launches one kernel", counters.launches() == 1
        yield (f"stage {name} loads as many sectors of L as stage 08",
               counters.sum("substitute_rows", "global_loads", "sectors")
               == prefetched.sum("substitute_rows", "global_loads", "sectors"))
        yield (f"stage {name} loads unknowns from shared memory a quarter as often as stage 08, and the inverse once",
               requests(prefetched, "substitute_rows", "shared_loads")
               - requests(counters, "substitute_rows", "shared_loads")
               == loads * 3 // 4 * (below + steps) - loads * steps)



def cholesky(stage):
    """Yields the checks of the CUDA stages of A = L Lᵀ, on two and a half panels of 256 columns."""
    panels, tiled, tensor = map(stage, ("06_panel_and_update", "07_tiled_update", "08_tensor_cores"))
    n, block, panel, tile = SETTINGS["cholesky"]["n"], 64, 256, 128
    steps = n // block
    # Stage 05 takes a long time on the CPU device. It is compared with stage 06 on half of the columns.
    half = n // 2
    naive, blocked_half = (stage(name, n=half) for name in ("05_naive_cuda", "06_panel_and_update"))

    def requests(counters, kernels, group):
        return counters.sum(kernels, group, "requests")

    yield "stage 05 launches two kernels per column", naive.launches() == 2 * half
    yield ("stage 05 stores all elements to the right of each column",
           naive.sum("update", "global_stores", "sectors") * 32 >= naive.bytes_of_value * half**3 / 6)
    yield ("stage 06 launches one kernel per block on the diagonal, one for the rows below it, one for the rest of "
           "its panel, and one update per panel",
           [panels.sum(kernel, "launches") for kernel in ("factorise_block", "solve_below", "update")]
           == [steps, steps - 1, (steps - 1) - (steps - 1) // 4 + n // panel])
    yield ("stage 06 stores less than a thirtieth of the sectors of stage 05",
           30 * blocked_half.sum(".*", "global_stores", "sectors") < naive.sum(".*", "global_stores", "sectors"))
    yield ("stage 06 waits at one barrier per column in factorise_block, and at two per thread block in solve_below",
           panels.sum("factorise_block", "block_barriers") == n
           and panels.sum("solve_below", "block_barriers") == 2 * panels.sum("solve_below", "blocks"))
    for name, counters in (("06", panels), ("07", tiled), ("08", tensor)):
        yield (f"stage {name} moves at most 1.2 times the minimum number of sectors in factorise_block and solve_below",
               counters.over_ideal("factorise_block|solve_below") <= 1.2)
    for name, counters in (("07", tiled), ("08", tensor)):
        yield (f"stage {name} moves as many sectors as stage 06 in factorise_block and solve_below",
               counters.sectors("factorise_block|solve_below") == panels.sectors("factorise_block|solve_below"))
        yield f"stage {name} launches as many kernels as stage 06", counters.launches() == panels.launches()
        yield (f"stage {name} moves at most 1.1 times the minimum number of sectors in update",
               counters.over_ideal("update") <= 1.1)
        yield (f"stage {name} has no bank conflicts in update: at most 1.001 times the minimum number of wavefronts",
               counters.shared_over_ideal("update") <= 1.001)
        yield (f"stage {name} loads less than a tenth of the sectors of stage 06 in update",
               10 * counters.sum("update", "global_loads", "sectors") < panels.sum("update", "global_loads", "sectors"))
        copies = 2 * tile * 128 // 16 // 32  # requests for 128 bytes of each row of both factors
        yield (f"stage {name} waits in update at one barrier per 128 bytes of each row of a tile",
               counters.sum("update", "block_barriers")
               == requests(counters, "update", "shared_stores") / copies)
    yield ("stage 08 loads its factors from shared memory in a quarter of the wavefronts of stage 07",
           4 * tensor.sum("update", "shared_loads", "wavefronts") == tiled.sum("update", "shared_loads", "wavefronts"))
    yield ("stage 08 stores two elements at a time: it executes less than 0.6 times the store requests of stage 07",
           requests(tensor, "update", "global_stores") < 0.6 * requests(tiled, "update", "global_stores"))
    yield from overlaps_updates(stage, tensor)
    yield from in_one_launch(stage, tensor)


def overlaps_updates(stage, tensor):
    """Yields the checks of stages 09, 12 and 13 of A = L Lᵀ: other launches of the same kernels, in several streams."""
    n, block, panel = SETTINGS["cholesky"]["n"], 64, 256
    value_bytes, chain = tensor.bytes_of_value, "factorise_block|solve_below"
    look_ahead, panels = stage("09_look_ahead"), -(-n // panel)
    yield ("stage 09 moves as many sectors as stage 08 in factorise_block and solve_below",
           look_ahead.sectors(chain) == tensor.sectors(chain))
    yield ("stage 09 updates in two launches, one for the next panel and one for the other columns, if there are "
           "other columns",
           look_ahead.launches() == tensor.launches() + panels - 2)
    yield ("stage 09 computes as many products as stage 08, in tiles that do not extend into the next panel",
           look_ahead.sum("update", "block_barriers") == tensor.sum("update", "block_barriers"))
    yield ("stage 09 logs one interval per panel, and one interval for the update of the other columns per panel "
           "except the last",
           len(look_ahead.intervals("panels")) == panels and len(look_ahead.intervals("updates")) == panels - 1)
    for blocks in (1, 2, 4):
        width, slabs = blocks * block, -(-n // (blocks * block))
        budget = value_bytes * width * (n + n - width + 2 * (n - 2 * width))
        out_of_core = stage("12_out_of_core", budget=budget)
        repeated = sum(e - 1 for e in range(1, slabs))
        yield (f"stage 12 sends each of {slabs} slabs of {width} columns once, and again for each later slab except "
               "the next",
               len(out_of_core.intervals("copy in")) == slabs + repeated and len(out_of_core.intervals("copy out")) == slabs)
        yield (f"stage 12 moves as many sectors as stage 08 in factorise_block and solve_below, with slabs of {width} "
               "columns",
               out_of_core.sectors(chain) == tensor.sectors(chain))
    # Each of the two devices has every other panel.
    multi_gpu = stage("13_multi_gpu")
    of_gpu = [[len(multi_gpu.intervals(f"{what}, GPU {gpu}")) for what in ("panels", "fetch", "updates")] for gpu in (0, 1)]
    yield ("stage 13 factorises each panel on one of two GPUs, and the other GPU fetches the panel",
           of_gpu == [[panels - panels // 2, panels // 2, panels - 1], [panels // 2, panels - panels // 2, panels - 1]])
    yield ("stage 13 moves as many sectors as stage 08 in factorise_block and solve_below",
           multi_gpu.sectors(chain) == tensor.sectors(chain))
    yield ("stage 13 computes as many products on two GPUs together as stage 09 on one",
           multi_gpu.sum("update", "block_barriers") == look_ahead.sum("update", "block_barriers"))


def in_one_launch(stage, tensor):
    """Yields the checks of stages 10 and 11, compared with stage 08."""
    left_looking, one_launch = stage("10_left_looking_tiles"), stage("11_one_launch")
    tile, tiles, square, squares = 128, SETTINGS["cholesky"]["n"] // 128, 16, 128 // 16
    below, all_tiles = tiles * (tiles - 1) // 2, tiles * (tiles + 1) // 2
    products = sum(j * (tiles - j) for j in range(tiles))  # number of products of tiles
    of_tile, of_square = (side**2 * one_launch.bytes_of_value // 32 for side in (tile, square))
    on_diagonal = squares * (squares + 1) // 2 * of_square

    def sectors(group):
        return one_launch.sum("factorise_tile", group, "sectors")

    yield "stage 10 launches one kernel per tile on the diagonal, and one for all tiles below it", (
        left_looking.launches() == 2 * tiles - 1 and left_looking.sum("factorise_tile", "blocks") == all_tiles)
    for group in ("global_loads", "global_stores"):
        yield (f"stage 11 moves as many sectors in {group.replace('_', ' ')} as stage 10",
               left_looking.sum("factorise_tile", group, "sectors") == sectors(group))
    yield ("stage 10 stores less than half of the sectors of stage 08",
           2 * left_looking.sum("factorise_tile", "global_stores", "sectors")
           < tensor.sum(".*", "global_stores", "sectors"))
    yield ("stage 11 launches one kernel, independent of the number of rows",
           one_launch.launches() == stage("11_one_launch", n=tile + 1).launches() == 1)
    yield "stage 11 has one thread block per tile", one_launch.sum("factorise_tile", "blocks") == all_tiles
    yield ("stage 11 loads A once, two tiles per product, and per tile below the diagonal the tile on the diagonal "
           "and its inverses",
           sectors("global_loads") == (all_tiles + 2 * products + below) * of_tile + below * squares * of_square)
    yield ("stage 11 stores L once, and the inverses of the squares on the diagonal",
           sectors("global_stores") == below * of_tile + tiles * (on_diagonal + squares * of_square))
    yield ("stage 11 stores less than half of the sectors of stage 08",
           2 * sectors("global_stores") < tensor.sum(".*", "global_stores", "sectors"))
    yield "stage 11 moves exactly the minimum number of sectors", one_launch.over_ideal("factorise_tile") == 1
    yield ("stage 11 has bank conflicts only in squares on the diagonal: at most 1.25 times the minimum number of "
           "wavefronts",
           one_launch.shared_over_ideal("factorise_tile") <= 1.25)
    yield from flags_per_sub_tile(stage)


def flags_per_sub_tile(stage_of_size):
    """Yields the checks of stages 14 to 23 on four tiles, because these stages take a long time on the CPU device. The copy
    engine moves 16 bytes at a time, which is half a sector."""
    tile, tiles, square, squares = 128, 4, 16, 128 // 16

    def stage(name, **changes):
        return stage_of_size(name, **{"n": tiles * tile} | changes)

    names = ("14_packed_tiles", "15_tma_bulk_copies", "16_split_barriers", "17_warp_specialisation", "18_flags_per_sub_tile",
             "19_root_free", "20_fragment_order")
    counted = {name[:2]: stage(name) for name in names}
    below, all_tiles = tiles * (tiles - 1) // 2, tiles * (tiles + 1) // 2
    of_tile, of_square = (side**2 * counted["14"].bytes_of_value // 32 for side in (tile, square))
    products = sum(j * (2 * (tiles - 1 - j) + 1) for j in range(tiles)) * of_tile  # two tiles each, one on the diagonal
    under = squares * (squares - 1) // 2 * of_square  # the squares below the diagonal of a tile on the diagonal
    inverses = squares * of_square
    copied = products + below * (under + inverses)

    def count(number, group, what="sectors"):
        return counted[number].sum("factorise_tile", group, what)

    def barriers(number):
        return counted[number].sum("factorise_tile", "block_barriers")

    for number, name in zip(counted, names):
        tma, bulk_stores = number >= "15", number >= "18"
        yield (f"stage {number} launches one kernel, independent of the number of rows",
               counted[number].launches() == stage(name, n=tile + 1).launches() == 1)
        yield (f"stage {number} loads A once, two tiles per product (one on the diagonal), and per tile below the "
               "diagonal its divisors",
               count(number, "global_loads") == all_tiles * of_tile + (2 if tma else 1) * copied)
        yield (f"stage {number} stores L once in rows, and once in packed sub-tiles",
               count(number, "global_stores")
               == 2 * below * of_tile + (3 if bulk_stores else 2) * tiles * (under + inverses))
        yield (f"stage {number} moves exactly the minimum number of sectors",
               counted[number].over_ideal("factorise_tile") == 1)
        yield (f"stage {number} has bank conflicts only in squares on the diagonal: at most 1.1 times the minimum "
               "number of wavefronts",
               counted[number].shared_over_ideal("factorise_tile") <= 1.1)
    yield ("stage 15 waits at one barrier fewer per thread block than stage 14, because each warp publishes its own rows",
           barriers("14") - barriers("15") == all_tiles)
    yield ("stage 16 waits at no barrier of the thread block per square on the diagonal, stage 15 at two",
           barriers("15") - barriers("16") == 2 * squares * tiles)
    for number in list(counted)[3:]:
        yield f"stage {number} waits at one barrier of the thread block per tile", barriers(number) == all_tiles
    yield ("stage 19 executes the same global loads and stores as stage 18",
           all(count("19", group, what) == count("18", group, what)
           for group in ("global_loads", "global_stores") for what in ("sectors", "requests")))
    yield ("stage 20 loads single elements, stage 19 pairs: more than 1.5 times as many shared-memory loads, in no "
           "more wavefronts",
           count("20", "shared_loads", "requests") > 1.5 * count("19", "shared_loads", "requests")
           and count("20", "shared_loads", "wavefronts") <= count("19", "shared_loads", "wavefronts"))
    yield from multi_gpu_dataflow(stage, counted["20"], below * of_tile)
    yield from swizzled_tile_order(stage, counted["20"], all_tiles)


def multi_gpu_dataflow(stage, fragment_order, packed_once):
    """Yields the checks of stage 21, compared with stage 20, on one device and on two."""
    one_gpu, two_gpus = stage("21_multi_gpu_dataflow", gpus=1), stage("21_multi_gpu_dataflow")

    def count(counters, group):
        return counters.sum("factorise_tile", group, "sectors")

    yield "stage 21 launches one kernel on each GPU", (one_gpu.launches(), two_gpus.launches()) == (1, 2)
    yield ("stage 21 has as many thread blocks on two GPUs together as stage 20 on one",
           two_gpus.sum("factorise_tile", "blocks") == fragment_order.sum("factorise_tile", "blocks"))
    yield ("stage 21 loads as many sectors as stage 20, on one GPU and on two",
           count(fragment_order, "global_loads") == count(one_gpu, "global_loads") == count(two_gpus, "global_loads"))
    yield ("stage 21 stores as many sectors as stage 20, and on two GPUs also a packed copy of each tile below the "
           "diagonal",
           count(fragment_order, "global_stores") == count(one_gpu, "global_stores")
           == count(two_gpus, "global_stores") - packed_once)


def swizzled_tile_order(stage, fragment_order, all_tiles):
    """Yields the checks of stages 22 and 23, compared with stage 20, with as many tiles as can start at once."""
    swizzled, deeper = stage("22_swizzled_tile_order"), stage("23_deeper_mma")

    def count(counters, group, what="sectors"):
        return counters.sum("factorise_tile", group, what)

    yield ("stage 22 executes one global atomic more than stage 20 per tile, to count the tile",
           count(swizzled, "global_atomics", "requests") == count(fragment_order, "global_atomics", "requests") + all_tiles)
    for number, counters in (("22", swizzled), ("23", deeper)):
        yield (f"stage {number} executes as many global loads, global stores and shared-memory stores as stage 20, on "
               "as many sectors",
               all(count(counters, group, what) == count(fragment_order, group, what)
                   for group in ("global_loads", "global_stores", "shared_stores") for what in ("sectors", "requests")
                   if (group, what) != ("shared_stores", "sectors")))
        yield f"stage {number} launches one kernel", counters.launches() == 1
    yield ("stage 23 loads from shared memory in as many wavefronts as stage 22",
           count(deeper, "shared_loads", "wavefronts") == count(swizzled, "shared_loads", "wavefronts"))


def main(directory, name):
    """Prints one TAP line per check."""
    checks = []
    for precision in ("f64",) if name == "ata" else ("f64", "f32"):

        def stage(stage_name, precision=precision, **changes):
            program = pathlib.Path(directory, f"{name}-{stage_name}-cpu-analyze")
            return Counters(program.resolve(), SETTINGS[name] | changes, precision)

        checks += [(f"{precision}: {title}", passed) for title, passed in globals()[name](stage)]
    print(f"1..{len(checks)}")
    for number, (title, passed) in enumerate(checks, 1):
        print(f"{'ok' if passed else 'not ok'} {number} - {title}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in SETTINGS:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
