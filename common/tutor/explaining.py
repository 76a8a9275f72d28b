"""Sentences that lead from a symptom to its cause: for compiler errors, for errors that the analysis reports, and for wrong
solutions."""

import math
import os
import pathlib
import re

import building
import comparing
import naming
import products
import rules
import stencils
import sums


# Findings that end a launch.
ENDING = ("out of bounds", "illegal device access", "deadlock", "divergent barrier", "use after free")
UNWRITTEN = {"unwritten bytes": "uninitialised read"}  # a copy to the host contains bytes that were never written


# --- Compilers

def of_compiler(what, line):
    """Sentences about a compiler error: the rule of CUDA C++ that the line breaks, if the rule is a known one."""
    if re.search(r"no match for .operator<<.|invalid operands.*operator<<",
                 what) or re.search(r"(?<!<)<<(?!<)[^;\"]*\bdim3\b", line):
        return ["a launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments)"]
    if "<<<" in line and re.search(r"convert|no matching function|invalid initialization|deleted function|cannot bind",
                                   what):
        return ["the arguments of the launch do not fit the parameters of the kernel: a kernel takes a DeviceArray, a View "
                "of device "
                "memory, or a number; an array of the host has to be copied into a DeviceArray first"]
    if re.search(r"\b(threadIdx|blockIdx|blockDim|gridDim)\b.*not declared", what):
        return ["threadIdx, blockIdx, blockDim and gridDim exist only in kernels and functions with __device__"]
    if found := re.search(r"['‘](\w+)['’] not specified in enclosing", what):
        return [f"with default(none), each variable of the region must be in a clause, for example shared({found[1]})"]
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
        own = {array for _, array in rules.only_updated(stages_text)}
        if updated := next((each for each in rules.only_updated(text) if each[1] not in own), None):
            return of_only_updated(*updated, places, source)
        return ["no kernel has written these elements: is a launch or a store missing, or does the copy go in the wrong "
                "direction?"
                if not re.search(r"<<<", rules.without_comments(text))
                or rules.copies(text, "out") < rules.copies(stages_text, "out") else
                "no thread has stored these elements: are there too few threads or thread blocks, or is a store missing or "
                "in a branch?"]
    if kind == "uninitialised read":
        return of_unwritten_global(error, source, text, stages_text)
    if kind == "invalid mask" and "does not take part" in sentence and (returns := rules.returns_of(text, error["kernel"])):
        return [f"lanes return before the shuffle: {places.named(source)}:{line}: {building.line_of(source, line)}: let "
                "all lanes of a warp take part; lanes without an element pass the value 0" for line in returns[:1]]
    if kind == "out of bounds" and re.search(r"of an array '", sentence):
        return of_index(error, source, text)
    if "race" in kind or kind == "same value":
        return of_race(error, source, text)
    if kind == "out of bounds" and (element := naming.element_of(error, text, 8)):
        return [f"the element is {element[0]}, and the array has {element[1]}"]
    if kind == "illegal device access" and "only the host may use" in sentence:
        return ["a kernel reads and writes arrays in device memory only, such as DeviceArray: is an array of the host "
                "passed to the "
                "kernel, or is the index far beyond the array, for example with row and column exchanged?"]
    if kind in ("divergent barrier", "deadlock"):
        return of_early_returns(error, places, source, text)
    return []


def of_only_updated(line, array, places, source):
    """Sentences about an array whose elements are only updated, and never set."""
    return [f"{places.named(source)}:{line}: {building.line_of(source, line)}",
            f"this line adds to the old value of an element of {array}, and nothing has written {array} before: store the "
            f"value with =, or set "
            f"{array} to zero before the launch"]


def of_unwritten_global(error, source, text, stages_text):
    """Sentences about an element in global memory that is read although nothing has written it."""
    element = naming.element_of(error, text, 8)
    which = f"{element[0]} (of {element[1]})" if element else "this element"
    others = of_unwritten_ranges(error, element) if element else []
    note = error.get("unwritten")
    is_whole = bool(note) and sum(length for _, length in note["ranges"]) == note["of_bytes"]
    line = building.line_of(source, error["line"]) if error["line"] else ""
    updated = rules.updated_in(line, element[0] if element else "")
    if updated or "is updated" in error["sentence"]:
        array = re.split(r"[(\[]", updated)[0] if updated else "the array"
        which = which if element else updated or which
        return [f"no copy and no kernel has written {which}, and this line adds to its old value: store the value with = "
                f"instead, or set "
                f"{array} to zero before the launch; does a sum begin without a start value?"]
    if rules.copies(text, "in") < rules.copies(stages_text, "in"):
        return [f"no copy and no kernel has written {which}: is a copy to the device missing or in the wrong direction?",
                *others]
    if is_whole and element:
        array = re.split(r"[(\[]", element[0])[0]
        return [f"no copy and no kernel has written any element of {array}, for example {which}: is a copy to the device "
                f"missing or in the wrong "
                "direction, is it made after the launch, or should an earlier kernel store these elements?"]
    return [f"no copy and no kernel has written {which}: which thread should have stored it, or should it not be read here?", *others]


