"""Remarks: observations about a solution that do not make the check fail."""

import os
import pathlib
import re

import building
import rules

WAITS = r"\b(?:cudaDeviceSynchronize|cudaStreamSynchronize|cudaEventSynchronize|synchronize|synchronise|wait|finish)\s*\("
CHECKS = r"\b(?:check_launch|cudaGetLastError|cudaPeekAtLastError)\s*\("
LAUNCHES = r"<<<|\bcudaLaunchKernel\w*\s*\(|\blaunch\w*\s*\("
EXCESS = 1.5  # accesses are remarked on if they take this many times the ideal number of sectors or wavefronts


def of_source(text, stages_text, name):
    """Remarks on launches whose errors are not checked, and on launches without a later synchronisation."""
    code, remarks = rules.without_comments(text), []
    found = re.search(LAUNCHES, code)
    lines = rules.launches(text)
    if not found or not lines:
        return remarks
    unchecked = unchecked_launches(code)
    if unchecked and not unchecked_launches(rules.without_comments(stages_text)):
        remarks.append(f"{name}:{unchecked[0]}: no check_launch() follows this launch: a wrong execution configuration, for example a "
                       "block of more than 1024 threads, stays unnoticed")
    if not re.search(WAITS, code) and re.search(WAITS, rules.without_comments(stages_text)):
        remarks.append(f"{name}:{lines[-1]}: no cudaDeviceSynchronize() follows this launch: an error in the kernel appears only in a later "
                       "call, and the time of the kernel is counted in another phase")
    return remarks


def unchecked_launches(code):
    """The line numbers of launches whose error is not checked before the end of the function."""
    lines = []
    for launch in re.finditer(r"<<<", code):
        depth, offset = 0, launch.end()
        while offset < len(code) and depth >= -1:
            depth += (code[offset] == "{") - (code[offset] == "}")
            offset += 1
        if not re.search(CHECKS, code[launch.end():offset]):
            lines.append(rules.line_at(code, launch.start()))
    return lines


def of_report(report, places, source):
    """Remarks from the notes of the analysis."""
    remarks = []
    for note in report.get("notes", []):
        if note["kind"] == "unwritten bytes":
            continue  # the check treats this note as an error
        place = ""
        if note["line"]:
            path = pathlib.Path(os.path.normpath(places.build / note["file"]))
            place = f"{places.named(path)}:{note['line']}: "
        remarks.append(f"{place}{note['kind']}: {note['sentence']}")
    return list(dict.fromkeys(remarks))


def excess_of(line):
    """The number of sectors or wavefronts of an access, divided by the ideal number."""
    return line.get("sectors", line.get("wavefronts", 0)) / line["ideal"] if line["ideal"] else 1


def of_counters(report, stages_report, places, source):
    """Remarks on lines whose accesses cost more than necessary, and also more than any access of the same kind in the
    stage."""
    def worst(of_report, access):
        return max((excess_of(line) for kernel in of_report.get("kernels", []) for line in kernel["lines"]
                    if line["access"] == access), default=1)

    remarks = []
    for kernel in report.get("kernels", []):
        for line in kernel["lines"]:
            excess = excess_of(line)
            if excess <= EXCESS or excess <= 1.1 * worst(stages_report, line["access"]):
                continue
            path = pathlib.Path(os.path.normpath(places.build / line["file"]))
            unit = "sectors" if "sectors" in line else "wavefronts"
            cost, ideal = line[unit] / line["requests"], line["ideal"] / line["requests"]
            why = ("neighbouring threads access elements down a column, which are not neighbours in memory" if unit == "sectors" else
                   "threads of a warp access different rows of the same bank")
            remarks.append(f"{places.named(path)}:{line['line']}: {building.line_of(path, line['line'])}: {cost:.3g} {unit} per request, "
                           f"and {ideal:.3g} would suffice: {why}")
    return remarks
