"""Sentences that lead from a symptom to its cause: for compiler errors, for errors that the analysis reports, and for wrong
solutions."""

import os
import pathlib
import re

import building
import naming
import products
import rules
import stencils
import sums


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

def of_error(error, places, source, stages_text=""):
    """Sentences about an error that the CPU device reports: advice, with lines of the source. `stages_text` is the source of
    the stage."""
    text = source.read_text(errors="replace")
    kind, sentence = error["kind"], error["sentence"]
    if kind == "uninitialised read" and sentence.startswith("shared memory"):
        return of_unwritten_shared(error, places, source, text)
    if UNWRITTEN.get(kind, kind) == "uninitialised read" and not error["kernel"]:
        return ["no kernel has written these elements: is a launch or a store missing, or does the copy go in the wrong direction?"
                if not re.search(r"<<<", rules.without_comments(text)) or rules.copies(text, "out") < rules.copies(stages_text, "out") else
                "no thread has stored these elements: are there too few threads or thread blocks, or is a store missing or in a branch?"]
    if kind == "uninitialised read":
        return of_unwritten_global(error, source, text, stages_text)
    if kind == "invalid mask" and "does not take part" in sentence and (returns := rules.returns_of(text, error["kernel"])):
        return [f"lanes return before the shuffle: {places.named(source)}:{line}: {building.line_of(source, line)}: let all lanes of a warp take "
                "part, and those without an element with the value 0" for line in returns[:1]]
    if kind == "out of bounds" and re.search(r"of an array '", sentence):
        return of_index(error, source, text)
    if "race" in kind or kind == "same value":
        return of_race(error, source, text)
    if kind == "out of bounds" and (element := naming.element_of(error, text, 8)):
        return [f"the element is {element[0]}, and the array has {element[1]}"]
    if kind == "illegal device access" and "only the host may use" in sentence:
        return ["a kernel reads and writes arrays in device memory only, such as DeviceArray: is an array of the host passed to the "
                "kernel, or is the index far beyond the array, for example with row and column exchanged?"]
    if kind in ("divergent barrier", "deadlock"):
        return of_early_returns(error, places, source, text)
    return []


def of_unwritten_global(error, source, text, stages_text):
    """Sentences about an element in global memory that is read although nothing has written it."""
    element = naming.element_of(error, text, 8)
    which = f"{element[0]} (of {element[1]})" if element else "this element"
    others = of_unwritten_ranges(error, element) if element else ""
    line = building.line_of(source, error["line"]) if error["line"] else ""
    if re.search(r"\)\s*[-+*/]=|\]\s*[-+*/]=|\batomic\w+\s*\(", line) or "is updated" in error["sentence"]:
        return [f"no copy and no kernel has written {which}: does a sum begin without a start value?"]
    if rules.copies(text, "in") < rules.copies(stages_text, "in"):
        return [f"no copy and no kernel has written {which}: is a copy to the device missing or in the wrong direction?"]
    return [f"no copy and no kernel has written {which}: which thread should have stored it, or should it not be read here?"] + (
        [others] if others else [])


