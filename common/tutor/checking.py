"""The steps of a check, in this order. A source must compile, agree with stage zero, be clean under analysis, and have the
optimisation of its stage.

check() yields the steps one by one. result_of() checks a file and returns all steps as one structured result.
"""

import concurrent.futures
import contextlib
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
import typing

import bodies
import building
import claims
import comparing
import contents
import counting
import explaining
import launches
import naming
import remarking
import rules
import stencils
import teams
import updates
from building import NotBuilt
from counting import Failed, OutOfTime
from workshop import book

MESSAGES = "tests/ranks/libcounted.so"  # counts messages between ranks; exists only if the tests are built
ANALYSED_CASES = 6  # number of test cases that are analysed in addition to the problem of the claim
MUCH = 8  # a counter that should grow may be at most this many times the stage's counter
ENOUGH = 8  # after this number of failed test cases, the remaining ones are skipped


STATES = {True: "yes", False: "no", None: "not checked"}
ANALYSED = {True: "clean", False: "not clean", None: "could not be analysed"}  # the states of the step *clean*
SECONDS = 20  # default time limit of a check, without compilation


@dataclasses.dataclass
class Step:
    """The result of one step: whether it passed (None: not checked), and sentences about the result. Remarks do not affect
    the result."""

    name: str
    passed: bool | None
    says: list
    details: dict = dataclasses.field(default_factory=dict)
    remarks: list = dataclasses.field(default_factory=list)
    finished: bool = True  # False: the time limit was reached before the end of the step

    @property
    def state(self):
        """The state in words. The step *clean* has three other states: clean, not clean, could not be analysed."""
        return "not finished" if not self.finished else (ANALYSED if self.name == "clean" else STATES)[self.passed]

    def json(self):
        """The step as a dictionary, which `check --json` prints."""
        return {"name": self.name, "passed": self.passed, "state": self.state, "says": self.says,
                "remarks": self.remarks} | self.details


@dataclasses.dataclass
class Result:
    """The result of a check: all steps, in order."""

    steps: list

    @property
    def passed(self):
        """Whether all steps were finished, and no step failed."""
        return all(step.passed is not False and step.finished for step in self.steps)

    @property
    def remarks(self):
        """The remarks of all steps, without duplicates."""
        return list(dict.fromkeys(remark for step in self.steps for remark in step.remarks))

    def json(self):
        """The result as a dictionary."""
        return {"passed": self.passed, "steps": [step.json() for step in self.steps], "remarks": self.remarks}


@dataclasses.dataclass
class Job:
    """A working copy that is checked against its stage."""

    places: building.Places
    stage: book.Stage
    source: pathlib.Path
    out: pathlib.Path  # the output directory
    seconds: float | None = None  # time limit of the check, without compilation; None: only each single run is limited
    progress: typing.Callable = lambda text: None  # called with the name of the running part
    printed: dict = dataclasses.field(default_factory=dict)  # output of the working copy, by test case

    @property
    def text(self):
        """The text of the source."""
        return self.source.read_text(errors="replace")

    @property
    def is_cuda(self):
        """Whether the source is a CUDA source, which runs on a GPU or on the CPU device."""
        return self.stage.source.suffix == ".cu"

    @property
    def target(self):
        """The build target of the stage's program."""
        return target_of(self.stage)

    @property
    def work(self):
        """The output directory that all exercises of the workload share."""
        return self.places.outputs / self.stage.workload


def shared(places, stage):
    """The output directory for programs that are built from the stage's own source."""
    return places.outputs / stage.workload / stage.name / "stage"


def place_for(places, stage, source):
    """The output directory for a working copy. Each source has its own directory, so several copies can be checked at the
    same time."""
    return shared(places, stage).with_name(hashlib.sha256(str(source).encode()).hexdigest()[:12])


def target_of(stage, suffix=None):
    """The build target of a stage's program. For a CUDA stage, the default is the program for the CPU device."""
    if suffix is None:
        suffix = "-cpu" if stage.source.suffix == ".cu" else ""
    return f"stages/{stage.workload}-{stage.name}{suffix}"


def targets(places, stage):
    """The build targets that a check needs: stage zero, the stage and the previous stage. The check compares the counters of
    the working copy with the counters of the stage and of the previous stage."""
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
    """The programs of a source: plain, analysed (on the CPU device) and counted (on the processor). Each program is built at
    its first use, or in advance by start()."""

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
        """Starts to build a program in the background, unless it was started before."""
        if what not in self.started:
            # The plain program runs the analysed program, which must be in the same directory.
            out = self.job.out / ("counted" if what == "counted" else "plain")
            self.started[what] = self.pool.submit(building.build, self.job.places, self.wanted[what], self.job.stage,
                                                  self.job.source, out, what == "counted")
        return self.started[what]

    def __contains__(self, what):
        return what in self.wanted

    def __getitem__(self, what):
        return self.start(what).result()


def compiles(job, programs, eager):
    """The step *compiles*. Rules that nvcc enforces are checked first, because other compilers accept some programs that
    break them."""
    job.progress("compiles")
    if job.is_cuda and (broken := of_broken_rule(job.places, job.source)):
        return broken
    for what in programs.wanted if eager else ():
        programs.start(what)
    try:
        program = programs["plain"]
        if job.is_cuda and (error := too_much_shared(job, program)):
            return Step("compiles", False, [f"{error['file']}:{error['line']}: {error['what']}"], {"error": error})
        return Step("compiles", True, [], remarks=building.warnings_of(job.out / "plain", job.places))
    except NotBuilt as not_built:
        return of_failed_build(str(not_built), job.places, job.source)


def of_broken_rule(places, source):
    """The step *compiles* of a source that breaks a rule of nvcc; None if it breaks none."""
    for line, sentence in rules.broken(source.read_text(errors="replace")):
        error = {"file": places.named(source), "line": line, "what": sentence, "source": building.line_of(source, line)}
        return Step("compiles", False, [f"{error['file']}:{line}: {sentence}", f"in the line: {error['source']}"],
                    {"error": error})
    return None


