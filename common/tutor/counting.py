"""Counters that do not depend on time: counters of the CPU device, memory accesses on the processor, messages between ranks,
and the number of intervals of each name in a timeline."""

import collections
import contextlib
import contextvars
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import contents
from confining import confined

GROUPS = ("global_loads", "global_stores", "global_atomics", "shared_loads", "shared_stores", "shared_atomics")
# Allow the user root to start ranks. Waiting ranks yield their core, because there may be more ranks than cores.
RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
         "OMPI_MCA_orte_execute_quiet": "1", "OMPI_MCA_btl": "^tcp,ofi,openib",
         "OMPI_MCA_pml": "ob1"}
# Settings of the CPU device. There are two devices, for stages that use several GPUs. A thread block that waits for another
# block fails after 20 s, or sooner if the check must end earlier (see patience()). The analysis reports reads of elements of
# a DeviceArray that were never written.
DEVICES = {"CUDA_ON_CPU_DEVICES": "2", "CUDA_ON_CPU_PATIENCE": "20", "STAIRCASE_REPORT_UNWRITTEN": "1"}
THREADS = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}
ANY_RESULT = {"STAIRCASE_ACCEPT_WRONG": "1"}  # the program also returns a solution that is not finite
BOUNDS = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}
SECONDS = 120  # time limit of one run, in seconds, outside of a check
FEW_RANKS = 4


class Failed(Exception):
    """A failed run. The text is the message of the program. The status is None if the run exceeded its time limit."""

    def __init__(self, message, status, output=""):
        super().__init__(message)
        self.status, self.output = status, output


class OutOfTime(Failed):
    """A run that had not ended when the time limit of the check was reached."""


@dataclasses.dataclass(frozen=True)
class Clock:
    """The time limit of a check: its length in seconds, and its end as a value of time.monotonic()."""

    seconds: float
    ends: float

    def left(self):
        """The remaining seconds."""
        return self.ends - time.monotonic()


CLOCK = contextvars.ContextVar("clock", default=None)  # the clock of the running check


def start_clock(seconds):
    """Sets a time limit, in seconds, for all following runs together."""
    CLOCK.set(Clock(seconds, time.monotonic() + seconds))


def stop_clock():
    """Removes the common time limit. Each run is then limited to SECONDS again."""
    CLOCK.set(None)


def seconds_left():
    """The remaining seconds of the common time limit or, if there is none, the time limit of a single run."""
    return SECONDS if CLOCK.get() is None else CLOCK.get().left()


@contextlib.contextmanager
def half_of_time():
    """Limits the enclosed runs to half of the remaining time, so that later runs have the other half."""
    clock = CLOCK.get()
    token = CLOCK.set(clock and Clock(clock.seconds, time.monotonic() + clock.left() / 2))
    try:
        yield
    finally:
        CLOCK.reset(token)


def patience(clock):
    """The environment variable that limits how long thread blocks of the CPU device wait for each other. The limit is
    shorter than the time limit of the check."""
    return {"CUDA_ON_CPU_PATIENCE": str(max(2, min(20, int(clock.seconds / 3))))} if clock else {}


def end_with_parent():
    """Makes Linux kill this process as soon as its parent process has ended."""
    set_signal_of_parents_death = 1
    ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)


def kill_group(process, number):
    """Sends a signal to a process and to all processes that it has started."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def end_process(process):
    """Ends a process and all processes that it has started. SIGTERM comes first, because programs can handle this signal: an
    analysed program writes its report, and mpiexec ends its ranks."""
    kill_group(process, signal.SIGTERM)
    try:
        process.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        pass
    kill_group(process, signal.SIGKILL)
    process.communicate()


def outcome_of(command, seconds, **options):
    """Runs a command and returns its exit status, its output and its error output. Raises subprocess.TimeoutExpired at the
    time limit. In any case, even if this process is interrupted, no process of the command keeps running."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True, preexec_fn=end_with_parent, **options) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        except BaseException:
            end_process(process)
            raise
        kill_group(process, signal.SIGKILL)
        return process.returncode, output, errors


def run(command, environment, ranks=0):
    """Runs a program, on ranks if `ranks` is positive. Returns the standard output; raises Failed if the program fails."""
    if ranks:
        command = ["mpiexec", "--oversubscribe", "-n", str(ranks), *command]
        environment = RANKS | environment
    clock = CLOCK.get()
    seconds = SECONDS if clock is None else clock.left()
    if seconds <= 0:
        raise OutOfTime(f"the time limit of {clock.seconds:g} s was reached before the program ran", None)
    try:
        status, output, errors = outcome_of(confined(command), seconds, stderr=subprocess.PIPE,
                                            env=os.environ | environment | (patience(clock) if environment else {}))
    except subprocess.TimeoutExpired as late:
        raise OutOfTime(f"the program did not end within {seconds:.3g} s", None) from late
    if status != 0:
        raise Failed(errors.strip(), status, output)
    return output


def options_for(problem, precision):
    """The options with which a program solves a problem once and prints its record."""
    settings = [word for key, value in problem.items() for word in ("--set", f"{key}={value}")]
    return [*settings, "--precision", precision, "--warmup", "0", "--repeat", "1", "--json", "-"]


def record_in(output):
    """The record that a program prints with `--json -`, and the remaining text that the program prints, for example with
    printf. Raises Failed if there is no record."""
    for start in (found.start() for found in reversed(list(re.finditer(r'\{\s*"workload":', output)))):
        with contextlib.suppress(ValueError):
            record, end = json.JSONDecoder().raw_decode(output, start)
            return record, (output[:start] + output[end:]).strip()
    raise Failed("the program ended before it returned a result: does it call exit()?", 0, output)


