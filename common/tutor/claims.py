"""The counters that show whether a solution has the optimisation of its stage, and the problems on which they are counted.

A solution passes if its counters are closer to the stage's than to the previous stage's. If a stage has no counters, its
change cannot be counted, and the check reports this.

Each exercise also promises properties beyond these counters: many threads compute, they access neighbouring elements, and
they exchange elements through shared memory. The stage's own counters define the promises; see PROMISES.
"""

import dataclasses
import re

# Small problems, whose last tiles are partial.
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

# By stage: the counters, separated by commas, and the parameters that differ from those in PROBLEMS. The counter "uses NAME"
# is the number of occurrences of a name in the code.
STEPS = {
    "local_volatility": {
        "01_openmp": "regions", "02_hoisted": "regions", "03_distributed": "regions", "04_naive_cuda": "launches",
        "05_parallel_scan": "threads, global sectors", "06_coalesced": "global excess", "07_interleaved": "launches",
        "08_shared_grids": "global sectors", "09_factored": "shared_loads", "10_increments": "global_stores",
        "11_grid_per_block": ("global sectors, launches", {"numY": 32}), "12_grid_per_cluster": ("uses of_block", {"numY": 32}),
        "13_adjoint_sweep": "accesses", "14_adjoint_hoisted": "accesses", "15_vectorised_adjoint": "accesses",
        "16_adjoint_cuda": "launches", "17_single_cluster_adjoint": "launches", "18_reduced_system": "shared_loads",
        "19_jammed_adjoint": "accesses", "20_pipelined_adjoint": "regions"},
    "ata": {
        "01_openmp": "regions", "02_blocked": "lines, accesses", "03_naive_cuda": "launches", "04_tiled": "global_loads",
        "05_unrolled": "shared_loads", "06_symmetric": "global_loads", "07_register_tiled": "shared_loads",
        "08_double_buffered": ("block_barriers", {"rows": 97}), "09_tensor_core": "shared_loads",
        "10_emulated": "kernels", "11_overlapped": "launches", "12_modulus_per_block": "launches",
        "13_warpgroups": "shared_loads",
        "14_micro_panels": "vectors", "15_symmetric_tiles": "vectors"},
    "matmul": {
        "01_sliced": ("lines", {"Sn": 8}), "02_serialised": "lines", "03_openmp": "regions", "04_cuda_slices": "launches",
        "05_pinned": "uses PinnedArray", "06_double_buffered": "ahead", "07_streams": "spans serialise",
        "08_resident_panels": ("spans copy in", {"Sl": 3, "Sn": 8}), "09_library_kernel": "launches",
        "10_split_tf32": "launches", "11_multi_gpu": "spans kernels, GPU 1", "12_transposed": "spans transpose",
        "13_overlapped_kernels": "uses at_a_time", "14_all_gather": "uses cudaMemcpyPeerAsync", "15_loop_order": "lines",
        "16_cache_blocks": "lines", "17_micro_panels": "vectors", "18_shared_panels": "regions"},
    "advection": {
        "01_openmp": "regions", "02_inner_loop_regions": "regions", "03_cyclic_rows": "lines", "04_cyclic_columns": "lines",
        "05_persistent_region": "regions", "06_double_buffered": "writes, team_barriers", "07_separable": "accesses",
        "08_time_tiled": "team_barriers", "09_serial_cuda": "launches", "10_naive_cuda": "threads", "11_coalesced": "launches",
        "12_tiled": "global_loads", "13_register_rolling": "global_loads", "14_skewed_time_tiling": "global sectors",
        "15_convolved": "launches", "16_asynchronous_copies": "block_barriers", "17_tensor_core_filter": "shared wavefronts",
        "18_spectral": "launches", "19_vectorised_accesses": "global_loads", "20_software_pipelined": ("blocks", {"cols": 512})},
    "advection_distributed": {
        "01_row_decomposition": "messages", "02_block_decomposition": "messages", "03_overlapped_communication": "begun",
        "04_persistent_requests": "prepared",
        "05_wide_halo": "messages", "06_mpi_and_openmp": "regions", "07_shared_windows": "messages",
        "08_host_staged_messages": "launches", "09_peer_copies": "launches", "10_nccl": "uses ncclSend",
        "11_gpu_initiated": "launches", "12_time_tiled": "launches"},
    "nbody": {
        "01_openmp": "regions", "02_vectorised": "lines", "03_sliced": "writes", "04_naive_cuda": "launches",
        "05_tiled": "global_loads", "06_register_tiled": "shared_loads", "07_mixed_precision": "shared_loads", "08_out_of_core": "kernels",
        "09_multi_gpu": "spans kernels, GPU 1", "10_split_reductions": "blocks",
        "11_short_last_wave": ("blocks", {"bodies": 3072, "steps": 0}), "12_replicated": "launches"},
    "triangular_solve": {
        "01_columns": "writes", "02_openmp": "team_barriers", "03_blocked": "team_barriers", "04_naive_cuda": "launches",
        "05_blocked_cuda": "launches", "06_inverted_blocks": "shared_loads", "07_flags_in_data": "launches",
        "08_prefetched": "", "09_out_of_core": ("launches", {"budget": 327680}),
        "10_multiple_right_hand_sides": "global sectors", "11_register_tiled": ("shared_loads", {"n": 640}),
        "12_two_step_prefetch": "", "13_recursive_inversion": "block_barriers",
        "14_polling_warp": "block_barriers", "15_precomputed_product": "shared_stores", "16_batched_loads": "global_loads",
        "17_asynchronous_copies": "shared_stores", "18_distributed_shared_memory": "global_atomics",
        "19_vectorised": "vectors", "20_pipelined_rows": "team_barriers", "21_tensor_core_inversion": "shared_loads"},
    "cholesky": {
        "01_left_looking": "writes", "02_blocked": "lines", "03_openmp_tasks": "tasks", "04_vectorised": "vectors",
        "05_naive_cuda": "launches", "06_panel_and_update": "launches", "07_tiled_update": "global_loads",
        "08_tensor_cores": "shared_loads", "09_look_ahead": "spans updates", "10_left_looking_tiles": "global_stores",
        "11_one_launch": "launches",
        "12_out_of_core": ("spans copy in", {"budget": 520000}), "13_multi_gpu": "spans panels, GPU 1",
        "14_packed_tiles": "shared_stores", "15_tma_bulk_copies": "sectors per global request", "16_split_barriers": "block_barriers",
        "17_warp_specialisation": "block_barriers", "18_flags_per_sub_tile": "global_stores", "19_root_free": "shared_stores",
        "20_fragment_order": "shared_loads", "21_multi_gpu_dataflow": "launches", "22_swizzled_tile_order": "global_atomics",
        "23_deeper_mma": ""},
    "durbin_levinson": {
        "01_array_contraction": "lines", "02_openmp": "team_barriers", "03_fused_pairs": "team_barriers", "04_vectorised": "vectors",
        "05_all_reduce": "team_barriers", "06_teams": "", "07_naive_cuda": "launches",
        "08_warp_reduction": "block_barriers, global_atomics", "09_in_place_pairs": "global sectors", "10_graph": "kernels",
        "11_persistent_kernel": "launches", "12_schur": "shared_stores", "13_blocked_schur": "block_barriers",
        "14_paired_steps": "", "15_persistent_blocks": "launches"},
    "durbin_levinson_batched": {
        "01_openmp": "regions", "02_naive_cuda": "launches", "03_register_resident": "sectors per global request",
        "04_system_per_block": ("sectors per global request", {"n": 96}),
        "05_system_per_subwarp": "block_barriers, shared_loads"}}

