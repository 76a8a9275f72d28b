"""The four hints of an exercise: the symptom in figures, the idea, the names of the constructs, and the lines to change. The
last hint refers to the learner's own file, and contains a skeleton of the code."""

import re

import claims
import workshop
from checking import number

LONGEST = 60  # maximum number of skeleton lines that are shown

# Constructs, by a pattern that finds them in code, with a description of their effect.
CONSTRUCTS = {
    r"__global__": "`__global__` makes a function a kernel",
    r"<<<": "`kernel<<<blocks, threads>>>(arguments)` launches a kernel",
    r"\bdim3\b": "`dim3` is the type of a size in x, y and z, for blocks and grids",
    r"\bDeviceArray\b": "`DeviceArray` allocates an array in device memory; `copy_from` and `copy_to` copy it",
    r"\bcheck_launch\b": "`check_launch()` reports the error of a launch",
    r"\bcudaDeviceSynchronize\b": "`cudaDeviceSynchronize()` waits for the GPU",
    r"__shared__": "`__shared__` declares an array that all threads of a block share",
    r"__syncthreads\(": "`__syncthreads()` is a barrier for all threads of a block",
    r"__syncwarp\b": "`__syncwarp()` is a barrier for the lanes of a warp",
    r"__shfl_\w+": "a shuffle such as `__shfl_xor_sync` exchanges a value between the lanes of a warp",
    r"\batomic[A-Z]\w+": "an atomic function such as `atomicAdd` changes an element that several threads change",
    r"__launch_bounds__": "`__launch_bounds__` limits the registers of a kernel by the number of its threads",
    r"#pragma unroll": "`#pragma unroll` unrolls a loop, so that arrays can stay in registers",
    r"__pipeline_\w+": "`__pipeline_memcpy_async` copies to shared memory while the thread continues; "
                       "`__pipeline_commit` and `__pipeline_wait_prior` wait for such copies",
    r"\bbulk_(?:copy|store)\b": "`bulk_copy` lets the TMA copy a piece of memory",
    r"\bTransferBarrier\b": "`TransferBarrier` counts the bytes that have arrived in shared memory",
    r"\bmma_\w+|\bwgmma_\w+": "an `mma` instruction multiplies small matrices on the tensor cores",
    r"\bCluster\w*\b": "a cluster is a group of blocks that can access the shared memory of each other",
    r"\bcudaMemcpyPeerAsync\b": "`cudaMemcpyPeerAsync` copies from one GPU to another",
    r"\bStream\b|\bcudaStream_t\b": "a stream is a queue of launches and copies",
    r"\bEvent\b|\bcudaEvent\w+": "an event marks a position in a stream, for which another stream can wait",
    r"\bPinned(?:Array)?\b": "pinned memory can be copied while kernels run",
    r"\bGraph\b|\bcudaGraph\w+": "a graph records launches, so that one call starts all of them",
    r"\bsincos\w*\b|\brsqrtf?\b|\bfmaf?\b": "functions such as `fma` and `rsqrt` are single instructions on a GPU",
    r"#pragma omp parallel for\b": "`#pragma omp parallel for` distributes the iterations of a loop among the threads of a team",
    r"#pragma omp parallel(?! for)": "`#pragma omp parallel` starts a team of threads",
    r"#pragma omp for\b": "`#pragma omp for` distributes the iterations of a loop within a parallel region",
    r"#pragma omp barrier": "`#pragma omp barrier` is a barrier for a team of threads",
    r"#pragma omp simd": "`#pragma omp simd` executes several iterations with one vector instruction",
    r"#pragma omp task": "`#pragma omp task` hands out a piece of work; `depend` orders the tasks",
    r"#pragma omp single": "`#pragma omp single` lets one thread of the team execute a statement",
    r"\bschedule\(": "the clause `schedule` selects which thread gets which iterations",
    r"\bcollapse\(": "the clause `collapse` makes one loop of several nested ones",
    r"\bMPI_(?:Isend|Irecv|Sendrecv|Send|Recv)\b": "MPI functions send messages between ranks; those with an I begin a message and return",
    r"\bMPI_(?:Send_init|Recv_init|Start\w*)\b": "a persistent request is made once and started in each step",
    r"\bMPI_Win\w*\b": "an MPI window is memory that several ranks can access",
    r"\bnccl\w+\b": "NCCL sends data between GPUs",
    r"\bcublas\w+\b|\bCublasHandle\b": "cuBLAS is NVIDIA's library for products of matrices",
    r"\bcufft\w+\b": "cuFFT is NVIDIA's library for Fourier transforms",
    r"\bfloat2\b|\bfloat4\b|\bdouble2\b": "types such as `float4` load several elements with one instruction"}


def code_of(lines):
    """The text of some lines of code without comments."""
    return "\n".join(re.sub(r"//.*", "", line) for line in lines)


def symptom(copy):
    """The first hint: the counters of the last check compared with the stage's counters, and the expected effect of the
    step."""
    claim = claims.claim_of(copy.stage.workload, copy.stage.name)
    counted = copy.progress().get("counters")
    parts = []
    if isinstance(counted, dict) and counted:
        for name, each in counted.items():
            parts.append(f"{claims.meaning(name)[0]}: {number(each['yours'])} in your last check, {number(each['stage'])} in the stage, "
                         f"{number(each['before'])} in {copy.stage.before.name}")
    elif claim.counters:
        names = ", ".join(claims.meaning(name)[0] for name in claim.counters)
        parts.append(f"./climb check {copy.command} counts for your program: {names}")
    header = workshop.header_of(copy.stage)
    return "The symptom: " + "; ".join(parts or ["this step changes only the time on a GPU"]) + "." + (
        f"\nExpected effect: {header['Expect']}" if "Expect" in header else "")