def of_timeline(record):
    """The number of overlapping intervals of each name. The counter *ahead* is the number of slices that were serialised
    before the kernels of the previous slice ended."""
    beside = record["repeats"][0].get("beside", [])
    counters = {f"spans {name}": count for name, count in collections.Counter(span["name"] for span in beside).items()}
    times = {name: sorted((span["begin"], span["end"]) for span in beside if span["name"] == name)
             for name in ("serialise", "kernels")}
    counters["ahead"] = sum(later[1] <= kernel[0] for kernel, later in zip(times["kernels"], times["serialise"][1:]))
    return counters


def of_device(program, problem, precision):
    """Runs the analysed variant of a program for the CPU device, and returns its counters and its report. The report also
    has the contents of the arrays of each launch."""
    with tempfile.TemporaryDirectory() as directory:
        path, arrays = pathlib.Path(directory, "report.json"), pathlib.Path(directory, "contents")
        record = None
        try:
            record, _ = record_in(run([f"{program}-analyze", *options_for(problem, precision)],
                                      DEVICES | ANY_RESULT | {"CUDA_ON_CPU_REPORT": str(path),
                                                              "CUDA_ON_CPU_CONTENTS": str(arrays)}))
        except Failed as failed:
            # The program also ends with a failure status if the analysis found an error. If the result is not finite, the
            # analysis is complete, too.
            report = json.loads(path.read_text()) if path.exists() and path.stat().st_size else {"errors": [], "kernels": []}
            is_complete = failed.status is not None and failed.status > 0 and failed.status != 77
            if not report["errors"] and not (report["kernels"] and is_complete and not isinstance(failed, OutOfTime)):
                raise
            with contextlib.suppress(Failed):  # the record is incomplete if the program ended early
                record, _ = record_in(failed.output)
        report = json.loads(path.read_text())
        report["contents"] = contents.records_in(arrays.read_bytes()) if arrays.exists() else []
    return of_kernels(report["kernels"]) | (of_timeline(record) if record else {}), report


def of_kernels(kernels):
    """The counters of a run: sums over all kernels, and ratios of these sums."""
    counters = collections.Counter({"kernels": len(kernels)})
    ideal = collections.Counter()
    for kernel in kernels:
        for name in ("launches", "blocks", "threads", "block_barriers"):
            counters[name] += kernel[name]
        for line in kernel["lines"]:
            place = line["access"].split()[0]
            counters[f"{place} lanes"] += line["lanes"]
            counters[f"{place} bytes"] += line["lanes"] * line["bits"] // 8
        for group in GROUPS:
            place, unit = ("global", "sectors") if group.startswith("global") else ("shared", "wavefronts")
            counters[group] += kernel[group]["requests"]
            counters[f"{place} requests"] += kernel[group]["requests"]
            counters[f"{place} {unit}"] += kernel[group][unit]
            ideal[place] += kernel[group][f"ideal_{unit}"]
            counters[f"{group} cost"] += kernel[group][unit]
            ideal[group] += kernel[group][f"ideal_{unit}"]
    for place, unit in (("global", "sectors"), ("shared", "wavefronts")):
        cost, requests = counters[f"{place} {unit}"], counters[f"{place} requests"]
        counters[f"{unit} per {place} request"] = cost / requests if requests else 0
        counters[f"{place} excess"] = cost / ideal[place] if ideal[place] else 0
        for group in (each for each in GROUPS if each.startswith(place)):
            counters[f"{group} excess"] = counters[f"{group} cost"] / ideal[group] if ideal[group] else 0
        counters[f"lanes per {place} request"] = counters[f"{place} lanes"] / requests if requests else 0
    return dict(counters)


def of_processor(program, problem, precision, messages=None):
    """The counters of a program that counts its accesses, and its first race: two code addresses, and whether both accesses
    write. `messages` is the path of a library that counts the messages of ranks."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {"STAIRCASE_ACCESSES": directory, "STAIRCASE_COUNTED": directory}
        if messages:
            environment["LD_PRELOAD"] = str(messages)
        failed, record = None, None
        try:
            record, _ = record_in(run([program, *options_for(problem, precision)], THREADS | ANY_RESULT | environment,
                                      FEW_RANKS if messages else 0))
        except Failed as why:
            failed = why
        accesses, sent = ([json.loads(path.read_text()) for path in pathlib.Path(directory).glob(pattern)]
                          for pattern in ("*.accesses", "*.json"))
    races = [(each.pop("race"), each.pop("both_write")) for each in accesses]
    unwritten = [each.pop("unwritten_read", 0) for each in accesses]
    if failed and not any(race[0] for race, _ in races):
        raise failed
    counters = sum(map(collections.Counter, accesses), collections.Counter())
    if sent:
        counters |= {name: sum(each[name] for each in sent) for name in ("messages", "begun", "prepared")}
    counters["accesses"] = counters["reads"] + counters["writes"]
    counters["unwritten read"] = next(filter(None, unwritten), 0)  # the place of the first one
    busiest = max((each.get("busiest", 0) for each in accesses), default=0)
    counters["share of one thread"] = busiest / max(1, max((each["reads"] + each["writes"] for each in accesses), default=1))
    if record and not messages:
        counters |= of_timeline(record)
    return dict(counters), next((race for race in races if race[0][0]), None)
