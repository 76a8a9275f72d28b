"""Tests the recordings of docs/measure/record.py: record_test.py ROOT RUNNER PROGRAMS. Prints TAP.

The runner and two stages are real ones, on tiny problems; a third stage is a script that fails.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tap
from measure import figures, record, recordings

ROOT, RUNNER, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])

TINY = {"workload": "ata", "datasets": ["tiny"], "repeat": 1}
PLAN = {
    "recordings": [
        TINY | {"name": "fails", "stages": "00,02"},
        TINY | {"name": "unknown", "stages": "77"},
        TINY | {"name": "once", "stages": "00,01", "repeat": 2, "warmup": 0},
        {"name": "over_size", "workload": "ata", "stages": "01", "repeat": 1, "set": {"seed": 5}, "reference_set": {"seed": 5},
         "sweep": {"rows,cols": [8, 16]}},
        {"name": "over_shapes", "workload": "ata", "stages": "01", "repeat": 1,
         "sweep": {"rows,cols": [[8, 3], [2, 9]]}},
        TINY | {"name": "over_threads", "stages": "01", "sweep": {"threads": [1, 2, 4096]}},
        TINY | {"name": "over_awake", "stages": "01", "sweep": {"awake": [0, 1]}},
        TINY | {"name": "with", "gpu": True}, TINY | {"name": "with", "gpu": False, "stages": "00"}],
    "profiles": [{"name": "profile", "program": "ata-01_openmp", "metrics": "few", "count": 1, "skip": 2,
                  "arguments": ["--dataset", "tiny"]}],
    "metrics": {"few": ["a", "b"]}}


@contextlib.contextmanager
def workplace():
    """A directory with stage programs, one of which fails, and with a plan."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "programs").mkdir()
        for stage in ("00_original", "01_openmp"):
            (directory / "programs" / f"ata-{stage}").symlink_to(PROGRAMS / f"ata-{stage}")
        write_program(directory / "programs" / "ata-02_fails", f"""
[ "$1" = --describe ] && exec "{PROGRAMS}/ata-01_openmp" --describe
echo 'ata-02_fails: no luck' >&2
exit 3""")
        (directory / "plan.json").write_text(json.dumps(PLAN))
        yield directory


def write_program(path, text):
    """Writes an executable script."""
    path.write_text(f"#!/bin/sh{text}\n")
    path.chmod(0o700)


