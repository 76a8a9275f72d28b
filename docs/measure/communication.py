r"""What communication costs: a model, what it needs from measurements, and what it is held to.

Usage: python3 docs communication measure BUILD OUTPUT.json [REPEATS]
       python3 docs communication simulate SOURCE OUTPUT.json [RANKS ...]

The first measures messages between two ranks of this machine and stages of advection_distributed on one and two
ranks, by the programs in BUILD. The second compiles the stages of SOURCE, the repository, for SimGrid's SMPI and runs them
on the cluster of docs/platforms/fat_tree.xml, on 16 to 4096 ranks or as many as are named. Both write recordings,
with the figures that pages quote under the names that `figures_of` and `simulated_figures` give them.

A page asks for tables and plots by the names of the files that it includes:

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

BYTES = 8  # of a number in f64
MOST_WIDTH = 64  # of a halo
OPERATIONS = 20  # of a cell and step, as the workload counts them
STAGES = ("01_row_decomposition", "02_block_decomposition", "03_overlapped_communication", "05_wide_halo")
WIDE = STAGES[3]


# --- The model

@dataclasses.dataclass
class Costs:
    """Seconds: `alpha` for a message, `beta` for a byte, `gamma` for a cell; `busy` is what of alpha keeps the processor."""

    alpha: float
    beta: float
    gamma: float
    busy: float = 0


@dataclasses.dataclass
class Case:
    """A field that ranks share out, p along y and q along x."""

    rows: int
    cols: int
    p: int
    q: int = 1

    @property
    def own(self):
        """The rows and columns of the rank that has most."""
        return -(-self.rows // self.p), -(-self.cols // self.q)


def case_of(stage, rows, cols, ranks):
    """A field among ranks as a stage shares it out: by rows, or in the blocks with the shortest edges."""
    if stage == STAGES[0]:
        return Case(rows, cols, ranks)
    grids = [(p, ranks // p) for p in range(1, ranks + 1) if ranks % p == 0]
    return Case(rows, cols, *min(grids, key=lambda grid: (rows * grid[1] + cols * grid[0], -grid[0])))


def messages(stage, case, width=1):
    """The bytes of each message that a rank sends at once, every step or, where halos are wide, every `width` steps."""
    rows, cols = case.own
    along_y = 2 * [BYTES * width * cols]
    return along_y if stage == STAGES[0] else along_y + 2 * [BYTES * width * (rows + 2 * width)]


def blocking(costs, stage, case):
    """The time of a step in which messages are waited for, one after the other."""
    rows, cols = case.own
    return costs.gamma * rows * cols + sum(costs.alpha + costs.beta * size for size in messages(stage, case))


def overlapped(costs, case):
    """The time of a step in which half of the interior is computed while rows travel, half while columns do."""
    rows, cols = case.own
    middle = rows // 2 + 1
    halves = [max(cells, 0) * (cols - 2) for cells in (middle - 2, rows - middle)]
    sizes = messages(STAGES[2], case)
    time = costs.gamma * (rows * cols - sum(halves)) + len(sizes) * costs.busy
    for cells, pair in zip(halves, (sizes[:2], sizes[2:])):
        time += max(costs.gamma * cells, costs.alpha - costs.busy + costs.beta * sum(pair))
    return time


def cells(case, width):
    """The cells that a rank updates in as many steps as its halo is wide."""
    rows, cols = case.own
    return sum((rows + 2 * k) * (cols + 2 * k) for k in range(width))


def wide(costs, case, width):
    """The time of a step of blocks whose halo is so wide that messages are sent every `width` steps."""
    sizes = messages(WIDE, case, width)
    return (costs.gamma * cells(case, width) + sum(costs.alpha + costs.beta * size for size in sizes)) / width


def best_width(case, time):
    """The width of a halo with which a step is shortest, if it takes time(width)."""
    return min(range(1, min(MOST_WIDTH, case.rows // case.p, case.cols // case.q) + 1), key=time)


def step_time(costs, stage, rows, cols, ranks, width=1):
    """The time of a step of a stage."""
    case = case_of(stage, rows, cols, ranks)
    if stage == WIDE:
        return wide(costs, case, width)
    return overlapped(costs, case) if stage == STAGES[2] else blocking(costs, stage, case)


def ranks_for_blocks(costs, n):
    """The ranks from which on blocks of a field of n × n are better than rows; infinite if they never are."""
    gain = 1 - costs.alpha / (BYTES * n * costs.beta)
    return 4 / gain ** 2 if gain > 0 else math.inf


def fit(points):
    """Alpha and beta with the least sum of squares of relative errors, from (bytes, seconds)."""
    weights = [(1 / seconds, size / seconds) for size, seconds in points]
    aa, ab, bb = (sum(u[i] * u[j] for u in weights) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(u[i] for u in weights) for i in (0, 1))
    det = aa * bb - ab * ab
    return (a * bb - b * ab) / det, (b * aa - a * ab) / det


# --- Measured

KINDS = {"short": (8, 4095), "long": (4096, 65536)}  # bytes; Open MPI arranges messages of 4096 bytes first
MEASURED, SIMULATED = ("amd-epyc-2-cores", "communication"), ("fat-tree", "communication")
SIZES = (64, 128, 256, 512, 1024, 2048)
REPEATS = 15


def mpiexec(ranks, *command):
    """What a program on ranks printed."""
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                "OMPI_MCA_mpi_yield_when_idle": "1",
                                "OMPI_MCA_orte_execute_quiet": "1", "OMPI_MCA_btl": "^tcp"}
    return subprocess.run(["mpiexec", "--oversubscribe", "-n", str(ranks), *map(str, command)], env=environment,
                          check=True, capture_output=True, text=True).stdout


def summary(times):
    """Times as recordings have them."""
    return {"min": min(times), "median": statistics.median(times), "max": max(times)}


def timed_stage(build, repeats, stage, rows, cols, ranks, width=None):
    """A stage on so many ranks, with the time per step."""
    steps = max(10, 2 ** 22 // (rows * cols))
    more = {} if width is None else {"width": width}
    settings = [word for name, value in {"rows": rows, "cols": cols, "steps": steps, **more}.items()
                for word in ("--set", f"{name}={value}")]
    program = build / "stages" / f"advection_distributed-{stage}"
    record = json.loads(mpiexec(ranks, program, *settings, "--repeat", repeats, "--warmup", 1, "--json", "-"))
    times = [repeat["phases"]["kernels"] / steps for repeat in record["repeats"]]
    return {"stage": stage, "rows": rows, "cols": cols, "ranks": ranks, "steps": steps, "seconds": summary(times)} | more


def measure(build, output, repeats=REPEATS):
    """Records messages and stages on this machine."""
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
    """Alpha and beta of short messages or of long ones, and by which share the worst one is off."""
    least, most = KINDS[kind]
    points = [(int(size), times[what]["median"]) for size, times in found["messages"].items()
              if least <= int(size) <= most]
    alpha, beta = fit(points)
    return alpha, beta, max(abs((alpha + beta * size) / seconds - 1) for size, seconds in points)


def gamma_of(found, rows, cols):
    """The time of a cell and step, from stage 00 on so many cells."""
    return found["stages"][f"00_original {rows} {cols} 1"]["seconds"]["median"] / (rows * cols)


def message_time(found, size):
    """What an exchange of so many bytes should take."""
    alpha, beta, _ = fitted(found, "exchange", "short" if size <= KINDS["short"][1] else "long")
    return alpha + beta * size


def predicted(found, stage, case, width=1):
    """What the prices of this machine say that a step takes."""
    gamma = gamma_of(found, *sorted(case.own))  # stage 00 was timed on as many cells
    return (gamma * cells(case, width) + sum(message_time(found, size) for size in messages(stage, case, width))) / width


def measured_width(found, n):
    """The width of a halo that the prices of this machine say is best for two ranks that share n × n cells."""
    case = case_of(WIDE, n, n, 2)
    return best_width(case, lambda width: predicted(found, WIDE, case, width))


def predictions(found):
    """By the key of a measured stage on two ranks or one, what the model says."""
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

STRONG, WEAK = 4096, 128  # the edge of the field, and of a rank's part of it
RANKS = (16, 64, 256, 1024, 4096)
SIMULATED_STEPS = 4
PLATFORM = pathlib.Path("docs/platforms/fat_tree.xml")
UNITS = {"Gf": 1e9, "GBps": 1e9, "ns": 1e-9}


def quantity(text):
    """A number with a unit of SimGrid's in SI units."""
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return float(number) * UNITS[unit]