def of_failed_build(output, places, source):
    """The step *compiles* of a source with which a compiler or linker failed."""
    text = source.read_text(errors="replace")
    error = building.first_error(output, places, source)
    place = f"{error['file']}:{error['line']}: " if error["file"] else ""
    says = [place + error["what"]] + ([f"in the line: {error['source']}"] if error["source"] else [])
    says += explaining.of_compiler(error["what"], error["source"])
    if unclosed := rules.unclosed(text):
        line, function = unclosed
        says.insert(0, f"{places.named(source)}:{line}: this brace is not closed"
                    + (f", in the function {function}" if function else "")
                    + f": {building.line_of(source, line)}")
    return Step("compiles", False, says, {"error": error})


def too_much_shared(job, program):
    """The error that nvcc reports for a kernel with too many bytes of __shared__ variables; None if there is none."""
    code = rules.without_comments(job.text)
    names = {name for name, *_ in rules.kernels(code)}
    if not re.search(r"\b__shared__\b", code):
        return None
    for function, size in building.shared_bytes(program).items():
        if size > building.LARGEST_SHARED:
            head = next((start for name, _, start, _ in rules.kernels(code) if name == function), 0)
            found = re.compile(r"\b__shared__\b").search(code, head)
            return {"file": job.places.named(job.source), "line": rules.line_at(code, found.start() if found else head),
                    "what": f"{'kernel' if function in names else 'function'} {function} declares {size} bytes of "
                            f"__shared__ variables; the "
                            f"compiler allows {building.LARGEST_SHARED} bytes per block", "source": ""}
    return None


# --- Agreement with stage zero

def stage_zero_of(stage):
    """Stage zero of a workload. All other stages are checked against it."""
    return stage_zero_of(stage.before) if stage.before else stage


DESCRIBED = {}  # cached descriptions, by program and modification time


def described(program):
    """The description of a program, from its option --describe."""
    key = str(program), os.stat(program).st_mtime_ns
    if key not in DESCRIBED:
        DESCRIBED[key] = json.loads(counting.run([program, "--describe"], {}))
    return DESCRIBED[key]


def solve(program, problem, precision, ranks, output, accepts_wrong=False):
    """Solves a problem and writes the solution to the file `output`. Returns the tolerance, and the remaining text that the
    program prints. If `accepts_wrong`, the program also writes a solution that is not finite."""
    environment = counting.DEVICES | (counting.ANY_RESULT if accepts_wrong else {})
    record, text = counting.record_in(
        counting.run([program, *counting.options_for(problem, precision), "--output", output], environment, ranks))
    return record["tolerance"], text


def solution_of_zero(job, name, problem):
    """The solution of a test case by stage zero. The solution is computed once and then read from a file."""
    zero = job.places.build / target_of(stage_zero_of(job.stage))
    path = job.work / "zero" / f"{name.replace(' ', '_')}.npy"
    if not path.exists() or path.stat().st_mtime < zero.stat().st_mtime:
        path.parent.mkdir(parents=True, exist_ok=True)
        solve(zero, problem, "f64", 0, path)
    return comparing.read_npy(path)


def size_of(job, problem, about):
    """The parameters of a problem as text: its sizes, and the parameters that differ from the defaults of the program."""
    cases, defaults = about["test_cases"], {each["name"]: each["default"] for each in about["parameters"]}
    sizes = claims.PROBLEMS.get(job.stage.workload, {})
    shown = [key for key in problem if key != "seed" and any(str(case.get(key)) != str(problem[key])
                                                             for case in cases.values())
             and (key in sizes or problem[key] != defaults.get(key))]
    return ", ".join(f"{key} = {problem[key]}" for key in shown)


OUT_OF_BOUNDS = (-6, -7, -11)  # signals after accesses out of bounds: SIGABRT (from the heap's checks), SIGBUS, SIGSEGV


def ended(failed):
    """The reason why a run failed, as a sentence."""
    if isinstance(failed, OutOfTime):
        return f"{failed}: is there a loop that never ends?"
    if failed.status is not None and failed.status < 0:
        if failed.status in OUT_OF_BOUNDS and (failed.status != -6 or explaining.is_of_heap(str(failed))):
            return f"the program was ended by an access out of bounds (signal {-failed.status})"
        return f"the program was ended by signal {-failed.status}"
    message = re.sub(r"^[\w-]+: ", "", str(failed).splitlines()[0]) if str(failed) else ""
    return message or f"the program ended with status {failed.status}"


def is_refused_by_stage(job, problem, precision, ranks, failed):
    """Whether the stage itself rejects the problem with the same exit status."""
    if failed.status not in (2, 77):
        return False
    try:
        with tempfile.TemporaryDirectory() as directory:
            solve(job.places.build / job.target, problem, precision, ranks, pathlib.Path(directory, "x.npy"))
    except Failed as refused:
        return refused.status == failed.status
    return False


@dataclasses.dataclass
class WrongCase:
    """A failed test case: sentences about the error, the expected solution, and the program's solution if there is one."""

    name: str
    problem: dict
    precision: str
    says: list
    wanted: comparing.Solution
    solution: comparing.Solution | None = None
    failed: Failed | None = None
    tolerance: dict | None = None


