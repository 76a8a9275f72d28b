"""Tests the configuration for CUDA toolkits, and compares the record of cuda_matrix.py with the sources.

    python3 tests/platforms/cuda_test.py ROOT
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tests/platforms"))
import cuda_matrix  # noqa: E402

# Behaves like the nvcc of a toolkit whose host compiler must be g++-12.
NVCC = """#!/bin/sh
case "$*" in
  *--version*) echo 'Cuda compilation tools, release {release}, V{release}.1' ;;
  *--list-gpu-code*) printf 'sm_%s\\n' {known} ;;
  *{accepted}*) ;;
  *) echo 'host_config.h:143:2: error: #error -- unsupported GNU version! The nvcc flag is' >&2; exit 1 ;;
esac
"""


def answer(directory, how, archs, release="12.4", known="75 80 90", accepted="-E"):
    """The output of cuda_toolkit.py with a made-up nvcc: the usable architectures, the sentence about the others, and
    the exit status."""
    nvcc = pathlib.Path(directory, "nvcc")
    if release is not None:
        nvcc.write_text(NVCC.format(release=release, known=known, accepted=accepted))
        nvcc.chmod(0o755)
    environment = {**os.environ, "CUDACXX": str(nvcc if release is not None else nvcc.with_name("none"))}
    done = subprocess.run([sys.executable, str(ROOT / "common/cuda_toolkit.py"), how, archs], env=environment,
                          capture_output=True, text=True, check=False)
    usable, sentence = (done.stdout.split("\n") + ["", ""])[:2]
    return usable, sentence, done.returncode


def toolkits():
    cases = [
        ("an architecture that nvcc supports", {"archs": "90a"}, "90a", [], 0),
        ("an architecture that needs a newer toolkit", {"archs": "90a,120"}, "90a", ["12.4", "120", "12.8"], 1),
        ("an architecture that CUDA 13 has dropped", {"archs": "70", "release": "13.0"}, "", ["13.0", "70", "12.9"], 1),
        ("an architecture that does not exist", {"archs": "999"}, "", ["12.4", "999", "75, 80, 90"], 1),
        ("a toolkit that is too old", {"archs": "75", "release": "11.8"}, "", ["12.0", "11.8"], 1),
        ("a machine without nvcc", {"archs": "90a", "release": None}, "", ["nvcc", "12.0"], 0),
        ("a host compiler that nvcc refuses", {"archs": "75", "accepted": "nothing"}, "", ["unsupported GNU"], 1),
    ]
    with tempfile.TemporaryDirectory() as directory:
        for what, arguments, archs, words, status in cases:
            for how in ("--asked", "--found"):
                got, sentence, returned = answer(directory, how, **arguments)
                if got != archs:
                    yield f"{what}: programs are built for '{got}', not '{archs}'"
                if bool(sentence) != bool(words) or not all(word in sentence for word in words):
                    yield f"{what}: the sentence '{sentence}' does not contain {words}"
                if returned != (status if how == "--asked" else 0):
                    yield f"{what}, {how}: the exit status is {returned}"


def needs(stages):
    """Yields stages that launch before they check a requirement, or whose named requirements differ from the checked
    ones."""
    for name, path in stages.items():
        found = cuda_matrix.requirements(path.read_text())
        named = re.search(r"compute capability (\d+\.\d)", found["needs"])
        if (named[1] if named else "7.5") != found["capability"]:
            yield f"{name} states '{found['needs']}', and its code requires compute capability {found['capability']}"


def recorded(record, stages):
    if not record["toolkits"]:
        return
    if set(record["stages"]) != set(stages):
        yield f"only one of record and sources has the stages {sorted(set(record['stages']) ^ set(stages))}"
        return
    for name, path in stages.items():
        for key, value in cuda_matrix.requirements(path.read_text()).items():
            if record["stages"][name][key] != value:
                yield f"{name}: '{key}' is {value!r} in the source, and {record['stages'][name][key]!r} in the record"
    for toolkit, entry in record["toolkits"].items():
        for arch, found in entry.items():
            where = f"CUDA {toolkit}, {arch}"
            for name, complaint in found["failed"].items():
                yield f"{where}: the compiler does not build {name}: {complaint}"
            built = set(found["built"]) & set(stages)
            for kind, names in cuda_matrix.refusals(record["stages"], built, arch).items():
                if names != found[kind]:
                    yield f"{where}: the list '{kind}' differs from the stages whose requirements the GPU does not satisfy"


def table(record):
    """Yields a sentence if the README's table of stages and GPUs differs from the one that the script makes of the
    record."""
    if cuda_matrix.table(record) not in (ROOT / "README.md").read_text():
        yield "README.md does not contain the table that cuda_matrix.py --table prints"


def main():
    stages, record = cuda_matrix.sources(), cuda_matrix.read_record()
    tap.report([
        ("the configuration reports toolkits and architectures that cannot be used, and the reason", toolkits()),
        ("the requirement that a stage states equals the one that its code checks", needs(stages)),
        ("the record of toolkits agrees with the sources", recorded(record, stages)),
        ("the README contains the table of the record", table(record)),
    ])


if __name__ == "__main__":
    main()
