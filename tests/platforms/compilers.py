#!/usr/bin/env python3
"""Builds a selection of programs with several compilers, and treats every warning as an error.

By default, the selection is the runner, the libraries and the command of the CPU device, the slicer, all stages for
the processor, and programs for the CPU device: the first CUDA stage of each workload, and those stages of
local_volatility in which compilers have found errors before.

clang++ needs the OpenMP library of its own version, for example libomp-17-dev for clang++-17. Debian installs one version at a time.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PROGRAM = "compilers"
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
UNAVAILABLE = 77
COMPILERS = ["g++-11", "g++-12", "g++-13", "g++-14", *(f"clang++-{version}" for version in range(14, 20))]
TOOLS = ("climb", "cuda_on_cpu", "cuda_on_cpu_analysed", "cuda-on-cpu", "slice")
# CUDA stages whose programs for the CPU device are built besides the first stage of each workload.
REPORTED_BEFORE = re.compile(r"local_volatility-(?:08|09|1[01278])_")
LINES = 12

Result = collections.namedtuple("Result", "compiler version outcome detail seconds")


def parse(arguments):
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog=f"{PROGRAM}.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: 0 if every compiler that is installed builds the selection without a "
                                            "warning, 1 if one does not, 77 if none is installed.")
    parser.add_argument("compilers", nargs="*", metavar="COMPILER", default=COMPILERS,
                        help=f"C++ compilers, by name or path (default: those of {', '.join(COMPILERS)} that are installed)")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", default=CHECKOUT / "build-compilers",
                        help="folder for one build directory per compiler (default: build-compilers in the checkout)")
    parser.add_argument("--meson", metavar="PROGRAM", default=None,
                        help="Meson (default: the one that ./climb installs, or the one on the path)")
    parser.add_argument("--jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="number of compilers that run at once (default: %(default)s)")
    parser.add_argument("--target", action="append", metavar="TARGET", default=[],
                        help="build this target of Ninja instead of the selection; may be repeated")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs takes a number from 1 on, not {options.jobs}")
    own = CHECKOUT / ".venv" / "bin" / "meson"
    options.meson = options.meson or (str(own) if own.exists() else shutil.which("meson"))
    if options.meson is None:
        parser.error("there is no Meson; './climb --list' installs it, or name one with --meson")
    return options


def selection(targets, checkout=CHECKOUT):
    """The names of the targets to build, from what Meson reports about all targets."""
    programs = {}
    for target in targets:
        if target["name"] in TOOLS and target["type"] in ("executable", "static library", "shared library"):
            programs[target["name"]] = target
        elif target["type"] == "executable" and target["defined_in"] == str(checkout / "stages" / "meson.build"):
            programs[target["name"]] = target
    of_cpu_device = sorted(name for name in programs if name.endswith("-cpu"))
    first = {name.partition("-")[0]: name for name in reversed(of_cpu_device) if "baseline" not in name}
    return sorted(name for name in programs
                  if name in TOOLS or name in first.values() or REPORTED_BEFORE.match(name) and name in of_cpu_device
                  or not name.endswith(("-cpu", "-cpu-analyze")))


def files_of(targets, names, build):
    """The files that Ninja builds for the targets with some names."""
    return [os.path.relpath(file, build.resolve()) for target in targets if target["name"] in names
            for file in target["filename"][:1]]


def messages(output):
    """The warnings and errors of the compiler and the linker in the output of a build, without duplicates."""
    return list(dict.fromkeys(re.findall(r"^.*(?:warning|error|ld): .*$|^.*: (?:undefined reference|multiple definition) .*$",
                                         output, flags=re.MULTILINE)))


def attempt(options, compiler):
    """The result of building the selection with a compiler."""
    began, found = time.monotonic(), shutil.which(compiler)

    def result(outcome, detail=(), version=""):
        return Result(compiler, version, outcome, list(detail), time.monotonic() - began)

    if found is None:
        return result("not installed")
    version = subprocess.run([found, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True,
                             check=False).stdout.strip()
    build = options.build / pathlib.Path(compiler).name
    # Diagnostics are in English and without colours, so that they can be counted.
    environment = os.environ | {"CXX": found, "LC_ALL": "C", "CCACHE_DEPEND": "1"}
    setup = subprocess.run([options.meson, "setup", "-Dwerror=true", "-Dcuda=disabled", "-Dbook=disabled",
                            "-Db_colorout=never", *(["--wipe"] if (build / "meson-info").exists() else []), build, CHECKOUT],
                           env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, check=False)
    if setup.returncode != 0:
        reasons = re.findall(r"ERROR: (.*)", setup.stdout) or setup.stdout.splitlines()[-1:]
        return result("not configured", reasons, version)
    targets = json.loads((build / "meson-info" / "intro-targets.json").read_text())
    wanted = options.target or files_of(targets, selection(targets), build)
    ninja = subprocess.run(["ninja", "-C", build, "-k", "0", "-j", str(options.jobs), *wanted], env=environment,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           errors="replace", check=False)
    said = messages(ninja.stdout)
    if ninja.returncode != 0:
        return result(f"failed, {len(said)} messages", said or ninja.stdout.splitlines()[-LINES:], version)
    return result(f"{len(wanted)} targets built" + (f", {len(said)} warnings" if said else ""), said, version)


def table(results):
    """The lines of the table."""
    rows = [("compiler", "version", "outcome", "time")]
    rows += [(r.compiler, r.version, r.outcome, f"{r.seconds:.0f} s") for r in results]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:{widths[2]}}  {row[3]:>{widths[3]}}" for row in rows]


def main(arguments):
    """Runs the script; returns its exit status."""
    options = parse(arguments)
    options.build.mkdir(parents=True, exist_ok=True)
    results = []
    for compiler in options.compilers:
        print(f"{PROGRAM}: {compiler} ...", flush=True)
        results.append(attempt(options, compiler))
        for line in results[-1].detail[:LINES]:
            print(f"  {line}", flush=True)
    print("", *table(results), sep="\n")
    tried = [one for one in results if one.outcome != "not installed"]
    if not tried:
        print(f"{PROGRAM}: none of these compilers is installed", file=sys.stderr)
        return UNAVAILABLE
    return int(any(one.detail for one in tried))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