def wrong_case(job, program, name, problem, precision, ranks):
    """Runs one test case. Returns a WrongCase if the result is wrong, None if it is correct, and False if stage zero or the
    stage itself cannot solve this case."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "solution.npy")
        try:
            wanted = solution_of_zero(job, name, problem)
        except OutOfTime:
            raise
        except Failed:
            return False  # stage zero does not solve this problem
        try:
            tolerance, text = solve(program, problem, precision, ranks, output, accepts_wrong=True)
            job.printed.setdefault(f"{name}, {precision}", text)
        except OutOfTime:
            raise
        except Failed as failed:
            if is_refused_by_stage(job, problem, precision, ranks, failed):
                return False
            return WrongCase(name, problem, precision, [ended(failed)], wanted, failed=failed)
        solution = comparing.read_npy(output)
        says = comparing.differences(solution, wanted, tolerance)
        return WrongCase(name, problem, precision, says, wanted, solution, tolerance=tolerance) if says else None


def base_of(name):
    """The name of the test case with whole tiles for a test case with a partial last tile: *tile* for *tile+1*."""
    return re.split(r"[+-]", name)[0]


def boundary_sentence(right, wrong, cases, sizes):
    """A sentence on a parameter that separates the right test cases from the wrong ones; None if there is none."""
    for key in sizes:
        fine, bad = ({cases[name][key] for name in names} for names in (right, wrong))
        if len(fine) < 2 or len(bad) < 2:
            continue
        if max(fine) < min(bad):
            of_warp = ": a warp has 32 threads" if max(fine) == 32 else ""
            return f"right for {key} up to {max(fine)}, wrong from {key} = {min(bad)} on{of_warp}"
        if max(bad) < min(fine):
            return f"wrong for {key} up to {max(bad)}, right from {key} = {min(fine)} on"
    return None


def partial_sentence(right, wrong, cases, ran, sizes=(), is_explained=False):
    """A sentence about the sizes that fail. The sentence names a parameter that separates them; or the last tile, if all
    problems of several whole tiles are correct and nothing else explains the error; or otherwise all failing test cases."""
    if not is_explained and (boundary := boundary_sentence(right, wrong, cases, sizes)):
        return boundary
    partial = {name for name in wrong if base_of(name) != name}
    whole = sorted({base_of(name) for name in cases if base_of(name) != name and base_of(name) in cases})
    if not is_explained and partial and len(whole) > 1 and all(name in right for name in whole):
        return "whole tiles agree, also several of them, and sizes with a partial last tile do not: look at the last tile"
    left = "" if len(ran) == len(cases) else f" ({len(cases) - len(ran)} test cases were not tried)"
    return f"wrong for: {', '.join(dict.fromkeys(wrong))}; right for: {', '.join(dict.fromkeys(right)) or 'none'}{left}"


LINES = 5  # number of lines of the program's own output that a remark shows


def output_remarks(printed):
    """A remark with the beginning of the program's own output, from the first test case with any output. There is no remark
    without output."""
    for case, text in printed.items():
        if lines := text.splitlines():
            left = [f"({len(lines) - LINES} more lines)"] if len(lines) > LINES else []
            return ["\n".join([f"your program prints for {case}:", *(f"  {line[:100]}" for line in lines[:LINES]), *left])]
    return []


def agrees(job, program, on="agrees"):
    """The step *agrees* (or *GPU*), with a remark on the program's own output, and the list of failed test cases."""
    job.printed.clear()
    step, wrong = compared(job, program, on)
    step.remarks += output_remarks(job.printed)
    return step, wrong


def compared(job, program, on):
    """The step *agrees* (or *GPU*) without remarks, and the list of failed test cases."""
    about = described(program)
    ranks = counting.FEW_RANKS if about["ranks"] else 0
    cases = about["test_cases"]
    bases = {base_of(name) for name in cases if base_of(name) != name}
    right, wrong, unfinished, begun = [], {}, None, counting.seconds_left()
    for precision, (name, problem) in itertools.product(about["precisions"], cases.items()):
        if len(wrong) >= ENOUGH and not (precision == about["precisions"][0] and name in bases):
            continue  # from here on, only problems of whole tiles matter
        job.progress(f"{on}: {name} ({size_of(job, problem, about)}), {precision}")
        before = counting.seconds_left()
        try:
            # Leaves time for the analysis, which should find the cause of a wrong result even if another test case does not
            # end.
            with counting.half_of_time() if wrong else contextlib.nullcontext():
                found = wrong_case(job, program, name, problem, precision, ranks)
        except OutOfTime as late:
            of_case = before - max(0, counting.seconds_left()) if job.seconds else begun
            unfinished = f"{name} ({size_of(job, problem, about)}), {precision}"
            if of_case > begun / 2:  # this test case took more time than all earlier ones
                wrong[name, precision] = WrongCase(name, problem, precision, [ended(late)], comparing.Solution((), []),
                                                   failed=late)
            break
        if found:
            wrong[name, precision] = found
        elif found is None:
            right.append(name)
    if not wrong and unfinished:
        return Step(on, None, [f"{len(right)} test cases are right; then the time limit of {job.seconds:g} s was reached, "
                               f"while this "
                               f"one ran: {unfinished}; --seconds allows more time"], {"unfinished": unfinished},
                    finished=False), []
    if not wrong:
        return Step(on, True, [f"{len(right)} test cases with awkward sizes"]), []
    worst = list(wrong.values())
    first = worst[0]
    says = [f"{first.name} ({size_of(job, first.problem, about)}), {first.precision}: {first.says[0]}"]
    names = [case.name for case in worst]
    if not isinstance(first.failed, OutOfTime):
        explained = of_stencil(job, program, worst, ranks) or of_bodies(job, worst)
        patterns = first.says[1:] or next(([f"in {case.name}, {case.says[1]}", *case.says[2:]] for case in worst
                                           if len(case.says) > 1 and "rounding errors" not in case.says[1]), [])
        says += explained or explaining.of_cases(job.stage.workload, worst) or patterns
        if any("rounding errors of f32" in sentence for sentence in says):
            says += explaining.of_floats(job.text, job.stage.source.read_text())
        sizes = [key for key in claims.PROBLEMS.get(job.stage.workload, {}) if key in first.problem]
        says.append(partial_sentence(right, names, cases, {*names, *right}, sizes, bool(explained)))
        if unfinished and f"{first.name} (" not in unfinished:
            says.append(f"another test case did not end: {unfinished}")
    says.append(f"it fails in {len(wrong)} of {len(right) + len(wrong)} test cases")
    return Step(on, False, says, {"case": first.name, "problem": first.problem, "precision": first.precision,
                                  "failing": names}), worst


