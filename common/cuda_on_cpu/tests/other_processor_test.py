"""Tests that the CPU device runs on AArch64: other_processor_test.py REWRITER. Prints TAP.

The sources of the device without analysis, and other_processor.cu next to this file, are compiled for AArch64 and run
in an emulator. The rewriter runs on this machine and preprocesses the source with the compiler for AArch64.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEVICE = HERE.parent
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
NOT_CALLED = {"c_names", "capture", "conditions", "graphs", "ipc", "library_call", "nccl", "node_attributes", "textures",
              "user_objects"}  # by the test
STANDARD = ["-std=c++20", f"-I{DEVICE / 'include'}"]
PLAIN = ["-ftls-model=local-exec", "-w"]
COMMON = ["<algorithm>", "<map>", "<mutex>", "<string>", "<vector>", "<cuda_runtime.h>", f'"{DEVICE}/src/analysis.hpp"',
          f'"{DEVICE}/src/runtime/stream.hpp"']


def device_sources():
    """Returns the sources for a program without modules, with the stack switch for AArch64."""
    sources = [*DEVICE.glob("src/*.cpp"), *DEVICE.glob("src/machine/*.cpp"), *DEVICE.glob("src/runtime/*.cpp")]
    sources = [source for source in sources if not source.name.startswith("switch_") and source.stem not in NOT_CALLED]
    return sorted(sources) + [DEVICE / "src/machine/switch_aarch64.cpp", DEVICE / "src/analysis/no_analysis.cpp"]


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        print("".join(f"# {line}\n" for line in result.stdout.splitlines()), end="")
        print("Bail out! The program could not be compiled for AArch64.")
        sys.exit(1)


def main():
    missing = [tool for tool in (COMPILER, EMULATOR) if shutil.which(tool) is None]
    if missing:
        print(f"1..0 # SKIP The test of the CPU device on AArch64 needs {' and '.join(missing)}.")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rewritten, program = folder / "other_processor.cpp", folder / "other_processor"
        run(sys.argv[1], HERE / "other_processor.cu", rewritten, folder / "depfile", COMPILER, *STANDARD,
            "-D__CUDACC__", "-DSTAIRCASE_CUDA_ON_CPU")
        # The code that switches threads is optimised, so that it uses registers as in a fast program. All other code
        # is compiled without optimisation, with a precompiled header.
        header = folder / "common.hpp"
        header.write_text("".join(f"#include {name}\n" for name in COMMON))
        run(COMPILER, *STANDARD, *PLAIN, "-O0", "-x", "c++-header", header, "-o", f"{header}.gch")
        objects = []
        for source in [*device_sources(), rewritten]:
            objects.append(folder / f"{source.parent.name}_{source.stem}.o")
            fast = source == rewritten or source.parent.name == "machine"
            run(COMPILER, *STANDARD, *PLAIN, *(["-O1"] if fast else ["-O0", "-include", header]), f"-I{HERE}", "-c", source, "-o", objects[-1])
        run(COMPILER, "-static", *objects, "-o", program)
        return subprocess.run([EMULATOR, program], check=False).returncode


sys.exit(main())
