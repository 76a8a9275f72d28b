"""What each step is about, in what can be counted: the names of counters that a solution has to have as the stage has them,
rather than as the stage before does, and the problem on which they are counted.

A stage with no counter changes nothing that is counted here; the check says so.
"""

import dataclasses
import re

# Small problems, with tiles that are not full.
PROBLEMS = {"local_volatility": {"outer": 3, "numX": 32, "numY": 48, "numT": 3},
            "ata": {"rows": 33, "cols": 129},
            "matmul": {"l": 64, "m": 96, "n": 128, "Sl": 2, "Sn": 3},
            "advection": {"rows": 64, "cols": 256, "steps": 24},
            "advection_distributed": {"rows": 64, "cols": 64, "steps": 20},
            "nbody": {"bodies": 400, "steps": 1},
            "triangular_solve": {"n": 320},
            "cholesky": {"n": 300},
            "durbin_levinson": {"n": 300},
            "durbin_levinson_batched": {"systems": 128, "n": 64}}

# By stage: the counters, separated by commas; and what is other in its problem. «uses NAME» counts a name in the code.
STEPS = {
    "local_volatility": {
        "01_openmp": "regions", "02_hoisted": "regions", "03_distributed": "regions", "04_naive_cuda": "launches",
        "05_tridag_scan": "threads, global sectors", "06_coalesced": "global excess", "07_interleaved": "launches",
        "08_shared_grids": "global sectors", "09_factored": "shared_loads", "10_increments": "global_stores",
        "11_in_block": ("global sectors, launches", {"numY": 32}), "12_on_chip": ("uses of_block", {"numY": 32}),
        "13_adjoint": "accesses", "14_adjoint_hoisted": "accesses", "15_adjoint_in_rows": "accesses",
        "16_adjoint_cuda": "launches", "17_adjoint_on_chip": "launches", "18_one_meeting": "shared_loads"},
    "ata": {
        "01_openmp": "regions", "02_blocked": "lines, accesses", "03_naive_cuda": "launches", "04_tiled": "global_loads",
        "05_unrolled": "shared_loads", "06_symmetric": "global_loads", "07_register_tiled": "shared_loads",
        "08_double_buffered": ("block_barriers", {"rows": 97}), "09_tensor_core": "shared_loads",
        "10_emulated": "kernels", "11_overlapped": "launches", "12_one_modulus": "launches",
        "13_warpgroups": "shared_loads"},
    "matmul": {
        "01_sliced": ("lines", {"Sn": 8}), "02_serialized": "lines", "03_openmp": "regions", "04_cuda_slices": "launches",
        "05_pinned": "uses PinnedArray", "06_four_buffers": "ahead", "07_streams": "spans serialise",
        "08_resident_panels": ("spans copy in", {"Sl": 3, "Sn": 8}), "09_library_kernel": "launches",
        "10_split_tf32": "launches", "11_several_gpus": "spans kernels, GPU 1", "12_transposed": "spans transpose",
        "13_two_at_a_time": "uses at_a_time", "14_handed_on": "uses cudaMemcpyPeerAsync"},
    "advection": {
        "01_openmp": "regions", "02_inner_regions": "regions", "03_cyclic_rows": "lines", "04_cyclic_columns": "lines",
        "05_one_region": "regions", "06_copy_free": "writes, meetings", "07_separable": "accesses",
        "08_time_tiled": "meetings", "09_serial_cuda": "launches", "10_naive_cuda": "threads", "11_coalesced": "launches",
        "12_tiled": "global_loads", "13_rolling": "global_loads", "14_time_tiled_cuda": "global sectors",
        "15_convolved": "launches", "16_ahead": "block_barriers", "17_banded": "shared wavefronts",
        "18_spectral": "launches", "19_pairs": "global_loads", "20_streamed": ("blocks", {"cols": 512})},
    "advection_distributed": {
        "01_rows": "messages", "02_blocks": "messages", "03_overlapped": "begun", "04_persistent": "prepared",
        "05_wide_halo": "messages", "06_hybrid": "regions", "07_shared_windows": "messages",
        "08_gpus_through_hosts": "launches", "09_peer_copies": "launches", "10_nccl": "uses ncclSend",
        "11_gpu_initiated": "launches", "12_time_tiled": "launches"},
    "nbody": {
        "01_openmp": "regions", "02_vectorised": "lines", "03_sliced": "writes", "04_naive_cuda": "launches",
        "05_tiled": "global_loads", "06_registers": "shared_loads", "07_mixed": "shared_loads", "08_four_buffers": "kernels",
        "09_several_gpus": "spans kernels, GPU 1", "10_split_sums": "blocks",
        "11_full_rounds": ("blocks", {"bodies": 3072, "steps": 0}), "12_replicated": "launches"},
    "triangular_solve": {
        "01_columns": "writes", "02_openmp": "meetings", "03_blocked": "meetings", "04_naive_cuda": "launches",
        "05_blocked_cuda": "launches", "06_inverted_blocks": "shared_loads", "07_one_kernel": "launches",
        "08_prefetched": "", "09_sliced": ("launches", {"budget": 327680}),
        "10_many_right_hand_sides": "global sectors", "11_several_rows": ("shared_loads", {"n": 640}),
        "12_two_ahead": "", "13_inverted_by_halves": "block_barriers",
        "14_watching_warp": "block_barriers", "15_folded": "shared_stores", "16_one_trip": "global_loads",
        "17_staged": "shared_stores", "18_clustered": "global_atomics"},
    "cholesky": {
        "01_left_looking": "writes", "02_blocked": "lines", "03_openmp_tasks": "tasks", "04_vectorised": "vectors",
        "05_naive_cuda": "launches", "06_panel_and_update": "launches", "07_tiled_update": "global_loads",
        "08_tensor_cores": "shared_loads", "09_look_ahead": "spans updates", "10_gathered": "global_stores",
        "11_one_launch": "launches",
        "12_sliced": ("spans copy in", {"budget": 520000}), "13_several_gpus": "spans panels, GPU 1",
        "14_packed": "shared_stores", "15_copy_engine": "sectors per global request", "16_go_ahead": "block_barriers",
        "17_copying_warp": "block_barriers", "18_slice_by_slice": "global_stores", "19_root_free": "shared_stores",
        "20_apart": "shared_loads", "21_told_to_all": "launches", "22_in_step": "global_atomics",
        "23_twice_as_deep": ""},
    "durbin_levinson": {
        "01_reworked": "lines", "02_openmp": "meetings", "03_paired": "meetings", "04_vectorised": "vectors",
        "05_exchanged": "meetings", "06_teams": "", "07_naive_cuda": "launches",
        "08_warp_reduction": "block_barriers, global_atomics", "09_halved": "global sectors", "10_graph": "kernels",
        "11_persistent": "launches", "12_schur": "shared_stores", "13_blocked_schur": "block_barriers",
        "14_paired_steps": ""},
    "durbin_levinson_batched": {
        "01_openmp": "regions", "02_cuda": "launches", "03_on_chip": "sectors per global request",
        "04_in_block": ("sectors per global request", {"n": 96})}}