def of_unwritten_ranges(error, element):
    """A sentence about all elements of an array that nothing has written when one of them is read; empty if there is none."""
    found, note = re.fullmatch(r"(\d+) x (\d+) elements", element[1]), error.get("unwritten")
    size = error["argument"]["bytes"] or 8
    if not found or not note or int(found[1]) * int(found[2]) * size != note["of_bytes"]:
        return ""
    rows, cols = int(found[1]), int(found[2])
    cells = sorted({divmod(byte // size, cols) for first, length in note["ranges"] for byte in range(first, first + length, size)})
    if len(cells) == rows * cols or min(rows, cols) < 2:
        return ""
    lines = stencils.whole_lines(rows, cols, cells)
    return f"{len(cells)} of {rows * cols} elements of this array have not been written" + (f": those of {lines}" if lines else "")


def of_race(error, source, text):
    """Sentences about a race: the variable or the element, and what it means."""
    blocks = set(re.findall(r"of block (\d+)", error["sentence"]))
    variable = naming.variable_of(error, text)
    if variable:
        name, line, element, is_single = variable
        declared = f", declared in line {line}" if line else ""
        if is_single:
            return [f"the variable is {name}{declared}: with __shared__, all threads of a block have one and the same; does each thread need "
                    "its own?"]
        return [f"the element is {element}{declared}"]
    element = naming.element_of(error, text, 8)
    says = [f"the element is {element[0]} (of {element[1]})"] if element else []
    if len(blocks) == 1 and element and "," in element[0] and "writes what was written" in error["sentence"]:
        says.append("two threads of one block store this element: does an index go beyond the end of its row, because the condition before the "
                    "store has rows and columns exchanged, or are row and column exchanged at the store?")
    if len(blocks) > 1:
        says.append("thread blocks of one launch cannot wait for each other: do threads of several blocks access the same element, because "
                    "an index does not depend on blockIdx or the blocks are larger than their tiles?")
    return says


def of_index(error, source, text):
    """Sentences about an index beyond an array of known extents: the name of the array."""
    found = re.search(r"index (-?\d+) of an array '[^']*?((?:\[\d+\])+)'", error["sentence"])
    if not found:
        return []
    extents = [int(extent) for extent in re.findall(r"\d+", found[2])]
    line = building.line_of(source, error["line"]) if error["line"] else ""
    declared = [(name, known) for name, known in rules.arrays(text) if re.search(rf"\b{name}\s*\[", line)
                and known[-len(extents):] == extents]
    return [f"{name} has {' x '.join(map(str, known))} elements, so index {found[1]} is outside: the last index of this dimension is "
            f"{extents[0] - 1}" for name, known in dict(declared).items()][:1] or [
           f"the array has {extents[0]} elements in this dimension, so the last index is {extents[0] - 1}"]


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
    if variable := naming.variable_of(error, text):
        elements = [variable[2]]
    elif found:
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


def of_nan(sentence, wanted, report, text="", stages_text=""):
    """Sentences about elements that are NaN. All arrays are initialised with NaN."""
    if rules.copies(text, "out") < rules.copies(stages_text, "out"):
        return [f"the source contains {rules.copies(text, 'out')} copies to the host (stage: {rules.copies(stages_text, 'out')}): is a call of "
                "copy_to missing, so that the result stays on the device?"]
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
        return ["a kernel reads elements that nothing has written" + (
            ": is a copy to the device missing?" if rules.copies(text, "in") < rules.copies(stages_text, "in") else "")]
    count = len(wanted.values)
    has = f"the result has {count} element{'s' if count != 1 else ''}"
    if ("uninitialised read", False) in kinds:
        return [of_unwritten_elements(report, wanted) or f"{element} and perhaps others were never written",
                f"{ran}, and {has}" + (": do several threads store the same element, or does a condition leave elements out?"
                                       if threads >= count > 1 else "")]
    return ["nan is the initial value of every array: is a result not stored or not copied, or an input not copied?"] + (
        [f"{ran}, and {has}"] if threads < count else [])


def of_unwritten_elements(report, wanted):
    """A sentence about the elements of a result that no thread has stored, or None."""
    note = next((note["unwritten"] for note in report.get("notes", []) if "unwritten" in note), None)
    count = len(wanted.values)
    if note is None or not count or note["of_bytes"] % count:
        return None
    size = note["of_bytes"] // count
    missing = sorted({byte // size for first, length in note["ranges"] for byte in range(first, first + length, size)})
    text = f"{len(missing)} of {count} elements were never written, the first one is {wanted.index(missing[0])}"
    if len(wanted.shape) == 2 and min(wanted.shape) > 1:
        rows, cols = wanted.shape
        cells = [divmod(place, cols) for place in missing]
        lines = stencils.whole_lines(rows, cols, cells)
        lines = f"those of {lines}" if lines else stencils.triangle(rows, cols, cells)
        text += f": {lines}" if lines else ""
    return text


def of_cases(workload, wrong):
    """Sentences about wrong solutions, based on the definition of the workload's result. `wrong` contains the failed test
    cases."""
    for case in wrong if workload == "durbin_levinson" else ():
        if case.solution is not None and case.solution.shape == case.wanted.shape and len(case.wanted.shape) == 2:
            n = case.wanted.shape[1]
            if sentence := sums.explanation(list(case.wanted.values[n:]), list(case.solution.values[n:])):
                return [f"in {case.name}, {sentence}"]
    for case in wrong:
        if workload != "ata" or case.solution is None or case.solution.shape != case.wanted.shape:
            continue
        places = [place for place, (value, wanted) in enumerate(zip(case.solution.values, case.wanted.values))
                  if abs(value - wanted) > 1e-9 * max(abs(wanted), 1)]
        found = products.explanation(case.problem, case.solution, places) if places else None
        if found:
            return [f"in {case.name} ({case.problem['rows']} x {case.problem['cols']}), {found}"]
    return []


def of_floats(text, stages_text):
    """Sentences about variables of type float that the stage's source does not have."""
    own = set(stages_text.splitlines())
    lines = text.splitlines()
    found = {}
    for line, name in rules.floats(text):
        if lines[line - 1] not in own:
            found.setdefault(line, []).append(name)
    if not found:
        return []
    parts = [f"{', '.join(filter(None, names)) or 'an array'} (line {line})" for line, names in found.items()]
    return [f"of type float, unlike in the stage: {'; '.join(parts[:4])}"]


def of_lost_values(text):
    """Sentences about a shuffle whose result replaces the variable that it sums up."""
    code = rules.without_comments(text)
    for found in re.finditer(rf"(?<![-+*/&|^\w])({rules.NAME})\s*=\s*__shfl\w*\s*\([^;]*?\b\1\b[^;]*;", code):
        statement = found[0].split("__shfl", 1)[1]
        after = statement[rules.closing(statement, statement.index("(")):].strip()
        if after == ";":
            line = rules.line_at(code, found.start())
            return [f"line {line}: the value of another lane replaces {found[1]}, so the lane's own value is lost: should the two be added?"]
    return []


def of_transposed(report, places):
    """Sentences about stores to shared memory along a column. A store of a transposed tile has this access pattern."""
    for kernel in report.get("kernels", []):
        for line in kernel["lines"]:
            if line["access"] == "shared store" and line["wavefronts"] > 3 * line["ideal"] > 0:
                path = pathlib.Path(os.path.normpath(places.build / line["file"]))
                return [f"written by {places.named(path)}:{line['line']}: {building.line_of(path, line['line'])}: neighbouring threads "
                        "store down a column of shared memory; is this the transposed place?"]
    return []
