"""What the tutor finds: whether a source compiles, agrees with stage zero, is clean under analysis, and does what its step is
about, in this order."""

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

MESSAGES = "tests/ranks/libcounted.so"  # what counts messages between ranks, where tests are built
ANALYSED_CASES = 6  # of the awkward sizes that are analysed as well
MUCH = 8  # times as much as in the stage is beside the point
ENOUGH = 8  # problems that fail; the others are not tried any more


@dataclasses.dataclass
class Step:
    """One answer: whether it is well, or not to be told, and sentences."""

    name: str
    passed: bool | None
    says: list
    details: dict = dataclasses.field(default_factory=dict)

    def json(self):
        """As `check --json` prints it."""
        return {"name": self.name, "passed": self.passed, "says": self.says} | self.details


@dataclasses.dataclass
class Job:
    """A source in the place of a stage's."""

    places: building.Places
    stage: book.Stage
    source: pathlib.Path
    out: pathlib.Path  # what is built goes there

    @property
    def is_cuda(self):
        """Whether it is for a GPU, or its stand-in."""
        return self.stage.source.suffix == ".cu"

    @property
    def target(self):
        """The program that is checked, as ninja calls it."""
        return target_of(self.stage)

    @property
    def work(self):
        """Where all exercises of the workload have what they share."""
        return self.places.build / "exercises" / self.stage.workload


def shared(places, stage):
    """Where what is built of a stage's own source goes."""
    return places.build / "exercises" / stage.workload / stage.name / "stage"


def place_for(places, stage, source):
    """Where what is built of another source goes, so that several may be checked at the same time."""
    return shared(places, stage).with_name(hashlib.sha256(str(source).encode()).hexdigest()[:12])


def target_of(stage, suffix=None):
    """The program of a stage: for the CPU device if it is for a GPU."""
    if suffix is None:
        suffix = "-cpu" if stage.source.suffix == ".cu" else ""
    return f"stages/{stage.workload}-{stage.name}{suffix}"


def targets(places, stage):
    """What has to be built before a source can be checked: stage zero, and the stage with the one before, whose counters are
    beside those of the source."""
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
    return sorted(target for target in needed if building.there_is(places, target))


