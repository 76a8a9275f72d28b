"""Records a machine's results as a plan says: each entry by one run of the runner, or several.

A plan is a JSON file with three entries, `recordings`, `profiles` and `metrics`. A recording has a `name`, which
becomes its file's, and a `workload`. All else may be left out:

    stages, reference    as the runner's options say
    datasets             a list (default the workload's first)
    precisions           a list (default f64)
    repeat, warmup       numbers (default the runner's)
    set                  parameters to change, as in {"numT": 8}
    reference_set        likewise, for the reference alone: on how many GPUs it solves, say
    gpu                  true: only where there is a GPU; false: only where there is none
    sweep                a parameter and its values, as in {"n": [1024, 4096]}: a run a value. Two parameters
                         that change together are "rows,cols"; {"Bx,By": [[8, 64], [16, 32]]} gives each its
                         own. {"threads": [1, 2, 4]} are threads of OpenMP, as many as the machine has cores at
                         most, {"awake": [0, 1]} says whether the GPU is woken before what is timed,
                         {"ranks": [1, 2, 4]} are processes of stages that run on ranks, likewise, and
                         {"gpus": [1, 2, 4]} as many GPUs as it has at most.

A profile is a run of a stage's program under NVIDIA's `ncu`, where there is a GPU and `ncu`. It has a `name`, a
`program` with its `arguments`, how many launches of kernels to `skip` and to `count`, and the name of its list in
`metrics`.

MACHINE is a directory in the output. It gets NAME.json and NAME.txt, the table, of a recording, NAME.json of a
sweep, and NAME.csv of a profile, each written when it is whole; a sweep after each value, so that one that is cut off
keeps those before. What fails is named at the end, and does not keep the rest from being recorded; a recording in
which one stage failed is kept as the runner wrote it. The exit status is 1 if anything failed, and 2 for bad input.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from measure import recordings

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRIES = {  # of a plan: the keys of an entry and their types, those first that it must have
    "recordings": {"name": str, "workload": str, "stages": str, "reference": str, "datasets": list,
                   "precisions": list, "repeat": int, "warmup": int, "set": dict, "reference_set": dict,
                   "gpu": bool, "sweep": dict},
    "profiles": {"name": str, "program": str, "metrics": str, "arguments": list, "skip": int, "count": int},
}
NEEDED = {"recordings": 2, "profiles": 3}


class BadInput(Exception):
    """What the user has to change, in a sentence."""


class Failed(Exception):
    """Why an entry was not recorded, or not in full."""


# --- The plan

def is_sweep(sweep):
    """Whether something is a parameter with its values."""
    key, values = next(iter(sweep.items()), ("", None))
    return (len(sweep) == 1 and isinstance(values, list) and values
            and all(len(each(key, value)) == len(key.split(","))
                    and all(type(number) in (int, float) for number in each(key, value)) for value in values))


def each(key, value):
    """The value of each parameter of a sweep: one for all of them, or a list."""
    return value if isinstance(value, list) else [value] * len(key.split(","))


def check_entry(kind, entry):
    """Refuses an entry of a plan that is none."""
    types = ENTRIES[kind]
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BadInput(f"every entry of '{kind}' needs a name, and {json.dumps(entry)[:60]} has none")
    if not re.fullmatch(r"\w+", entry["name"]):
        raise BadInput(f"a name has letters, digits and underscores only, not '{entry['name']}'")
    for key in list(types)[:NEEDED[kind]]:
        if key not in entry:
            raise BadInput(f"{entry['name']} has no '{key}'")
    for key, value in entry.items():
        if key not in types:
            raise BadInput(f"{entry['name']} has a '{key}'; an entry of '{kind}' may have {', '.join(types)}")
        if type(value) is not types[key]:
            raise BadInput(f"'{key}' of {entry['name']} must be of the type {types[key].__name__}, not "
                           f"{json.dumps(value)}")
    if not is_sweep(entry.get("sweep", {"n": [1]})):
        raise BadInput(f"'sweep' of {entry['name']} must be one parameter and a list of numbers, not "
                       f"{json.dumps(entry['sweep'])}")


def read_plan(path):
    """The entries of a plan, recordings first; a profile has the metrics in it that it named."""
    try:
        plan = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"the plan '{path}' cannot be read: {error}") from error
    if not isinstance(plan, dict) or not isinstance(plan.get("recordings"), list):
        raise BadInput(f"the plan '{path}' has no list 'recordings'")
    entries, seen = [], set()
    for kind in ENTRIES:
        for entry in plan.get(kind, []):
            check_entry(kind, entry)
            name, gpu = entry["name"], entry.get("gpu", "any")
            if {(name, gpu), (name, "any")} & seen or gpu == "any" and {(name, True), (name, False)} & seen:
                raise BadInput(f"the plan '{path}' has two entries with the name {name}")
            seen.add((name, gpu))
            if kind == "profiles":
                if entry["metrics"] not in plan.get("metrics", {}):
                    raise BadInput(f"{name} wants the metrics '{entry['metrics']}', which the plan does not list")
                entry = entry | {"gpu": True, "metrics": plan["metrics"][entry["metrics"]]}
            entries.append(entry)
    if not entries:
        raise BadInput(f"the plan '{path}' has no entries")
    return entries


def chosen(entries, only):
    """The entries whose names are in a list separated by commas; all if there is no list."""
    if only is None:
        return entries
    names = {entry["name"] for entry in entries}
    for name in only.split(","):
        if name not in names:
            raise BadInput(f"--only: the plan has no '{name}'; it has {', '.join(sorted(names))}")
    return [entry for entry in entries if entry["name"] in only.split(",")]


# --- The machine

def about_machine(options, workload):
    """What the runner says of the machine: a recording of the smallest problem."""
    command = [options.runner, *locations(options), workload, "--stages", "00", "--dataset", "tiny",
               "--repeat", "1", "--warmup", "0", "--json", "-"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        raise BadInput(f"the runner '{options.runner}' cannot say what machine this is: "
                       f"{result.stderr.strip() or result.returncode}")
    return json.loads(result.stdout)


def name_of(recording):
    """A name for a machine: its GPU's, or its processor's if it has none."""
    gpu = recording["ceilings"].get("gpu")
    if not gpu:
        return recording["machine"]["name"]
    return re.sub(r"[^a-z0-9]+", "-", gpu["name"].lower()).strip("-").replace("nvidia-", "", 1)


def find_ncu():
    """NVIDIA's profiler, or nothing."""
    return shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")