def recorded(directory, *arguments):
    """The exit status of the recorder, its standard output and its standard error."""
    result = subprocess.run(
        [sys.executable, ROOT / "docs", "record", "--plan", directory / "plan.json", "--runner", RUNNER,
         "--programs", directory / "programs", "--source", ROOT, "--output", directory / "out", *arguments],
        capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def wrong_recordings():
    """Yields errors in the recordings of a plan."""
    with workplace() as directory:
        status, shown, complaints = recorded(directory, "here")
        if status != 1:
            yield f"the exit status is {status}: {complaints}"
        for words in ("fails failed: recorded, but", "unknown failed: the runner ended with status 2"):
            if words not in complaints:
                yield f"the error messages lack '{words}': {complaints}"
        for words in ("--- 3/10 once", "once: recorded, ", "\n00_original ", "Left out, as they take a GPU: with, profile"):
            if words not in shown:
                yield f"the output lacks '{words}': {shown}"
        out = directory / "out" / "here"
        names = sorted(path.name for path in out.iterdir())
        if names != ["fails.json", "fails.txt", "once.json", "once.txt", "over_awake.json", "over_shapes.json", "over_size.json",
                     "over_threads.json", "with.json", "with.txt"]:
            return (yield f"the recorder writes the files {names}")
        yield from wrong_contents(out, shown)


def wrong_contents(out, shown):
    """Yields errors in the recorded files."""
    run, = recordings.read(out / "once.json")["runs"]
    if [(one["stage"], len(one["repeats"])) for one in run["records"]] != [("00_original", 2), ("01_openmp", 2)]:
        yield f"the recording 'once' contains {run['records']}"
    if (out / "once.txt").read_text() not in shown:
        yield "the stored table differs from the printed one"
    if [one["stage"] for one in recordings.read(out / "with.json")["runs"][0]["records"]] != ["00_original"]:
        yield "the recording with a GPU was made without one"
    if [one.get("verdict") for one in recordings.read(out / "fails.json")["runs"][0]["records"]] != ["reference", "failed"]:
        yield "the verdict on a failed stage is not recorded"
    size = recordings.read(out / "over_size.json")
    found = [(run["value"], run["records"][0]["parameters"]) for run in size["runs"]]
    if size["sweep"] != "rows,cols" or found != [(n, {"rows": n, "cols": n, "seed": 5}) for n in (8, 16)]:
        yield f"the sweep over {size['sweep']} contains {found}"
    if [run.get("reference_set") for run in size["runs"]] != [["seed=5"], ["seed=5"]]:
        yield "the reference does not run with its own parameters"
    shapes = recordings.read(out / "over_shapes.json")
    found = [(run["value"], run["records"][0]["parameters"]) for run in shapes["runs"]]
    if found != [([m, n], {"rows": m, "cols": n, "seed": 1}) for m, n in ((8, 3), (2, 9))]:
        yield f"the sweep over {shapes['sweep']} contains {found}"
    threads = recordings.read(out / "over_threads.json")
    found = [(run["value"], run["records"][0].get("threads")) for run in threads["runs"]]
    if threads["sweep"] != "threads" or found != [(n, n) for n in (1, 2)[:record.cores()]]:
        yield f"the sweep over {threads['sweep']} contains {found}"
    if shown.count(", GPU awake") != 1 or [run["value"] for run in recordings.read(out / "over_awake.json")["runs"]] != [0, 1]:
        yield "the GPU is not awake in exactly the second of two runs"
    results = figures.Results(out.parent)
    if len(results.machines["here"]) != 3 or {name for _, name in results.sweeps} != {
            "over_size", "over_shapes", "over_threads", "over_awake"}:
        yield f"the book finds {len(results.machines['here'])} recordings and the sweeps {list(results.sweeps)}"


def reread(text):
    """A recording after reading and writing it again."""
    return recordings.text_of(recordings.parse(text))


def are_alike(text, other):
    """Whether two texts are equal up to redundant digits of numbers; the runner may write one more digit."""
    number = re.compile(r"\d+\.\d+(?:e[-+]\d+)?")
    return len({number.sub(lambda match: repr(float(match[0])), each) for each in (text, other)}) == 1


def many_spans():
    """Yields errors in the intervals that a sweep keeps: those of the median repeat, unless they are too many."""
    def repeat(seconds, count):
        return {"seconds": seconds, "beside": [{"name": "kernels", "begin": 0.0, "end": 1.0}] * count}
    many = recordings.MOST_SPANS + 1
    run = {"value": 1.0, "records": [{"stage": "00", "repeats": [repeat(3.0, 2), repeat(1.0, 2), repeat(2.0, 2)]},
                                     {"stage": "01", "repeats": [repeat(1.0, many), repeat(2.0, 2)]}, {"stage": "02"}]}
    found = recordings.without_many_spans(run)["records"]
    if found != [{"stage": "00", "repeats": [{"seconds": 3.0}, {"seconds": 1.0}, repeat(2.0, 2)]},
                 {"stage": "01", "repeats": [{"seconds": 1.0}, {"seconds": 2.0}]}, {"stage": "02"}]:
        yield f"the sweep keeps {str(found)[:300]}"


def reformatted():
    """Yields recordings that the runner and the book's scripts write in different forms, and values that are lost."""
    with workplace() as directory:
        recorded(directory, "here", "--only", "fails,over_size")
        for path in sorted((directory / "out" / "here").glob("*.json")):
            if not are_alike(reread(path.read_text()), path.read_text()):
                yield f"{path.name} has another layout than the scripts write: {path.read_text()}"
    problem = {"workload": "w", "dataset": "d", "precision": "f64"}
    file = {"machine": {"cores": 2}, "revision": "abc", "date": "today"}
    whole = [problem | file | {"stage": stage, "parameters": {"n": 8}, "input": None} | own for stage, own in (
        ("00_a", {"dataset": "tiny", "parameters": {"n": 1}}), ("01_b", {"revision": "def"}), ("02_c", {"machine": {}}))]
    text = recordings.text_of(file | {"runs": [problem | {"value": 8.0, "records": whole}]})
    if recordings.parse(text)["runs"][0]["records"] != whole:
        yield f"a written recording is read as {recordings.parse(text)}"
    if [len(json.loads(line.rstrip(","))) for line in text.splitlines() if '"stage"' in line] != [3, 2, 2]:
        yield f"records repeat values of their run: {text}"


def in_other_layouts():
    """Yields recordings of the project that have another layout, or that repeat values of their run."""
    for path in sorted(ROOT.glob("docs/results/*/*.json")):
        text = path.read_text()
        if not are_alike(text, reread(text) if '"runs":' in text else recordings.text_by_entry(json.loads(text))):
            yield f"{path.relative_to(ROOT)} has another layout"


def wrong_choice():
    """Yields errors in recording a single entry on a machine without a name."""
    with workplace() as directory:
        status, _, complaints = recorded(directory, "--only", "once,with")
        if status != 0 or complaints:
            yield f"the exit status is {status}: {complaints}"
        name, = (path.name for path in (directory / "out").iterdir())
        files = sorted(path.name for path in (directory / "out" / name).glob("*.json"))
        machine = recordings.read(directory / "out" / name / "once.json")["machine"]
        if name != machine["name"] or files != ["once.json", "with.json"]:
            yield f"the directory {name} contains {files}"
    for of, expected in (("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "geforce-rtx-4090")):
        if record.name_of({"ceilings": {"gpu": {"name": of}}}) != expected:
            yield f"the directory for {of} is {record.name_of({'ceilings': {'gpu': {'name': of}}})}"


def wrong_profiles():
    """Yields errors in a profile, with a profiler that prints its arguments, or that fails."""
    with workplace() as directory:
        for after, expected in (("", None), ("echo ==ERROR== locked; exit 1", "status 1: ==ERROR== locked"),
                                ("exec true", "no counters")):
            write_program(directory / "ncu", f"""
{after if after.startswith("exec") else ""}
echo ==PROF== hello
echo '"Name","Value"'
echo "\\"$*\\",\\"1\\""
echo a solution
{after}""")
            options = record.read_options(["--programs", "here"])
            entry = record.read_plan(directory / "plan.json")[-1]
            find, record.find_ncu = record.find_ncu, lambda: str(directory / "ncu")
            try:
                record.record(options, entry, directory)
            except record.Failed as failure:
                if expected is None or expected not in str(failure):
                    yield f"the recorder fails with: {failure}"
                continue
            finally:
                record.find_ncu = find
            lines = (directory / "profile.csv").read_text().splitlines()
            if expected or lines != ['"Name","Value"', (
                    '"--clock-control none --csv --print-units base --metrics a,b --launch-skip 2 --launch-count 1 '
                    'here/ata-01_openmp --warmup 0 --repeat 1 --dataset tiny","1"')]:
                yield f"the expected failure is {expected}, and the profile contains {lines}"


def wrong_sweeps():
    """Yields wrong values of a sweep on a machine with two GPUs, or without a GPU."""
    with tempfile.TemporaryDirectory() as name:
        path = os.environ["PATH"]
        for shown, expected in (("echo GPU 0; echo GPU 1", [1, 2]), ("echo it has failed; echo since; exit 9", [1])):
            write_program(pathlib.Path(name, "nvidia-smi"), f"\n{shown}")
            os.environ["PATH"] = f"{name}:{path}"
            values = [1, 2, 4]
            for key, tried in (("gpus", values), ("gpus,rows", [[value, 7] for value in values])):
                found = [record.each(key, value)[0] for value in tried if not record.is_beyond(key, value, tried)]
                if found != expected:
                    yield f"the sweep over {key} has the values {found} if nvidia-smi is '{shown}'"
        os.environ["PATH"] = path


def interrupted_sweeps():
    """Yields errors in a sweep that is interrupted before its last value."""
    with workplace() as directory:
        (directory / "plan.json").write_text(json.dumps({"recordings": [
            TINY | {"name": "cut", "stages": "01", "sweep": {"rows,cols": [8, -1]}}]}))
        status, _, complaints = recorded(directory, "here")
        if status != 1 or "cut failed" not in complaints:
            yield f"the exit status is {status}: {complaints}"
        values = [run["value"] for run in recordings.read(directory / "out" / "here" / "cut.json")["runs"]]
        if values != [8]:
            yield f"the interrupted sweep keeps the values {values}, not [8]"


def accepted_errors():
    """Yields errors in a plan or on the command line that are not refused in one sentence."""
    good = TINY | {"name": "a"}

    def plan(*entries, **others):
        return json.dumps({"recordings": list(entries)} | others)

    plans = [("{", "cannot be read"), ("[]", "no list 'recordings'"), (plan({"workload": "ata"}), "needs a name"),
             (plan({"name": "a"}), "no 'workload'"), (plan(good | {"stage": "00"}), "has a 'stage'"),
             (plan(good | {"name": "../a"}), "not '../a'"), (plan(good | {"repeat": "5"}), 'not "5"'),
             (plan(good | {"datasets": "tiny"}), "type list"), (plan(good, good), "two entries"),
             (plan(good, good | {"gpu": True}), "two entries"),
             (plan(good | {"sweep": {"n": []}}), "a list of numbers"),
             (plan(good | {"sweep": {"n": [1], "d": [1]}}), "one parameter"),
             (plan(good | {"sweep": {"n,d": [[1, 2], [1]]}}), "a list of numbers"),
             (plan(good | {"sweep": {"n": [[1, 2]]}}), "a list of numbers"),
             (plan(good | {"sweep": {"threads": ["1"]}}), "a list of numbers"),
             (plan(profiles=[{"name": "p", "program": "q", "metrics": "m"}], metrics={}), "metrics 'm'")]
    calls = [(["one", "two"], "two"), (["a/b"], "not 'a/b'"), (["--only", "once,twice"], "no 'twice'"),
             (["--fast"], "--fast"), (["--plan", "/nowhere"], "'/nowhere' cannot be read"),
             (["--runner", "/nowhere"], "no runner '/nowhere'"), (["--programs", "/nowhere"], "in '/nowhere'"),
             (["--output", "/proc/x"], "'/proc/x/here' cannot be made", "here")]
    with workplace() as directory:
        def complaint(arguments, words):
            status, _, message = recorded(directory, *arguments)
            if status != 2 or words not in message or message.count("\n") != 1 or not message.startswith("record: "):
                yield f"{arguments}: the exit status is {status}, and the message is {message!r}"
        for arguments, words, *more in calls:
            yield from complaint([*arguments, *more], words)
        for text, words in plans:
            (directory / "plan.json").write_text(text)
            for problem in complaint(["--list"], words):
                yield f"{text}: {problem}"


def missing_from_plan():
    """Yields stages and programs that the project's plan names and that do not exist."""
    entries = record.read_plan(ROOT / "docs" / "results" / "plan.json")
    for entry in entries:
        if "program" in entry:
            workload, stage = entry["program"].split("-")
            if not (ROOT / "stages" / workload / stage).is_dir():
                yield f"{entry['name']}: there is no program {entry['program']}"
            continue
        directory = ROOT / "stages" / entry["workload"]
        known = {path.name for path in directory.glob("[0-9][0-9]_*")} | {
            f"baseline_{path.stem}" for path in directory.glob("baselines/*")}
        items = re.findall(r"[^,-]+", ",".join((entry.get("stages", "00"), entry.get("reference", "00"))))
        for item in items:
            if not any(name == item or name.startswith(f"{item}_") for name in known):
                yield f"{entry['name']}: there is no stage {item}"
        described = json.loads(subprocess.run([PROGRAMS / f"{entry['workload']}-00_original", "--describe"],
                                              capture_output=True, check=True).stdout)
        for dataset in entry.get("datasets", []):
            if dataset not in described["datasets"]:
                yield f"{entry['name']}: there is no data set {dataset}"


def unrecorded_files():
    """Yields recordings of the project that its plan does not produce."""
    names = {entry["name"] for entry in record.read_plan(ROOT / "docs" / "results" / "plan.json")}
    for path in sorted(ROOT.glob("docs/results/*/*.json")) + sorted(ROOT.glob("docs/results/*/*_ncu.csv")):
        if path.stem not in names | {"counters", "communication", "conformance", "sanitizers", "cuda"}:
            yield f"no entry of the plan produces {path.relative_to(ROOT)}"


def quietly(check):
    """The problems that a check yields, as a list, without the output that it prints."""
    with contextlib.redirect_stdout(io.StringIO()):
        problems = list(check())
    yield from (str(problem).replace("\n", " ") for problem in problems)


CHECKS = [
    ("the recorder records all entries of a plan, although some fail", wrong_recordings),
    ("a sweep keeps the intervals of the median repeat only, unless they are too many", many_spans),
    ("the runner and the scripts write recordings in the same layout", reformatted),
    ("every recording of the project has this layout", in_other_layouts),
    ("--only records single entries", wrong_choice),
    ("the recorder stores the profiler's table, and reports its failure", wrong_profiles),
    ("a sweep over GPUs ends with the number of GPUs of the machine", wrong_sweeps),
    ("a sweep that fails keeps the runs before the failure", interrupted_sweeps),
    ("errors in a plan or on the command line are refused in one sentence", accepted_errors),
    ("the project's plan names existing stages, programs and data sets", missing_from_plan),
    ("the project's plan produces every recording", unrecorded_files),
]

tap.report((title, quietly(check)) for title, check in CHECKS)
