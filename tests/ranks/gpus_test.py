"""Tests a stage that uses several GPUs in one process, on the CPU device: gpus_test.py PROGRAM STAGE_ZERO. Prints TAP.

Fields are random. The seed of the fields is new each time, or the value of STAIRCASE_TEST_SEED.
"""

import os
import pathlib
import secrets
import subprocess
import sys
import tempfile

import numpy

import tap

PROGRAM, STAGE_ZERO = sys.argv[1:]
# Cases with as many GPUs as rows, fewer rows than GPUs, a GPU that is its own neighbour, and two GPUs that are
# neighbours on both sides.
CASES = ((1, (1, 1)), (1, (7, 5)), (2, (2, 9)), (2, (23, 31)), (3, (3, 40)), (3, (50, 7)), (3, (2, 130)), (4, (101, 13)),
         (7, (7, 7)), (7, (16, 129)), (1, (1100, 3)), (2, (21, 1100)))
STEPS = (0, 1, 2, 5, 8, 29)
SEED = int(os.environ.get("STAIRCASE_TEST_SEED", secrets.randbits(30)))
RANDOM = numpy.random.default_rng(SEED)


def run(program, *arguments, **environment):
    """Runs a program and returns its result."""
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300,
                          env=os.environ | environment)


def differences(directory, *arguments):
    """Yields random fields whose result differs from stage zero's by more than rounding errors."""
    for number, (gpus, shape) in enumerate(CASES):
        precision = "f32" if number % 3 == 2 else "f64"
        field = RANDOM.standard_normal(shape)
        numpy.save(directory / "in.npy", field)
        for steps in STEPS if not arguments else STEPS[-2:]:
            options = ["--dataset", "tiny", "--input", directory / "in.npy", "--precision", precision, "--set", "cfl=0.9",
                       "--set", "vy=-0.7", "--set", f"steps={steps}"]
            zero = run(STAGE_ZERO, *options, "--output", directory / "zero.npy")
            own = run(PROGRAM, *options, *arguments, "--output", directory / "own.npy", CUDA_ON_CPU_DEVICES=str(gpus))
            where = f"{gpus} GPUs, {shape}, {steps} steps, {precision}, STAIRCASE_TEST_SEED={SEED}"
            if zero.returncode or own.returncode:
                yield f"{where}: a program fails: {zero.stderr}{own.returncode} {own.stderr}"
                continue
            error = abs(numpy.load(directory / "zero.npy") - numpy.load(directory / "own.npy")).max()
            rounding = 4 * numpy.finfo(precision.replace("f", "float")).eps * (steps + 1) * abs(field).max()
            if not error <= (rounding if steps > 0 else 0):
                yield f"{where}: the field differs from stage zero's by {error}"


def races(directory):
    """Yields the findings of the analysis."""
    yield from differences(directory, "--analyze")


def changed_bits(directory):
    """Yields numbers of GPUs, given as a parameter, that change a digit of the result."""
    fields = []
    for gpus in range(5):
        own = run(PROGRAM, "--dataset", "tiny", "--set", f"gpus={gpus}", "--output", directory / "own.npy",
                  CUDA_ON_CPU_DEVICES="4")
        if own.returncode:
            yield f"the program fails with gpus={gpus}: {own.stderr}"
        else:
            fields.append(numpy.load(directory / "own.npy"))
    if not all(numpy.array_equal(field, fields[0]) for field in fields):
        yield "the fields for gpus=0 to 4 differ"


def wrong_failures(directory):
    """Yields refusals and failures that print no sentence, or that leave a file."""
    for expected, arguments, environment in ((77, ("--set", "gpus=3"), {"CUDA_ON_CPU_DEVICES": "2"}),
                                             (2, ("--set", "gpus=17"), {}), (2, ("--set", "gpus=-1"), {}),
                                             (3, (), {"CUDA_ON_CPU_LOST_AT": "1"}), (3, (), {"CUDA_ON_CPU_LOST_AT": "20"}),
                                             (3, (), {"CUDA_ON_CPU_LOST_AT": "24"})):
        own = run(PROGRAM, "--dataset", "tiny", *arguments, "--output", directory / "own.npy",
                  **({"CUDA_ON_CPU_DEVICES": "3"} | environment))
        if own.returncode != expected or own.stdout or own.stderr.count("\n") != 1:
            yield (f"{arguments} {environment}: the exit status is {own.returncode}, not {expected}, "
                   f"or the message is not one line: "
                   f"{own.stdout!r} {own.stderr!r}")
        yield from (f"{arguments} {environment}: the file {path} remains" for path in directory.iterdir())
    # Copies pass through the host if GPUs have no peer access. Stores of kernels cannot do so.
    own = run(PROGRAM, "--dataset", "tiny", CUDA_ON_CPU_DEVICES="3", CUDA_ON_CPU_PEERS="2")
    if own.returncode != (77 if "11_" in PROGRAM else 0) or own.stderr.count("\n") != (1 if own.returncode else 0):
        yield f"without peer access, the program ends with status {own.returncode}: {own.stderr!r}"


def in_a_directory(problems):
    """The problems that a check finds in a temporary directory."""
    with tempfile.TemporaryDirectory() as directory:
        yield from problems(pathlib.Path(directory))


tap.report([(title, in_a_directory(problems)) for title, problems in (
    ("on 1, 2, 3, 4 and 7 GPUs the field agrees with stage zero's up to rounding", differences),
    ("the number of GPUs changes no bit of the field", changed_bits),
    *([("the analysis finds no race", races)] if pathlib.Path(PROGRAM + "-analyze").exists() else []),
    ("impossible requests are refused in one sentence, and failures leave no file", wrong_failures))])