@dataclasses.dataclass(frozen=True)
class Promise:
    """Lower and upper bounds of a counter, relative to the counter of the stage."""

    counter: str
    at_least: float | None  # the counter must be at least this many times the stage's counter
    at_most: float | None  # the counter must be at most this many times the stage's counter,
    more: float = 0  # plus this amount
    unless_below: float = 0  # the promise holds only if the stage's counter is at least this large
    sentence: str = ""


FEW_LANES = 0.6  # so small a part of the lanes of the stage's requests is too few

# The factors allow for other sizes of tiles and thread blocks. The following errors exceed the factors by far: a thread that
# computes a whole row or the whole result, idle lanes, exchanged indices, and unused shared memory.
PROMISES = {
    ".cu": [
        Promise("threads", 1 / 8, 16, unless_below=64, sentence="threads ran: each thread should compute about as many elements as in "
                "the stage"),
        Promise("lanes per global request", FEW_LANES, None, unless_below=2, sentence="lanes take part in a request to global memory: most "
                "threads of a warp are idle, or one thread does the work of many"),
        Promise("global_loads excess", None, 1.5, more=0.25, sentence="times the sectors that the same bytes need are loaded: "
                "neighbouring threads load elements that are not neighbours in memory; are x and y, or row and column, exchanged?"),
        Promise("global_stores excess", None, 1.5, more=0.25, sentence="times the sectors that the same bytes need are stored: "
                "neighbouring threads store elements that are not neighbours in memory; are x and y, or row and column, exchanged?"),
        Promise("global bytes", None, 4, sentence="bytes are loaded from and stored to global memory: elements are transferred again "
                "that the stage keeps or shares"),
        Promise("shared_loads", 1 / 8, 8, unless_below=1, sentence="requests to load from shared memory: each thread should "
                "load about as many elements from there as in the stage"),
        Promise("shared_stores", 1 / 8, None, unless_below=1, sentence="requests to store to shared memory: do all threads take part in "
                "loading?"),
        Promise("block_barriers", 1 / 8, None, unless_below=1, sentence="barriers of thread blocks: the threads share elements only if "
                "they wait for each other")],
    ".cpp": [
        Promise("accesses", None, 4, sentence="accesses to memory: the same elements are loaded and stored again and again"),
        Promise("messages", 1 / 8, None, unless_below=1, sentence="messages between ranks: the ranks do not exchange the cells at their borders"),
        Promise("regions", 1e-9, None, unless_below=1, sentence="teams of threads: no loop runs in parallel"),
        Promise("share of one thread", None, 1, more=0.5, sentence="of all accesses are made by one thread: the other threads of the team "
                "have nearly nothing to do")],
}

