"""Tests a stage on ranks: ranks_test.py [--watched] MPIEXEC PROGRAM STAGE_ZERO COUNTED [CARELESS]. Prints TAP.

COUNTED is the library of counted.cpp, with which the program is started. CARELESS is the program of careless.cpp. There are
more ranks than cores. Fields are random; the seed is new each time, or the value of STAIRCASE_TEST_SEED. With --watched,
a sanitizer watches the program and messages are not counted, because their number does not depend on the sanitizer.
"""

import itertools
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile

import numpy

import tap

WATCHED = sys.argv[1] == "--watched"
MPIEXEC, PROGRAM, STAGE_ZERO, COUNTED, *CARELESS = sys.argv[1 + WATCHED:]
STAGE = pathlib.Path(PROGRAM).name.partition("-")[2]
GPUS = STAGE.startswith("08_")
BLOCKS = not STAGE.startswith("01_") and not GPUS
WIDE = STAGE.endswith("wide_halo")
# Additional parameters of stages: more threads than cores, and nodes that are parts of this machine.
MORE = {"06_mpi_and_openmp": [{"threads": 3}, {"threads": 2}, {}],
        "07_shared_windows": [{"node": 2}, {}, {"node": 3}, {"node": 1}]}.get(STAGE, [{}])
RANKS = (1, 2, 3, 4, 6, 7)
FREED = ("requests", "types", "communicators", "groups", "windows")
SHAPES = ((7, 7), (23, 31), (7, 60), (50, 8), (101, 13), (8, 97), (16, 16), (9, 11))
SEED = int(os.environ.get("STAIRCASE_TEST_SEED", secrets.randbits(30)))
RANDOM = numpy.random.default_rng(SEED)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")} | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_orte_execute_quiet": "1", "OMP_WAIT_POLICY": "passive",
    # All ranks run on this machine. A rank that loads and unloads components for networks can crash.
    "OMPI_MCA_btl": "^tcp,ofi,openib", "OMPI_MCA_pml": "ob1",
    # In a container, a rank may be unable to read the memory of another rank.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    # COUNTED is loaded before the sanitizer's library.
    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"}