def platform_costs(path, ranks):
    """What messages between the farthest of so many ranks cost on the cluster of a platform, by its file."""
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
    """The stages as programs of SMPI, from their own sources, in a directory."""
    for stage in STAGES:
        subprocess.run(["smpicxx", "-std=c++20", "-O1", f"-I{source / 'common/include'}", "-o", directory / stage,
                        "-include", source / "docs/communication/simulated.hpp",
                        source / "stages/advection_distributed" / stage / f"{stage[3:]}.cpp",
                        source / "docs/communication/simulated.cpp"], check=True, capture_output=True, text=True)
    (directory / "hosts").write_text("".join(f"host-{number}\n" for number in range(RANKS[-1])))


def simulated_width(costs, stage, n, ranks):
    """The width of halos that a stage is simulated with: the best one."""
    case = case_of(stage, n, n, ranks)
    return best_width(case, lambda width: wide(costs, case, width)) if stage == WIDE else 1


def simulated_step(source, directory, stage, n, ranks, width):
    """The simulated time of a step, in seconds, without that of making a communicator for all of them."""
    def seconds(steps):
        return float(subprocess.run(
            ["smpirun", "-np", str(ranks), "-platform", source / PLATFORM, "-hostfile", directory / "hosts",
             "--log=root.thresh:warning", directory / stage, str(n), str(n), str(steps), str(width)],
            check=True, capture_output=True, text=True, cwd=directory).stdout)

    step = (seconds(SIMULATED_STEPS * width) - seconds(0)) / (SIMULATED_STEPS * width)
    print(f"{stage}: {n} × {n}, {ranks} ranks", file=sys.stderr)
    return step


def problems(ranks):
    """The fields of strong and of weak scaling: (name, edge)."""
    return ("strong", STRONG), ("weak", WEAK * math.isqrt(ranks))


def simulate(source, output, numbers):
    """Records the stages on a simulated cluster."""
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
    """What is simulated: (what, stage, ranks, seconds, what the model says)."""
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
    """The exit status, or how it is called."""
    if what == "measure" and len(words) in (2, 3) and all(re.fullmatch("[1-9][0-9]?", word) for word in words[2:]):
        measure(*(pathlib.Path(word).resolve() for word in words[:2]), *map(int, words[2:]))
    elif what == "simulate" and len(words) >= 2 and set(words[2:]) <= set(map(str, RANKS)):
        source, output = (pathlib.Path(word).resolve() for word in words[:2])
        simulate(source, output, sorted(map(int, words[2:])) or RANKS)
    else:
        return __doc__
    return 0