def of_stencil(job, program, wrong, ranks):
    """Sentences about a wrong field: the number of steps after which it is right, or how one step differs from the right
    one."""
    solved = [case for case in wrong if case.solution is not None and "steps" in case.problem]
    if not solved or any("rounding errors of f32" in sentence for case in wrong for sentence in case.says):
        return []
    first = solved[0]

    def is_right_after(case, steps):
        try:
            right = solution_of_zero(job, f"{case.name} after {steps}", case.problem | {"steps": steps})
        except Failed:
            return False
        return right.shape == case.solution.shape and not comparing.differences(case.solution, right, case.tolerance)

    short = [case for case in solved if case.problem["steps"] <= stencils.MOST_STEPS]
    for case in sorted(short, key=lambda case: -case.problem["steps"])[:2]:
        if sentence := stencils.of_steps(case.problem["steps"], lambda steps, case=case: is_right_after(case, steps)):
            return [f"in {case.name}, {sentence}"]
    if job.stage.workload != "advection":
        return []
    problem = first.problem | stencils.PROBE
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "solution.npy")
        try:
            wanted = solution_of_zero(job, "probe of the stencil", problem)
            solve(program, problem, first.precision, ranks, output)
            found = comparing.read_npy(output)
        except OutOfTime:
            raise
        except (Failed, OSError):
            return []
    cols = problem["cols"]
    as_rows = [[each.values[i * cols:(i + 1) * cols] for i in range(problem["rows"])] for each in (found, wanted)]
    sentence = stencils.explanation(problem, *as_rows)
    return [f"in one step of {problem['rows']} x {cols} random values, {sentence}"] if sentence else []


def of_bodies(job, wrong):
    """Sentences about a wrong solution of few bodies: how the scheme differs from the right one, in all of these test cases."""
    fitting = {}
    for case in wrong if job.stage.workload == "nbody" else ():
        if case.solution is None or case.precision != "f64" or case.problem["bodies"] > bodies.FEW:
            continue
        try:
            start = solution_of_zero(job, f"{case.name} at first", case.problem | {"steps": 0})
        except Failed:
            continue
        if sentences := bodies.of_steps(case.problem, list(start.values), list(case.solution.values)):
            fitting[case.name] = sentences
    common = [sentence for sentence in next(iter(fitting.values()), [])
              if all(sentence in each for each in fitting.values())]
    return [f"in {launches.joined(fitting)}, {common[0]}"] if common else []


# --- Analysis

def error_sentences(error, places, source, stages_text=""):
    """Sentences about an error that the CPU device reports, with one or two lines of the source, and advice."""
    says = [f"{error['kind']}: {error['sentence']}"]
    name = error.get("variable", {}).get("name")
    for key in ("", "other_"):
        if error[f"{key}line"]:
            path, line = pathlib.Path(os.path.normpath(places.build / error[f"{key}file"])), error[f"{key}line"]
            line = naming.line_of_statement(path.read_text(errors="replace"), line, name) if name and path.exists() else line
            says.append(f"{places.named(path)}:{line}: {building.line_of(path, line)}")
    return says + explaining.of_error(error, places, source, stages_text)


