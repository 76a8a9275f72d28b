"""Compiles every .cu file of the build with a CUDA toolkit, for each architecture, and records what was built.

    python3 tests/platforms/cuda_matrix.py BUILD                           with the nvcc on the path
    python3 tests/platforms/cuda_matrix.py BUILD --nvcc /opt/cuda-12.4/bin/nvcc --archs 75,90a
    python3 tests/platforms/cuda_matrix.py --table                         the table of README.md, from the record

BUILD is a directory that Meson has configured with CUDA; its flags are used, except those for the architectures. The
script only compiles: it links and runs no program. `--host` compiles the code for the host, too, with the first
architecture. Results are kept in BUILD, so that an interrupted run continues where it ended. The record,
docs/results/platforms/cuda.json, keeps its entries for other toolkits and architectures.

The script determines from the sources which stages refuse to run on a GPU. A source contains the compute capability that
a stage requires before its first launch, and expressions for the shared memory of a block, which the compiler evaluates.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/measure"))
import recordings  # noqa: E402

RECORD = ROOT / "docs/results/platforms/cuda.json"
ARCHS = ["75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "103", "107", "110", "120", "121"]

# The most bytes of shared memory that a block may have (CUDA C++ Programming Guide, "Compute Capabilities").
SHARED = {"75": 65536, "80": 166912, "86": 101376, "87": 166912, "88": 101376, "89": 101376, "90": 232448, "100": 232448,
          "103": 232448, "107": 232448, "110": 232448, "120": 101376, "121": 101376}

# The columns of the table: GPUs, and the architecture for which a build is compiled.
GPUS = {"T4": "75", "A100": "80", "RTX 30": "86", "RTX 40": "89", "H100, H200": "90a", "B200": "100", "RTX 50": "120"}


def digits(arch):
    return arch.rstrip("af")


def capability(arch):
    """The compute capability of an architecture, such as "9.0" for "90a"."""
    return f"{digits(arch)[:-1]}.{digits(arch)[-1]}"


def tens(text):
    """A compute capability as an integer, such as 90 for "9.0"."""
    major, minor = text.split(".")
    return 10 * int(major) + int(minor)


# --- Requirements of stages


def sources():
    """The stages and baselines with kernels, by program name."""
    found = {}
    for path in sorted((ROOT / "stages").glob("*/*/*.cu")):
        directory = path.parent.name
        found[f"{path.parts[-3]}-{'baseline_' + path.stem if directory == 'baselines' else directory}"] = path
    return found


def requirements(text):
    """The requirements of a source: `needs` in words, the least capability, and whether only this capability is accepted."""
    asked = ["7.5"]
    asked += [f"{major}.{minor}" for major, minor in re.findall(r"require_capability\((\d+), (\d+),", text)]
    asked += ["9.0"] * ("require_clusters()" in text or "require_wgmma()" in text)
    needs = re.search(r"\.needs = (?:\"([^\"]*)\"|staircase::(\w+))", text)
    words = ""
    if needs:
        words = needs[1] or re.search(rf'{needs[2]} = "([^"]*)"',
                                      (ROOT / "common/include/staircase/cluster.hpp").read_text())[1]
    return {"needs": words, "capability": max(asked, key=tens), "no_other": "require_wgmma()" in text}


def shared_expressions(text):
    """The sizes of dynamic shared memory that a source requests, as far as they do not depend on the problem."""
    found = re.findall(r"(?:require|allow)_shared_memory\((?:[\w<>:]+, )?(sizeof\([^;]*\))\);", text)
    found += re.findall(r"const std::size_t bytes = (sizeof\([^;]*\));", text)
    return sorted(set(found))


def shared_bytes(nvcc, flags, build, path):
    """The most dynamic shared memory, in bytes, that a stage requests in each precision, evaluated by the compiler."""
    text = path.read_text()
    expressions = shared_expressions(text)
    if not expressions:
        return {}
    precisions = {name: kind for name, kind in {"f64": "double", "f32": "float"}.items() if f"solve_{name} =" in text}
    lines = ["#define main main_of_stage", f'#include "{path}"', "#undef main",
             f"namespace {path.parts[-3]} {{"]
    for name, kind in precisions.items():
        for index, expression in enumerate(expressions):
            lines.append(f"template <typename T> constexpr unsigned long long shared_{name}_{index} = {expression};")
            lines.append(f'extern "C" __device__ const unsigned long long asked_{name}_{index} = '
                         f"shared_{name}_{index}<{kind}>;")
    lines.append("}")
    with tempfile.TemporaryDirectory(dir=build) as folder:
        source = pathlib.Path(folder) / "probe.cu"
        source.write_text("\n".join(lines) + "\n")
        result = source.with_suffix(".ptx")
        done = subprocess.run(["nice", "-n", "10", nvcc, *flags, "-ptx", "-Xcicc", "-O0", "-arch=compute_90",
                               "-o", str(result), str(source)], cwd=build, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{path}: {done.stderr}")
        ptx = result.read_text()
    most = {}
    for name, value in re.findall(r"asked_(f\d\d)_\d+ = (\d+);", ptx):
        most[name] = max(most.get(name, 0), int(value))
    return most


def refusal(stage, arch):
    """The reason why a stage runs in no precision on GPUs of an architecture; empty if it runs."""
    has = capability(arch)
    if tens(has) < tens(stage["capability"]):
        return f"needs compute capability {stage['capability']}"
    if stage["no_other"] and arch != "90a":
        return "needs compute capability 9.0, no other, and gpu_arch 90a"
    too_large = without_room(stage, arch)
    return next(iter(too_large.values())) if too_large and too_large.keys() == stage["shared"].keys() else ""


def without_room(stage, arch):
    """The precisions in which a stage requests more shared memory than a block has on an architecture, and a sentence
    about them."""
    room = SHARED[digits(arch)]
    return {precision: f"needs {bytes} bytes of shared memory for a block, which has {room}"
            for precision, bytes in stage["shared"].items() if bytes > room}


def refusals(stages, names, arch):
    """The stages in `names` that refuse a GPU of an architecture in all precisions, and those that refuse it in one
    precision."""
    known = [name for name in sorted(names) if name in stages]
    whole = {name: why for name in known if (why := refusal(stages[name], arch))}
    return {"refused": whole,
            "refused_in": {name: why for name in known
                           if name not in whole and (why := without_room(stages[name], arch))}}


# --- Compiling


OF_THE_BUILD = ("-gencode", "-lineinfo", "--compress-mode", "-DSTAIRCASE_GPU_ARCH", "-MD", "-Werror=all")


def commands(build):
    """The compile commands of the build for .cu files: each file, and its flags except those for an architecture."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "compdb", "cuda_COMPILER"], capture_output=True, text=True,
                            check=True).stdout
    for entry in json.loads(listed):
        words = shlex.split(entry["command"])
        begin = next(i for i, word in enumerate(words) if pathlib.Path(word).name.startswith("nvcc")) + 1
        flags, skip = [], False
        for word in words[begin:]:
            if skip or word == entry["file"]:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ", "-ccbin"):
                skip = True
            elif word != "-c" and not word.startswith(OF_THE_BUILD):
                flags.append(word)
        path = pathlib.Path(os.path.normpath(pathlib.Path(build, entry["file"])))
        if "unity" in path.name:  # this file includes several sources, which are compiled together
            for word in re.findall(r'#include\s*["<]([^">]+)[">]', path.read_text()):
                yield pathlib.Path(os.path.normpath(path.parent / word)), flags
        else:
            yield path, flags


