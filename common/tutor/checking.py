"""The steps of a check, in this order: whether a source compiles, agrees with stage zero, is clean under analysis, and has the
optimisation of its stage."""

import concurrent.futures
import dataclasses
import fcntl
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import building
import claims
import comparing
import counting
from building import NotBuilt
from counting import Failed
from workshop import book

MESSAGES = "tests/ranks/libcounted.so"  # counts messages between ranks; exists if tests are built
ANALYSED_CASES = 6  # test cases that are analysed in addition
MUCH = 8  # a counter that should grow may be at most this many times the counter of the stage
ENOUGH = 8  # after this many failing test cases, the remaining ones are skipped


@dataclasses.dataclass
class Step:
    """The result of one step: whether it passed (None: not checked), and sentences about it."""

    name: str
    passed: bool | None
    says: list
    details: dict = dataclasses.field(default_factory=dict)

    def json(self):
        """The step as `check --json` prints it."""
        return {"name": self.name, "passed": self.passed, "says": self.says} | self.details


@dataclasses.dataclass
class Job:
    """A working copy to be checked against its stage."""

    places: building.Places
    stage: book.Stage
    source: pathlib.Path
    out: pathlib.Path  # the output directory

    @property
    def is_cuda(self):
        """Whether it is a CUDA source, which runs on a GPU or on the CPU device."""
        return self.stage.source.suffix == ".cu"

    @property
    def target(self):
        """The target of the stage's program in the build directory."""
        return target_of(self.stage)

    @property
    def work(self):
        """The directory that all exercises of the workload share."""
        return self.places.outputs / self.stage.workload


def shared(places, stage):
    """The output directory for programs built from the stage's own source."""
    return places.outputs / stage.workload / stage.name / "stage"


def place_for(places, stage, source):
    """The output directory for a working copy. Each source has its own, so several can be checked at the same time."""
    return shared(places, stage).with_name(hashlib.sha256(str(source).encode()).hexdigest()[:12])


def target_of(stage, suffix=None):
    """The target of a stage's program; for a CUDA stage, the one for the CPU device."""
    if suffix is None:
        suffix = "-cpu" if stage.source.suffix == ".cu" else ""
    return f"stages/{stage.workload}-{stage.name}{suffix}"


def targets(places, stage):
    """The targets that a check needs: stage zero, and the stage and the previous stage, whose counters are compared with those
    of the working copy."""
    first = stage
    while first.before:
        first = first.before
    needed = {target_of(first), target_of(stage)}
    for each in (stage, stage.before):
        if each.source.suffix == ".cu":
            needed |= {target_of(each), target_of(each, "-cpu-analyze")}
    needed |= {building.COUNTER, MESSAGES} if stage.source.suffix == ".cpp" else set()
    if has_gpu():
        needed.add(target_of(stage, ""))
    return sorted(target for target in needed if building.has_target(places, target))


