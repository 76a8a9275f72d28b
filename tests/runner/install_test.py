"""Tests which files `meson install` installs, and that they work there. Prints TAP.

Usage: install_test.py ROOT BUILD BIN PROGRAMS DATA DOC HEADERS LIBRARIES MESON...

BIN and the following arguments are directories to which this build installs; the test installs everything below a
temporary directory.
"""

import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import tap

ROOT, BUILD, BIN, PROGRAMS, DATA, DOC, HEADERS, LIBRARIES = (pathlib.Path(place).absolute() for place in sys.argv[1:9])
MESON = sys.argv[9:]
DEVICE = ROOT / "common/cuda_on_cpu"


def install(directory):
    """Installs the build below a directory, without symbols, which would need gigabytes."""
    subprocess.run([*MESON, "install", "-C", BUILD, "--no-rebuild", "--strip", "--destdir", directory], check=True,
                   stdout=subprocess.DEVNULL)


def below(directory, place):
    """The path below a directory to which a path is installed."""
    return directory / place.relative_to("/")


def misplaced(directory):
    """Yields files that are missing, or that are where no program searches for them."""
    installed = {path.relative_to(directory) for path in directory.rglob("*") if path.is_file()}
    built = {path.name for path in (BUILD / "stages").iterdir() if path.is_file() and os.access(path, os.X_OK)}
    sources = {path.relative_to(ROOT) for pattern in ("stages/*/*/*.c*", "docs/results/h200/*") for path in ROOT.glob(pattern)}
    wanted = ([BIN / "climb", DOC / "LICENSE", DOC / "CITATION.cff", PROGRAMS / "ceilings"]
              + [PROGRAMS / name for name in [*built, "libstaircase.so", "programs.txt"]] + [DATA / source for source in sources])
    wanted += [BIN / "cuda-on-cpu"] + [LIBRARIES / name for name in ("libcuda_on_cpu.a", "libcuda_on_cpu_analysed.a")]
    wanted += [LIBRARIES / name for name in ("cuda-on-cpu.cmake", "cuda-on-cpu.ini", "FindCUDAToolkit.cmake")]
    wanted += [HEADERS / path.relative_to(DEVICE / "include") for path in (DEVICE / "include").rglob("*") if path.is_file()]
    wanted = {path.relative_to("/") for path in wanted}
    html = (DOC / "html").relative_to("/")
    yield from (f"{path} is missing" for path in sorted(wanted - installed))
    yield from (f"{path} is installed, and no program searches for it there"
                for path in sorted(installed - wanted) if not path.is_relative_to(html))


def wrong_book(directory):
    """Yields pages that are built and not installed, or that differ from the built ones."""
    built, installed = BUILD / "docs" / "html", below(directory, DOC) / "html"
    pages = [path.relative_to(built) for path in built.rglob("*") if path.is_file()]
    same, *others = filecmp.cmpfiles(built, installed, pages)
    yield from (f"{page} is not installed, or differs from the built page" for pages in others for page in pages)
    if installed.exists() and not pages:
        yield "a book is installed that was not built"


def run(directory, *arguments):
    """Runs the installed runner from an empty directory."""
    with tempfile.TemporaryDirectory() as elsewhere:
        return subprocess.run([below(directory, BIN) / "climb", *arguments], cwd=elsewhere, text=True, capture_output=True)


def missed_by_runner(directory):
    """Yields stages, figures and sources that the installed runner does not find."""
    built = subprocess.run([BUILD / "common/climb/climb", "--source", ROOT, "--list"], text=True, capture_output=True).stdout
    listed = run(directory, "--list")
    if listed.returncode != 0 or listed.stdout != built:
        yield f"--list prints other stages than the built runner: {listed.stderr or listed.stdout}"
    result = run(directory, "ata", "--stages", "00,01,03", "--dataset", "tiny", "--repeat", "1", "--json", "-")
    if result.returncode != 0:
        yield f"the installed runner cannot run stages: {result.stderr}"
        return
    recording = json.loads(result.stdout)
    described = json.loads(subprocess.run([BUILD / "stages/ata-00_original", "--dataset", "tiny", "--json", "-"], text=True,
                                          capture_output=True).stdout)
    if recording["revision"] != described["revision"]:
        yield f"the runner reports revision {recording['revision']}, not {described['revision']}"
    for record in recording["runs"][0]["records"]:
        if record["verdict"] not in ("reference", "matches"):
            yield f"the verdict on {record['stage']} is '{record['verdict']}': {record.get('reason')}"
        if ("lines_added" in record) != (record["stage"] != "00_original"):
            yield f"the runner does not find the sources for the diff of {record['stage']}"
    # On a machine with a GPU, no recorded results are shown.
    table = run(directory, "ata", "--stages", "00,01,03", "--dataset", "small", "--repeat", "1").stdout
    if "checked" in table and "recorded on an NVIDIA H200" not in table:
        yield f"the runner does not find the recorded times: {table}"
    walk = run(directory, "ata", "--step", "--stages", "00-01", "--dataset", "tiny", "--repeat", "1")
    if walk.returncode != 0 or "+#pragma omp" not in walk.stdout or "see --source" in walk.stdout:
        yield f"--step shows no source or no diff: {walk.stdout[:200]}{walk.stderr}"


def missed_by_command(directory):
    """Yields sources that the installed cuda-on-cpu does not compile, or whose programs do not run."""
    with tempfile.TemporaryDirectory() as elsewhere:
        source = pathlib.Path(elsewhere) / "one.cu"
        source.write_text("__global__ void set(int* x) { *x = 7; }\nint main() {\n  int* x;\n  cudaMallocManaged(&x, 4);\n"
                          "  set<<<1, 1>>>(x);\n  cudaDeviceSynchronize();\n  return *x;\n}\n")
        for flag in ([], ["--analyze"]):
            result = subprocess.run([below(directory, BIN) / "cuda-on-cpu", *flag, source, "-o", source.with_suffix("")], cwd=elsewhere,
                                    text=True, capture_output=True)
            if result.returncode != 0:
                yield f"cuda-on-cpu {flag} does not compile a source: {result.stderr}"
            elif (status := subprocess.run([source.with_suffix("")], capture_output=True).returncode) != 7:
                yield f"the program that cuda-on-cpu {flag} builds ends with status {status}, not 7"


def without_code_for_gpu(path):
    """A program's bytes without its kernels, which name the source lines that a profiler shows."""
    with tempfile.NamedTemporaryFile() as host:
        subprocess.run(["objcopy", "--remove-section", ".nv_fatbin", path, host.name], check=True)
        return pathlib.Path(host.name).read_bytes()


def traces_of_build(directory):
    """Yields programs that contain the name of the directory in which they were built."""
    for path in [below(directory, BIN) / "climb", below(directory, BIN) / "cuda-on-cpu", *below(directory, PROGRAMS).iterdir()]:
        if path.suffix == ".txt":
            continue
        program = without_code_for_gpu(path)
        yield from (f"{path.name} contains the path {place}"
                    for place in {str(ROOT), str(BUILD)} if place.encode() + b"/" in program)


def main():
    """Prints one TAP line per check."""
    checks = [("all files are installed to the directories in which programs search for them", misplaced),
              ("the book is installed exactly if it is built", wrong_book),
              ("the installed runner finds programs, sources, recorded times and the revision", missed_by_runner),
              ("the installed cuda-on-cpu compiles programs that run", missed_by_command),
              ("no installed program contains the path of the build directory", traces_of_build)]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        install(directory)
        tap.report((title, check(directory)) for title, check in checks)


main()
