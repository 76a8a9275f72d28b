"""Tests the model of communication, its measurements and its recordings. Prints TAP.

Usage: communication_test.py [--watched] MPIEXEC COUNTED MESSAGES PROGRAM ...; the programs include stages on ranks.
Without MPI, there are no arguments. With --watched, only tests that start these programs run.
"""

import importlib.util
import json
import math
import os
import pathlib
import random
import secrets
import shutil
import subprocess
import sys
import tempfile

import tap
from measure import communication, figures, recordings

ROOT = pathlib.Path(__file__).resolve().parents[2]
WATCHED = sys.argv[1:2] == ["--watched"]
MPIEXEC, COUNTED, MESSAGES, *PROGRAMS = sys.argv[1 + WATCHED:] or [None] * 3
SEED = int(os.environ.get("STAIRCASE_TEST_SEED", secrets.randbits(30)))
RANDOM = random.Random(SEED)
RESULTS = figures.Results(ROOT / "docs" / "results")
OWN = tempfile.TemporaryDirectory()  # launchers that start at the same time must not share their directories
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_orte_execute_quiet": "1", "OMPI_MCA_btl": "^tcp,ofi,openib", "OMPI_MCA_pml": "ob1",
    # In a container, a rank may be unable to read the memory of another rank.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_orte_tmpdir_base": OWN.name,
    "PRTE_MCA_prte_tmpdir_base": OWN.name}


def different(what, found, expected, tolerance=1e-9):
    """Yields a sentence if a number differs from the expected one."""
    if not math.isclose(found, expected, rel_tol=tolerance):
        yield f"{what}: {found}, not {expected} (STAIRCASE_TEST_SEED={SEED})"


def some_costs():
    """Random costs."""
    alpha = RANDOM.uniform(1e-7, 1e-5)
    return communication.Costs(alpha, RANDOM.uniform(1e-11, 1e-9), RANDOM.uniform(1e-10, 1e-8), alpha / 2)


def wrong_fits():
    """Yields costs that a fit does not recover from points on a line: exactly, or within 5 % if the points have noise
    of 1 %."""
    for _ in range(20):
        costs = some_costs()
        for noise, tolerance in ((0, 1e-9), (0.01, 0.05)):
            points = [(size, (costs.alpha + costs.beta * size) * (1 + RANDOM.uniform(-noise, noise)))
                      for size in (2 ** k for k in range(3, 23))]
            alpha, beta = communication.fit(points)
            yield from different("alpha", alpha, costs.alpha, tolerance)
            yield from different("beta", beta, costs.beta, tolerance)


def wrong_steps():
    """Yields steps whose time is not the sum of their parts."""
    free, still = communication.Costs(0, 0, 1), communication.Costs(1, 0, 0)
    for stage, count in zip(communication.STAGES, (2, 4, 4, 4)):
        yield from different(f"cells of {stage}", communication.step_time(free, stage, 64, 64, 16), 256)
        sizes = communication.messages(stage, communication.case_of(stage, 64, 64, 16))
        yield from different(f"bytes of {stage}", sum(sizes), 1024 if count == 2 else 2 * 8 * 16 + 2 * 8 * 18)
        yield from different(f"messages of {stage}", len(sizes), count)
    for stage, latencies in zip(communication.STAGES, (2, 4, 2, 4)):
        yield from different(f"latencies of {stage}", communication.step_time(still, stage, 64, 64, 16), latencies)
    for _ in range(20):
        costs, n = some_costs(), RANDOM.randrange(32, 2048)
        blocks, hidden = (communication.step_time(costs, stage, n, n, 16) for stage in communication.STAGES[1:3])
        if hidden > blocks + costs.beta * 8 * 4 * n:
            yield f"with overlapped communication, the model predicts {hidden}, and {blocks} without"


def best_width(costs, case):
    """The best width of a halo if messages of all sizes have the same costs."""
    return communication.best_width(case, lambda width: communication.wide(costs, case, width))