def cores():
    """How many processors a program may use."""
    return len(os.sched_getaffinity(0))


def gpus():
    """How many GPUs the machine has."""
    if not shutil.which("nvidia-smi"):
        return 0
    shown = subprocess.run(["nvidia-smi", "--list-gpus"], stdout=subprocess.PIPE, text=True, check=False)
    return len(shown.stdout.splitlines()) if shown.returncode == 0 else 0


def is_beyond(key, value, values):
    """Whether a value of a sweep wants more cores or GPUs than there are; one of them always has to do."""
    if key in ("threads", "ranks"):
        return value > max(cores(), min(values))
    return key.split(",")[0] == "gpus" and each(key, value)[0] > max(gpus(), 1)


# --- Recording

def locations(options):
    """The runner's options that tell it where things are."""
    return ["--programs", options.programs, "--source", options.source]


def arguments_of(entry):
    """The runner's arguments for an entry of the plan."""
    arguments = [entry["workload"]]
    for key, option in (("stages", "--stages"), ("reference", "--reference"), ("repeat", "--repeat"),
                        ("warmup", "--warmup")):
        if key in entry:
            arguments += [option, str(entry[key])]
    for key, option in (("datasets", "--dataset"), ("precisions", "--precision")):
        if key in entry:
            arguments += [option, ",".join(entry[key])]
    for key, option in (("set", "--set"), ("reference_set", "--reference-set")):
        for name, value in entry.get(key, {}).items():
            arguments += [option, f"{name}={value}"]
    return arguments


def write_whole(path, text):
    """Writes a file that is never seen in part."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def shown(command, environment):
    """What a command prints, which is shown while it runs, and its exit status."""
    text = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            text += line
    return text, process.returncode


def run(options, arguments, environment):
    """One run of the runner: what it records, as text, its table, and its exit status."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "recording.json")
        table, status = shown([options.runner, *locations(options), *arguments, "--json", str(output)],
                              environment)
        if not output.exists():
            raise Failed(f"the runner ended with status {status} and recorded nothing")
        return output.read_text(), table, status


def record_once(options, entry, directory):
    """Records an entry that is no sweep."""
    recording, table, status = run(options, arguments_of(entry), {})
    write_whole(directory / f"{entry['name']}.json", recording)
    write_whole(directory / f"{entry['name']}.txt", table)
    if status != 0:
        raise Failed("recorded, but not every stage solved it")


def record_sweep(options, entry, directory):
    """Records an entry over the values of a parameter, or over numbers of threads."""
    (key, values), = entry["sweep"].items()
    runs, statuses = [], []
    for value in values:
        if is_beyond(key, value, values):
            continue
        changes, options_of_runner, environment = [], [], {}
        if key == "threads":
            environment = {"OMP_NUM_THREADS": str(value)}
        elif key == "awake":
            options_of_runner = ["--awake"] if value else []
        elif key == "ranks":
            options_of_runner = ["--ranks", str(value)]
        else:
            changes = [f"{parameter}={number}" for parameter, number in zip(key.split(","), each(key, value))]
        sets = [word for change in changes for word in ("--set", change)]
        text, _, status = run(options, arguments_of(entry) + options_of_runner + sets, environment)
        recording = recordings.parse(text)
        as_floats = [float(number) for number in value] if isinstance(value, list) else float(value)
        runs += [recordings.without_many_spans(one | {"value": as_floats}) for one in recording["runs"]]
        statuses.append(status)
        write_whole(directory / f"{entry['name']}.json", recordings.text_of(recording | {"sweep": key, "runs": runs}))
    if any(statuses):
        raise Failed("recorded, but not every stage solved it for every value")


