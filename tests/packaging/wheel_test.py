"""Tests that the Python package can be built, installed and used: wheel_test.py ROOT WORK VERSION. Prints TAP.

WORK is a directory that is kept between runs: it contains the tools, which come from PyPI, and the build, which is brought
up to date. Without the tools, nothing is tested, and the reason is given.
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import tap

ROOT, WORK, VERSION = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
HERE, PACKAGE = pathlib.Path(__file__).resolve().parent, ROOT / "packaging" / "python"
TOOLS, BUILD, DIST, CLEAN = WORK / "tools", WORK / "build", WORK / "dist", WORK / "clean"
PYTHON = TOOLS / "bin" / "python"
NEEDED = ("meson-python", "meson>=1.12,<2", "ninja", "wheel", "nbclient", "ipykernel", "nbformat")
MOST_BYTES = 6_000_000
EXPECTED = ("native/bin/cuda-on-cpu", "native/lib/cuda_on_cpu/libcuda_on_cpu.a", "native/lib/cuda_on_cpu/libcuda_on_cpu_analysed.a",
            "native/include/cuda_on_cpu/cuda_runtime.h", "native/lib/cuda_on_cpu/cuda-on-cpu.cmake", "__init__.py", "cells.py")


def run(*command, **how):
    """Runs a command. If the command fails, raises an exception with its output."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **how)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def why_no_tools():
    """Makes the environment that builds the wheel and executes notebooks; returns the reason if this is impossible."""
    modules = "import mesonpy, mesonbuild, wheel, nbclient, ipykernel, nbformat"
    if PYTHON.exists() and subprocess.run([PYTHON, "-c", modules], capture_output=True, check=False).returncode == 0:
        return ""
    if importlib.util.find_spec("ensurepip") is None:
        return "Python has no ensurepip (Debian: python3-venv)"
    try:
        run(sys.executable, "-m", "venv", "--clear", TOOLS)
        run(PYTHON, "-m", "pip", "install", "--quiet", "--retries", "1", *NEEDED)
    except RuntimeError as error:
        return "the packages that build a wheel and execute notebooks cannot be installed: " + str(error).strip().splitlines()[-1]
    return ""


def environment():
    """The environment variables with the tools on the PATH, as in a shell that has activated the tools' environment."""
    return dict(os.environ, PATH=f"{TOOLS / 'bin'}:{os.environ['PATH']}")


def build():
    """Builds the wheel and the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    run(PYTHON, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", f"--config-settings=build-dir={BUILD}", "-w", DIST, PACKAGE,
        env=environment())


def wheel():
    """The wheel that was built."""
    return next(DIST.glob("*.whl"))


def wrong_wheel():
    """Yields errors in the name, the size and the contents of the wheel."""
    if not re.fullmatch(rf"cuda_on_cpu-{re.escape(VERSION)}-py3-none-linux_\w+\.whl", wheel().name):
        yield f"the wheel has the wrong name {wheel().name}"
    if (size := wheel().stat().st_size) > MOST_BYTES:
        yield f"the wheel has {size} bytes, more than {MOST_BYTES}"
    with zipfile.ZipFile(wheel()) as archive:
        names = archive.namelist()
        yield from (f"the wheel lacks {name}" for name in EXPECTED if f"cuda_on_cpu/{name}" not in names)
        yield from (f"the wheel contains {name}, which is outside of the package"
                    for name in names if not name.startswith(("cuda_on_cpu/", "cuda_on_cpu-")))
        for name in names:
            if str(ROOT).encode() + b"/" in archive.read(name) or str(WORK).encode() + b"/" in archive.read(name):
                yield f"{name} contains the path of the build directory"
        licences = [name for name in names if name.endswith("/LICENSE")]
        if not licences or archive.read(licences[0]) != (ROOT / "LICENSE").read_bytes():
            yield "the wheel lacks the licence"


def incomplete_sdist():
    """Yields sources from which the wheel is built and that the sdist does not contain."""
    if subprocess.run(["git", "-C", PACKAGE, "rev-parse", "HEAD"], capture_output=True, check=False).returncode != 0:
        return
    name = run(PYTHON, "-c", "import sys, backend; print(backend.build_sdist(sys.argv[1]))", DIST, cwd=PACKAGE,
               env=environment() | {"PYTHONPATH": str(PACKAGE)}).split()[-1]
    with tarfile.open(DIST / name) as archive:
        packed = {member.name.partition("/")[2] for member in archive if member.isfile()}
        yield from (f"the sdist contains the link {member.name}" for member in archive if member.issym() or member.islnk())
    used = set(json.loads((BUILD / "meson-info" / "intro-buildsystem_files.json").read_text()))
    for target in json.loads((BUILD / "meson-info" / "intro-targets.json").read_text()):
        for group in target["target_sources"]:
            used.update(group.get("sources", []))
    with zipfile.ZipFile(wheel()) as archive:
        headers = [path.partition("/include/cuda_on_cpu/")[2] for path in archive.namelist() if "/include/cuda_on_cpu/" in path]
    used.update(str(PACKAGE / "common/cuda_on_cpu/include" / header) for header in headers)
    used = {path for path in map(pathlib.Path, used) if path.is_relative_to(PACKAGE) and not path.is_relative_to(BUILD)}
    if len(used) < 100:
        yield f"the build reads only {len(used)} files"
    yield from sorted(f"the sdist lacks {path.relative_to(PACKAGE)}" for path in used
                      if str(path.relative_to(PACKAGE)) not in packed)


def wrong_environment():
    """Yields errors of the package in an environment that contains nothing else; a kernel imports the package from there."""
    run(sys.executable, "-m", "venv", "--clear", "--without-pip", CLEAN)
    run(PYTHON, "-m", "pip", "--python", CLEAN / "bin" / "python", "install", "--quiet", "--no-deps", "--no-index", wheel())
    notebook = WORK / "ata.ipynb"
    run(sys.executable, PACKAGE / "notebook" / "make_notebook.py", notebook)
    site = next((CLEAN / "lib").glob("python3*")) / "site-packages"
    has_slice = (site / "cuda_on_cpu" / "native" / "bin" / "slice").exists()
    result = subprocess.run([PYTHON, HERE / "environment_test.py", CLEAN / "bin", notebook, *([] if has_slice else ["--without-slice"])],
                            env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True, check=False)
    print("\n".join(f"# {line}" for line in result.stdout.splitlines()))
    if result.returncode != 0:
        yield result.stderr[-2000:].replace("\n", "\n# ") or "a check of environment_test.py fails; see its output above"


def main():
    """Prints one TAP line per check."""
    if why := why_no_tools():
        tap.skip(why)
        return
    build()
    tap.report((("the wheel is complete, at most 6 MB large, and contains no path of the build directory", wrong_wheel()),
                ("the sdist contains every source that the build reads", incomplete_sdist()),
                ("an environment with only the package compiles and analyses programs, and runs notebooks",
                 wrong_environment())))


main()
