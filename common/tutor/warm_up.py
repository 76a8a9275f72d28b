"""The warm-up before the first exercise: a program with gaps that adds two vectors. The program is not a stage, and its
check needs no stage zero.

The complete program is warm_up/add.cu. In the working copy, tasks replace the lines between a comment `// gap: TASK` and the
next comment `// end`.
"""

import difflib
import json
import os
import pathlib
import re
import subprocess
import tempfile

import building
import checking
import comparing
import explaining
import hints as skeletons
import launches
import rules
import workshop
from checking import Step
from workshop import Refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "warm_up"
PROGRAM = pathlib.Path(__file__).with_name(NAME) / "add.cu"
TARGETS = ("common/cuda_on_cpu/cuda-on-cpu", "common/cuda_on_cpu/libcuda_on_cpu_analysed.a")
ELEMENTS = 1000  # the length of each vector
SECONDS = 20
LARGEST_BLOCK = 1024  # threads
GAP = re.compile(r"(?P<tasks>(?:^ *// gap: [^\n]*\n)+)(?P<lines>.*?)^ *// end\n", re.MULTILINE | re.DOTALL)

HINTS = (
    "The symptom: in the unchanged copy, no kernel runs. 0 threads add 1000 elements, so each sum stays zero.",
    "The idea: each element gets its own thread. The host copies both vectors to the device, starts the threads, and "
    "copies the sums "
    "back. The number of threads is rounded up to full blocks, so some threads have no element.",
    "The constructs: __global__ before a function makes it a kernel. blockIdx.x, blockDim.x and threadIdx.x give the index "
    "of a thread. "
    "add<<<blocks, threads>>>(...) starts the threads. cudaMemcpy copies, and its last argument is the direction: "
    "cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost.")


def gaps():
    """Yields the task, the indentation and the lines of each gap."""
    for match in GAP.finditer(PROGRAM.read_text()):
        yield " ".join(re.findall(r"// gap: (.*)", match["tasks"])), re.match(" *", match["tasks"])[0], match["lines"]


def skeleton():
    """The program, in which the tasks replace the gaps."""
    def replace(match):
        indent = re.match(" *", match["tasks"])[0]
        return "".join(f"{indent}// TODO: {task}\n" for task in re.findall(r"// gap: (.*)", match["tasks"]))
    return GAP.sub(replace, PROGRAM.read_text())


def solution():
    """The complete program, without the comments that mark the gaps."""
    return re.sub(r"^ *// (?:gap: .*|end)\n", "", PROGRAM.read_text(), flags=re.MULTILINE)


def hints(text):
    """Yields the hints. The last hint names the lines of the learner's own file that are gaps, each with a skeleton."""
    yield from HINTS
    lines = text.splitlines()
    parts = ["The lines of your file:"]
    for task, _, missing in gaps():
        begin = f"TODO: {task}"[:40]
        first = next((number for number, line in enumerate(lines, 1) if begin in line), None)
        parts.append((f"line {first}: " if first else "done or changed: ") + task)
        if first:
            parts += ["    " + skeletons.with_gaps(line) for line in missing.splitlines()]
    yield "\n".join(parts)


def source_of(copies):
    """The path of the working copy."""
    return copies / NAME / PROGRAM.name


def needed(copies):
    """The path of the working copy. Raises Refused if the file does not exist."""
    if not source_of(copies).exists():
        raise Refused(f"there is no working copy of the warm-up yet; ./climb exercise {NAME} creates one")
    return source_of(copies)


def exercise(arguments):
    """Creates the working copy, and prints its path and the next commands."""
    source = source_of(arguments.copies)
    if source.exists() and not arguments.force:
        raise Refused(f"{workshop.shown(source)} exists already; --force deletes it and starts again")
    workshop.write_whole(source, skeleton())
    print(f"{workshop.shown(source)} is a program with {len(list(gaps()))} gaps.\nYour task: Add two vectors, with a "
          f"thread for each element.")
    print(f"Fill the gaps, then: ./climb check {NAME}")
    return 0