def record_profile(options, entry, directory):
    """Records what NVIDIA's profiler counts in one solve."""
    command = [find_ncu(), "--clock-control", "none", "--csv", "--print-units", "base",
               "--metrics", ",".join(entry["metrics"])]
    for key, option in (("skip", "--launch-skip"), ("count", "--launch-count")):
        if key in entry:
            command += [option, str(entry[key])]
    command += [str(pathlib.Path(options.programs, entry["program"])), "--warmup", "0", "--repeat", "1",
                *entry.get("arguments", [])]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in result.stdout.splitlines() if line.startswith('"')]
    if result.returncode != 0 or len(lines) < 2:
        said = next((line for line in result.stdout.splitlines() if "==ERROR==" in line), "no counters")
        raise Failed(f"ncu ended with status {result.returncode}: {said}")
    write_whole(directory / f"{entry['name']}.csv", "\n".join(lines) + "\n")


def missing(entry, has_gpu):
    """What keeps an entry from being recorded here, or nothing."""
    if "gpu" in entry and entry["gpu"] != has_gpu:
        return "a GPU" if entry["gpu"] else "a machine without a GPU"
    return "ncu" if "program" in entry and not find_ncu() else None


def record(options, entry, directory):
    """Records an entry of either kind."""
    kind = record_profile if "program" in entry else record_sweep if "sweep" in entry else record_once
    kind(options, entry, directory)


def record_all(options, entries, directory, has_gpu):
    """Records what can be recorded here; what failed, by name."""
    failures, left_out = {}, {}
    for number, entry in enumerate(entries, 1):
        name, lacking = entry["name"], missing(entry, has_gpu)
        if lacking:
            left_out.setdefault(lacking, []).append(name)
            continue
        print(f"--- {number}/{len(entries)} {name}", flush=True)
        begin = time.monotonic()
        try:
            record(options, entry, directory)
        except (Failed, OSError) as error:
            failures[name] = error
        print(f"--- {name}: {failures.get(name, 'recorded')}, {time.monotonic() - begin:.0f} s\n", flush=True)
    for lacking, names in left_out.items():
        print(f"Left out, as they take {lacking}: {', '.join(dict.fromkeys(names))}")
    return failures


# --- The command line

class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def error(self, message):
        raise BadInput(message)


def read_options(arguments):
    """The options of the command line."""
    parser = Parser(prog="record", description="Records a machine's results, as a plan says.")
    parser.add_argument("machine", nargs="?", metavar="MACHINE",
                        help="the directory that gets them (default named after the GPU or the processor)")
    parser.add_argument("--only", metavar="NAME,...", help="record these entries of the plan (default all)")
    parser.add_argument("--list", action="store_true", help="list the entries of the plan")
    parser.add_argument("--plan", type=pathlib.Path, default=ROOT / "docs" / "results" / "plan.json")
    parser.add_argument("--runner", default=str(ROOT / "build" / "common" / "climb" / "climb"))
    parser.add_argument("--programs", help="where the stage programs are",
                        default=str(ROOT / "build" / "stages"))
    parser.add_argument("--source", default=str(ROOT), help="where the repository is")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "results",
                        help="where the directories of machines are")
    options = parser.parse_args(arguments)
    if options.machine is not None and not re.fullmatch(r"[\w-]+", options.machine):
        raise BadInput(f"MACHINE has letters, digits, - and _ only, not '{options.machine}'")
    return options


def list_text(entries):
    """The entries of a plan, a line each."""
    return "".join(f"{entry['name']:<44}{entry.get('workload') or entry['program']}"
                   f"{ {True: ', with a GPU', False: ', without a GPU'}.get(entry.get('gpu'), '')}\n"
                   for entry in entries)


def main(*arguments):
    """The exit status: 1 if something failed, 2 for bad input."""
    try:
        options = read_options(arguments)
        entries = chosen(read_plan(options.plan), options.only)
        if options.list:
            print(list_text(entries), end="")
            return 0
        if not os.access(options.runner, os.X_OK):
            raise BadInput(f"there is no runner '{options.runner}'; build it with ./climb")
        about = about_machine(options, next((entry["workload"] for entry in entries if "workload" in entry),
                                            entries[0].get("program", "").split("-")[0]))
        directory = options.output / (options.machine or name_of(about))
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"'{directory}' cannot be made: {error.strerror}") from error
    except BadInput as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    begin = time.monotonic()
    failures = record_all(options, entries, directory, "gpu" in about["ceilings"])
    print(f"{time.monotonic() - begin:.0f} s; the recordings are in {directory}")
    for name, why in failures.items():
        print(f"record: {name} failed: {why}", file=sys.stderr)
    return int(bool(failures))
