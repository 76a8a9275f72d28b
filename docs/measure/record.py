"""Records a machine's results according to a plan: each entry needs one run of the runner, or several runs.

A plan is a JSON file with three entries, `recordings`, `profiles` and `metrics`. A recording has a `name`, which is
also the name of its file, and a `workload`. All other keys are optional:

    stages, reference    as for the runner's options
    datasets             a list (default the workload's first)
    precisions           a list (default f64)
    repeat, warmup       numbers (default the runner's)
    set                  parameters to change, as in {"numT": 8}
    reference_set        parameters to change for the reference only, such as its number of GPUs
    gpu                  true: only on a machine with a GPU; false: only on a machine without a GPU
    sweep                a parameter and its values, as in {"n": [1024, 4096]}: one run per value. For two parameters
                         that change together, the key is "rows,cols". {"Bx,By": [[8, 64], [16, 32]]} gives each parameter
                         its own values. {"threads": [1, 2, 4]} is the number of OpenMP threads, limited to the number of
                         cores. {"awake": [0, 1]} determines whether the GPU is woken before the timed part.
                         {"ranks": [1, 2, 4]} is the number of processes of stages that run on ranks, limited to the
                         number of cores. {"gpus": [1, 2, 4]} is the number of GPUs, limited to the GPUs of the machine.

A profile is a run of a stage's program under NVIDIA's `ncu`, on a machine with a GPU and `ncu`. A profile has a `name`, a
`program` with its `arguments`, the numbers of kernel launches to `skip` and to `count`, and the name of its list in
`metrics`.

MACHINE is a directory in the output. A recording is written to NAME.json, and its table to NAME.txt. A sweep is written
to NAME.json, and a profile to NAME.csv. Each file is written when it is complete. A sweep is also written after each
value, so that an interrupted sweep keeps its earlier values. Failures are listed at the end, and do not prevent the
other recordings. A recording in which one stage failed is kept as the runner wrote it. The exit status is 1 if anything
failed, and 2 for bad input.
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
ENTRIES = {  # the keys of each kind of entry and their types; required keys come first
    "recordings": {"name": str, "workload": str, "stages": str, "reference": str, "datasets": list,
                   "precisions": list, "repeat": int, "warmup": int, "set": dict, "reference_set": dict,
                   "gpu": bool, "sweep": dict},
    "profiles": {"name": str, "program": str, "metrics": str, "arguments": list, "skip": int, "count": int},
}
NEEDED = {"recordings": 2, "profiles": 3}


class BadInput(Exception):
    """A sentence about the error in the input, for the user."""


class Failed(Exception):
    """The reason why an entry was not recorded, or not completely."""


# --- The plan

def is_sweep(sweep):
    """Whether a value from a plan has the form of a sweep: one key with its values."""
    key, values = next(iter(sweep.items()), ("", None))
    return (len(sweep) == 1 and isinstance(values, list) and values
            and all(len(each(key, value)) == len(key.split(","))
                    and all(type(number) in (int, float) for number in each(key, value)) for value in values))


def each(key, value):
    """A list with a value for each parameter in `key`; a single `value` applies to all parameters."""
    return value if isinstance(value, list) else [value] * len(key.split(","))


def check_entry(kind, entry):
    """Raises BadInput if an entry of a plan is not valid."""
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
    """The entries of a plan, recordings first. Each profile contains the list of metrics that it names."""
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
    """The runner's recording of the smallest problem, which describes the machine."""
    command = [options.runner, *locations(options), workload, "--stages", "00", "--dataset", "tiny",
               "--repeat", "1", "--warmup", "0", "--json", "-"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        raise BadInput(f"the runner '{options.runner}' cannot say what machine this is: "
                       f"{result.stderr.strip() or result.returncode}")
    return json.loads(result.stdout)


def name_of(recording):
    """A name for a machine: the name of its GPU, or of its processor if it has no GPU."""
    gpu = recording["ceilings"].get("gpu")
    if not gpu:
        return recording["machine"]["name"]
    return re.sub(r"[^a-z0-9]+", "-", gpu["name"].lower()).strip("-").replace("nvidia-", "", 1)


def find_ncu():
    """The path of NVIDIA's profiler `ncu`, or None."""
    return shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")


def cores():
    """The number of processors that a program may use."""
    return len(os.sched_getaffinity(0))


def gpus():
    """The number of GPUs of the machine."""
    if not shutil.which("nvidia-smi"):
        return 0
    shown = subprocess.run(["nvidia-smi", "--list-gpus"], stdout=subprocess.PIPE, text=True, check=False)
    return len(shown.stdout.splitlines()) if shown.returncode == 0 else 0


def is_beyond(key, value, values):
    """Whether a value of a sweep needs more cores or GPUs than the machine has. The smallest value is always accepted."""
    if key in ("threads", "ranks"):
        return value > max(cores(), min(values))
    return key.split(",")[0] == "gpus" and each(key, value)[0] > max(gpus(), 1)


# --- Recording

def locations(options):
    """The runner's options for the locations of programs and sources."""
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
    """Writes a file so that other programs never see an incomplete version."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def shown(command, environment):
    """Runs a command, shows its output while it runs, and returns the output and the exit status."""
    text = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            text += line
    return text, process.returncode


def run(options, arguments, environment):
    """Runs the runner once; returns the recording as text, the table, and the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "recording.json")
        table, status = shown([options.runner, *locations(options), *arguments, "--json", str(output)],
                              environment)
        if not output.exists():
            raise Failed(f"the runner ended with status {status} and recorded nothing")
        return output.read_text(), table, status


def record_once(options, entry, directory):
    """Records an entry that is not a sweep."""
    recording, table, status = run(options, arguments_of(entry), {})
    write_whole(directory / f"{entry['name']}.json", recording)
    write_whole(directory / f"{entry['name']}.txt", table)
    if status != 0:
        raise Failed("recorded, but not every stage solved it")


def record_sweep(options, entry, directory):
    """Records an entry for each value of its sweep."""
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
    """Records the counters of NVIDIA's profiler for one solve."""
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
    """The reason why an entry cannot be recorded on this machine, or None."""
    if "gpu" in entry and entry["gpu"] != has_gpu:
        return "a GPU" if entry["gpu"] else "a machine without a GPU"
    return "ncu" if "program" in entry and not find_ncu() else None


def record(options, entry, directory):
    """Records an entry of any kind."""
    kind = record_profile if "program" in entry else record_sweep if "sweep" in entry else record_once
    kind(options, entry, directory)


def record_all(options, entries, directory, has_gpu):
    """Records all entries that this machine can record; returns the failures, by name."""
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
    """A parser that reports an error in one sentence."""

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
    """The entries of a plan as text, one line per entry."""
    return "".join(f"{entry['name']:<44}{entry.get('workload') or entry['program']}"
                   f"{ {True: ', with a GPU', False: ', without a GPU'}.get(entry.get('gpu'), '')}\n"
                   for entry in entries)


def main(*arguments):
    """Runs the command and returns the exit status: 1 if something failed, 2 for bad input."""
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