def steps(places, source):
    """Yields the steps of a check: whether the program compiles, adds correctly, is clean, and uses one thread per
    element."""
    text = source.read_text(errors="replace")
    if broken := checking.of_broken_rule(places, source):
        yield broken
        return
    with tempfile.TemporaryDirectory() as directory:
        program, path = pathlib.Path(directory, "add"), pathlib.Path(directory, "report.json")
        ran = subprocess.run([places.build / TARGETS[0], "--analyze", source, "-o", program], text=True, errors="replace",
                             check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ran.returncode != 0:
            yield checking.of_failed_build(ran.stdout, places, source)
            return
        yield Step("compiles", True, [])
        try:
            ran = subprocess.run([program], text=True, errors="replace", check=False, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL,
                                 env=os.environ | {"CUDA_ON_CPU_REPORT": str(path)}, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            yield Step("agrees", False, [f"the program did not end within {SECONDS} seconds"])
            return
        report = json.loads(path.read_text()) if path.exists() and path.stat().st_size else {"errors": [], "kernels": [], "notes": []}
    said = ran.stdout.strip().splitlines()
    right = "all sums are right" in said
    causes = [] if right else list(causes_of(said, report, text, places, source))
    yield Step("agrees", right, (said[-1:] or [f"the program ended with status {ran.returncode}"]) + causes)
    errors = checking.errors_in(report, ("unwritten bytes", "same value"))
    if not report["kernels"] and not errors:
        yield Step("clean", None, ["no kernel ran, so nothing was analysed"])
        return
    yield Step("clean", not errors, error_sentences(errors[0], places, source) if errors else [
        "no race, no access out of bounds, no read of uninitialised memory"])
    yield of_threads(report)


def error_sentences(error, places, source):
    """Sentences about an error of the analysis."""
    says = checking.error_sentences(error, places, source, solution())
    return says + ["each thread adds one element, and each element is added by one thread: do all threads have the same "
                   "index?"] * (
        error["kind"] == "same value")


def causes_of(said, report, text, places, source):
    """Yields sentences about the likely causes of a wrong sum, or of a failed call."""
    if not report["kernels"]:
        for line in rules.launches(text)[:1]:
            launch = building.line_of(source, line)
            threads = rules.threads_of(text, line)
            too_many = f", and this launch has {threads}" if threads and threads > LARGEST_BLOCK else ""
            yield f"{places.named(source)}:{line}: {launch}: no kernel ran; a block may have at most {LARGEST_BLOCK} threads{too_many}"
        if not rules.launches(text):
            yield "the source contains no launch"
    for line, sentence in rules.suspicious(text):
        yield from checking.at_line(places, source, line, sentence)
    yield from launches.of_unused_indices(report, text)
    yield from explaining.of_missing_copy(text, solution())
    if sentence := explaining.of_unwritten_elements(report, comparing.Solution((ELEMENTS,), [0.0] * ELEMENTS)):
        yield f"c: {sentence}"


def of_threads(report):
    """The step *optimised*: about one thread and exactly one store for each element."""
    threads = sum(kernel["threads"] for kernel in report["kernels"])
    stores = sum(line["lanes"] for kernel in report["kernels"] for line in kernel["lines"]
                 if line["access"] == "global store")
    says = [f"{threads} threads ran for {ELEMENTS} elements"]
    if not ELEMENTS <= threads < 2 * ELEMENTS:
        says[0] += "; each element needs a thread of its own, and the last block may have threads without an element"
        return Step("optimised", False, says)
    if stores > 2 * ELEMENTS:
        return Step("optimised", False, [*says, f"they stored {stores} values: each thread should add one element"])
    return Step("optimised", True, says)


def check(arguments, places, printed):
    """Checks the working copy. Returns the exit status, which is 1 if a question was answered with *no* or not answered."""
    source = needed(arguments.copies)
    if arguments.watch:
        raise Refused(f"--watch checks stages only, not {NAME}")
    if arguments.refuse:
        return 0
    if arguments.targets:
        print("\n".join(TARGETS))
        return 0
    found = []
    for step in steps(places, source):
        found.append(step)
        if not arguments.json:
            print(printed(step), flush=True)
    passed = len(found) == 4 and all(step.passed for step in found)
    if arguments.json:
        print(json.dumps({"workload": NAME, "passed": passed, "steps": [step.json() for step in found]}, indent=1))
    elif passed:
        print("Done. The next exercise: ./climb exercise ata 03_naive_cuda")
    return 0 if passed else 1


def hint(arguments):
    """Prints the hint that --level selects, by default the first hint."""
    every = list(hints(needed(arguments.copies).read_text(errors="replace")))
    level = arguments.level or 1
    if not 1 <= level <= len(every):
        raise Refused(f"--level takes 1 to {len(every)}, not {level}")
    print(every[level - 1])
    print(f"Hint {level} of {len(every)}." + (f" ./climb hint {NAME} --level {level + 1} prints the next one."
                                              if level < len(every) else ""))
    return 0


def show_solution(arguments):
    """Prints the diff between the working copy and the complete program."""
    source = needed(arguments.copies)
    for line in difflib.unified_diff(source.read_text(errors="replace").splitlines(), solution().splitlines(),
                                     workshop.shown(source), str(PROGRAM.relative_to(ROOT)), lineterm=""):
        print(line)
    return 0


def run(arguments, places, printed):
    """Runs a command for the warm-up, and returns its exit status."""
    return {"exercise": lambda: exercise(arguments), "check": lambda: check(arguments, places, printed),
            "hint": lambda: hint(arguments),
            "solution": lambda: show_solution(arguments)}[arguments.command]()