# By stage: the promises that some good solutions do not keep, because the counters depend on the timing of threads.
WITHOUT = {("triangular_solve", "14_polling_warp"): {"block_barriers"}}


# By library: a pattern of what a program calls of it.
LIBRARIES = {"cuBLAS": r"\bcublas[A-Z]\w*", "cuFFT": r"\bcufft[A-Z]\w*", "NCCL": r"\bnccl[A-Z]\w*", "MPI": r"\bMPI_[A-Z]\w*|\bmpi::"}


def missing_libraries(text, stages_text, counters):
    """Sentences about libraries that the stage calls, if a solution calls none of them, and launches no kernel either."""
    wanted = [name for name, pattern in LIBRARIES.items() if re.search(pattern, stages_text)]
    if any(re.search(LIBRARIES[name], text) for name in wanted) or counters.get("launches", 0):
        return []
    return [f"nothing of {name} is called (the stage calls it)" + (
        ": the ranks do not share the work" if name == "MPI" else ", and no kernel is launched: the work is not on the GPU")
            for name in wanted]


def promises_of(workload, stage, suffix):
    """The promises of a stage, according to the suffix of its source."""
    without = WITHOUT.get((workload, stage), set())
    return [promise for promise in PROMISES.get(suffix, []) if promise.counter not in without]


def is_kept(promise, yours, stages):
    """Whether the counter of a solution keeps a promise; `stages` is the stage's counter."""
    if stages < promise.unless_below:
        return True
    return ((promise.at_least is None or yours >= promise.at_least * stages) and
            (promise.at_most is None or yours <= promise.at_most * stages + promise.more))