def closure(path, seen):
    """Collects a source and all headers of the project that it includes."""
    if path in seen:
        return seen
    seen.add(path)
    for name in re.findall(r'#include [<"]([^>"]+)[>"]', path.read_text()):
        for folder in (path.parent, ROOT / "stages", ROOT / "common/include", ROOT / "common"):
            if (folder / name).is_file():
                closure((folder / name).resolve(), seen)
                break
    return seen


class Kept:
    """Answers about the present text of sources, cached in a file."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def key(self, path, question):
        """The key of a question about the text of a source and its headers."""
        text = hashlib.sha256(" ".join(question).encode())
        for part in sorted(closure(path, set())):
            text.update(part.read_bytes())
        return text.hexdigest()

    def ask(self, path, question, answer):
        """The cached result of `answer()`, which is called if there is none."""
        key = self.key(path, question)
        if key not in self.known:
            self.known[key] = answer()
        return self.known[key]

    def keep(self):
        self.file.write_text(json.dumps(dict(self.known)))  # other threads may add answers meanwhile


def compile_file(build, nvcc, path, flags, arch, with_host):
    """The compiler's messages about a file; empty if it was compiled."""
    with tempfile.NamedTemporaryFile(dir=build, suffix=".o") as result:
        done = subprocess.run(
            ["nice", "-n", "10", nvcc, "-c" if with_host else "-fatbin", *flags,
             *(["-DSTAIRCASE_GPU_ARCH_90A"] if arch == "90a" else []), "-Werror=all-warnings",
             f"-gencode=arch=compute_{arch},code=sm_{arch}", "-o", result.name, str(path)],
            cwd=build, capture_output=True, text=True)
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return "" if done.returncode == 0 else (lines or ["nvcc failed"])[0]


