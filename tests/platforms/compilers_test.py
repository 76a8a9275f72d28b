"""Tests the selection of compilers.py, and how it reads a compiler's output: compilers_test.py. Compiles nothing.
Prints TAP."""

import contextlib
import io
import pathlib
import tempfile

import tap
from platforms import compilers

ROOT = pathlib.Path("/source")


def target(name, folder="stages", kind="executable"):
    """A target in the form that Meson reports."""
    return {"name": name, "type": kind, "defined_in": str(ROOT / folder / "meson.build"), "filename": [f"/build/{folder}/{name}"]}


def selection():
    """Yields targets that are selected or omitted wrongly."""
    chosen = [target("climb", "common/climb"), target("slice", "common/slicer"),
              target("cuda_on_cpu", "common/cuda_on_cpu", "static library"), target("ata-00_original"),
              target("ata-03_naive_cuda-cpu"), target("local_volatility-04_naive_cuda-cpu"), target("ata-baseline_openblas"),
              target("local_volatility-08_shared_grids-cpu"), target("local_volatility-18_reduced_system-cpu")]
    others = [target("climb", "common/climb", "custom"), target("ata-04_tiled-cpu"), target("ata-03_naive_cuda-cpu-analyze"),
              target("local_volatility-08_shared_grids-cpu-analyze"), target("local_volatility-16_adjoint_cuda-cpu"),
              target("ata-baseline_cublas-cpu"), target("ata_test", "tests/stages")]
    found = compilers.selection([*others, *chosen], ROOT)
    if found != sorted(one["name"] for one in chosen):
        yield f"the selected targets are {found}"
    files = compilers.files_of(chosen, ["slice"], pathlib.Path("/build"))
    if files != ["common/slicer/slice"]:
        yield f"the files of the target slice are {files}"


def output():
    """Yields messages that are missed or counted twice."""
    text = "a.cpp:1:2: warning: unused 'x' [-Wunused]\n" \
           "In file included from b\na.cpp:1:2: warning: unused 'x' [-Wunused]\n" \
           "b.cpp:3:4: error: no such thing\n[1/2] Compiling warning.cpp\n" \
           "/usr/bin/ld: c.o: in function `main':\nc.cpp:(.text+0x5): undefined reference to `f()'\n"
    found = compilers.messages(text)
    if found != ["a.cpp:1:2: warning: unused 'x' [-Wunused]", "b.cpp:3:4: error: no such thing",
                 "/usr/bin/ld: c.o: in function `main':", "c.cpp:(.text+0x5): undefined reference to `f()'"]:
        yield f"the messages are read as {found}"
    lines = compilers.table([compilers.Result("g++-11", "11.3.0", "82 targets built", [], 61.4),
                             compilers.Result("clang++-14", "", "not installed", [], 0)])
    if len({len(line) for line in lines}) != 1 or not lines[1].endswith("  61 s"):
        yield f"the table is not aligned: {lines}"


def missing():
    """Yields wrong sentences and statuses for a missing compiler."""
    shown, refused = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(shown), contextlib.redirect_stderr(refused):
        status = compilers.main(["--build", folder, "--meson", "meson", "g++-of-nowhere"])
    if status != compilers.UNAVAILABLE or "not installed" not in shown.getvalue() or refused.getvalue().count("\n") != 1:
        yield f"the exit status is {status}, and the output is {shown.getvalue()}{refused.getvalue()}"


tap.report((("the script selects tools, stages for the processor, and some programs for the CPU device", selection()),
            ("each compiler message is counted once", output()),
            ("a missing compiler is reported in one sentence with its own exit status", missing())))
