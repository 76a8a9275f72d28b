"""Figures to play with: the tile of a thread, a ring of buffers, a scan. Pages ask for them by `<!-- played_tile.html -->` and so on.

docs/theme/played.js draws them for what the reader chooses. Where scripts are off, and on paper, the tables that are computed here
stand for them, by the same rules, which the test of the browser holds to each other.
"""

# --- The tile of a thread

THREADS = 256  # of a block, 16 by 16
REGISTERS, GRAIN = 65536, 8  # of a multiprocessor, and by how many a thread gets them
WARPS = 64  # that a multiprocessor may hold
# Of a thread with so many sums a side, as nvcc 13.0 compiles stage 07 of AᵀA for sm_90a with `held` and `tile` changed; with 10 it spills.
COMPILED = {2: 32, 4: 74, 6: 144, 8: 230, 10: 254}
SPILLS = 10


def tile(side):
    """Registers of a thread with side × side sums in f64, warps of a multiprocessor, and operations for a byte of global memory."""
    registers = COMPILED[side]
    given = registers + -registers % GRAIN
    return registers, min(WARPS, REGISTERS // (given * THREADS) * THREADS // 32), 2 * side


# --- A ring of buffers

SLICES = 8


def ring(buffers, copy_in, work, copy_out):
    """When slices are copied in, worked on and copied out, as (begin, end), where each keeps its buffer from first to last."""
    spans = [[], [], []]
    for n in range(SLICES):
        free = spans[2][n - buffers][1] if n >= buffers else 0
        for lane, takes in zip(spans, (copy_in, work, copy_out)):
            begin = max(free, lane[-1][1] if lane else 0)
            free = begin + takes
            lane.append((begin, free))
    return spans


def ring_time(*choice):
    """The time of all slices."""
    return ring(*choice)[2][-1][1]


# --- A scan

LANES = 16


def scanned(step):
    """What each lane has after a step of a scan by doubling: the first and the last lane that are in its sum."""
    return [(max(0, lane + 1 - 2 ** step), lane) for lane in range(LANES)]


def additions(step):
    """How many lanes add in a step."""
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
        "tile": figure("tile", table(("sums", "registers", "warps of 64", "loads for a multiply-add", "operations for a byte"), tiles),
                       "Sums of a thread in f64, in blocks of 16 × 16 threads. Registers are those that nvcc 13 gives to stage 07 with tiles of "
                       "other sizes, for an H200. Loads are from shared memory, bytes from global memory."),
        "ring": figure("ring", table(("buffers", *("in {}, work {}, out {}".format(*choice) for choice in choices)), rings),
                       "The time of eight slices, in units of your own, if each keeps a buffer from its copy in to its copy out, and the two "
                       "ways of the bus and the units that work each take one slice at a time."),
        "scan": figure("scan", table(("step", "distance", "lanes that add", "lanes that are done"), steps),
                       "A scan of 16 lanes by doubling: with each step a lane adds what a lane further to the left has, twice as far as before.")}


def write(directory):
    """Writes the figures."""
    for name, text in figures().items():
        (directory / f"played_{name}.html").write_text(text)