def wrong_widths():
    """Yields wide halos whose cost differs from a count of cells and messages."""
    for _ in range(20):
        costs, width = some_costs(), RANDOM.randrange(1, 9)
        case = communication.Case(RANDOM.randrange(64, 128) * 4, RANDOM.randrange(64, 128) * 4, 4, 4)
        rows, cols = case.own
        time = 0
        for k in reversed(range(width)):  # cells around the block that are still correct
            time += costs.gamma * (rows + 2 * k) * (cols + 2 * k)
        for size in (width * cols, width * cols, width * (rows + 2 * width), width * (rows + 2 * width)):
            time += costs.alpha + costs.beta * 8 * size
        yield from different(f"halos {width} wide", communication.wide(costs, case, width), time / width)
        yield from different("halos of one", communication.wide(costs, case, 1),
                             communication.blocking(costs, "02_block_decomposition", case))
        best = best_width(costs, case)
        if communication.wide(costs, case, best) > communication.wide(costs, case, width):
            yield f"a halo of width {width} is faster than the best width {best}"
        thin = communication.Case(7, 9, 3, 2)
        if best_width(communication.Costs(1, 0, 0), thin) != 2:
            yield f"the best width on blocks of 2 rows is {best_width(communication.Costs(1, 0, 0), thin)}, not 2"


def wrong_examples():
    """Yields numbers on the page that do not follow from the platform's costs."""
    costs = communication.platform_costs(ROOT / communication.PLATFORM, 4096)
    yield from different("alpha", costs.alpha, 1.4e-6)
    yield from different("the number of cells that cost as much as a message", costs.alpha / costs.gamma, 560)
    best = best_width(costs, communication.Case(4096, 4096, 64, 64))
    if best != 4 or round(math.sqrt(2 * costs.alpha / (64 * costs.gamma))) != 4:
        yield f"the best width of the page's example is {best}, not 4"


def wrong_crossings():
    """Yields numbers of ranks for which ranks_for_blocks() predicts the wrong order of the times of rows and blocks.
    Differences as small as the cost of the corners are ignored."""
    for _ in range(50):
        costs, n = some_costs(), RANDOM.choice((256, 1024, 8192))
        most = communication.ranks_for_blocks(costs, n)
        corners = 32 * costs.beta
        for side in (2, 4, 8, 16, 32):
            rows = communication.blocking(costs, "01_row_decomposition", communication.Case(n, n, side * side))
            blocks = communication.blocking(costs, "02_block_decomposition", communication.Case(n, n, side, side))
            cells = costs.gamma * abs(math.ceil(n / side) ** 2 - n * math.ceil(n / side ** 2))
            if abs(rows - blocks) > 2 * corners + cells and (blocks < rows) != (side * side > most):
                yield (f"on {side * side} ranks and {n} × {n} cells, rows take {rows} and blocks {blocks}, "
                       f"but the formula predicts that blocks are faster above {most} ranks")


def counted(program, ranks, **parameters):
    """The counts of each rank's messages."""
    with tempfile.TemporaryDirectory() as name:
        environment = ENVIRONMENT | {"LD_PRELOAD": COUNTED, "STAIRCASE_COUNTED": name,
                                     "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        command = [MPIEXEC, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "-x", "LD_PRELOAD", "-x",
                   "STAIRCASE_COUNTED", program]
        for parameter, value in parameters.items():
            command += ["--set", f"{parameter}={value}"]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        if result.returncode:
            raise AssertionError(f"{program} fails: {result.stderr}")
        return [json.loads(pathlib.Path(name, f"{rank}.json").read_text()) for rank in range(ranks)]


def programs_by_stage():
    """The programs of the stages that the model describes."""
    named = {pathlib.Path(program).name.partition("-")[2]: program for program in PROGRAMS}
    return {stage: named[stage] for stage in communication.STAGES}