def version_of(nvcc):
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V(\d+\.\d+\.\d+)", text)[1]


def known_archs(nvcc):
    text = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"sm_(\d+)", text))


def name_of(path):
    for name, source in sources().items():
        if source == path:
            return name
    return str(path.relative_to(ROOT))


def read_record():
    return json.loads(RECORD.read_text()) if RECORD.exists() else {
        "about": "Made by tests/platforms/cuda_matrix.py: what each CUDA toolkit compiled, by architecture.",
        "stages": {}, "toolkits": {}}


def write_record(record):
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(recordings.text_by_entry(record))


def requirements_of_build(build, nvcc, files, jobs):
    """The requirements of the stages of the build, from their present sources."""
    kept = Kept(f"{build}/cuda_matrix_shared.json")
    flags = dict(files)
    stages = {name: path for name, path in sources().items() if path in flags}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = pool.map(lambda path: kept.ask(path, flags[path], lambda: shared_bytes(nvcc, flags[path], build, path)),
                         stages.values())
        found = {name: requirements(path.read_text()) | {"shared": shared}
                 for (name, path), shared in zip(stages.items(), asked)}
    kept.keep()
    return found


def record_toolkit(build, nvcc, archs, jobs, with_host_of, only, interrupted):
    version = version_of(nvcc)
    files = sorted(commands(build))
    stages = requirements_of_build(build, nvcc, files, jobs)
    wanted = files = [(path, flags) for path, flags in files if re.search(only, name_of(path))]
    kept = Kept(f"{build}/cuda_matrix_{version}.json")
    for arch in archs:
        if digits(arch) not in known_archs(nvcc):
            print(f"CUDA {version} does not know {arch}", flush=True)
            continue
        with_host = arch == with_host_of

        def question(flags):
            return [version, arch, str(with_host), *flags]

        def complaint_of(file):
            path, flags = file
            return kept.ask(path, question(flags), lambda: compile_file(build, nvcc, path, flags, arch, with_host))

        if interrupted:
            files = [(path, flags) for path, flags in wanted if kept.key(path, question(flags)) in kept.known]
        failed = {}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for number, ((path, _), complaint) in enumerate(zip(files, pool.map(complaint_of, files)), 1):
                if complaint:
                    failed[name_of(path)] = complaint
                    print(f"{version} {arch} {name_of(path)}: {complaint}", flush=True)
                if number % 10 == 0:
                    kept.keep()
                    print(f"{version} {arch} {number}/{len(files)}", flush=True)
        kept.keep()
        record = read_record()  # another run may have written the record meanwhile
        record["stages"] = stages
        entry = record["toolkits"].setdefault(version, {})
        names = [name_of(path) for path, _ in files]
        before = entry.get(arch, {"built": [], "failed": {}}) if only or interrupted else {
            "built": [], "failed": {}}
        built = {*before["built"], *names} - failed.keys()
        if not built and not failed:
            continue
        entry[arch] = {
            "date": datetime.date.today().isoformat(),
            "with_host": with_host,
            "built": sorted(built),
            "failed": {name: why for name, why in before["failed"].items() if name not in built} | failed,
            **refusals(stages, built, arch),
        }
        write_record(record)