def line_at(program, place, name):
    """The file and the line number of an access in a program.

    `place` is the return address of the access's callback. If the access was inlined into the source `name`, the result is
    the line of the call in this source."""
    output = subprocess.run(["addr2line", "-i", "-e", program, hex(place - 1)], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    frames = [(pathlib.Path(file), int(line)) for file, line in re.findall(r"^(.+):(\d+)", output, re.MULTILINE)]
    return next((frame for frame in frames if frame[0].name == name), frames[0] if frames else (pathlib.Path(), 0))


def race_sentences(race, program, job):
    """Sentences about a race between two threads of an OpenMP team, with both source lines."""
    (now, before), both_write = race
    says = ["two threads of a team " + ("write the same element" if both_write else
            "access the same element, and one of them writes it") + ", with no barrier between them"]
    lines = list(dict.fromkeys(line_at(program, place, job.source.name) for place in (before, now)))
    for path, line in lines:
        path = pathlib.Path(os.path.normpath(job.places.build / path))
        says.append(f"{job.places.named(path)}:{line}: {building.line_of(path, line)}")
    numbers = [line for path, line in lines if path.name == job.source.name]
    sentences = of_directives(job) or list(teams.of_race(job.text, numbers))
    parts = teams.of_parts(job.text)
    return says + (sentences or [parts] * bool(parts))


def of_teams(job, found, clean, counters, problem, precision):
    """Sentences about the threads of a team in a wrong solution: directives, and counts that differ from the stage's. A
    sentence about the parts of the threads is added to the sentences `found` if an element may have no thread."""
    if clean.passed is False:
        return []
    says = of_directives(job)
    if counters and problem:
        with contextlib.suppress(Failed, NotBuilt):
            says += teams.of_counts(counters, counters_of_stage(job.places, job.stage, problem, precision))
    if not explaining.is_not_finite(found[0]):
        return says
    if place := counters.get("unwritten read"):
        path, line = line_at(job.out / "counted" / pathlib.PurePath(job.target).name, place, job.source.name)
        path = pathlib.Path(os.path.normpath(job.places.build / path))
        return says + at_line(job.places, path, line, "this line reads an element that nothing has written: is its start value "
                              "missing, or should another thread or an earlier step have stored it?")
    parts = teams.of_parts(job.text)
    found += [parts] if parts else []
    return says


def of_directives(job):
    """Sentences about OpenMP directives that hardly have the intended meaning, with their lines."""
    own = {sentence for _, sentence in teams.of_source(job.stage.source.read_text())}
    return [each for line, sentence in teams.of_source(job.text) if sentence not in own
            for each in at_line(job.places, job.source, line, sentence)]


def at_line(places, source, line, sentence):
    """A line of the source with its place, and a sentence about this line."""
    return [f"{places.named(source)}:{line}: {building.line_of(source, line)}", sentence]


def out_of_bounds(job, problem, precision):
    """Sentences about the first access out of bounds of a program for the processor, which AddressSanitizer finds; empty if
    there is none."""
    out = job.out / "bounds"
    try:
        program = building.build(job.places, job.target, job.stage, job.source, out, flags=building.BOUNDS)
        counting.run([program, *counting.options_for(problem, precision)], counting.THREADS | counting.BOUNDS,
                     counting.FEW_RANKS if described(program)["ranks"] else 0)
    except (NotBuilt, OutOfTime):
        return []
    except Failed as failed:
        return bounds_sentences(str(failed), job.places, job.source)
    return []


def bounds_sentences(text, places, source):
    """Sentences about an access out of bounds that AddressSanitizer has reported."""
    found = re.search(r"ERROR: AddressSanitizer: (\S+)[^\n]*\n(READ|WRITE) of size (\d+)(.*)", text, re.DOTALL)
    if not found:
        return []
    verb = "reads" if found[2] == "READ" else "writes"
    where = re.search(r"is located (\d+) bytes (to the right of|to the left of|after|before|inside of) (\d+)-byte region",
                      found[4])
    says = [f"out of bounds: {verb} {found[3]} bytes" + (
        f", {'directly' if where[1] == '0' else f'{where[1]} bytes'} "
        f"{'before the beginning' if where[2] in ('before', 'to the left of') else 'after the end'}"
        f" of an array of {where[3]} bytes" if where and where[2] != "inside of" else "")]
    line = re.search(rf"#\d+ \S+ in [^\n]*?{re.escape(source.name)}:(\d+)", found[4])
    return says + ([f"{places.named(source)}:{line[1]}: {building.line_of(source, int(line[1]))}"] if line else [])


def is_of_stage(job, error, problem, precision):
    """Whether the stage itself causes the same error by reading elements that were never written. An example is padding
    whose values are not used."""
    if error["kind"] not in ("uninitialised read", "unwritten bytes"):
        return False
    try:
        counters_of_stage(job.places, job.stage, problem, precision)
    except Failed:
        return False
    known = REPORTS.get((job.stage.workload, job.stage.name, precision, *problem.items()), {"errors": [], "notes": []})
    return any((each["kind"], each["sentence"], each["kernel"]) == (error["kind"], error["sentence"], error["kernel"])
               for each in [*known["errors"], *known["notes"]])


def errors_in(report, notes=("unwritten bytes",)):
    """The errors of a report, in the order of their importance. Some notes are errors in an exercise, whose result must be
    complete."""
    found = report["errors"] + [note for note in report.get("notes", []) if note["kind"] in notes]
    # Unwritten elements that a copy finds are mostly a consequence of an error in a kernel. If a value was computed from an
    # unwritten value, its error is a consequence of the error at the unwritten value.
    return sorted(found, key=lambda error: (error["kind"] in ("uninitialised read", "unwritten bytes")
                                            and not error["kernel"],
                                            error["kind"], error.get("order", 0)))


def reports(job, programs, cases, precision):
    """Analyses some problems. For each problem, yields its counters, its report, and sentences about its first error (None
    if there is none)."""
    for problem in cases:
        if "analysed" in programs:
            programs["analysed"]  # waits for the build: the plain program runs the analysed program
            counters, report = counting.of_device(programs["plain"], problem, precision)
            # The result of an exercise must be complete, so bytes of the result that were never written are an error here.
            errors = [error for error in errors_in(report) if not is_of_stage(job, error, problem, precision)]
            stages_text = job.stage.source.read_text()
            yield counters, report, error_sentences(errors[0], job.places, job.source, stages_text) if errors else None
        else:
            counters, race = counting.of_processor(programs["counted"], problem, precision, messages_for(job, programs))
            yield counters, {}, race_sentences(race, programs["counted"], job) if race else None


def messages_for(job, programs):
    """The path of the library that counts messages, for stages on ranks. The result is None for other stages, or if the
    library is not built."""
    on_ranks = described(programs["plain"])["ranks"]
    path = job.places.build / MESSAGES
    return path if on_ranks and path.exists() else None


def is_watched(job, programs):
    """Whether the memory accesses of the programs can be analysed on this machine."""
    return "analysed" in programs or "counted" in programs and not (
        described(programs["plain"])["ranks"] and not (job.places.build / MESSAGES).exists())


def few_problems(job, cases):
    """The problem on which the stage's claim is counted, and some test cases that are not larger."""
    counted = claims.claim_of(job.stage.workload, job.stage.name).problem

    small = [case for case in cases.values() if size_of_problem(job, case) <= size_of_problem(job, counted)]
    return [counted, *small[:ANALYSED_CASES]]


def cannot_be_analysed(because):
    """The step *clean* if the analysis has no result."""
    return Step("clean", None, [f"because {because}"])


def is_clean(job, programs, wrong):
    """The step *clean*, and the counters, the report, the problem and the precision of the first analysed problem. The
    analysis runs the failing test cases, or a few small problems if no test case fails."""
    if not is_watched(job, programs):
        return cannot_be_analysed("this needs GCC, and for stages on ranks also the programs of the tests"), {}, {}, {}, ""
    about = described(programs["plain"])
    cases = about["test_cases"]
    is_tiny = False
    if wrong:
        most = size_of_problem(job, claims.claim_of(job.stage.workload, job.stage.name).problem)
        others = sorted((case for case in wrong[1:] if not isinstance(case.failed, OutOfTime) and
                         size_of_problem(job, case.problem) <= most), key=lambda case: -size_of_problem(job, case.problem))
        # A problem of one element tells little about the elements that are wrong.
        is_tiny = others and size_of_problem(job, wrong[0].problem) <= max(1, wrong[0].problem.get("steps", 1))
        is_tiny = is_tiny and (wrong[0].solution is None or not all(map(math.isfinite, wrong[0].solution.values)))
        order = [*others[:1], wrong[0]] if is_tiny else [wrong[0], *others[:1]]
        few = [(case.problem, case.precision) for case in [*order, *others[1:][-1:]]]
    else:
        few = [(problem, about["precisions"][0]) for problem in few_problems(job, cases)]
    has_tasks, analysed, remarks, unwritten = False, [], [], None
    because, first = "no problem was analysed", ({}, {}, {}, "")
    for problem, precision in few:
        job.progress(f"clean: {size_of(job, problem, about)}")
        try:
            counters, report, found = next(reports(job, programs, [problem], precision))
        except OutOfTime as late:
            because = str(late)
            if analysed and not wrong:
                return Step("clean", None, [f"{len(analysed)} problems are clean; then the time limit was reached, while "
                                            f"this one ran: "
                                            f"{size_of(job, problem, about)}; --seconds allows more time"],
                            finished=False), *first
            break
        except Failed as failed:
            because = ended(failed)
            if failed.status in OUT_OF_BOUNDS or (not wrong and failed.status not in (2, 77)):
                found = [] if job.is_cuda else out_of_bounds(job, problem, precision)
                return Step("clean", False, found or [because]), *first
            continue
        first = (counters, report, problem, precision) if not analysed else first
        if not wrong and not found and job.is_cuda:
            remarks += [remark for remark in of_waste(job, report, problem, precision)
                        if not any(words in remark and words in each for each in remarks
                                   for words in ("grid of", "reach this barrier"))]
        remarks += [remark for remark in remarking.of_report(report, job.places, job.source) if remark not in remarks]
        has_tasks = has_tasks or counters.get("tasks", 0) > 0
        if found and is_tiny and problem != wrong[0].problem and found[0].startswith(("unwritten bytes", "uninitialised read")):
            unwritten = Step("clean", False, found, remarks=remarks), counters, report, problem, precision
            continue  # an access out of bounds of the tiny problem says more
        if found and unwritten and not found[0].startswith("out of bounds"):
            return unwritten
        if found:
            return Step("clean", False, found, remarks=remarks), counters, report, problem, precision
        if job.is_cuda and not counters.get("launches"):
            because = "no kernel ran"
            continue
        analysed.append(problem)
    if unwritten:
        return unwritten
    if not analysed:
        return cannot_be_analysed(because), *first
    if wrong and not job.is_cuda and (found := out_of_bounds(job, *few[0])):
        return Step("clean", False, found), *first
    if job.is_cuda:
        step = Step("clean", True, ["no race, no access out of bounds, no read of uninitialised memory"], remarks=remarks)
    elif has_tasks:
        step = cannot_be_analysed("programs with OpenMP tasks are not checked for races")
    else:
        step = Step("clean", True, ["no two threads access the same element without a barrier in between"])
    return step, *first


def size_of_problem(job, problem):
    """A measure of the size of a problem: the product of the parameters that determine the work."""
    return math.prod(problem[name] for name in claims.PROBLEMS[job.stage.workload])


def report_of_stage(job, problem, precision):
    """The report of the stage's own source for a problem; empty if it has none."""
    try:
        counters_of_stage(job.places, job.stage, problem, precision)
    except Failed:
        return {}
    return REPORTS.get((job.stage.workload, job.stage.name, precision, *problem.items()), {})


def of_waste(job, report, problem, precision):
    """Remarks on thread blocks without work, and on barriers that not all threads reach, in a correct solution."""
    own = report_of_stage(job, problem, precision)
    return [*launches.of_waste(report, own, job.text), *launches.of_partial_barriers(report, own, job.places)]


def with_analysis(job, agreement, wrong, clean, counters, report, problem, precision):
    """Adds sentences from the analysis to the step *agrees* if it failed."""
    if agreement.passed is not False or isinstance(wrong[0].failed, OutOfTime):
        return
    first = wrong[0]
    says = [] if job.is_cuda else of_teams(job, agreement.says, clean, counters, problem, precision)
    if job.is_cuda:
        own = {sentence for _, sentence in rules.suspicious(job.stage.source.read_text())}
        says += [each for line, sentence in rules.suspicious(job.text) if sentence not in own
                 for each in at_line(job.places, job.source, line, sentence)]
    if explaining.is_not_finite(agreement.says[0]) and not any("this line reads an element" in sentence
                                                               for sentence in says):
        says += explaining.of_not_finite(agreement.says[0], first.wanted, report, job.text, job.stage.source.read_text(),
                                         job.places, job.source)
    if first.failed is not None and first.failed.status in OUT_OF_BOUNDS and clean.passed is False and len(clean.says) > 1:
        says += clean.says[:2]
    if job.is_cuda and report:
        own = report_of_stage(job, problem, precision)
        was_ended = clean.passed is False and clean.says[0].split(":")[0] in explaining.ENDING
        shapes = [*launches.of_shapes(report, own, job.text), *launches.of_arrays(report, own, job.text)]
        says += shapes if was_ended else launches.of_wrong(report, own, job.text, job.places, clean.passed is not False,
                                                              4 if precision == "f32" else 8)
        is_located = any(re.search(r"were never written, .*: ", sentence) for sentence in says)
        if is_located:
            agreement.says = [sentence for sentence in agreement.says if not sentence.startswith("the elements of ")]
        may_continue = ("unwritten bytes", "uninitialised read: memory", "ignored error")
        if clean.passed is not False or not is_located and clean.says[0].startswith(may_continue):
            explain = {"nbody": functools.partial(bodies.of_launch, problem),
                       "cholesky": updates.of_launch}.get(job.stage.workload)
            says += contents.of_contents(report, own, job.text, job.places, 4 if precision == "f32" else 8, explain)
        if not was_ended and first.solution is not None:
            says += explaining.of_transposed(report, own, job.places)
        if re.search(r"exchanged|has blocks of|same array", " ".join(shapes)):
            agreement.says = [sentence for sentence in agreement.says if not sentence.endswith("look at the last tile")]
        agreement.says += of_block_size(report, agreement.says)
    if not any("__shfl" in sentence for sentence in says):
        says += explaining.of_lost_values(job.text)
    agreement.says[1:1] = says


def of_block_size(report, says):
    """A sentence if the largest right size is the number of threads of a block."""
    found = re.search(r"right for \w+ up to (\d+),", " ".join(says))
    threads = {math.prod(shape["block"]) for kernel in report.get("kernels", []) for shape in kernel["shapes"]}
    if found and int(found[1]) in threads and int(found[1]) > 1:
        return [f"{found[1]} is the number of threads of a block, so the error begins with the second block"]
    return []


# --- The optimisation of the step

KNOWN, REPORTS = {}, {}  # cached counters and reports of stages, by stage, precision and problem


def counters_of_stage(places, stage, problem, precision):
    """The counters of the stage's own source, from the cache or from a new run."""
    key = (stage.workload, stage.name, precision, *problem.items())
    if key not in KNOWN:
        KNOWN[key] = count_stage(places, stage, problem, precision)
    return KNOWN[key]


def count_stage(places, stage, problem, precision):
    """Runs a stage and returns its counters. For a stage on the processor, a program with counters is built first if this
    program is missing or outdated."""
    program = places.build / target_of(stage)
    if stage.source.suffix == ".cu":
        counters, report = counting.of_device(program, problem, precision)
        REPORTS[stage.workload, stage.name, precision, *problem.items()] = report
        return counters
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
    """Yields the counters of the stage, and then the counters of the previous stage. The counters of the previous stage are
    zero if that stage runs on another device."""
    for stage in (job.stage, job.stage.before):
        same = stage.source.suffix == job.stage.source.suffix
        counters = counters_of_stage(job.places, stage, claim.problem, precision) if same else {}
        yield with_uses(counters, claim, stage.source.read_text())


def with_uses(counters, claim, code):
    """The counters of a claim. A counter *uses NAME* is the number of occurrences of the name in the code."""
    return {name: claims.used(name.removeprefix("uses "), code) if name.startswith("uses ") else counters.get(name, 0)
            for name in claim.counters}


def is_reached(yours, stages, before):
    """Whether a counter is closer, by ratio, to the stage's counter than to the previous stage's counter. A counter that
    should grow must also not exceed the stage's counter by far."""
    middle = (math.log1p(stages) + math.log1p(before)) / 2
    return math.log1p(yours) < middle if stages < before else math.log1p(yours) > middle and not is_far_beyond(yours, stages)


def is_far_beyond(yours, stages):
    """Whether a counter that should grow is many times as large as the stage's counter."""
    return yours > MUCH * stages


def number(value):
    """A counter as text, with a space between groups of three digits."""
    return f"{value:,.0f}".replace(",", " ") if value == int(value) else f"{value:.2f}"


def verdict(name, yours, stages, before):
    """Whether a counter changed as in the stage, and a sentence with the values of all three counters."""
    what, too_many, too_few = claims.meaning(name)
    well = is_reached(yours, stages, before)
    compared = f"{what}: {number(yours)} (stage: {number(stages)}, previous stage: {number(before)})"
    return well, compared if well else f"{compared}: {too_few if stages > before and not is_far_beyond(yours, stages) else too_many}"


def worst_line(report, counter, places):
    """Sentences about the source line that contributes most to a counter; empty if the report has no such line."""
    groups = {group: group.replace("_", " ").removesuffix("s") for group in counting.GROUPS}
    wanted = groups.get(counter.removesuffix(" excess"), "global" if "global" in counter else "shared"
                        if "shared" in counter else None)
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
    """Whether the code differs from the code of the previous stage."""
    def code(path):
        return [line for line in book.code_lines(path) if not line.strip().startswith((".title", ".idea"))]

    return code(job.source) != code(job.stage.before.source)


def common_precision(job, programs):
    """A precision that the stage, the previous stage and the working copy all support."""
    def precisions(program):
        return described(program)["precisions"]

    stages = precisions(job.places.build / job.target)
    others = precisions(programs["plain"])
    before = job.places.build / target_of(job.stage.before)
    if job.stage.before.source.suffix == job.stage.source.suffix and before.exists():
        others = [each for each in others if each in precisions(before)]
    return next((each for each in stages if each in others), others[0] if others else stages[0])


def is_optimised(job, programs):
    """The step *optimised*: compares the counters of a working copy with the counters of the stage and of the previous
    stage."""
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
    job.progress("optimised")
    try:
        counters, report, _ = next(reports(job, programs, [claim.problem], precision))
    except OutOfTime:
        return Step("optimised", None, ["the time limit was reached before the accesses were counted; --seconds allows "
                                        "more time"],
                    finished=False)
    except Failed as failed:
        return Step("optimised", False, [ended(failed)])
    yours = with_uses(counters, claim, job.text)
    says, well, table = [] if has_changed(job) else [unchanged], True, {}
    own = counters_of_stage(job.places, job.stage, claim.problem, precision)
    own_report = own_report_lines(job, claim, precision)
    idle = few_threads(counters, own, report, job.places) if job.is_cuda else []
    for name in claim.counters:
        fine, sentence = verdict(name, yours[name], stages[name], before[name])
        table[name] = {"yours": yours[name], "stage": stages[name], "before": before[name], "reached": fine}
        says.append(sentence)
        if not fine and stages[name] < before[name]:
            says += worst_line(report, name, job.places)
        well = well and fine
    if not well and job.is_cuda:
        # One thread that does the work of many makes other counters large, too, and their usual meaning would mislead.
        says = idle + ([sentence.split(": each thread still")[0] for sentence in says] if idle else says)
        says += launches.of_shapes(report, own_report, job.text)
        says += [] if idle else launches.of_barriers(report, own_report, job.places)
    # Promises are checked only if the optimisation is present. If it is missing, only this is reported.
    for promise in claims.promises_of(job.stage.workload, job.stage.name, job.stage.source.suffix) if well else ():
        mine, stages_own = counters.get(promise.counter, 0), own.get(promise.counter, 0)
        if not claims.is_kept(promise, mine, stages_own):
            says.append(f"{number(mine)} (stage: {number(stages_own)}) {promise.sentence}")
            says += worst_line(report, promise.counter, job.places) if promise.at_most else []
            table[promise.counter] = {"yours": mine, "stage": stages_own, "before": None, "reached": False}
            if promise.counter.startswith("shared"):
                says += launches.of_atomics(report, own_report, job.places)
            well = False
    if well and (missing := claims.missing_libraries(job.text, job.stage.source.read_text(), counters)):
        says, well = says + missing, False
    remarks = [remark for remark in remarking.of_counters(report, own_report, job.places, job.source)
               if not any(remark.split(": ")[0] in sentence and "per request" in " ".join(says) for sentence in says)]
    if well and job.is_cuda:
        remarks += launches.of_right(report, own_report, job.text, job.places)
    return Step("optimised", well, says, {"counters": table}, remarks=remarks)


def is_accepted(job, claim, counters, text, precision):
    """Whether a solution with these counters and this text would pass the step *optimised*, if it is correct."""
    if not claim.counters:
        return False
    stages, before = counters_to_compare(job, claim, precision)
    own = counters_of_stage(job.places, job.stage, claim.problem, precision)
    yours = with_uses(counters, claim, text)
    if claims.missing_libraries(text, job.stage.source.read_text(), counters):
        return False
    return all(verdict(name, yours[name], stages[name], before[name])[0] for name in claim.counters) and all(
        claims.is_kept(promise, counters.get(promise.counter, 0), own.get(promise.counter, 0))
        for promise in claims.promises_of(job.stage.workload, job.stage.name, job.stage.source.suffix))


def few_threads(counters, own, report, places):
    """Sentences about the work of many threads that few threads or few lanes do."""
    threads, needed = counters.get("threads", 0), own.get("threads", 0)
    lanes, in_stage = (each.get("lanes per global request", 0) for each in (counters, own))
    if needed >= 64 and 0 < threads * 8 < needed:
        ran = "1 thread ran" if threads == 1 else f"{number(threads)} threads ran"
        return [f"{ran} (stage: {number(needed)}): {'one thread does' if threads == 1 else 'few threads do'} the work of "
                f"all; launch about as many "
                "threads as the stage"]
    lines = [line for kernel in report.get("kernels", []) for line in kernel["lines"] if line["access"].startswith("global")]
    # A block of less than a warp has no more lanes.
    most = max((math.prod(shape["block"]) for kernel in report.get("kernels", []) for shape in kernel["shapes"]), default=32)
    if in_stage >= 8 and 0 < lanes < claims.FEW_LANES * min(in_stage, most) and lines:
        fewest = max(lines, key=lambda line: line["requests"] * (32 - line["lanes"] / line["requests"]))
        path = pathlib.Path(os.path.normpath(places.build / fewest["file"]))
        return [f"{lanes:.3g} lanes take part in a request to global memory (stage: {in_stage:.3g}): most threads of a "
                f"warp are idle, or one "
                "thread does the work of many; let each thread do a part",
                f"most of these requests: {places.named(path)}:{fewest['line']}: {building.line_of(path, fewest['line'])}"]
    return []


def own_report_lines(job, claim, precision):
    """The report of the stage's own source, for comparing its lines with the lines of the working copy. The report is empty
    for stages on the processor."""
    if not job.is_cuda:
        return {}
    return REPORTS.get((job.stage.workload, job.stage.name, precision, *claim.problem.items()), {})


# --- All steps

def on_gpu(job):
    """Yields the step *GPU* if this machine has a GPU and the build directory builds programs for it."""
    target = target_of(job.stage, "")
    if not (job.is_cuda and has_gpu() and building.has_target(job.places, target)):
        return
    try:
        program = building.build(job.places, target, job.stage, job.source, job.out / "gpu")
    except NotBuilt as not_built:
        error = building.first_error(str(not_built), job.places, job.source)
        yield Step("GPU", False, [f"nvcc reports an error: {error['file']}:{error['line']}: {error['what']}"],
                   {"error": error})
        return
    yield agrees(job, program, "GPU")[0]


def check(job, eager=True):
    """Yields the steps, and stops after a failed step that makes the remaining steps pointless. If `eager`, all programs are
    built at the same time; otherwise each program is built when it is needed."""
    programs = Programs(job)
    step = compiles(job, programs, eager)
    yield step
    if not step.passed:
        return
    for what in programs.wanted if job.seconds else ():
        programs[what]  # waits for the build, which does not count towards the time limit
    if job.seconds:
        counting.start_clock(job.seconds)
    asks = "agrees"
    try:
        agreement, wrong = agrees(job, programs["plain"])
        if job.is_cuda:
            agreement.remarks += remarking.of_source(job.text, job.stage.source.read_text(), job.places.named(job.source))
        if not job.is_cuda:
            agreement.remarks += [f"{job.places.named(job.source)}:{line}: {building.line_of(job.source, line)}: {sentence}"
                                  for line, sentence in teams.serial(job.text, job.stage.source.read_text())]
        if not wrong:
            yield agreement
        asks = "clean"
        clean, *analysed = is_clean(job, programs, wrong)
        if wrong:
            with_analysis(job, agreement, wrong, clean, *analysed)
            yield agreement
        yield clean
        if agreement.passed and agreement.finished and clean.passed is not False and clean.finished:
            asks = "optimised"
            yield is_optimised(job, programs)
            asks = "GPU"
            yield from on_gpu(job)
    except OutOfTime as late:
        yield Step(asks, None, [f"{late}; --seconds allows more time"], finished=False)
    finally:
        if job.seconds:
            counting.stop_clock()


def result_of(places, stage, source, out, seconds=SECONDS, progress=lambda text: None):
    """Checks a source against its stage. The programs are built in the directory `out`. Returns a Result."""
    return Result(list(check(Job(places, stage, source, out, seconds, progress))))