def miscounted_messages():
    """Yields messages and bytes of stages on ranks that differ from the formulas."""
    for stage, program in programs_by_stage().items():
        width = 3 if stage == communication.WIDE else 1
        sizes = communication.messages(stage, communication.case_of(stage, 24, 36, 4), width)
        exchanges = -(-5 // width)
        for rank, own in enumerate(counted(program, 4, rows=24, cols=36, steps=5, width=3)):
            if (own["messages"], own["bytes"]) != (exchanges * len(sizes), exchanges * sum(sizes)):
                yield (f"{stage}, rank {rank}: {own['messages']} messages with {own['bytes']} bytes are sent, "
                       f"not {exchanges} times messages of {sizes} bytes")


def wrong_default_width():
    """Yields default widths of a stage that are clearly worse than the best width at the recorded costs."""
    recording = RESULTS.other(*communication.MEASURED)
    for n in communication.SIZES[:4]:
        case = communication.case_of(communication.WIDE, n, n, 2)
        sent = counted(programs_by_stage()[communication.WIDE], 2, rows=n, cols=n, steps=1)[0]["bytes"]
        chosen = [width for width in range(1, communication.MOST_WIDTH + 1)
                  if sum(communication.messages(communication.WIDE, case, width)) == sent]
        if len(chosen) != 1:
            yield f"{n} × {n}: the widths {chosen} lead to messages of {sent} bytes, and not exactly one width"
            continue
        took, best = (communication.predicted(recording, communication.WIDE, case, width)
                      for width in (chosen[0], communication.measured_width(recording, n)))
        if took > 1.1 * best:
            yield f"{n} × {n}: the default width {chosen[0]} takes {took}, and the best width {best}"


def messages_on(ranks, *arguments):
    """Runs the program that measures messages and returns its result."""
    return subprocess.run([MPIEXEC, "--oversubscribe", "-n", str(ranks), MESSAGES, *arguments], env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=300)


def unmeasured():
    """Yields messages that are not measured, and errors that are not refused."""
    found = json.loads(messages_on(2, "2", "64").stdout)
    if [each["bytes"] for each in found] != [8, 16, 32, 64]:
        yield f"the sizes of the measured messages are {found}"
    for each in found:
        for what in ("ping_pong", "exchange"):
            if len(each[what]) != 2 or not all(0 < seconds < 1 for seconds in each[what]):
                yield f"the times of {what} are {each[what]}"
    for ranks, arguments, said in ((1, (), "not 1"), (2, ("0",), "'0'"), (2, ("3", "x"), "'3 x'"), (2, ("1", "4"), "'1 4'")):
        result = messages_on(ranks, *arguments)
        if result.returncode == 0 or said not in result.stderr or result.stdout:
            yield f"{arguments} on {ranks} ranks is not refused with {said}: {result.stdout}{result.stderr}"


def wrong_recorded_figures():
    """Yields figures of recordings that do not follow from the recorded data."""
    for place, figures_of in ((communication.MEASURED, communication.figures_of),
                              (communication.SIMULATED, communication.simulated_figures)):
        recording = RESULTS.other(*place)
        derived = figures_of(recording)
        if derived.keys() != recording["figures"].keys():
            yield f"{place}: only one of recording and data has {derived.keys() ^ recording['figures'].keys()}"
        for name in derived.keys() & recording["figures"].keys():
            yield from different(name, recording["figures"][name], derived[name], 1e-6)


def contradicted_pages():
    """Yields statements of pages about whole tables that their recordings contradict."""
    for name, error in RESULTS.other(*communication.MEASURED)["figures"].items():
        if name.startswith("error_"):
            least, most = {"1": (-0.25, 0.25), "2": (-0.6, 0.05)}[name.split("_")[-2]]
            if not least <= error <= most:
                yield f"{name} is {error}, outside of {least} to {most}"
    compared = 0
    for path in sorted((ROOT / "docs" / "results" / communication.MEASURED[0]).glob("advection_distributed*.json")):
        for run in recordings.read(path)["runs"]:
            seconds = {record["stage"]: record["seconds"]["median"] for record in run["records"]}
            if run["parameters"]["rows"] >= 64 and {"02_block_decomposition", "03_overlapped_communication"} <= seconds.keys():
                compared += 1
                if not seconds["03_overlapped_communication"] <= seconds["02_block_decomposition"]:
                    yield (f"{path.name}: stage 03 takes {seconds['03_overlapped_communication']} s, "
                           f"more than stage 02 with {seconds['02_block_decomposition']} s")
    if compared < 5:
        yield f"only {compared} recordings contain both stage 02 and stage 03"


def wrong_simulated_times():
    """Yields simulated times that differ from the model by more than 15 %, or that belong to a platform other than the
    file's."""
    recording = RESULTS.other(*communication.SIMULATED)
    for what, stage, ranks, seconds, said in communication.simulated_runs(recording):
        if not abs(said / seconds - 1) <= 0.15:
            yield f"{what}, {stage}, {ranks} ranks: the model predicts {said}, and the simulation takes {seconds}"
    for ranks, costs in recording["platform"].items():
        own = communication.platform_costs(ROOT / communication.PLATFORM, int(ranks))
        for name, value in costs.items():
            yield from different(f"{name} among {ranks} ranks", getattr(own, name), value)


def changed_simulation():
    """Yields steps of the smallest case whose simulated time differs from the recorded one."""
    recorded = RESULTS.other(*communication.SIMULATED)["simulated"]
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "found.json")
        communication.simulate(ROOT, path, [16])
        found = json.loads(path.read_text())["simulated"]
    if len(found) != 8:
        yield f"the simulation has {len(found)} cases, not 8"
    for key, run in found.items():
        yield from different(key, run["seconds"], recorded[key]["seconds"], 1e-3)