def constructs(stage):
    """The third hint: the constructs that the step introduces, and the paragraph *Changed* of the stage."""
    before, after = code_of(workshop.book.code_lines(stage.before.source)), code_of(workshop.book.code_lines(stage.source))
    new = [meaning for pattern, meaning in CONSTRUCTS.items() if re.search(pattern, after) and not re.search(pattern, before)]
    header = workshop.header_of(stage)
    text = "The constructs: " + ("; ".join(new) if new else "the step needs none that is new") + "."
    if "Changed" in header:
        text += f"\nWhat changes: {header['Changed']}" + (f" Why this is legal: {header['Legal']}" if "Legal" in header else "")
    return text


def with_gaps(line):
    """A line of code in which gaps replace the arguments, indices and values."""
    kept = re.sub(r"<<<.*?>>>", "<<<…>>>", line)
    kept = re.sub(r"\((?:[^()]|\([^()]*\))+\)", "(…)", kept)
    kept = re.sub(r"\[[^\][]*\]", "[…]", kept)
    kept = re.sub(r"(?<![=!<>+*/-])= .*;", "= …;", kept)
    kept = re.sub(r"([+*/-]=) .*;", r"\1 …;", kept)
    return re.sub(r"\breturn .+;", "return …;", kept)


def is_code(text):
    """Whether a line counts as code in the book: it is neither blank nor a comment, a title or an idea."""
    return bool(text.strip()) and not text.strip().startswith(("//", ".title =", ".idea ="))


def numbered_code(source):
    """The lines of code of a source after its header comment, with their line numbers."""
    lines, first = workshop.book.numbered_body(source)
    return [(number, line) for number, line in enumerate(lines, first) if is_code(line)]


def places(mine, stages):
    """Yields the places where the code of a file differs from the stage: first line, last line, lines to remove, lines to
    add. The unchanged lines are a longest common subsequence, so the counts are the same as in the book."""
    a, b = numbered_code(mine), [line for _, line in numbered_code(stages)]
    length = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]  # longest common subsequences of a[i:] and b[j:]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            length[i][j] = length[i + 1][j + 1] + 1 if a[i][1] == b[j] else max(length[i + 1][j], length[i][j + 1])
    i = j = 0
    removed, added = [], []
    end = a[-1][0] + 1 if a else 1
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i][1] == b[j]:
            if removed or added:
                yield place(removed, added, a[i][0])
                removed, added = [], []
            i, j = i + 1, j + 1
        elif j == len(b) or i < len(a) and length[i + 1][j] >= length[i][j + 1]:
            removed.append(a[i])
            i += 1
        else:
            added.append(b[j])
            j += 1
    if removed or added:
        yield place(removed, added, end)


def place(removed, added, following):
    """A place where lines differ. If no line is removed, the lines are added before line `following`."""
    numbers = [number for number, _ in removed] or [following]
    return numbers[0], numbers[-1], [line for _, line in removed], added


def counted_lines(lines, what):
    """A number of lines, in words."""
    return f"{len(lines)} line{'s' if len(lines) != 1 else ''} of code {what}"


def lines_to_change(copy):
    """The fourth hint: the lines of the learner's file that differ from the stage, with a skeleton of the stage's lines."""
    text, shown = copy.source.read_text(errors="replace").splitlines(), 0
    parts = [f"Lines to change in {copy.name}:"]
    for first, last, removed, added in places(copy.source, copy.stage.source):
        where = f"line {first}" if not removed else f"lines {first} to {last}" if last > first else f"line {first}"
        piece = workshop.piece_around(text, min(first, len(text)))
        wanted = [counted_lines(removed, "to remove")] * bool(removed) + [counted_lines(added, "to add")] * bool(added)
        parts.append(f"{'before ' * (not removed)}{where}{f', in [{piece}]' if piece else ''}: {', '.join(wanted)}"
                     + (", with this skeleton" if added and shown < LONGEST else ""))
        parts += ["    " + with_gaps(line) for line in added[:max(0, LONGEST - shown)]]
        if shown < LONGEST < shown + len(added):
            parts.append(f"    … ({shown + len(added) - LONGEST} more lines)")
        shown += len(added)
    if len(parts) == 1:
        return f"{copy.name} already has all lines of the stage."
    return "\n".join(parts)


def plain(text):
    """A text without the marks of Markdown for bold and italic words; code between backticks stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"(\*\*|\*|(?<!\w)_(?=\w[^_]*\w_(?!\w)))(?=\S)(.+?)(?<=\S)(?:\1)", r"\2", part)
                   for part in parts)


def hints_of(copy):
    """Yields the hints of an exercise, from the least to the most specific."""
    yield plain(symptom(copy))
    yield "The idea: " + plain(workshop.idea_of(copy.stage) or copy.stage.idea + ".")
    yield plain(constructs(copy.stage))
    yield lines_to_change(copy)
