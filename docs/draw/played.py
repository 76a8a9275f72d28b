"""Interactive figures: the tile of a thread, a ring of buffers, a scan. Pages include them by `<!-- played_tile.html -->` and so on.

docs/theme/played.js draws them for the reader's choice. Without scripts, and on paper, the tables computed here replace
the figures. The script and these functions follow the same rules; the test of the browser compares their results.
"""

# --- The tile of a thread

THREADS = 256  # threads of a block, 16 by 16
REGISTERS, GRAIN = 65536, 8  # registers of an SM, and the granularity of a thread's registers
WARPS = 64  # the maximum number of resident warps of an SM
# Maps the number of sums per side to the registers per thread that nvcc 13.0 allocates for stage 07 of AᵀA, compiled for
# sm_90a with changed `held` and `tile`. With 10 sums per side, registers are spilled.
COMPILED = {2: 32, 4: 74, 6: 144, 8: 230, 10: 254}
SPILLS = 10


def tile(side):
    """Registers per thread with side × side sums in f64, warps per SM, and operations per byte of global memory."""
    registers = COMPILED[side]
    given = registers + -registers % GRAIN
    return registers, min(WARPS, REGISTERS // (given * THREADS) * THREADS // 32), 2 * side


# --- A ring of buffers

SLICES = 8


def ring(buffers, copy_in, work, copy_out):
    """The intervals (begin, end) in which slices are copied in, processed and copied out; each slice occupies its buffer
    during all three."""
    spans = [[], [], []]
    for n in range(SLICES):
        free = spans[2][n - buffers][1] if n >= buffers else 0
        for lane, takes in zip(spans, (copy_in, work, copy_out)):
            begin = max(free, lane[-1][1] if lane else 0)
            free = begin + takes
            lane.append((begin, free))
    return spans


def ring_time(*choice):
    """The total time of all slices."""
    return ring(*choice)[2][-1][1]


# --- A scan

LANES = 16


def scanned(step):
    """The first and the last lane that the sum of each lane includes after a step of a scan by doubling."""
    return [(max(0, lane + 1 - 2 ** step), lane) for lane in range(LANES)]


def additions(step):
    """The number of lanes that add in a step."""
    return LANES - 2 ** (step - 1)


# --- Tables for readers without scripts

def table(head, rows):
    """A table of a figure."""
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return ('<div class="table"><table class="markdownTable"><tr>' + "".join(f"<th>{word}</th>" for word in head) + f"</tr>{cells}</table></div>")


def figure(name, contents, caption):
    """A figure with its table."""
    return (f'<figure class="warp" id="play_{name}">{contents}<figcaption class="caption">{caption}</figcaption></figure>\n'
            '<script src="played.js" defer></script>\n')


def figures():
    """The figures, by name."""
    tiles = []
    for side in COMPILED:
        registers, warps, intensity = tile(side)
        tiles.append((f"{side} × {side}", f"{registers}, and spills" if side == SPILLS else registers, warps, f"{2 / side:.2g}", intensity))
    choices = [(4, 4, 4), (4, 8, 4), (8, 2, 2)]
    rings = [(buffers, *(ring_time(buffers, *choice) for choice in choices)) for buffers in (1, 2, 3, 4)]
    steps = [(step, 2 ** (step - 1), additions(step), 2 ** step) for step in range(1, 5)]
    return {
        "tile": figure("tile", table(("sums", "registers", "warps of 64", "loads per multiply-add", "operations per byte"), tiles),
                       "Sums per thread in f64, in blocks of 16 × 16 threads. The registers are those that nvcc 13 allocates for stage 07 with "
                       "tiles of other sizes, for an H200. Loads come from shared memory, bytes from global memory."),
        "ring": figure("ring", table(("buffers", *("in {}, work {}, out {}".format(*choice) for choice in choices)), rings),
                       "The time of eight slices, in arbitrary units. Each slice occupies a buffer from its copy in to its copy out. The two directions "
                       "of PCIe and the compute units process one slice at a time each."),
        "scan": figure("scan", table(("step", "distance", "lanes that add", "lanes that are done"), steps),
                       "A scan of 16 lanes by doubling: in each step a lane adds the sum of a lane to its left, at twice the distance of the previous step.")}


def write(directory):
    """Writes the figures."""
    for name, text in figures().items():
        (directory / f"played_{name}.html").write_text(text)
