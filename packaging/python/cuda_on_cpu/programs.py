"""The commands of the environment. Each command starts the program of the same name in the package."""

import os
import pathlib
import re
import subprocess
import sys

NATIVE = pathlib.Path(__file__).resolve().parent / "native"


class Unavailable(Exception):
    """The reason why a program cannot be started here, in a sentence."""


def program(name):
    """The path of a program of the package.

    Raises Unavailable if the package was built without the program, or if this system lacks a library that the program
    loads.
    """
    path = NATIVE / "bin" / name
    if not path.exists():
        raise Unavailable(f"{name}: this package was built on a machine without libclang and isl, which {name} needs")
    missing = missing_libraries(path)
    if missing:
        raise Unavailable(f"{name}: this system lacks {', '.join(missing)}, which {name} needs; install it, or build the package "
                          "on this machine")
    return path


def missing_libraries(path):
    """The libraries, or versions of them, that a program loads and that this system does not have."""
    try:
        said = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    except OSError:
        return []
    missing = []
    for line in (said.stdout + said.stderr).splitlines():
        if version := re.search(r"version `(\S+)' not found", line):
            missing.append(version[1])
        elif line.endswith("=> not found"):
            missing.append(line.split()[0])
    return list(dict.fromkeys(missing))


def start(name):
    """Replaces this process by a program with the same arguments."""
    try:
        path = program(name)
    except Unavailable as why:
        sys.exit(str(why))
    os.execv(path, [path, *sys.argv[1:]])


def cuda_on_cpu():
    """The command `cuda-on-cpu`."""
    start("cuda-on-cpu")


def slice_loops():
    """The command `slice`."""
    start("slice")