def of_unwritten_ranges(error, element):
    """Sentences about all elements of an array that nothing has written when one of them is read."""
    found, note = re.fullmatch(r"((?:\d+ x )*\d+) elements?", element[1]), error.get("unwritten")
    size = error["argument"]["bytes"] or 8
    shape = tuple(map(int, found[1].split(" x "))) if found else ()
    count = math.prod(shape)
    if not note or count * size != note["of_bytes"]:
        return []
    places = sorted({byte // size for first, length in note["ranges"] for byte in range(first, first + length, size)})
    if len(places) == count:
        return []
    lines = stencils.whole_lines(*shape, [divmod(place, shape[1])
                                          for place in places]) if len(shape) == 2 and min(shape) > 1 else None
    box = f"those of {lines}" if lines else comparing.box_text(shape, places)
    says = [f"{len(places)} of {count} elements of this array have not been written" + (f": {box}" if box else "")]
    if note["ranges"] == [[count, note["of_bytes"] - count]]:
        says.append(f"exactly {count} bytes of the array have been written, and it has {count} elements: is the size of a "
                    f"copy a number of "
                    "elements instead of bytes?")
    return says


def of_race(error, source, text):
    """Sentences about a race: the variable or the element, and what it means."""
    blocks = set(re.findall(r"of block (\d+)", error["sentence"]))
    variable = naming.variable_of(error, text)
    if variable:
        name, line, element, is_single = variable
        declared = f", declared in line {line}" if line else ""
        if is_single:
            return [f"the variable is {name}{declared}: all threads of a block share one __shared__ "
                    "variable; does each thread need a variable of its own?"]
        return [f"the element is {element}{declared}"]
    element = naming.element_of(error, text, 8)
    says = [f"the element is {element[0]} (of {element[1]})"] if element else []
    if len(blocks) == 1 and element and "," in element[0] and "writes what was written" in error["sentence"]:
        says.append("two threads of one block store this element: does an index go beyond the end of its row, because the "
                    "condition before the "
                    "store has rows and columns exchanged, or are row and column exchanged at the store?")
    if len(blocks) > 1:
        says.append("thread blocks of one launch cannot wait for each other: do threads of several blocks access the same "
                    "element, because "
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
    return [f"{name} has {' x '.join(map(str, known))} elements, so index {found[1]} is outside: the last index of this "
            f"dimension is "
            f"{extents[0] - 1}" for name, known in dict(declared).items()][:1] or [
           f"the array has {extents[0]} elements in this dimension, so the last index is {extents[0] - 1}"]


def of_early_returns(error, places, source, text):
    """Sentences about return statements before the first barrier of the kernel in which an error was found."""
    path = pathlib.Path(os.path.normpath(places.build / error["file"])) if error["file"] else None
    if path is None or path != pathlib.Path(os.path.normpath(source)):
        return []
    return [f"threads leave the kernel before the barrier: {places.named(source)}:{line}: {building.line_of(source, line)}"
            for line in rules.early_returns(text, error["line"], error["kernel"])[:1]]


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
        says.append(f"the element is {' or '.join(elements)}: the thread that should have stored it did not, or stored "
                    "another element")
    returns = of_early_returns(error, places, source, text)
    if returns:
        who = f", for example {' or '.join(elements)}" if elements else ""
        return [f"{returns[0]}: the threads that return there do not load their elements{who}; let them take part in "
                f"loading and in the "
                "barriers, and test only the computation and the store"]
    return says


# --- Wrong solutions

INITIAL = "nan is the initial value of every array: is a result not stored or not copied, or an input not copied?"


def is_not_finite(sentence):
    """Whether a sentence about a solution names an element that is NaN or infinite."""
    return re.search(r"is -?(?:nan|inf)\b", sentence) is not None


def of_arithmetic(text, stages_text, places, source):
    """Sentences about the first computation that may result in a value that is not finite, and that the stage does not
    contain."""
    own = {line.strip() for line in rules.without_comments(stages_text).splitlines()}
    lines = [number for number, line in enumerate(rules.without_comments(text).splitlines(), 1)
             if line.strip() not in own and re.search(r"[\w)\]]\s*/=?\s*[\w(]|\b(?:r?sqrt|log|pow|acos|asin)\w*\s*\(", line)]
    return [sentence for line in lines[:1] for sentence in (
        "all values that are read have been written, so a computation results in this value: is a divisor zero, or is "
        "there a root of a negative number?", f"{places.named(source)}:{line}: {building.line_of(source, line)}")]


def of_missing_copy(text, stages_text):
    """A sentence if a source has fewer copies to the host than the stage."""
    mine, own = rules.copies(text, "out"), rules.copies(stages_text, "out")
    name = "copy_to" if "copy_to" in stages_text else "cudaMemcpy"
    return [f"the source contains {mine} copies to the host (needed: {own}): is a call of {name} missing, so that the "
            f"result stays on the "
            "device?"] if mine < own else []


def of_not_finite(sentence, wanted, report, text, stages_text, places, source):
    """Sentences about elements that are not finite. All arrays are initialised with NaN."""
    if missing := of_missing_copy(text, stages_text):
        return missing
    if any(error["kind"] in ENDING for error in report.get("errors", [])):
        return []  # the kernel did not finish
    found = re.search(r"element \([^)]*\)", sentence)
    element = found[0] if found else "the result"
    kinds = {(UNWRITTEN.get(error["kind"], error["kind"]), bool(error["kernel"]))
             for error in [*report.get("errors", []), *report.get("notes", [])]}
    threads = sum(kernel["threads"] for kernel in report.get("kernels", []))
    launches = sum(kernel["launches"] for kernel in report.get("kernels", []))
    ran = f"{threads} threads ran in {launches} launches" if launches != 1 else f"{threads} threads ran"
    if report and launches == 0:
        return [f"{element} was never written: no kernel ran"]
    if not report:
        return [INITIAL]
    if ("uninitialised read", True) in kinds:
        return ["a kernel reads elements that nothing has written" + (
            ": is a copy to the device missing?" if rules.copies(text, "in") < rules.copies(stages_text, "in") else "")]
    count = len(wanted.values)
    has = f"the result has {count} element{'s' if count != 1 else ''}"
    if ("uninitialised read", False) in kinds:
        return [of_unwritten_elements(report, wanted) or f"{element} and perhaps others were never written",
                f"{ran}, and {has}" + (": do several threads store the same element, or does a condition leave elements out?"
                                       if threads >= count > 1 else "")]
    if "nan" not in sentence.split(" and must be")[0] or not kinds and report.get("kernels"):
        return of_arithmetic(text, stages_text, places, source)
    return [INITIAL] + ([f"{ran}, and {has}"] if threads < count else [])


def of_unwritten_elements(report, wanted):
    """A sentence about the elements of a result that no thread has stored, or None."""
    note = next((note["unwritten"] for note in report.get("notes", []) if "unwritten" in note), None)
    count = len(wanted.values)
    if note is None or not count or note["of_bytes"] % count:
        return None
    size = note["of_bytes"] // count
    missing = sorted({byte // size for first, length in note["ranges"] for byte in range(first, first + length, size)})
    text = f"{len(missing)} of {count} elements were never written, the first one is {wanted.index(missing[0])}"
    lines = None
    if len(wanted.shape) == 2 and min(wanted.shape) > 1:
        rows, cols = wanted.shape
        cells = [divmod(place, cols) for place in missing]
        lines = stencils.whole_lines(rows, cols, cells)
        lines = f"those of {lines}" if lines else stencils.triangle(rows, cols, cells)
    lines = lines or comparing.box_text(wanted.shape, missing)
    return text + (f": {lines}" if lines else "")


# By workload: an explanation of a failed test case, as a sentence or None.
SUMS = {"durbin_levinson": lambda case: sums.explanation(*(list(each.values[each.shape[1]:])
                                                           for each in (case.wanted, case.solution))),
        "durbin_levinson_batched": lambda case: sums.of_systems(case.wanted.shape, case.wanted.values, case.solution.values),
        "triangular_solve": lambda case: sums.of_substitution(case.problem, case.wanted.values, case.solution.values)}


def of_cases(workload, wrong):
    """Sentences about wrong solutions, based on the definition of the workload's result. `wrong` contains the failed test
    cases."""
    for case in wrong if workload in SUMS else ():
        if case.solution is None or case.solution.shape != case.wanted.shape or case.precision != "f64":
            continue
        if sentence := SUMS[workload](case):
            return [f"in {case.name}, {sentence}"]
    for case in wrong if workload in ("ata", "matmul") else ():
        if case.solution is None or case.solution.shape != case.wanted.shape:
            continue
        places = [place for place, (value, wanted) in enumerate(zip(case.solution.values, case.wanted.values))
                  if abs(value - wanted) > (1e-9 if case.precision == "f64" else 1e-4) * max(abs(wanted), 1)]
        if places and (found := products.explanation(products.factors_of(workload, case.problem), case.solution, places)):
            size = " x ".join(str(case.problem[name]) for name in (("rows", "cols") if workload == "ata"
                                                                   else ("l", "m", "n")))
            return [f"in {case.name} ({size}), {found}"]
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
            return [f"line {line}: the value of another lane replaces {found[1]}, so the lane's own value is lost: should "
                    f"the two be added?"]
    return []


def of_transposed(report, stages, places):
    """Sentences about stores to shared memory along a column, if the stage has none. A store of a transposed tile has this
    access pattern."""
    def is_along_column(line):
        return line["access"] == "shared store" and line["wavefronts"] > 3 * line["ideal"] > 0

    if any(is_along_column(line) for kernel in stages.get("kernels", []) for line in kernel["lines"]):
        return []
    for kernel in report.get("kernels", []):
        for line in kernel["lines"]:
            if is_along_column(line):
                path = pathlib.Path(os.path.normpath(places.build / line["file"]))
                return [f"written by {places.named(path)}:{line['line']}: {building.line_of(path, line['line'])}: "
                        f"neighbouring threads "
                        "store down a column of shared memory; is this the transposed place?"]
    return []
