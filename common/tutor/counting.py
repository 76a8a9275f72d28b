"""Counters that do not depend on time: counters of the CPU device, memory accesses of the processor, messages between ranks, and
the number of intervals of each name in a timeline."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile

GROUPS = ("global_loads", "global_stores", "global_atomics", "shared_loads", "shared_stores", "shared_atomics")
# Lets the user root start ranks, and ranks that wait yield their core, since there may be more ranks than cores.
RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
         "OMPI_MCA_orte_execute_quiet": "1", "OMPI_MCA_btl": "^tcp",
         "OMPI_MCA_pml": "ob1"}
# Stages for several GPUs find two devices; a thread block that waits longer than 20 s for another one fails.
DEVICES = {"CUDA_ON_CPU_DEVICES": "2", "CUDA_ON_CPU_PATIENCE": "20"}
THREADS = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}
SECONDS = 120  # the time limit for a run of a small problem
FEW_RANKS = 4


class Failed(Exception):
    """A run that failed: the text is the message of the program; the status is None if the run exceeded its time limit."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def run(command, environment, ranks=0):
    """Runs a program, on ranks if `ranks` is positive. Returns its standard output; raises Failed."""
    if ranks:
        command = ["mpiexec", "--oversubscribe", "-n", str(ranks), *command]
        environment = RANKS | environment
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                             env=os.environ | environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"the program did not end within {SECONDS} seconds", None) from late
    if ran.returncode != 0:
        raise Failed(ran.stderr.strip(), ran.returncode)
    return ran.stdout


def options_for(problem, precision):
    """The options for one solve of a problem that prints its record."""
    settings = [word for key, value in problem.items() for word in ("--set", f"{key}={value}")]
    return [*settings, "--precision", precision, "--warmup", "0", "--repeat", "1", "--json", "-"]


def of_timeline(record):
    """How many overlapping intervals of each name there are, and how many slices were serialised before the kernels of the previous
    slice ended."""
    beside = record["repeats"][0].get("beside", [])
    counters = {f"spans {name}": count for name, count in collections.Counter(span["name"] for span in beside).items()}
    times = {name: sorted((span["begin"], span["end"]) for span in beside if span["name"] == name)
             for name in ("serialise", "kernels")}
    counters["ahead"] = sum(later[1] <= kernel[0] for kernel, later in zip(times["kernels"], times["serialise"][1:]))
    return counters


def of_device(program, problem, precision):
    """The counters and the report of the analysed program that belongs to a program for the CPU device."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "report.json")
        record = ""
        try:
            record = run([f"{program}-analyze", *options_for(problem, precision)], DEVICES | {"CUDA_ON_CPU_REPORT": str(path)})
        except Failed as failed:
            # The program also ends with a failure status if the analysis found an error.
            if not path.exists() or not json.loads(path.read_text())["errors"]:
                raise
        report = json.loads(path.read_text())
    return of_kernels(report["kernels"]) | (of_timeline(json.loads(record)) if record else {}), report


def of_kernels(kernels):
    """The counters of a run: sums over its kernels, and the ratios derived from them."""
    counters = collections.Counter({"kernels": len(kernels)})
    ideal = collections.Counter()
    for kernel in kernels:
        for name in ("launches", "blocks", "threads", "block_barriers"):
            counters[name] += kernel[name]
        for group in GROUPS:
            place, unit = ("global", "sectors") if group.startswith("global") else ("shared", "wavefronts")
            counters[group] += kernel[group]["requests"]
            counters[f"{place} requests"] += kernel[group]["requests"]
            counters[f"{place} {unit}"] += kernel[group][unit]
            ideal[place] += kernel[group][f"ideal_{unit}"]
    for place, unit in (("global", "sectors"), ("shared", "wavefronts")):
        cost, requests = counters[f"{place} {unit}"], counters[f"{place} requests"]
        counters[f"{unit} per {place} request"] = cost / requests if requests else 0
        counters[f"{place} excess"] = cost / ideal[place] if ideal[place] else 0
    return dict(counters)


def of_processor(program, problem, precision, messages=None):
    """The counters of a program that was built with access counters, and the first race: two code addresses, and whether both write.
    `messages` is the library that counts messages of programs on ranks."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {"STAIRCASE_ACCESSES": directory, "STAIRCASE_COUNTED": directory}
        if messages:
            environment["LD_PRELOAD"] = str(messages)
        failed, record = None, ""
        try:
            record = run([program, *options_for(problem, precision)], THREADS | environment, FEW_RANKS if messages else 0)
        except Failed as why:
            failed = why
        accesses, sent = ([json.loads(path.read_text()) for path in pathlib.Path(directory).glob(pattern)]
                          for pattern in ("*.accesses", "*.json"))
    races = [(each.pop("race"), each.pop("both_write")) for each in accesses]
    if failed and not any(race[0] for race, _ in races):
        raise failed
    counters = sum(map(collections.Counter, accesses), collections.Counter())
    if sent:
        counters |= {name: sum(each[name] for each in sent) for name in ("messages", "begun", "prepared")}
    counters["accesses"] = counters["reads"] + counters["writes"]
    if record and not messages:
        counters |= of_timeline(json.loads(record))
    return dict(counters), next((race for race in races if race[0][0]), None)