# --- The table


def spans(numbers):
    """The numbers of stages, with consecutive stages of the workload as ranges, such as "03 to 07, 10"."""
    parts = []
    for place, number in numbers:
        if parts and parts[-1][1][0] == place - 1:
            parts[-1][1] = (place, number)
        else:
            parts.append([(place, number), (place, number)])
    return ", ".join(a[1] if a == b else f"{a[1]}, {b[1]}" if b[0] == a[0] + 1 else f"{a[1]} to {b[1]}" for a, b in parts)


def runs_on(record, name, arch):
    """The precisions in which a stage runs on GPUs of an architecture: "all", "f32", "f64" or "none"; None if not
    recorded."""
    entries = [entry[arch] for entry in record["toolkits"].values() if arch in entry]
    if not any(name in entry["built"] or name in entry["failed"] for entry in entries):
        return None
    stage = record["stages"][name]
    if not any(name in entry["built"] for entry in entries) or refusal(stage, arch):
        return "none"
    too_large = without_room(stage, arch)
    return next(iter(stage["shared"].keys() - too_large.keys())) if too_large else "all"


def table(record):
    # Adjacent GPUs on which the same stages run share one column. GPUs with incomplete records have no column.
    stages = [name for name in record["stages"] if "baseline" not in name]
    columns = []
    for gpu, arch in GPUS.items():
        cells = {name: runs_on(record, name, arch) for name in stages}
        if None in cells.values():
            continue
        if columns and columns[-1][2] == cells and columns[-1][0].split()[0] == gpu.split()[0]:
            columns[-1] = (f"{columns[-1][0]}, {gpu.split()[-1]}", f"{columns[-1][1]}, {capability(arch)}", cells)
        else:
            columns.append((gpu, capability(arch), cells))
    lines = ["| workload | " + " | ".join(f"{gpu} ({text})" for gpu, text, _ in columns) + " |",
             "|---|" + "---|" * len(columns)]
    for workload in dict.fromkeys(name.split("-")[0] for name in stages):
        own = [name for name in stages if name.startswith(workload + "-")]
        numbers = list(enumerate(name.split("-")[1][:2] for name in own))
        row = []
        for _, _, cells in columns:
            parts = [(words, spans([number for number, name in zip(numbers, own) if cells[name] == how]))
                     for how, words in (("all", ""), ("f32", "in f32 "), ("f64", "in f64 "))]
            whole = all(cells[name] == "all" for name in own)
            row.append("all" if whole else "; ".join(words + part for words, part in parts if part) or "none")
        lines.append(f"| {workload} ({numbers[0][1]} to {numbers[-1][1]}) | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?", help="a configured build directory")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler of another toolkit")
    parser.add_argument("--archs", default=",".join(ARCHS), help="architectures")
    parser.add_argument("--host", action="store_true", help="with the first architecture, the code for the host, too")
    parser.add_argument("--only", default="", help="a regular expression for the names of the stages to compile")
    parser.add_argument("--interrupted", action="store_true", help="record what earlier runs have compiled, and no more")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print the table of README.md from the record")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(read_record()), end="")
        return
    if not arguments.build:
        parser.error("name a build directory, or --table")
    build = os.path.abspath(arguments.build)
    archs = arguments.archs.split(",")
    record_toolkit(build, arguments.nvcc, archs, arguments.jobs, archs[0] if arguments.host else "",
                   arguments.only, arguments.interrupted)
    print(table(read_record()), end="")


if __name__ == "__main__":
    sys.exit(main())
