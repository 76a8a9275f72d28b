r"""The cost of communication: a model, the measurements that it needs, and the times against which it is checked.

Usage: python3 docs communication measure BUILD OUTPUT.json [REPEATS]
       python3 docs communication simulate SOURCE OUTPUT.json [RANKS ...]

The command `measure` runs the programs in BUILD on this machine. It measures messages between two ranks, and stages of
advection_distributed on one and on two ranks. The command `simulate` compiles the stages for SMPI, the MPI library of
the simulator SimGrid; SOURCE is the root of the repository. The command then runs the stages on the simulated cluster of
docs/platforms/fat_tree.xml, with the given numbers of ranks or, by default, with 16 to 4096 ranks. Both commands write a
recording. The recording contains the figures that pages quote; `figures_of` and `simulated_figures` name these figures.

A page requests tables and plots by the names of the files that it includes:

    <!-- communication.prices.html -->
    <!-- communication.measured.html -->
    <!-- communication.widths.html -->
    <!-- communication.strong.html -->
    <!-- communication.weak.html -->
"""

import concurrent.futures
import dataclasses
import datetime
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from measure import recordings

BYTES = 8  # of an f64 element
MOST_WIDTH = 64  # the widest halo that is considered, in cells
OPERATIONS = 20  # floating-point operations per cell and step, as the workload counts them
STAGES = ("01_row_decomposition", "02_block_decomposition", "03_overlapped_communication", "05_wide_halo")
WIDE = STAGES[3]


# --- The model

@dataclasses.dataclass
class Costs:
    """Costs in seconds: `alpha` per message, `beta` per byte, and `gamma` per cell. `busy` is the part of alpha during
    which the processor is busy."""

    alpha: float
    beta: float
    gamma: float
    busy: float = 0