def missing_tables():
    """Yields tables and plots of the page that are not made."""
    from draw import communicating  # needs matplotlib
    page = ROOT / "docs" / "pages" / "what_communication_costs.md"
    with tempfile.TemporaryDirectory() as name:
        communicating.write(ROOT, [page], RESULTS, pathlib.Path(name))
        made = {path.stem.partition(".")[2] for path in pathlib.Path(name).iterdir()}
        if made != communicating.SHOWN.keys():
            yield f"the written tables and plots are {made}"
        wrong = pathlib.Path(name, "page.md")
        wrong.write_text("<!-- communication.other.html -->\n")
        try:
            communicating.write(pathlib.Path(name), [wrong], RESULTS, pathlib.Path(name))
            yield "a request for an unknown table is accepted"
        except SystemExit as error:
            if "page.md: communication.other.html" not in str(error):
                yield f"the message does not name the table: {error}"


CHECKS_OF_MODEL = [
    ("the fit finds latency and time per byte from times of messages", wrong_fits),
    ("the time of a step is the sum of its cells, latencies and bytes", wrong_steps),
    ("the cost of a wide halo follows from its numbers of cells and messages", wrong_widths),
    ("the examples on the page follow from the costs of the platform", wrong_examples),
    ("blocks are faster than rows exactly above the number of ranks that the formula predicts", wrong_crossings),
    ("the figures of a recording follow from its data", wrong_recorded_figures),
    ("the recordings support the statements of pages about whole tables", contradicted_pages),
    ("simulated times differ from the model by at most 15 %", wrong_simulated_times)]
if importlib.util.find_spec("matplotlib"):
    CHECKS_OF_MODEL += [("all tables and plots of the page are made", missing_tables)]
if shutil.which("smpicxx"):
    CHECKS_OF_MODEL += [("a new simulation of 16 ranks takes the recorded time", changed_simulation)]
CHECKS_OF_PROGRAMS = [
    ("stages send the messages and bytes that the formulas predict", miscounted_messages),
    ("the default width of a halo takes at most 10 % more than the best width at the recorded costs", wrong_default_width),
    ("the program measures messages of all sizes, and refuses wrong arguments", unmeasured)]

tap.report((title, check()) for title, check in CHECKS_OF_PROGRAMS * bool(MPIEXEC) + CHECKS_OF_MODEL * (not WATCHED))
