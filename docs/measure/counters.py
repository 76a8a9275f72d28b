"""Records the counters of NVIDIA's profiler. common/cuda_on_cpu/tests/counters_test.py checks the CPU device against them.

Usage, on a machine with a GPU: python3 docs counters MACHINE REVISION OUTPUT.json PROGRAM...

A program named WORKLOAD-STAGE is a stage: it solves its data set `tiny`, once in each precision that it offers.
Any other program runs without arguments. The counters of a kernel are summed over its launches. Entries of OUTPUT for
other programs are kept.
"""

import csv
import datetime
import json
import pathlib
import re
import subprocess
import sys

from measure import recordings

METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_atomic_requests": "smsp__inst_executed_op_shared_atom_pred_on_any.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
}


def output_of(*command):
    """The standard output of a command. If the command fails, this program ends with the command's error message."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{command[0]} ended with status {result.returncode}:\n{result.stdout}")
    return result.stdout


def runs_of(program):
    """The runs of a program to record: (name of the run, arguments)."""
    if "-" not in program.name:
        return [(program.name, [])]
    return [(f"{program.name} {precision}", ["--dataset", "tiny", "--precision", precision])
            for precision in json.loads(output_of(program, "--describe"))["precisions"]]


def base_name(kernel):
    """A kernel's name without scope, template arguments and parameters."""
    scopes = re.sub(r"<unnamed>|\(anonymous namespace\)", "unnamed", kernel)
    return re.split(r"[<(]", scopes)[0].split()[-1].split("::")[-1]


def profile(program, arguments):
    """The number of launches and the counters of each kernel in one run."""
    text = output_of("ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units",
                     "base", "--metrics", ",".join(METRICS.values()), str(program), *arguments)
    table = csv.DictReader(text[text.index('"ID"'):].splitlines())
    kernels = {}
    for row in table:
        if not row["ID"]:
            continue  # this line contains the units
        counters = kernels.setdefault(base_name(row["Kernel Name"]),
                                      dict.fromkeys(["launches", *METRICS], 0))
        counters["launches"] += 1
        for counter, metric in METRICS.items():
            counters[counter] += int(row[metric].replace(",", ""))
    return kernels


def main(machine, revision, output, *programs):
    """Writes the recording."""
    output = pathlib.Path(output)
    recording = (json.loads(output.read_text()) if output.exists()
                 else {"machine": machine, "device": "", "programs": {}, "kernels": {}})
    recording["device"] = output_of("nvidia-smi", "--query-gpu=name",
                                    "--format=csv,noheader").strip()
    version = re.search(r"Version (\S+)", output_of("ncu", "--version"))[1]
    for program in map(pathlib.Path, programs):
        for run, arguments in runs_of(program):
            now = datetime.datetime.now(datetime.timezone.utc)
            recording["programs"][run] = {"arguments": arguments, "revision": revision,
                                          "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                          "ncu": version}
            kept = {name: counters for name, counters in recording["kernels"].items()
                    if not name.startswith(run + "/")}
            recording["kernels"] = kept | {f"{run}/{kernel}": counters for kernel, counters
                                           in profile(program, arguments).items()}
    output.write_text(recordings.text_by_entry(recording))