@dataclasses.dataclass
class Case:
    """A field that is distributed over p × q ranks, p along y and q along x."""

    rows: int
    cols: int
    p: int
    q: int = 1

    @property
    def own(self):
        """The numbers of rows and columns of the largest block of a rank."""
        return -(-self.rows // self.p), -(-self.cols // self.q)


def case_of(stage, rows, cols, ranks):
    """A field, distributed in the same way as in a stage: by rows, or in the blocks with the shortest edges."""
    if stage == STAGES[0]:
        return Case(rows, cols, ranks)
    grids = [(p, ranks // p) for p in range(1, ranks + 1) if ranks % p == 0]
    return Case(rows, cols, *min(grids, key=lambda grid: (rows * grid[1] + cols * grid[0], -grid[0])))


def messages(stage, case, width=1):
    """The bytes of each message that a rank sends in one exchange. A rank refreshes its halo of `width` cells every `width`
    steps."""
    rows, cols = case.own
    along_y = 2 * [BYTES * width * cols]
    return along_y if stage == STAGES[0] else along_y + 2 * [BYTES * width * (rows + 2 * width)]


def blocking(costs, stage, case):
    """The time of a step, in seconds, in which a rank waits for one message after the other."""
    rows, cols = case.own
    return costs.gamma * rows * cols + sum(costs.alpha + costs.beta * size for size in messages(stage, case))


def overlapped(costs, case):
    """The time of a step, in seconds, in which a rank computes one half of the interior while rows are in transit, and the
    other half while columns are in transit."""
    rows, cols = case.own
    middle = rows // 2 + 1
    halves = [max(cells, 0) * (cols - 2) for cells in (middle - 2, rows - middle)]
    sizes = messages(STAGES[2], case)
    time = costs.gamma * (rows * cols - sum(halves)) + len(sizes) * costs.busy
    for cells, pair in zip(halves, (sizes[:2], sizes[2:])):
        time += max(costs.gamma * cells, costs.alpha - costs.busy + costs.beta * sum(pair))
    return time


def cells(case, width):
    """The number of cells that a rank updates in `width` steps, between two exchanges of a halo of `width` cells."""
    rows, cols = case.own
    return sum((rows + 2 * k) * (cols + 2 * k) for k in range(width))


def wide(costs, case, width):
    """The time of a step in seconds, for blocks with a halo of `width` cells, which is refreshed every `width` steps."""
    sizes = messages(WIDE, case, width)
    return (costs.gamma * cells(case, width) + sum(costs.alpha + costs.beta * size for size in sizes)) / width


def best_width(case, time):
    """The width of a halo, in cells, that minimises `time(width)`, the time of a step."""
    return min(range(1, min(MOST_WIDTH, case.rows // case.p, case.cols // case.q) + 1), key=time)


def step_time(costs, stage, rows, cols, ranks, width=1):
    """The modelled time of a step of a stage, in seconds."""
    case = case_of(stage, rows, cols, ranks)
    if stage == WIDE:
        return wide(costs, case, width)
    return overlapped(costs, case) if stage == STAGES[2] else blocking(costs, stage, case)


def ranks_for_blocks(costs, n):
    """The number of ranks above which blocks of a field of n × n cells are faster than rows; infinite if blocks are never
    faster."""
    gain = 1 - costs.alpha / (BYTES * n * costs.beta)
    return 4 / gain ** 2 if gain > 0 else math.inf


def fit(points):
    """Alpha and beta that minimise the sum of squares of relative errors over points (bytes, seconds)."""
    weights = [(1 / seconds, size / seconds) for size, seconds in points]
    aa, ab, bb = (sum(u[i] * u[j] for u in weights) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(u[i] for u in weights) for i in (0, 1))
    det = aa * bb - ab * ab
    return (a * bb - b * ab) / det, (b * aa - a * ab) / det


# --- Measured

KINDS = {"short": (8, 4095), "long": (4096, 65536)}  # bytes; Open MPI negotiates a message of 4096 bytes or more
                                                     # before it sends the message
MEASURED, SIMULATED = ("amd-epyc-2-cores", "communication"), ("fat-tree", "communication")
SIZES = (64, 128, 256, 512, 1024, 2048)
REPEATS = 15


def mpiexec(ranks, *command):
    """The standard output of a program that runs on several ranks."""
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                "OMPI_MCA_mpi_yield_when_idle": "1",
                                "OMPI_MCA_orte_execute_quiet": "1", "OMPI_MCA_btl": "^tcp"}
    return subprocess.run(["mpiexec", "--oversubscribe", "-n", str(ranks), *map(str, command)], env=environment,
                          check=True, capture_output=True, text=True).stdout


def summary(times):
    """The minimum, median and maximum of a list of times, in the form of a recording."""
    return {"min": min(times), "median": statistics.median(times), "max": max(times)}


def timed_stage(build, repeats, stage, rows, cols, ranks, width=None):
    """Runs a stage on `ranks` ranks and returns its parameters with the time per step, in seconds."""
    steps = max(10, 2 ** 22 // (rows * cols))
    more = {} if width is None else {"width": width}
    settings = [word for name, value in {"rows": rows, "cols": cols, "steps": steps, **more}.items()
                for word in ("--set", f"{name}={value}")]
    program = build / "stages" / f"advection_distributed-{stage}"
    record = json.loads(mpiexec(ranks, program, *settings, "--repeat", repeats, "--warmup", 1, "--json", "-"))
    times = [repeat["phases"]["kernels"] / steps for repeat in record["repeats"]]
    return {"stage": stage, "rows": rows, "cols": cols, "ranks": ranks, "steps": steps, "seconds": summary(times)} | more


def measure(build, output, repeats=REPEATS):
    """Measures messages and stages on this machine, and writes the recording."""
    sizes = json.loads(mpiexec(2, build / "docs" / "messages", repeats))
    found = {"messages": {str(each["bytes"]): {"ping_pong": summary(each["ping_pong"]), "exchange": summary(each["exchange"])}
                          for each in sizes}, "stages": {}}
    program = build / "stages" / "advection_distributed-00_original"
    about = json.loads(subprocess.run([program, "--dataset", "tiny", "--json", "-"], check=True, capture_output=True,
                                      text=True).stdout)
    for n in SIZES:
        for stage, rows, ranks in (("00_original", n, 1), ("00_original", n // 2, 1), ("01_row_decomposition", n, 1),
                                   ("01_row_decomposition", n, 2), ("02_block_decomposition", n, 2), ("03_overlapped_communication", n, 2)):
            found["stages"][f"{stage} {rows} {n} {ranks}"] = timed_stage(build, repeats, stage, rows, n, ranks)
            print(f"{stage}: {rows} × {n}, {ranks} ranks", file=sys.stderr)
        width = measured_width(found, n)
        found["stages"][f"{WIDE} {n} {n} 2"] = timed_stage(build, repeats, WIDE, n, n, 2, width)
        print(f"{WIDE}: {n} × {n}, 2 ranks, halos of {width}", file=sys.stderr)
    head = {"machine": about["machine"], "revision": about["revision"], "date": about["date"], "repeats": repeats}
    output.write_text(recordings.text_by_entry(head | {"figures": figures_of(found)} | found))


def fitted(found, what, kind):
    """Alpha and beta of short or long messages, and the largest relative error of the fit."""
    least, most = KINDS[kind]
    points = [(int(size), times[what]["median"]) for size, times in found["messages"].items()
              if least <= int(size) <= most]
    alpha, beta = fit(points)
    return alpha, beta, max(abs((alpha + beta * size) / seconds - 1) for size, seconds in points)


def gamma_of(found, rows, cols):
    """The time per cell and step, in seconds, from stage 00 on a field of this size."""
    return found["stages"][f"00_original {rows} {cols} 1"]["seconds"]["median"] / (rows * cols)


def message_time(found, size):
    """The time in seconds that the fit predicts for an exchange of `size` bytes."""
    alpha, beta, _ = fitted(found, "exchange", "short" if size <= KINDS["short"][1] else "long")
    return alpha + beta * size


def predicted(found, stage, case, width=1):
    """The time of a step, in seconds, that the measured costs of this machine predict."""
    gamma = gamma_of(found, *sorted(case.own))  # stage 00 was timed on the same number of cells
    return (gamma * cells(case, width) + sum(message_time(found, size) for size in messages(stage, case, width))) / width


def measured_width(found, n):
    """The halo width that is best according to the measured costs of this machine, for two ranks with n × n cells in
    total."""
    case = case_of(WIDE, n, n, 2)
    return best_width(case, lambda width: predicted(found, WIDE, case, width))


def predictions(found):
    """Yields the key, the run and the predicted time of each measurement of stages 01, 02 and 05."""
    for key, run in found["stages"].items():
        if run["stage"] in (*STAGES[:2], WIDE):
            case = case_of(run["stage"], run["rows"], run["cols"], run["ranks"])
            yield key, run, predicted(found, run["stage"], case, run.get("width", 1))


def figures_of(found):
    """The figures of this machine that pages quote."""
    figures = {}
    for kind in KINDS:
        for what in ("exchange", "ping_pong"):
            names = (f"{name}_{what}_{kind}" for name in ("alpha", "beta", "worst"))
            figures |= dict(zip(names, fitted(found, what, kind)))
    gamma = gamma_of(found, 512, 1024)
    figures["gamma"] = gamma
    for kind in KINDS:
        figures[f"cells_per_message_{kind}"] = figures[f"alpha_exchange_{kind}"] / gamma
        figures[f"bytes_per_cell_{kind}"] = gamma / figures[f"beta_exchange_{kind}"]
    for key, run, predicted in predictions(found):
        figures[f"error_{run['stage']}_{run['ranks']}_{run['cols']}"] = predicted / run["seconds"]["median"] - 1
    for n in SIZES:
        two, one = (found["stages"][f"{stage} {n} {n} {ranks}"]["seconds"]["median"]
                    for stage, ranks in (("01_row_decomposition", 2), ("00_original", 1)))
        figures[f"speedup_{n}"] = one / two
    return figures


# --- Simulated

STRONG, WEAK = 4096, 128  # the edge of the field, and the edge of a rank's block
RANKS = (16, 64, 256, 1024, 4096)
SIMULATED_STEPS = 4
PLATFORM = pathlib.Path("docs/platforms/fat_tree.xml")
UNITS = {"Gf": 1e9, "GBps": 1e9, "ns": 1e-9}


def quantity(text):
    """The value in SI units of a quantity that SimGrid writes with its unit."""
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return float(number) * UNITS[unit]


def platform_costs(path, ranks):
    """The costs of the model on the cluster of a platform file, with messages between the two most distant of `ranks`
    ranks."""
    tree = ElementTree.parse(path)
    cluster = tree.find(".//cluster")
    overheads = {prop.get("id"): float(prop.get("value").split(":")[1]) for prop in tree.findall(".//prop")
                 if prop.get("id") in ("smpi/ois", "smpi/or")}
    below = list(map(int, cluster.get("topo_parameters").split(";")[1].split(",")))
    levels = next(level for level in range(1, len(below) + 1) if math.prod(below[:level]) >= ranks)
    busy = sum(overheads.values())
    return Costs(busy + 2 * levels * quantity(cluster.get("lat")), 1 / quantity(cluster.get("bw")),
                 OPERATIONS / quantity(cluster.get("speed")), busy)


def compiled(source, directory):
    """Compiles the stages into a directory as programs for SMPI, from their own sources."""
    for stage in STAGES:
        subprocess.run(["smpicxx", "-std=c++20", "-O1", f"-I{source / 'common/include'}", "-o", directory / stage,
                        "-include", source / "docs/communication/simulated.hpp",
                        source / "stages/advection_distributed" / stage / f"{stage[3:]}.cpp",
                        source / "docs/communication/simulated.cpp"], check=True, capture_output=True, text=True)
    (directory / "hosts").write_text("".join(f"host-{number}\n" for number in range(RANKS[-1])))


def simulated_width(costs, stage, n, ranks):
    """The halo width with which a stage is simulated, namely the best width according to the model."""
    case = case_of(stage, n, n, ranks)
    return best_width(case, lambda width: wide(costs, case, width)) if stage == WIDE else 1


def simulated_step(source, directory, stage, n, ranks, width):
    """The simulated time of a step, in seconds, without the time of creating a communicator for all ranks."""
    def seconds(steps):
        return float(subprocess.run(
            ["smpirun", "-np", str(ranks), "-platform", source / PLATFORM, "-hostfile", directory / "hosts",
             "--log=root.thresh:warning", directory / stage, str(n), str(n), str(steps), str(width)],
            check=True, capture_output=True, text=True, cwd=directory).stdout)

    step = (seconds(SIMULATED_STEPS * width) - seconds(0)) / (SIMULATED_STEPS * width)
    print(f"{stage}: {n} × {n}, {ranks} ranks", file=sys.stderr)
    return step


def problems(ranks):
    """The names and edges of the fields of strong and of weak scaling."""
    return ("strong", STRONG), ("weak", WEAK * math.isqrt(ranks))


def simulate(source, output, numbers):
    """Simulates the stages on a cluster and writes the recording."""
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        directory = pathlib.Path(name)
        compiled(source, directory)
        cases = [(what, stage, ranks, n, simulated_width(platform_costs(source / PLATFORM, ranks), stage, n, ranks))
                 for ranks in numbers for what, n in problems(ranks) for stage in STAGES]
        steps = [pool.submit(simulated_step, source, directory, stage, n, ranks, width) for _, stage, ranks, n, width in cases]
        runs = {f"{what} {stage} {ranks}": {"rows": n, "width": width, "seconds": step.result()}
                for (what, stage, ranks, n, width), step in zip(cases, steps)}
    version = re.search(r"\d+\.\d+", subprocess.run(["smpirun", "--version"], capture_output=True, text=True).stdout)
    revision = subprocess.run(["git", "-C", source, "describe", "--always", "--dirty=+", "--exclude=*"],
                              capture_output=True, text=True).stdout.strip()
    recording = {"machine": {"name": PLATFORM.stem, "simulator": f"SimGrid {version[0] if version else ''}".strip()},
                 "revision": revision, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                 "steps": SIMULATED_STEPS,
                 "platform": {str(ranks): dataclasses.asdict(platform_costs(source / PLATFORM, ranks)) for ranks in numbers}}
    output.write_text(recordings.text_by_entry(recording | {"figures": simulated_figures(recording | {"simulated": runs}),
                                                            "simulated": runs}))


def simulated_runs(recording):
    """Yields kind of scaling, stage, ranks, simulated seconds and modelled seconds of each simulated run."""
    for key, run in recording["simulated"].items():
        what, stage, ranks = key.split()
        costs = Costs(**recording["platform"][ranks])
        said = step_time(costs, stage, run["rows"], run["rows"], int(ranks), run["width"])
        yield what, stage, int(ranks), run["seconds"], said


def simulated_figures(recording):
    """The figures of the simulated cluster that pages quote."""
    figures = {}
    for what, stage, ranks, seconds, model in simulated_runs(recording):
        figures[f"{stage}_{what}_{ranks}"] = seconds
        figures[f"model_{stage}_{what}_{ranks}"] = model
        worst = f"worst_{stage}"
        figures[worst] = max(figures.get(worst, 0), abs(model / seconds - 1))
        computed = Costs(**recording["platform"][str(ranks)]).gamma * recording["simulated"][
            f"{what} {stage} {ranks}"]["rows"] ** 2 / ranks
        figures[f"efficiency_{stage}_{what}_{ranks}"] = computed / seconds
    return figures


def main(what="", *words):
    """Runs a command and returns its exit status, or the usage."""
    if what == "measure" and len(words) in (2, 3) and all(re.fullmatch("[1-9][0-9]?", word) for word in words[2:]):
        measure(*(pathlib.Path(word).resolve() for word in words[:2]), *map(int, words[2:]))
    elif what == "simulate" and len(words) >= 2 and set(words[2:]) <= set(map(str, RANKS)):
        source, output = (pathlib.Path(word).resolve() for word in words[:2])
        simulate(source, output, sorted(map(int, words[2:])) or RANKS)
    else:
        return __doc__
    return 0