def started(ranks, *arguments, program=PROGRAM, **more):
    """Starts a program on some ranks and returns its result."""
    command = [MPIEXEC, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    for name in more:
        command += ["-x", name]
    # A hang is a failure, but a slow run on a busy machine is not.
    with tempfile.TemporaryDirectory() as own:  # launchers that start at the same time must not share their directories
        own = {"OMPI_MCA_orte_tmpdir_base": own, "PRTE_MCA_prte_tmpdir_base": own}
        ended = subprocess.run([*command, program, *map(str, arguments)], capture_output=True, text=True, check=False,
                               timeout=300, env=ENVIRONMENT | own | more)
    # Open MPI 5 adds framed notes about the first rank that failed.
    ended.stderr = re.sub(r"^-{20,}\n.*?^-{20,}\n", "", ended.stderr, flags=re.DOTALL | re.MULTILINE).strip("\0")
    return ended


def settings(**parameters):
    """The options that set parameters."""
    return [word for name, value in parameters.items() for word in ("--set", f"{name}={value}")]


def grid_of(rows, cols, ranks):
    """The grid of p × q ranks whose blocks have the shortest edges; if two grids are equal in this respect, the one whose
    blocks have longer rows."""
    grids = [(p, ranks // p) for p in range(1, ranks + 1)
             if ranks % p == 0 and p <= rows and (ranks == p or BLOCKS and ranks // p <= cols)]
    return min(grids, key=lambda grid: (rows * grid[1] + cols * grid[0], -grid[0]))


def differences(directory):
    """Yields random fields whose result differs from stage zero's in any bit."""
    forms = itertools.cycle(RANDOM.permutation(MORE))
    for number, ranks in enumerate(RANKS):
        # With sanitizers, a start takes a long time, and one shape leads to the same accesses as two.
        for shape in (SHAPES[number], SHAPES[(number + 3) % len(SHAPES)])[:1 if WATCHED else 2]:
            precision = "f32" if number % 3 == 2 else "f64"
            numpy.save(directory / "in.npy", RANDOM.standard_normal(shape))
            options = ["--dataset", "tiny", "--input", directory / "in.npy", "--precision", precision,
                       *settings(steps=5 + number, cfl=0.9, vy=-0.7)]
            more = next(forms)
            zero = subprocess.run([STAGE_ZERO, *map(str, options), "--output", str(directory / "zero.npy")],
                                  capture_output=True, text=True, check=False)
            own = started(ranks, *options, *settings(**more), "--output", directory / "own.npy")
            where = f"{ranks} ranks, {shape}, {precision}, {more}, STAIRCASE_TEST_SEED={SEED}"
            if zero.returncode or own.returncode:
                yield f"{where}: a program fails: {zero.stderr}{own.returncode} {own.stderr}"
                continue
            expected, found = numpy.load(directory / "zero.npy"), numpy.load(directory / "own.npy")
            if found.dtype != expected.dtype or not numpy.array_equal(found, expected):
                yield f"{where}: the field differs from stage zero's"
            if not numpy.isfinite(found).all():
                yield f"{where}: the field contains infinities or NaN"
    if sorted(path.name for path in directory.iterdir()) != ["in.npy", "own.npy", "zero.npy"]:
        yield f"the directory contains other files than input and output: {list(directory.iterdir())}"


def wrong_widths(directory):
    """Yields widths of halos, up to the smallest block's edge, that change the field."""
    numpy.save(directory / "in.npy", RANDOM.standard_normal((25, 37)))
    options = ["--dataset", "tiny", "--input", directory / "in.npy", *settings(steps=13, vy=-0.7)]
    subprocess.run([STAGE_ZERO, *map(str, options), "--output", str(directory / "zero.npy")], check=True,
                   capture_output=True)
    for ranks, width in ((1, 24), (1, 25), (2, 12), (4, 1), (4, 5), (4, 12), (6, 3), (6, 12), (7, 5))[WATCHED::1 + WATCHED]:
        own = started(ranks, *options, *settings(width=width), "--output", directory / "own.npy")
        if own.returncode:
            yield f"{ranks} ranks fail with width={width}: {own.stderr}"
        elif not numpy.array_equal(numpy.load(directory / "own.npy"), numpy.load(directory / "zero.npy")):
            yield f"{ranks} ranks, width={width}, STAIRCASE_TEST_SEED={SEED}: the field differs from stage zero's"


def wrong_inputs(directory):
    """Yields fields in another memory order or precision that are read wrongly."""
    field = RANDOM.standard_normal((13, 9))
    for array in (numpy.asfortranarray(field), field.astype("f4"), numpy.asfortranarray(field.astype("f4"))):
        numpy.save(directory / "in.npy", array)
        own = started(4, "--dataset", "tiny", "--input", directory / "in.npy", *settings(steps=0), "--output",
                      directory / "own.npy")
        if own.returncode or not numpy.array_equal(numpy.load(directory / "own.npy"), array):
            yield f"a field of {array.dtype} (column-major: {numpy.isfortran(array)}) is read wrongly: {own.stderr}"


def counted(directory, ranks, *arguments, program=PROGRAM):
    """The counts of each rank."""
    for path in directory.glob("*.json"):
        path.unlink()
    own = started(ranks, *arguments, program=program, LD_PRELOAD=COUNTED, STAIRCASE_COUNTED=str(directory))
    if own.returncode:
        raise AssertionError(own.stderr)
    return [json.loads((directory / f"{rank}.json").read_text()) for rank in range(ranks)]


def share(count, shares, index):
    """The number of items in part `index` if `count` items are divided into `shares` parts."""
    return count * (index + 1) // shares - count * index // shares


def expected_of(rows, cols, ranks, rank, node, width):
    """The number of messages that a rank sends in one exchange, and their bytes in f64. Ranks with shared memory send no
    messages to each other."""
    p, q = grid_of(rows, cols, ranks)
    y, x = divmod(rank, q)
    own_rows, own_cols = share(rows, p, y), share(cols, q, x)
    if not BLOCKS:
        return 2, 2 * 8 * own_cols
    sides = [((y - 1) % p * q + x, own_cols), ((y + 1) % p * q + x, own_cols),
             (y * q + (x - 1) % q, own_rows + 2 * width), (y * q + (x + 1) % q, own_rows + 2 * width)]
    sent = [8 * cells for other, cells in sides if other // node != rank // node or STAGE != "07_shared_windows"]
    return len(sent), width * sum(sent)


def wrong_counts(directory):
    """Yields messages and bytes that differ from the formulas, and objects that are never freed."""
    steps = 11
    forms = [{"width": width} for width in (1, 4, 9)] if WIDE else MORE
    for (rows, cols, ranks), more in itertools.product(((24, 36, 4), (25, 37, 6), (40, 9, 3)), forms):
        ranks_counted = counted(directory, ranks, *settings(rows=rows, cols=cols, steps=steps, **more))
        for rank, own in enumerate(ranks_counted):
            width = more.get("width", 1)
            messages, size = expected_of(rows, cols, ranks, rank, more.get("node", ranks), width)
            exchanges = -(-steps // width) + GPUS  # with GPUs, the first exchange precedes the steps
            where = f"{rows} × {cols}, {more}, rank {rank} of {ranks}"
            if (own["messages"], own["bytes"]) != (exchanges * messages, exchanges * size):
                yield f"{where}: the counts are {own}, not {exchanges} times {messages} messages with {size} bytes"
            left = {name: own[name] for name in FREED if own[name]}
            if left:
                yield f"{where} does not free {left}"
            if own["by_others"]:
                yield f"{where}: a thread other than the first calls MPI"
        for sent, received in (("messages", "received"), ("bytes", "bytes_received")):
            if sum(own[sent] for own in ranks_counted) != sum(own[received] for own in ranks_counted):
                yield f"{ranks} ranks do not receive all {sent} that they send"


def missed_leaks(directory):
    """Yields objects that the careless program does not free and that the counts do not show."""
    own, = counted(directory, 1, program=CARELESS[0])
    for name, number in (*((name, 1) for name in (*FREED, "by_others", "messages")), ("bytes", 16)):
        if own[name] != number:
            yield f"the count of {name} is {own[name]}, not {number}"


def refusal(result, status, *fragments):
    """Yields the differences from a correct refusal: one line, and nothing else."""
    if result.returncode != status:
        yield f"the exit status is {result.returncode}, not {status}: {result.stderr}"
    if result.stdout or result.stderr.count("\n") != 1:
        yield f"the output is not one line on standard error: {result.stdout!r} {result.stderr!r}"
    for fragment in fragments:
        if fragment not in result.stderr:
            yield f"the message lacks '{fragment}': {result.stderr}"


def not_refused(directory):
    """Yields bad input that ranks do not refuse in one sentence of one rank."""
    tiny = ["--dataset", "tiny"]
    yield from refusal(started(4, *settings(P=3)), 2, "P × Q is 3", "4 ranks")
    yield from refusal(started(3, *settings(P=2, Q=2) if BLOCKS else settings(Q=3)), 2, "Q", "3")
    yield from refusal(started(4, *settings(rows=2, cols=1)), 77, "2 × 1", "4 ranks")
    yield from refusal(started(2, *settings(width=-1)), 2, "width", "-1")
    if WIDE:
        yield from refusal(started(4, *settings(rows=25, cols=37, width=13)), 77, "13 cells", "12 × 18")
    yield from refusal(started(2, "--frobnicate"), 2, "'--frobnicate'")
    yield from refusal(started(2, *tiny, "--output", "/dev/full"), 2, "/dev/full", "2 ranks")
    yield from refusal(started(2, *tiny, "--output", directory / "no/file"), 2, "no directory")
    yield from refusal(started(2, *settings(rows=500000, cols=500000)), 3, "bytes")
    bad = numpy.zeros((6, 5))
    bad[4, 2] = numpy.nan  # not in the part of rank 0
    numpy.save(directory / "bad.npy", bad)
    yield from refusal(started(3, "--input", directory / "bad.npy"), 2, "element 22", "nan")
    (directory / "short.npy").write_bytes((directory / "bad.npy").read_bytes()[:-8])
    yield from refusal(started(3, "--input", directory / "short.npy"), 2, "truncated")
    without_threads = started(2, *tiny, LD_PRELOAD=COUNTED, STAIRCASE_FAILING="Init_thread,0,1")
    yield from refusal(without_threads, 77, "threads")
    if STAGE == "06_mpi_and_openmp":
        yield from refusal(started(2, *tiny, *settings(threads=5), OMP_THREAD_LIMIT="4"), 2, "threads is 5", "4")
    alone = subprocess.run([PROGRAM, *tiny], capture_output=True, text=True, check=False,
                           env=ENVIRONMENT | {"PMI_SIZE": "4", "PMI_RANK": "0"})
    yield from refusal(alone, 77, "4 processes", "Open MPI")


def wrong_failures(directory):
    """Yields failures of one rank that do not end all ranks with one sentence, or that leave a file."""
    call = "Waitall" if STAGE[:2] in ("03", "04", "06", "07") else "Sendrecv"
    # The harness allocates the first window.
    of_windows = [("Win_allocate_shared,1,2", 3, "bytes of memory")] if STAGE == "07_shared_windows" else []
    for failing, status, said in ((f"{call},2,7", 3, "MPI failed"), (f"{call},0,1", 3, "MPI failed"),
                                  ("File_write_all,1,1", 2, "cannot be written"), *of_windows):
        result = started(4, "--dataset", "tiny", *settings(width=3), "--output", directory / "field.npy", LD_PRELOAD=COUNTED,
                         STAIRCASE_FAILING=failing)
        for problem in refusal(result, status, said):
            yield f"{failing}: {problem}"
        if list(directory.iterdir()):
            yield f"after {failing}, these files remain: {list(directory.iterdir())}"


def wrong_records(_):
    """Yields data about the ranks that a record lacks."""
    record = json.loads(started(3, "--dataset", "tiny", "--repeat", "2", "--json", "-").stdout)
    if record["ranks"] != 3:
        yield f"the record has {record['ranks']} ranks, not 3"
    for repeat in record["repeats"]:
        kernels = [phases["kernels"] for phases in repeat["phases_of_ranks"]]
        if len(kernels) != 3 or max(kernels) != repeat["phases"]["kernels"]:
            yield (f"the record lacks phases of a rank, or does not show those of the slowest one: {kernels}, "
                   f"{repeat['phases']}")


def wrong_threads(_):
    """Yields numbers of threads that are neither the requested number nor a rank's share of the cores."""
    cores = len(os.sched_getaffinity(0))
    for ranks, threads, arguments, environment in (
            (1, cores, [], {}), (2, max(cores // 2, 1), [], {}), (1, cores, [], {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}),
            (2, 3, [], {"OMP_NUM_THREADS": "3"}), (2, 2, settings(threads=2), {"OMP_NUM_THREADS": "3"})):
        result = started(ranks, "--dataset", "tiny", "--json", "-", *arguments, **environment)
        found = result.stderr or json.loads(result.stdout)["threads"]
        if found != threads:
            yield f"{ranks} ranks, {arguments}, {environment}: each rank has {found} threads, not {threads}"


def in_a_directory(problems):
    """The problems that a check finds in a temporary directory."""
    with tempfile.TemporaryDirectory() as directory:
        yield from problems(pathlib.Path(directory))


tap.report([(title, in_a_directory(problems)) for title, problems in (
    ("on 1, 2, 3, 4, 6 and 7 ranks the field agrees with stage zero's bit for bit", differences),
    *([("the width of the halos changes no bit of the field", wrong_widths)] if WIDE else []),
    ("ranks read fields in column-major order and in another precision", wrong_inputs),
    *([] if WATCHED else [("ranks send the messages and bytes that the formulas predict, and free all objects",
                           wrong_counts)]),
    *([("the counts show each object that a program does not free", missed_leaks)] if CARELESS else []),
    ("bad input is refused in one sentence of one rank", not_refused),
    ("the failure of one rank ends all ranks with one sentence and leaves no file", wrong_failures),
    ("the record contains the phases of each rank", wrong_records),
    *([("each rank has the requested number of threads, or its share of the cores", wrong_threads)]
      if STAGE == "06_mpi_and_openmp" else []))])