# What a counter counts; where a solution may have too much of it, and where too little.
MEANINGS = {
    "regions": ("teams of threads", "a team is started where one is at work already, or for too small a part",
                "a loop that may be shared out among threads still runs on one"),
    "meetings": ("meetings of a team", "threads still wait for each other after each small part",
                 "threads do not meet where the step has them meet"),
    "tasks": ("tasks", "there are more tasks than the step has", "work is not yet handed out as tasks"),
    "lines": ("lines fetched into a cache of 32 KiB", "what a loop needs does not stay in the cache while it is used",
              "accesses stay closer together than those of the step"),
    "accesses": ("accesses to memory", "numbers that could be kept, or not computed at all, are still loaded or stored",
                 "there are fewer accesses than the step needs"),
    "writes": ("stores to memory", "results still go to memory more often than they have to",
               "what the step writes down on purpose is not written"),
    "vectors": ("accesses by vectors", "there are more of them than in the step", "numbers still come one at a time"),
    "messages": ("messages of all ranks", "ranks still send more, or smaller, messages than they have to",
                 "ranks do not exchange what the step has them exchange"),
    "begun": ("messages that are begun and waited for later", "requests are made anew for each message",
              "a rank still waits for each message at once"),
    "prepared": ("requests that are made once", "requests are made too often", "requests are still made in each step"),
    "ahead": ("slices that were ready before the kernels of the one before", "slices are made ready too early",
              "the next slice is still made ready when the GPU is done"),
    "kernels": ("kernels by name", "work is still spread over kernels that the step joins, or that it does without",
                "what the step gives to kernels of their own is still in one, or none"),
    "launches": ("launches", "there are still launches that the step does without",
                 "the work is not in as many launches as the step has it, or not on the GPU"),
    "blocks": ("blocks of threads", "there are still blocks whose work the step leaves out or joins",
               "the work is cut into too few pieces"),
    "threads": ("threads", "there are still threads whose work others do in the step",
                "too few threads share the work"),
    "block_barriers": ("meetings at barriers of a block", "blocks still wait where they need not",
                       "blocks do not meet where the step has them meet"),
    "global_loads": ("requests to load from global memory", "what threads of a block could share, or keep, is still loaded "
                     "by each of them", "the step loads more often, of less each time"),
    "global_stores": ("requests to store to global memory", "stores could be fewer or wider", "the step stores more often"),
    "global_atomics": ("atomic requests in global memory", "results are still added up by atomics",
                       "the step tells others by more atomics"),
    "global sectors": ("sectors of 32 bytes moved to and from global memory", "numbers still cross memory more often than "
                       "they have to", "the step moves more on purpose"),
    "global excess": ("times the sectors that the same bytes need", "neighbouring lanes still reach for numbers that are not "
                      "neighbours in memory", "the step strides on purpose"),
    "sectors per global request": ("sectors per request to global memory", "neighbouring lanes still read a column",
                                   "a request asks for less than in the step"),
    "shared_loads": ("requests to load from shared memory", "a number that was loaded is still used too seldom",
                     "the step loads more often, without tests or of one number each"),
    "shared_stores": ("requests to store to shared memory", "too much still goes through shared memory",
                      "the step puts more there"),
    "shared wavefronts": ("wavefronts of shared memory", "loads still meet too few banks, or are too many",
                          "the step uses shared memory more"),
}


@dataclasses.dataclass(frozen=True)
class Claim:
    """What is counted of a stage, and on which problem."""

    counters: tuple
    problem: dict


def claim_of(workload, stage):
    """What is counted of a stage; nothing where the table does not have it."""
    entry = STEPS.get(workload, {}).get(stage, "")
    counters, changes = entry if isinstance(entry, tuple) else (entry, {})
    # «kernels, GPU 1» is one name.
    names = tuple(name.strip() for name in re.split(r",(?! GPU)", counters) if name.strip())
    return Claim(names, PROBLEMS.get(workload, {}) | changes)


def meaning(counter):
    """What a counter counts, and what it means to have too much and too little of it."""
    if counter in MEANINGS:
        return MEANINGS[counter]
    kind, name = counter.split(" ", 1)
    if kind == "uses":
        return f"uses of {name}", f"the step does without {name}", f"{name} is what the step is about, and is not used"
    return (f"parts called '{name}' on the timeline", f"'{name}' still happens more often than it has to",
            f"'{name}' does not happen as often as in the step")


def used(name, code):
    """How often a name stands in code, comments apart."""
    return len(re.findall(rf"\b{re.escape(name)}\b", re.sub(r"//.*", "", code)))
