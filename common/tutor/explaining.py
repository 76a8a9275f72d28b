"""Sentences that lead from a symptom to its cause: for compiler errors, for errors that the analysis reports, and for wrong
solutions."""

import os
import pathlib
import re

import building
import products
import rules


UNWRITTEN = {"unwritten bytes": "uninitialised read"}  # a copy to the host contains bytes that were never written


# --- Compilers

def of_compiler(what, line):
    """Sentences about a compiler error: the rule of CUDA C++ that the line breaks, if the rule is a known one."""
    if re.search(r"no match for .operator<<.|invalid operands.*operator<<", what) or re.search(r"(?<!<)<<(?!<)[^;\"]*\bdim3\b", line):
        return ["a launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments)"]
    if "<<<" in line and re.search(r"convert|no matching function|invalid initialization|deleted function|cannot bind", what):
        return ["the arguments of the launch do not fit the parameters of the kernel: a kernel takes a DeviceArray, a View of device "
                "memory, or a number; an array of the host has to be copied into a DeviceArray first"]
    if re.search(r"\b(threadIdx|blockIdx|blockDim|gridDim)\b.*not declared", what):
        return ["threadIdx, blockIdx, blockDim and gridDim exist only in kernels and functions with __device__"]
    return []


def is_of_heap(message):
    """Whether a message is one of the C library's messages about a damaged heap."""
    return not message or re.search(r"corrupt|free\(\)|malloc|double free|munmap_chunk|invalid (?:next )?(?:size|pointer)|"
                                    r"stack smashing|buffer overflow", message) is not None


# --- Findings of the analysis

def of_error(error, places, source):
    """Sentences about an error that the CPU device reports: advice, with lines of the source."""
    text = source.read_text(errors="replace")
    kind, sentence = error["kind"], error["sentence"]
    if kind == "uninitialised read" and sentence.startswith("shared memory"):
        return of_unwritten_shared(error, places, source, text)
    if UNWRITTEN.get(kind, kind) == "uninitialised read" and not error["kernel"]:
        return ["no kernel has written these elements: is a launch or a store missing, or does the copy go in the wrong direction?"]
    if kind == "uninitialised read":
        return ["no copy and no kernel has written this element: is a copy to the device missing or in the wrong direction, or does a "
                "sum begin without a start value?"]
    if kind == "illegal device access" and "only the host may use" in sentence:
        return ["a kernel reads and writes arrays in device memory only, such as DeviceArray: is an array of the host passed to the "
                "kernel, or is the index far beyond the array, for example with row and column exchanged?"]
    if kind in ("divergent barrier", "deadlock"):
        return of_early_returns(error, places, source, text)
    return []


def of_early_returns(error, places, source, text):
    """Sentences about return statements before the first barrier of the kernel in which an error was found."""
    path = pathlib.Path(os.path.normpath(places.build / error["file"])) if error["file"] else None
    if path is None or path != pathlib.Path(os.path.normpath(source)):
        return []
    lines = rules.early_returns(text, error["line"])
    return [f"threads leave the kernel before the barrier: {places.named(source)}:{line}: {building.line_of(source, line)}"
            for line in lines[:1]]


def of_unwritten_shared(error, places, source, text):
    """Sentences about an element in shared memory that was never written: the index of the element, and the thread that
    should have written it."""
    says, elements = [], []
    found = re.search(r"byte (\d+) of a variable of (\d+) bytes", error["sentence"])
    if found:
        line = building.line_of(source, error["line"]) if error["line"] else ""
        elements = [element for name, element in rules.shared_elements(text, int(found[1]), int(found[2]))
                    if re.search(rf"\b{name}\b", line)]
        if elements:
            says.append(f"the element is {' or '.join(elements)}: the thread that should have stored it did not, or stored another one")
    returns = of_early_returns(error, places, source, text)
    if returns:
        who = f", for example {' or '.join(elements)}" if elements else ""
        return [f"{returns[0]}: the threads that return there do not load their elements{who}; let them take part in loading and in the "
                "barriers, and test only the computation and the store"]
    return says


# --- Wrong solutions

def is_nan(sentence):
    """Whether a sentence about a solution names an element that is NaN."""
    return re.search(r"is -?nan\b", sentence) is not None


def of_nan(sentence, wanted, report):
    """Sentences about elements that are NaN. All arrays are initialised with NaN."""
    found = re.search(r"element (\d+) of \d+ is", sentence)
    element = f"element {wanted.index(int(found[1]))}" if found else "elements"
    kinds = {(UNWRITTEN.get(error["kind"], error["kind"]), bool(error["kernel"]))
             for error in [*report.get("errors", []), *report.get("notes", [])]}
    threads = sum(kernel["threads"] for kernel in report.get("kernels", []))
    launches = sum(kernel["launches"] for kernel in report.get("kernels", []))
    ran = f"{threads} threads ran in {launches} launches" if launches != 1 else f"{threads} threads ran"
    if report and launches == 0:
        return [f"{element} was never written: no kernel ran"]
    if not report:
        return ["nan is the initial value of every array: is a result not stored or not copied, or an input not copied?"]
    if ("uninitialised read", True) in kinds:
        return ["a kernel reads elements that nothing has written: is a copy to the device missing?"]
    if ("uninitialised read", False) in kinds:
        return [f"{element} and perhaps others were never written: {ran}, and the result has {len(wanted.values)} elements"]
    return [f"nan is the initial value of every array: is a result not stored or not copied, or an input not copied? {ran}, and the "
            f"result has {len(wanted.values)} elements"]


def of_cases(workload, wrong):
    """Sentences about wrong solutions, based on the definition of the workload's result. `wrong` contains the failed test
    cases."""
    for case in wrong:
        if workload != "ata" or case.solution is None or case.solution.shape != case.wanted.shape:
            continue
        places = [place for place, (value, wanted) in enumerate(zip(case.solution.values, case.wanted.values))
                  if abs(value - wanted) > 1e-9 * max(abs(wanted), 1)]
        found = products.explanation(case.problem, case.solution, places) if places else None
        if found:
            return [f"in {case.name} ({case.problem['rows']} x {case.problem['cols']}), {found}"]
    return []


def of_missing(yours, stages):
    """Sentences about operations that the stage performs and the working copy never performs, on the same problem."""
    says = []
    for counter, what, question in (("shared_loads", "requests to load from shared memory", "is __shared__ missing?"),
                                    ("block_barriers", "barriers of thread blocks", "is __syncthreads() missing?")):
        if stages.get(counter, 0) > 0 and yours.get(counter, 0) == 0:
            says.append(f"{what}: 0 (stage: {stages[counter]:g}): {question}")
    return says


def of_transposed(report, places):
    """Sentences about stores to shared memory along a column. A store of a transposed tile has this access pattern."""
    for kernel in report.get("kernels", []):
        for line in kernel["lines"]:
            if line["access"] == "shared store" and line["wavefronts"] > 3 * line["ideal"] > 0:
                path = pathlib.Path(os.path.normpath(places.build / line["file"]))
                return [f"written by {places.named(path)}:{line['line']}: {building.line_of(path, line['line'])}: neighbouring threads "
                        "store down a column of shared memory; is this the transposed place?"]
    return []
