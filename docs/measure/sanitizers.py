"""Records the reports of NVIDIA's compute-sanitizer on the seeded faults of the CPU device, and on their correct
counterparts.

Usage, on a machine with a GPU: python3 docs sanitizers MACHINE REVISION OUTPUT.json TOOLS SOURCES PROGRAM...

TOOLS are tools of compute-sanitizer, separated by commas. A PROGRAM is built from SOURCES/PROGRAM.cu, which is
common/cuda_on_cpu/tests/planted_*.cu, by nvcc -lineinfo. Both versions of each case run under each tool, except for
faults that can only end in a deadlock. Entries of OUTPUT.json for other tools are kept. OUTPUT.txt contains a table by
kind of error. Its columns count the cases, the cases that ran, the faults that a tool reports, the faults for which it
names a faulty line, and the correct counterparts that it reports.
"""

import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

from measure import recordings

SECONDS = 30  # the time limit of a run
PLANTED = re.compile(r"// planted(?: alone)?: (.+)$")
SUMMARY = re.compile(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+)")


def planted(source):
    """The kinds and lines of each case's fault. Lines outside of all cases count for every case."""
    cases, case = {None: {"kinds": [], "lines": []}}, None
    for number, text in enumerate(source.read_text().splitlines(), 1):
        begin = re.match(r"namespace (\w+) \{$", text)
        if begin:
            case = begin[1]
            cases[case] = {"kinds": [], "lines": []}  # the faulty lines may be outside of all cases
        elif case and text == f"}}  // namespace {case}":
            case = None
        if found := PLANTED.search(text):
            cases[case]["lines"].append(number)
            cases[case]["kinds"] += [kind for kind in found[1].split(" or ") if kind not in cases[case]["kinds"]]
    common = cases.pop(None)
    return {name: {"kinds": known["kinds"] or common["kinds"], "lines": known["lines"] + common["lines"]}
            for name, known in cases.items()}


def said(text, source):
    """The number of errors or hazards that a tool reports, the first error or hazard, and the lines of the source that the
    tool names."""
    summary = SUMMARY.search(text)
    told = [line.removeprefix("========= ") for line in text.splitlines() if line.startswith("========= ")]
    return {"errors": int(summary[1]) if summary else None,
            "first": next((line for line in told if line.strip() and not line.startswith("COMPUTE-SANITIZER")), ""),
            "lines": sorted({int(line) for line in re.findall(re.escape(source.name) + r":(\d+)", "\n".join(told))})}


def run(tool, program, case, version, source):
    """The report of a tool on one version of a case."""
    command = ["compute-sanitizer", "--tool", tool, str(program), case, version]
    try:
        result = subprocess.run(command, timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return {"errors": None, "first": f"it did not end within {SECONDS} s", "lines": []}
    return said(result.stdout, source)


def runs(tools, sources, programs):
    """All runs: tool, program, case, version, source, and the seeded fault."""
    for program in map(pathlib.Path, programs):
        source = pathlib.Path(sources, program.name).with_suffix(".cu")
        known = planted(source)
        listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        for case in listed:
            for version in ("bug", "twin"):
                if version == "bug" and known[case]["kinds"] == ["deadlock"]:
                    continue
                for tool in tools:
                    yield (tool, program.resolve(), case, version, source), known[case]


def lacks_a_device(case):
    """Whether a case needs more devices than the machine has. The correct counterpart of such a case then fails, too."""
    return any("cudaErrorInvalidDevice" in tool["first"] for tool in case["twin"].values())


def table(recording):
    """A table of the recording by the first kind of error of each case."""
    kinds = collections.defaultdict(list)
    for case in recording["cases"].values():
        if not lacks_a_device(case):
            kinds[case["kinds"][0]].append(case)
    rows = []
    for kind, cases in sorted(kinds.items(), key=lambda item: -len(item[1])):
        ran = [case for case in cases if "bug" in case]
        reported = [case for case in ran if any(tool["errors"] for tool in case["bug"].values())]
        placed = [case for case in reported
                  if any(set(tool["lines"]) & set(case["lines"]) for tool in case["bug"].values())]
        twins = [case for case in cases if any(tool["errors"] for tool in case["twin"].values())]
        rows.append((kind, len(cases), len(ran), len(reported), len(placed), len(twins)))
    rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, 6))))
    heads = ("error", "kernels", "ran", "reported", "at its line", "counterparts reported")
    return "".join(f"{row[0]:<22}" + "".join(f"{value:>{len(head) + 2}}" for value, head in zip(row[1:], heads[1:])) + "\n"
                   for row in [heads, *rows])


def main(machine, revision, output, tools, sources, *programs):
    """Writes the recording and its table."""
    output = pathlib.Path(output)
    recording = (json.loads(output.read_text()) if output.exists()
                 else {"machine": machine, "device": "", "tools": {}, "cases": {}})
    query = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], stdout=subprocess.PIPE,
                           text=True, check=True)
    recording["device"] = query.stdout.splitlines()[0]
    version = subprocess.run(["compute-sanitizer", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for tool in tools.split(","):
        recording["tools"][tool] = {"revision": revision, "date": now, "version": re.search(r"\d{4}\.[\d.]+", version)[0]}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = [(what, known, pool.submit(run, *what)) for what, known in runs(tools.split(","), sources, programs)]
        for (tool, program, case, version, _), known, result in started:
            entry = recording["cases"].setdefault(f"{program.name}/{case}", dict(known))
            entry.setdefault(version, {})[tool] = result.result()
    output.write_text(recordings.text_by_entry(recording))
    output.with_suffix(".txt").write_text(table(recording))
    print(table(recording), file=sys.stderr)