@functools.cache
def has_gpu():
    """Whether this machine has a GPU that programs can be run on."""
    return shutil.which("nvcc") is not None and shutil.which("nvidia-smi") is not None and subprocess.run(
        ["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


# --- Building

class Programs:
    """The programs of a source by what they are for, built when they are asked for, or all at once before."""

    def __init__(self, job):
        self.job = job
        self.wanted = {"plain": job.target}
        if job.is_cuda and building.there_is(job.places, f"{job.target}-analyze"):
            self.wanted["analysed"] = f"{job.target}-analyze"
        if not job.is_cuda and building.there_is(job.places, building.COUNTER):
            self.wanted["counted"] = job.target
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.started = {}

    def start(self, what):
        """Begins to build one, unless that has begun."""
        if what not in self.started:
            # The analysed program has to lie beside the plain one, which hands over to it.
            out = self.job.out / ("counted" if what == "counted" else "plain")
            self.started[what] = self.pool.submit(building.build, self.job.places, self.wanted[what], self.job.stage,
                                                  self.job.source, out, what == "counted")
        return self.started[what]

    def __contains__(self, what):
        return what in self.wanted

    def __getitem__(self, what):
        return self.start(what).result()


def compiles(job, programs, eager):
    """The step."""
    for what in programs.wanted if eager else ():
        programs.start(what)
    try:
        programs["plain"]
        return Step("compiles", True, [])
    except NotBuilt as not_built:
        error = building.first_error(str(not_built), job.places)
        place = f"{error['file']}:{error['line']}: " if error["file"] else ""
        says = [place + error["what"]] + ([f"the line: {error['source']}"] if error["source"] else [])
        return Step("compiles", False, says, {"error": error})


# --- Agreement with stage zero

def stage_zero_of(stage):
    """The stage that all are held to."""
    return stage_zero_of(stage.before) if stage.before else stage


def described(program):
    """What a program says of itself."""
    return json.loads(counting.run([program, "--describe"], {}))


def solve(program, problem, precision, ranks, output):
    """Solves a problem into a file; returns the tolerance."""
    said = counting.run([program, *counting.asked(problem, precision), "--output", output], counting.DEVICES, ranks)
    return json.loads(said)["tolerance"]


def solution_of_zero(job, name, problem):
    """Stage zero's solution of a test case, which is made once."""
    zero = job.places.build / target_of(stage_zero_of(job.stage))
    path = job.work / "zero" / f"{name.replace(' ', '_')}.npy"
    if not path.exists() or path.stat().st_mtime < zero.stat().st_mtime:
        path.parent.mkdir(parents=True, exist_ok=True)
        solve(zero, problem, "f64", 0, path)
    return comparing.read_npy(path)


def size_of(problem, cases):
    """A problem by those of its parameters in which the cases differ."""
    differing = [key for key in problem if key != "seed" and len({str(case[key]) for case in cases.values()}) > 1]
    return ", ".join(f"{key} = {problem[key]}" for key in differing)


def ended(failed):
    """Why a run failed, in words."""
    if failed.status is not None and failed.status < 0:
        return f"the program was ended by signal {-failed.status}" + (
            ", as one that writes where it has no memory is" if failed.status == -11 else "")
    said = re.sub(r"^[\w-]+: ", "", str(failed).splitlines()[0]) if str(failed) else ""
    return said or f"the program ended with status {failed.status}"


def is_refused_by_stage(job, problem, precision, ranks, failed):
    """Whether the stage refuses the problem, too."""
    if failed.status not in (2, 77):
        return False
    try:
        with tempfile.TemporaryDirectory() as directory:
            solve(job.places.build / job.target, problem, precision, ranks, pathlib.Path(directory, "x.npy"))
    except Failed as refused:
        return refused.status == failed.status
    return False


def problems_of_case(job, program, name, problem, precision, ranks):
    """Sentences on what is wrong with one test case; None where the stage does not take it."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "solution.npy")
        try:
            wanted = solution_of_zero(job, name, problem)
        except Failed:
            return None  # there is no solution
        try:
            tolerance = solve(program, problem, precision, ranks, output)
        except Failed as failed:
            return None if is_refused_by_stage(job, problem, precision, ranks, failed) else [ended(failed)]
        return comparing.differences(comparing.read_npy(output), wanted, tolerance)


def agrees(job, program, on="agrees"):
    """The step, and the parameters of the first test case that failed."""
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
        return Step(on, True, [f"{len(right)} problems of awkward sizes"]), None
    (name, precision), says = next(iter(wrong.items()))
    whole = {case.split("+")[0].split("-")[0] for case, _ in wrong if "+" in case or "-" in case}
    first = f"{name} ({size_of(cases[name], cases)}), {precision}: {says[0]}"
    says = [first, *says[1:]]
    if re.search(r"is -?nan\b", first):
        says.append("nan is what memory holds that nobody has written: is a result not stored, is something not copied?")
    if whole & set(right):
        says.append("whole tiles agree, and sizes that leave something over do not: look at the last tile")
    says.append(f"it fails on {len(wrong)} of {len(right) + len(wrong)} problems that were tried")
    return Step(on, False, says, {"case": name, "problem": cases[name], "precision": precision,
                                  "failing": [case for case, _ in wrong]}), cases[name]


# --- Analysis

def told(error, places):
    """What the analysis of the CPU device says of a mistake, with both lines."""
    says = [f"{error['kind']}: {error['sentence']}"]
    for key in ("", "other_"):
        if error[f"{key}line"]:
            path = pathlib.Path(os.path.normpath(places.build / error[f"{key}file"]))
            says.append(f"{places.named(path)}:{error[f'{key}line']}: {building.line_of(path, error[f'{key}line'])}")
    return says


def line_at(program, place, name):
    """The file and the line of a place in a program: of the access before the place where its callback returns, in the source
    of this name if it is called from there."""
    said = subprocess.run(["addr2line", "-i", "-e", program, hex(place - 1)], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    frames = [(pathlib.Path(file), int(line)) for file, line in re.findall(r"^(.+):(\d+)", said, re.MULTILINE)]
    return next((frame for frame in frames if frame[0].name == name), frames[0] if frames else (pathlib.Path(), 0))


def told_of_processor(race, program, job):
    """What two threads of a team did, with both lines."""
    (now, before), both_write = race
    says = ["two threads of a team " + ("write the same number" if both_write else
            "reach for the same number, and one of them writes it") + ", with no barrier between them"]
    for path, line in dict.fromkeys(line_at(program, place, job.source.name) for place in (before, now)):
        path = pathlib.Path(os.path.normpath(job.places.build / path))
        says.append(f"{job.places.named(path)}:{line}: {building.line_of(path, line)}")
    return says


def reports(job, programs, cases, precision):
    """Yields counters, and what was found by analysis in words, for each of some problems."""
    for problem in cases:
        if "analysed" in programs:
            programs["analysed"]  # which the plain one hands over to
            counters, report = counting.of_device(programs["plain"], problem, precision)
            yield counters, report, told(report["errors"][0], job.places) if report["errors"] else None
        else:
            counters, race = counting.of_processor(programs["counted"], problem, precision, messages_for(job, programs))
            yield counters, {}, told_of_processor(race, programs["counted"], job) if race else None


def messages_for(job, programs):
    """What counts messages, for stages on ranks."""
    on_ranks = described(programs["plain"])["ranks"]
    path = job.places.build / MESSAGES
    return path if on_ranks and path.exists() else None


def is_watched(job, programs):
    """Whether accesses of the programs can be analysed at all."""
    return "analysed" in programs or "counted" in programs and not (
        described(programs["plain"])["ranks"] and not (job.places.build / MESSAGES).exists())


def few_problems(job, cases):
    """The problem on which a stage is counted, and some test cases that are no larger."""
    counted = claims.claim_of(job.stage.workload, job.stage.name).problem

    def size(problem):
        return math.prod(problem[name] for name in claims.PROBLEMS[job.stage.workload])

    small = [case for case in cases.values() if size(case) <= size(counted)]
    return [counted, *small[:ANALYSED_CASES]]


def is_clean(job, programs, failing):
    """The step: on the problem that fails, or on a few small ones."""
    if not is_watched(job, programs):
        return Step("clean", None, ["accesses cannot be analysed here: that takes GCC, and for stages on ranks the programs of "
                                    "the tests"])
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
        return Step("clean", True, ["no race, nothing out of bounds, nothing read that nobody wrote"])
    if has_tasks:
        return Step("clean", None, ["where there are tasks, accesses of two threads are not held against each other"])
    return Step("clean", True, ["no two threads at one number"])


# --- What the step is about

KNOWN = {}  # counters of stages, by stage, precision and problem


def counters_of_stage(places, stage, problem, precision):
    """Counters of a stage as it is."""
    key = (stage.workload, stage.name, precision, *problem.items())
    if key not in KNOWN:
        KNOWN[key] = count_stage(places, stage, problem, precision)
    return KNOWN[key]


def count_stage(places, stage, problem, precision):
    """The same, counted; a stage for the processor is built for it, unless it was."""
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


def counters_beside(job, claim, precision):
    """Counters of the stage, and of the one before as far as it runs on the same device."""
    for stage in (job.stage, job.stage.before):
        same = stage.source.suffix == job.stage.source.suffix
        counters = counters_of_stage(job.places, stage, claim.problem, precision) if same else {}
        yield with_uses(counters, claim, stage.source.read_text())


def with_uses(counters, claim, code):
    """The counters that a claim names, and how often code uses a name."""
    return {name: claims.used(name.removeprefix("uses "), code) if name.startswith("uses ") else counters.get(name, 0)
            for name in claim.counters}


def is_reached(yours, stages, before):
    """Whether a counter is nearer to the stage's than to the one's before, by its ratio, and not far beyond it."""
    middle = (math.log1p(stages) + math.log1p(before)) / 2
    return math.log1p(yours) < middle if stages < before else math.log1p(yours) > middle and not is_far_beyond(yours, stages)


def is_far_beyond(yours, stages):
    """Whether a counter that should grow grew to many times what the stage has."""
    return yours > MUCH * stages


def number(value):
    """A counter as people read it."""
    return f"{value:,.0f}".replace(",", " ") if value == int(value) else f"{value:.2f}"


def verdict(name, yours, stages, before):
    """Whether a counter is as in the step, and a sentence."""
    what, too_many, too_few = claims.meaning(name)
    well = is_reached(yours, stages, before)
    beside = f"{what}: {number(yours)}, the stage has {number(stages)}, and {number(before)} before it"
    return well, beside if well else f"{beside}: {too_few if stages > before and not is_far_beyond(yours, stages) else too_many}"


def worst_line(report, counter, places):
    """The line of a source that costs most of such a counter, in words; nothing where there is none."""
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
    says = [f"most of it: {places.named(path)}:{worst['line']}: {building.line_of(path, worst['line'])}"]
    if of_request > 1.1 * ideal:
        says.append(f"{of_request:.3g} {unit} per request there, where {ideal:.3g} would do")
    return says


def has_changed(job):
    """Whether the code is another one than that of the stage before."""
    def code(path):
        return [line for line in book.code_lines(path) if not line.strip().startswith((".title", ".idea"))]

    return code(job.source) != code(job.stage.before.source)


def common_precision(job, programs):
    """A precision that the stage, the one before and the source have."""
    def precisions(program):
        return described(program)["precisions"]

    stages = precisions(job.places.build / job.target)
    others = precisions(programs["plain"])
    before = job.places.build / target_of(job.stage.before)
    if job.stage.before.source.suffix == job.stage.source.suffix and before.exists():
        others = [each for each in others if each in precisions(before)]
    return next((each for each in stages if each in others), others[0] if others else stages[0])


def is_optimised(job, programs):
    """The step: counters beside the stage's own."""
    claim = claims.claim_of(job.stage.workload, job.stage.name)
    if not has_changed(job):
        unchanged = f"nothing has changed yet: this is still the code of {job.stage.before.name}"
        if not claim.counters:
            return Step("optimised", False, [unchanged])
    elif not claim.counters:
        return Step("optimised", None, ["what this step changes can be timed on a GPU, and is not counted here; it is not "
                                        "the code of the stage before any more"])
    if not all(name.startswith("uses ") for name in claim.counters) and not is_watched(job, programs):
        return Step("optimised", None, ["accesses and messages cannot be counted here"])
    precision = common_precision(job, programs)
    stages, before = counters_beside(job, claim, precision)
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


# --- All of it

def on_gpu(job):
    """Yields the step on a GPU, where there is one that the build directory builds programs for."""
    target = target_of(job.stage, "")
    if not (job.is_cuda and has_gpu() and building.there_is(job.places, target)):
        return
    try:
        program = building.build(job.places, target, job.stage, job.source, job.out / "gpu")
    except NotBuilt as not_built:
        error = building.first_error(str(not_built), job.places)
        yield Step("GPU", False, [f"nvcc does not take it: {error['file']}:{error['line']}: {error['what']}"], {"error": error})
        return
    yield agrees(job, program, "GPU")[0]


def check(job, eager=True):
    """Yields the steps, until one that makes the next ones pointless. All programs are built at the same time if eager, else
    when they are needed."""
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
