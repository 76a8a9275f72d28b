"""Seeded faults of known kinds: changes to a stage's own source, and the answer that the tutor must give.

Each fault has the stage, the kind, pairs of original and changed text, the step that must fail, and words that the
answer must contain.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Planted:
    """One seeded fault."""

    stage: str
    kind: str
    changes: tuple  # pairs of original and changed text
    step: str
    words: tuple


def planted(stage, kind, step, words, *changes):
    """Makes one seeded fault."""
    return Planted(stage, kind, changes, step, words if isinstance(words, tuple) else (words,))


# The memory after an array may be any memory, including memory of the host.
OUTSIDE = "out of bounds|illegal device access"
BARRIER = "    __syncthreads();\n"
LOAD_J = "if (k < rows && j0 + threadIdx.x < cols) a_j[threadIdx.y][threadIdx.x] = a(k, j0 + threadIdx.x);"
STORE = "  if (i < cols && j < cols) c(i, j) = sum;\n}"
DIVIDED = "(cols + tile - 1) / tile"
OWN_ROWS = "#pragma omp parallel for\n  for (std::size_t i = 0; i < cols; ++i) {"

ALL = [
    # --- It does not compile
    planted("ata 04", "a name that is not there", "compiles", ("tiled.cu:25", "blockidx"),
            ("blockIdx.y * tile", "blockidx.y * tile")),
    planted("ata 04", "no semicolon", "compiles", "expected", ("double sum = 0;", "double sum = 0")),
    planted("ata 01", "a loop that OpenMP cannot share out", "compiles", "openmp.cpp",
            ("i < cols; ++i) {", "i * i < cols; ++i) {")),
    planted("ata 04", "a parenthesis too few", "compiles", "tiled.cu", (DIVIDED, "(cols + tile - 1 / tile")),
    # --- Barriers
    planted("ata 05", "no barrier before the loop", "clean", "no barrier between",
            ("load(a, k, j0 + threadIdx.x);\n" + BARRIER, "load(a, k, j0 + threadIdx.x);\n")),
    planted("ata 06", "no barrier before a tile is transposed", "clean", "no barrier between",
            ("= sum;\n  __syncthreads();\n", "= sum;\n")),
    planted("ata 04", "a warp barrier instead of the thread block's", "clean", "no barrier between",
            ("__syncthreads();", "__syncwarp();")),
    # --- Sizes
    planted("ata 04", "only full tiles in the grid", "agrees", ("nan", "whole tiles agree"),
            (DIVIDED, "cols / tile + (cols < tile)")),
    planted("ata 04", "sums that continue after the last row", "agrees", "must be", ("min(tile, rows - k0)", "tile")),
    planted("ata 03", "a test that lets one more through", "clean", OUTSIDE,
            ("i >= cols || j >= cols", "i > cols || j > cols")),
    planted("ata 03", "one row too few", "agrees", "must be", ("k < rows; ++k", "k + 1 < rows; ++k")),
    planted("ata 03", "one row too many", "clean", OUTSIDE, ("k < rows; ++k", "k <= rows; ++k")),
    planted("ata 06", "a triangle without its last tile", "agrees", "is zero|nan|must be|finite",
            ("tile_of_triangle(blockIdx.x)", "tile_of_triangle(blockIdx.x > 0 ? blockIdx.x - 1 : 0)")),
    # --- Indices
    planted("ata 04", "both factors from one tile", "agrees", "must be",
            ("a_j[m][threadIdx.x]", "a_i[m][threadIdx.x]")),
    planted("ata 04", "an index that begins at one", "clean", "has not written",
            ("const unsigned k = k0 + threadIdx.y;", "const unsigned k = k0 + threadIdx.y + 1;")),
    planted("ata 05", "elements outside A are not zero", "agrees", "must be",
            ("return inside ? value : 0;", "return value;")),
    planted("ata 06", "the transposed element at a wrong position", "agrees", "must be",
            ("= transposed[threadIdx.y][threadIdx.x];", "= transposed[threadIdx.x][threadIdx.y];")),
    planted("ata 03", "one row of the result for all rows", "clean", "race|writes what", ("c(i, j) = sum", "c(0, j) = sum")),
    planted("triangular_solve 04", "the diagonal of the row above", "agrees", "must be|finite",
            ("rest(i) / l(i, i)", "rest(i) / l(i, 0)")),
    # --- Memory
    planted("ata 04", "a sum that starts at one", "agrees", "must be", ("double sum = 0;", "double sum = 1;")),
    planted("ata 04", "a tile that is not filled", "clean", "nobody wrote|never|read", ("    " + LOAD_J + "\n", "")),
    planted("ata 04", "results that are never written", "agrees", "finite|nan", (STORE, "}")),
    planted("ata 04", "results that are not copied", "agrees", "finite|nan", ("  c.copy_to(product.data());\n", "")),
    planted("ata 04", "too many threads for a block", "agrees", "", ("dim3(tile, tile)>>>", "dim3(tile, 8 * tile)>>>")),
    # --- Threads of a team
    planted("ata 01", "a variable that all threads share", "clean", ("two threads of a team", "openmp.cpp"),
            ("  const std::size_t rows", "  double factor = 0;\n  const std::size_t rows"), ("const double factor =", "factor =")),
    planted("ata 01", "the wrong loop is shared out", "clean", "two threads of a team",
            ("#pragma omp parallel for\n", ""), ("    for (std::size_t k = 0;", "#pragma omp parallel for\n    for (std::size_t k = 0;")),
    planted("triangular_solve 02", "threads do not wait for a column", "clean", "two threads of a team",
            ("#pragma omp for\n", "#pragma omp for nowait\n")),
    planted("advection 05", "no barrier after the halo", "clean", "two threads of a team",
            ("of_cols, u);\n#pragma omp barrier\n", "of_cols, u);\n")),
    # --- Correct results without the optimisation
    planted("ata 04", "tiles of one", "optimised", "could share", ("tile = 16", "tile = 2")),
    planted("ata 01", "no directive", "optimised", "nothing has changed", ("#pragma omp parallel for\n", "")),
    planted("ata 01", "the innermost loop is shared out", "optimised", "too small a part",
            ("#pragma omp parallel for\n", ""), ("      for (std::size_t j = 0; j < cols; ++j) c(i, j) +=",
                                                 # Large problems start so many teams that a run would take a minute.
                                                 "#pragma omp parallel for if (rows <= 33)\n"
                                                 "      for (std::size_t j = 0; j < cols; ++j) c(i, j) +=")),
    planted("ata 06", "all tiles, in the same grid", "agrees", "", ("if (p == q) return;", "return;")),
    planted("ata 05", "the loop ends with the rows", "optimised", "shared memory",
            ("m < tile; ++m", "m < min(tile, rows - k0); ++m")),
]