# By counter: the counted event, the meaning of too large a counter, and the meaning of too small a counter.
MEANINGS = {
    "regions": ("teams of threads", "a team is started inside another team, or for too small a part of the work",
                "a loop that could run in parallel still runs on one thread"),
    "team_barriers": ("barriers of a team of threads", "threads still synchronise after each small part of the work",
                 "threads do not synchronise where the step does"),
    "tasks": ("tasks", "there are more tasks than the step has", "work is not yet handed out as tasks"),
    "lines": ("cache lines fetched into a cache of 32 KiB", "the data of a loop are evicted from the cache before they are used again",
              "fewer lines are fetched than in the step"),
    "accesses": ("accesses to memory", "elements are still loaded or stored that could stay in registers or need no computation",
                 "there are fewer accesses than the step needs"),
    "writes": ("stores to memory", "results still go to memory more often than they have to",
               "the step stores intermediate results that are not stored here"),
    "vectors": ("accesses by vectors", "there are more of them than in the step", "elements are still accessed one at a time"),
    "messages": ("messages of all ranks", "the ranks still send more messages, or smaller ones, than necessary",
                 "the ranks do not send all the messages of the step"),
    "begun": ("messages that are started and waited for later", "a new request is made for each message",
              "a rank still waits for each message immediately after its start"),
    "prepared": ("persistent requests", "persistent requests are made too often", "requests are still made in each step"),
    "ahead": ("slices that were serialised before the kernel of the previous slice ran", "slices are serialised too early",
              "the next slice is still serialised only after the GPU has finished the previous one"),
    "kernels": ("kernels by name", "the program still uses kernels that the step merges or removes",
                "the program has fewer kernels than the step: work is still merged in one kernel, or not on the GPU"),
    "launches": ("launches", "the program still makes launches that the step removes",
                 "the program makes fewer launches than the step, or the work is not on the GPU"),
    "blocks": ("thread blocks", "there are still thread blocks whose work the step removes or merges",
               "the work is divided among too few thread blocks"),
    "threads": ("threads", "there are still more threads than in the step",
                "too few threads share the work"),
    "block_barriers": ("barriers of thread blocks", "thread blocks still wait at barriers that the step does not need",
                       "barriers of the step are missing"),
    "global_loads": ("requests to load from global memory", "each thread still loads elements that the threads of a block could share "
                     "or keep", "the step makes more requests, for fewer elements each"),
    "global_stores": ("requests to store to global memory", "stores could be fewer or wider", "the step stores more often"),
    "global_atomics": ("atomic requests in global memory", "results are still added up by atomics",
                       "the step publishes more results by atomics"),
    "global sectors": ("sectors of 32 bytes moved to and from global memory", "elements still cross memory more often than "
                       "they have to", "the step deliberately moves more data"),
    "global excess": ("times the sectors that the same bytes need", "neighbouring lanes still access elements that are not "
                      "neighbours in memory", "the step deliberately accesses memory with a stride"),
    "sectors per global request": ("sectors per request to global memory", "neighbouring lanes still access elements that are far apart",
                                   "a request transfers fewer sectors than in the step"),
    "shared_loads": ("requests to load from shared memory", "each loaded element is still used too few times",
                     "the step makes more requests, each for fewer elements or without a test"),
    "shared_stores": ("requests to store to shared memory", "too much still goes through shared memory",
                      "the step stores more there"),
    "shared wavefronts": ("wavefronts of shared memory", "there are still bank conflicts or too many requests",
                          "the step uses shared memory more often"),
}


@dataclasses.dataclass(frozen=True)
class Claim:
    """The counters of a stage, and the problem on which they are counted."""

    counters: tuple
    problem: dict


def claim_of(workload, stage):
    """The claim of a stage. The claim has no counters if the table contains no entry for the stage."""
    entry = STEPS.get(workload, {}).get(stage, "")
    counters, changes = entry if isinstance(entry, tuple) else (entry, {})
    # "kernels, GPU 1" is the name of one counter.
    names = tuple(name.strip() for name in re.split(r",(?! GPU)", counters) if name.strip())
    return Claim(names, PROBLEMS.get(workload, {}) | changes)


def meaning(counter):
    """The event that a counter counts, and the meaning of too large and too small a counter."""
    if counter in MEANINGS:
        return MEANINGS[counter]
    kind, name = counter.split(" ", 1)
    if kind == "uses":
        return f"uses of {name}", f"the step does without {name}", f"the step uses {name}, and this code does not"
    return (f"intervals named '{name}' on the timeline", f"'{name}' still happens more often than it has to",
            f"'{name}' does not happen as often as in the step")


def used(name, code):
    """The number of occurrences of a name in code outside of comments."""
    return len(re.findall(rf"\b{re.escape(name)}\b", re.sub(r"//.*", "", code)))