@functools.cache
def has_gpu():
    """Whether this machine has nvcc and a GPU."""
    return shutil.which("nvcc") is not None and shutil.which("nvidia-smi") is not None and subprocess.run(
        ["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


# --- Building

class Programs:
    """The programs of a source: plain, analysed (CPU device) and counted (processor). Each is built on first use, or earlier by start()."""

    def __init__(self, job):
        self.job = job
        self.wanted = {"plain": job.target}
        if job.is_cuda and building.has_target(job.places, f"{job.target}-analyze"):
            self.wanted["analysed"] = f"{job.target}-analyze"
        if not job.is_cuda and building.has_target(job.places, building.COUNTER):
            self.wanted["counted"] = job.target
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.started = {}

    def start(self, what):
        """Starts to build a program in the background, once."""
        if what not in self.started:
            # The plain program starts the analysed one, which must be in the same directory.
            out = self.job.out / ("counted" if what == "counted" else "plain")
            self.started[what] = self.pool.submit(building.build, self.job.places, self.wanted[what], self.job.stage,
                                                  self.job.source, out, what == "counted")
        return self.started[what]

    def __contains__(self, what):
        return what in self.wanted

    def __getitem__(self, what):
        return self.start(what).result()


def compiles(job, programs, eager):
    """The step *compiles*."""
    for what in programs.wanted if eager else ():
        programs.start(what)
    try:
        programs["plain"]
        return Step("compiles", True, [])
    except NotBuilt as not_built:
        error = building.first_error(str(not_built), job.places)
        place = f"{error['file']}:{error['line']}: " if error["file"] else ""
        says = [place + error["what"]] + ([f"in the line: {error['source']}"] if error["source"] else [])
        return Step("compiles", False, says, {"error": error})


# --- Agreement with stage zero

def stage_zero_of(stage):
    """Stage zero of a workload, which all other stages are checked against."""
    return stage_zero_of(stage.before) if stage.before else stage


def described(program):
    """The description of a program (--describe)."""
    return json.loads(counting.run([program, "--describe"], {}))


def solve(program, problem, precision, ranks, output):
    """Solves a problem and writes the solution to a file; returns the tolerance."""
    record = counting.run([program, *counting.options_for(problem, precision), "--output", output], counting.DEVICES, ranks)
    return json.loads(record)["tolerance"]


def solution_of_zero(job, name, problem):
    """The solution of a test case by stage zero, computed once and then read from a file."""
    zero = job.places.build / target_of(stage_zero_of(job.stage))
    path = job.work / "zero" / f"{name.replace(' ', '_')}.npy"
    if not path.exists() or path.stat().st_mtime < zero.stat().st_mtime:
        path.parent.mkdir(parents=True, exist_ok=True)
        solve(zero, problem, "f64", 0, path)
    return comparing.read_npy(path)


def size_of(problem, cases):
    """The parameters of a problem that differ between the test cases, as text."""
    differing = [key for key in problem if key != "seed" and len({str(case[key]) for case in cases.values()}) > 1]
    return ", ".join(f"{key} = {problem[key]}" for key in differing)


def ended(failed):
    """Why a run failed, as a sentence."""
    if failed.status is not None and failed.status < 0:
        return f"the program was ended by signal {-failed.status}" + (
            " (segmentation fault: an access to memory that the program does not own)" if failed.status == -11 else "")
    message = re.sub(r"^[\w-]+: ", "", str(failed).splitlines()[0]) if str(failed) else ""
    return message or f"the program ended with status {failed.status}"


def is_refused_by_stage(job, problem, precision, ranks, failed):
    """Whether the stage rejects the problem with the same exit status."""
    if failed.status not in (2, 77):
        return False
    try:
        with tempfile.TemporaryDirectory() as directory:
            solve(job.places.build / job.target, problem, precision, ranks, pathlib.Path(directory, "x.npy"))
    except Failed as refused:
        return refused.status == failed.status
    return False


def problems_of_case(job, program, name, problem, precision, ranks):
    """Sentences about the errors in one test case; None if stage zero or the stage does not solve this case."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "solution.npy")
        try:
            wanted = solution_of_zero(job, name, problem)
        except Failed:
            return None  # stage zero has no solution
        try:
            tolerance = solve(program, problem, precision, ranks, output)
        except Failed as failed:
            return None if is_refused_by_stage(job, problem, precision, ranks, failed) else [ended(failed)]
        return comparing.differences(comparing.read_npy(output), wanted, tolerance)


def agrees(job, program, on="agrees"):
    """The step *agrees* (or *GPU*), and the parameters of the first test case that failed."""
    about = described(program)
    ranks = counting.FEW_RANKS if about["ranks"] else 0
    cases = about["test_cases"]
    right, wrong = [], {}
    for precision, (name, problem) in itertools.product(about["precisions"], cases.items()):
        found = problems_of_case(job, program, name, problem, precision, ranks)
        if found:
            wrong[name, precision] = found
        elif found is not None:
            right.append(name)
        if len(wrong) == ENOUGH:
            break
    if not wrong:
        return Step(on, True, [f"{len(right)} test cases with awkward sizes"]), None
    (name, precision), says = next(iter(wrong.items()))
    whole = {case.split("+")[0].split("-")[0] for case, _ in wrong if "+" in case or "-" in case}
    first = f"{name} ({size_of(cases[name], cases)}), {precision}: {says[0]}"
    says = [first, *says[1:]]
    if re.search(r"is -?nan\b", first):
        says.append("nan is the initial value of every array: is a result not stored, or an input not copied?")
    if whole & set(right):
        says.append("whole tiles agree, and sizes with a partial last tile do not: look at the last tile")
    says.append(f"it fails in {len(wrong)} of {len(right) + len(wrong)} test cases")
    return Step(on, False, says, {"case": name, "problem": cases[name], "precision": precision,
                                  "failing": [case for case, _ in wrong]}), cases[name]


# --- Analysis

def error_sentences(error, places):
    """An error that the CPU device reports, with the one or two lines of the source."""
    says = [f"{error['kind']}: {error['sentence']}"]
    for key in ("", "other_"):
        if error[f"{key}line"]:
            path = pathlib.Path(os.path.normpath(places.build / error[f"{key}file"]))
            says.append(f"{places.named(path)}:{error[f'{key}line']}: {building.line_of(path, error[f'{key}line'])}")
    return says


def line_at(program, place, name):
    """The file and the line of an access in a program.

    `place` is the return address of the access's callback. If the access was inlined, the result is the line of the call in the source
    `name`, if there is one."""
    output = subprocess.run(["addr2line", "-i", "-e", program, hex(place - 1)], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    frames = [(pathlib.Path(file), int(line)) for file, line in re.findall(r"^(.+):(\d+)", output, re.MULTILINE)]
    return next((frame for frame in frames if frame[0].name == name), frames[0] if frames else (pathlib.Path(), 0))


def race_sentences(race, program, job):
    """A race between two threads of an OpenMP team, with both lines."""
    (now, before), both_write = race
    says = ["two threads of a team " + ("write the same element" if both_write else
            "access the same element, and one of them writes it") + ", with no barrier between them"]
    for path, line in dict.fromkeys(line_at(program, place, job.source.name) for place in (before, now)):
        path = pathlib.Path(os.path.normpath(job.places.build / path))
        says.append(f"{job.places.named(path)}:{line}: {building.line_of(path, line)}")
    return says


def reports(job, programs, cases, precision):
    """Analyses some problems. Yields for each: its counters, its report, and sentences about the first error or None."""
    for problem in cases:
        if "analysed" in programs:
            programs["analysed"]  # the plain program starts it
            counters, report = counting.of_device(programs["plain"], problem, precision)
            yield counters, report, error_sentences(report["errors"][0], job.places) if report["errors"] else None
        else:
            counters, race = counting.of_processor(programs["counted"], problem, precision, messages_for(job, programs))
            yield counters, {}, race_sentences(race, programs["counted"], job) if race else None


def messages_for(job, programs):
    """The library that counts messages, for stages on ranks; None otherwise."""
    on_ranks = described(programs["plain"])["ranks"]
    path = job.places.build / MESSAGES
    return path if on_ranks and path.exists() else None


def is_watched(job, programs):
    """Whether memory accesses of the programs can be analysed on this machine."""
    return "analysed" in programs or "counted" in programs and not (
        described(programs["plain"])["ranks"] and not (job.places.build / MESSAGES).exists())


def few_problems(job, cases):
    """The problem of the stage's claim, and some test cases that are no larger."""
    counted = claims.claim_of(job.stage.workload, job.stage.name).problem

    def size(problem):
        return math.prod(problem[name] for name in claims.PROBLEMS[job.stage.workload])

    small = [case for case in cases.values() if size(case) <= size(counted)]
    return [counted, *small[:ANALYSED_CASES]]


def is_clean(job, programs, failing):
    """The step *clean*: on the failing test case, or on a few small problems."""
    if not is_watched(job, programs):
        return Step("clean", None, ["memory accesses cannot be analysed here: this needs GCC, and for stages on ranks also the "
                                    "programs of the tests"])
    about = described(programs["plain"])
    precision = about["precisions"][0]
    few = [failing] if failing else few_problems(job, about["test_cases"])
    has_tasks = False
    try:
        for counters, _, found in reports(job, programs, few, precision):
            has_tasks = has_tasks or counters.get("tasks", 0) > 0
            if found:
                return Step("clean", False, found)
    except Failed as failed:
        if failing is None and failed.status not in (2, 77):
            return Step("clean", False, [ended(failed)])
    if job.is_cuda:
        return Step("clean", True, ["no race, no access out of bounds, no read of uninitialised memory"])
    if has_tasks:
        return Step("clean", None, ["programs with OpenMP tasks are not checked for races"])
    return Step("clean", True, ["no two threads access the same element without a barrier in between"])


# --- The optimisation of the step

KNOWN = {}  # cached counters of stages, by stage, precision and problem


def counters_of_stage(places, stage, problem, precision):
    """The counters of a stage's own source."""
    key = (stage.workload, stage.name, precision, *problem.items())
    if key not in KNOWN:
        KNOWN[key] = count_stage(places, stage, problem, precision)
    return KNOWN[key]


def count_stage(places, stage, problem, precision):
    """Runs a stage and counts. For a stage on the processor, the program with counters is built first if it is missing or outdated."""
    program = places.build / target_of(stage)
    if stage.source.suffix == ".cu":
        return counting.of_device(program, problem, precision)[0]
    job = Job(places, stage, stage.source, shared(places, stage))
    counted = job.out / program.name
    job.out.mkdir(parents=True, exist_ok=True)
    with open(job.out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not counted.exists() or counted.stat().st_mtime < max(
                path.stat().st_mtime for path in (stage.source, program, places.build / building.COUNTER)):
            building.build(places, job.target, stage, stage.source, job.out, counted=True)
    return counting.of_processor(counted, problem, precision, messages_for(job, {"plain": program}))[0]


def counters_to_compare(job, claim, precision):
    """Yields the counters of the stage and of the previous stage; the latter are zero if it runs on another device."""
    for stage in (job.stage, job.stage.before):
        same = stage.source.suffix == job.stage.source.suffix
        counters = counters_of_stage(job.places, stage, claim.problem, precision) if same else {}
        yield with_uses(counters, claim, stage.source.read_text())


def with_uses(counters, claim, code):
    """The counters of a claim; a counter *uses NAME* is the number of uses of the name in the code."""
    return {name: claims.used(name.removeprefix("uses "), code) if name.startswith("uses ") else counters.get(name, 0)
            for name in claim.counters}


def is_reached(yours, stages, before):
    """Whether a counter is closer to the counter of the stage than to the counter of the previous stage, by ratio. A counter that
    should grow must not be far beyond the counter of the stage, either."""
    middle = (math.log1p(stages) + math.log1p(before)) / 2
    return math.log1p(yours) < middle if stages < before else math.log1p(yours) > middle and not is_far_beyond(yours, stages)


def is_far_beyond(yours, stages):
    """Whether a counter that should grow is many times as large as in the stage."""
    return yours > MUCH * stages


def number(value):
    """A counter as text, with spaces between thousands."""
    return f"{value:,.0f}".replace(",", " ") if value == int(value) else f"{value:.2f}"


def verdict(name, yours, stages, before):
    """Whether a counter changed as in the stage, and a sentence."""
    what, too_many, too_few = claims.meaning(name)
    well = is_reached(yours, stages, before)
    compared = f"{what}: {number(yours)} (stage: {number(stages)}, previous stage: {number(before)})"
    return well, compared if well else f"{compared}: {too_few if stages > before and not is_far_beyond(yours, stages) else too_many}"


def worst_line(report, counter, places):
    """Sentences about the line of a source that contributes most to a counter; empty if there is none."""
    wanted = {"global_loads": "global load", "global_stores": "global store", "shared_loads": "shared load",
              "shared_stores": "shared store"}.get(counter, "global" if "global" in counter else "shared" if
                                                    "shared" in counter else None)
    lines = [line for kernel in report.get("kernels", []) for line in kernel["lines"]
             if wanted and line["access"].startswith(wanted)]
    if not lines:
        return []

    def cost(line):
        return line.get("sectors", line.get("wavefronts", 0))

    by_excess = "excess" in counter or "per" in counter
    worst = max(lines, key=lambda line: cost(line) - line["ideal"] if by_excess else
                cost(line) if " " in counter else line["requests"])
    path = pathlib.Path(os.path.normpath(places.build / worst["file"]))
    unit = "sectors" if "sectors" in worst else "wavefronts"
    of_request, ideal = (value / worst["requests"] for value in (cost(worst), worst["ideal"]))
    says = [f"most of them: {places.named(path)}:{worst['line']}: {building.line_of(path, worst['line'])}"]
    if of_request > 1.1 * ideal:
        says.append(f"{of_request:.3g} {unit} per request there; {ideal:.3g} would suffice")
    return says


def has_changed(job):
    """Whether the code differs from the previous stage."""
    def code(path):
        return [line for line in book.code_lines(path) if not line.strip().startswith((".title", ".idea"))]

    return code(job.source) != code(job.stage.before.source)


def common_precision(job, programs):
    """A precision that the stage, the previous stage and the working copy have in common."""
    def precisions(program):
        return described(program)["precisions"]

    stages = precisions(job.places.build / job.target)
    others = precisions(programs["plain"])
    before = job.places.build / target_of(job.stage.before)
    if job.stage.before.source.suffix == job.stage.source.suffix and before.exists():
        others = [each for each in others if each in precisions(before)]
    return next((each for each in stages if each in others), others[0] if others else stages[0])


def is_optimised(job, programs):
    """The step *optimised*: compares the counters of a solution with the stage and with the previous stage."""
    claim = claims.claim_of(job.stage.workload, job.stage.name)
    if not has_changed(job):
        unchanged = f"nothing has changed yet: this is still the code of {job.stage.before.name}"
        if not claim.counters:
            return Step("optimised", False, [unchanged])
    elif not claim.counters:
        return Step("optimised", None, ["this step changes only the time on a GPU, which is not measured here; the code "
                                        "differs from the previous stage"])
    if not all(name.startswith("uses ") for name in claim.counters) and not is_watched(job, programs):
        return Step("optimised", None, ["memory accesses and messages cannot be counted here"])
    precision = common_precision(job, programs)
    stages, before = counters_to_compare(job, claim, precision)
    try:
        counters, report, _ = next(reports(job, programs, [claim.problem], precision))
    except Failed as failed:
        return Step("optimised", False, [ended(failed)])
    yours = with_uses(counters, claim, job.source.read_text())
    says, well, table = [] if has_changed(job) else [unchanged], True, {}
    for name in claim.counters:
        fine, sentence = verdict(name, yours[name], stages[name], before[name])
        table[name] = {"yours": yours[name], "stage": stages[name], "before": before[name], "reached": fine}
        says.append(sentence)
        if not fine and stages[name] < before[name]:
            says += worst_line(report, name, job.places)
        well = well and fine
    return Step("optimised", well, says, {"counters": table})


# --- All steps

def on_gpu(job):
    """Yields the step *GPU* if there is a GPU and the build directory builds programs for it."""
    target = target_of(job.stage, "")
    if not (job.is_cuda and has_gpu() and building.has_target(job.places, target)):
        return
    try:
        program = building.build(job.places, target, job.stage, job.source, job.out / "gpu")
    except NotBuilt as not_built:
        error = building.first_error(str(not_built), job.places)
        yield Step("GPU", False, [f"nvcc reports an error: {error['file']}:{error['line']}: {error['what']}"], {"error": error})
        return
    yield agrees(job, program, "GPU")[0]


def check(job, eager=True):
    """Yields the steps; stops after a failed step that makes the following ones pointless. If `eager`, all programs are built at
    the same time, else each when it is needed."""
    programs = Programs(job)
    step = compiles(job, programs, eager)
    yield step
    if not step.passed:
        return
    agreement, failing = agrees(job, programs["plain"])
    yield agreement
    clean = is_clean(job, programs, failing)
    yield clean
    if agreement.passed and clean.passed is not False:
        yield is_optimised(job, programs)
        yield from on_gpu(job)
