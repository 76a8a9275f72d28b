"""Versions of solutions as learners write them, and the answer that the tutor must give to each.

Each version has the stage, a name, the states of steps with words of the answer (regular expressions), and pairs of original
and changed text. The original is the solution in versions/ if there is one for the stage, or else the stage's own source.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Version:
    """A version, and the answers that it must get."""

    stage: str
    name: str
    answers: dict  # by step: the state, and words that the step's sentences and remarks must contain
    changes: tuple = ()


def version(stage, name, answers, *changes):
    """Makes a version."""
    return Version(stage, name, answers, changes)


def wrong(*words):
    """The expected answer of a step that fails with these words."""
    return ("no", *words)


CLEAN, UNCLEAN, UNKNOWN, RIGHT = "clean", "not clean", "could not be analysed", "yes"

# --- ata 04: versions/ata_04.cu

BARRIER = "    __syncthreads();\n"
LOAD_LEFT = "left[y][x] = inside && loaded < cols ? a(first + y, loaded) : 0;"
LOAD_RIGHT = "right[y][x] = inside && j < cols ? a(first + y, j) : 0;"
COMPUTE = "for (unsigned m = 0; m < size; ++m) sum += left[m][y] * right[m][x];"
STORE = "if (i < cols && j < cols) c(i, j) = sum;"
LAUNCH = "product<<<dim3(tiles, tiles), dim3(size, size)>>>(a, c);"
FILES = r"tiled\.cu:\d+"

ATA_04 = [
    ("the solution itself", {"agrees": (RIGHT,), "clean": (CLEAN,), "optimised": (RIGHT,)}),
    ("the kernel prints", {"agrees": (RIGHT, r"your program prints for smallest, f64:\n  \{sum 0\}"), "clean": (CLEAN,),
                           "optimised": (RIGHT,)},
     (STORE, STORE + '\n  if (i == 0 && j == 0) printf("{sum %d}\\n", 0);')),
    ("tiles of floats", {"agrees": wrong("is a value of a wider type stored as float")},
     ("__shared__ double left", "__shared__ float left"), ("__shared__ double right", "__shared__ float right")),
    ("the program exits before the result", {"agrees": wrong("ended before it returned a result: does it call exit"),
                                             "clean": (UNKNOWN,)},
     (LAUNCH, LAUNCH + "\n  std::exit(0);")),
    ("no barrier before the computation", {"clean": (UNCLEAN, "race", "with no barrier between", FILES)},
     (BARRIER + "    for", "    for")),
    ("no barrier after the computation", {"agrees": wrong("wrong for: |wrong from "), "clean": (UNCLEAN, "race", FILES)},
     (BARRIER + "  }", "  }")),
    ("no barrier at all", {"clean": (UNCLEAN, "race")}, (BARRIER, "")),
    ("return before the barrier", {"agrees": wrong("wrong for|wrong from|last tile"),
                                   "clean": (UNCLEAN, r"leave the kernel before the barrier: .*return",
                                             r"(left|right)\[\d+\]\[\d+\]")},
     ("  double sum = 0;\n", "  if (i >= cols || j >= cols) return;\n  double sum = 0;\n")),
    ("elements of an earlier tile remain", {"clean": (UNCLEAN, "has not written", r"(left|right)\[\d+\]\[\d+\]")},
     (LOAD_LEFT, "if (inside && loaded < cols) left[y][x] = a(first + y, loaded);"),
     (LOAD_RIGHT, "if (inside && j < cols) right[y][x] = a(first + y, j);")),
    ("no test of the rows", {"clean": (UNCLEAN, "out of bounds", r"index -?\d+ of \d+", FILES)},
     ("inside = first + y < rows", "inside = true")),
    ("no test when a tile is loaded", {"clean": (UNCLEAN, "out of bounds", r"index -?\d+ of \d+")},
     (LOAD_LEFT, "left[y][x] = a(first + y, loaded);"), (LOAD_RIGHT, "right[y][x] = a(first + y, j);")),
    ("a tile read with exchanged indices", {"agrees": wrong("exchanged in the first factor"), "clean": (CLEAN,)},
     ("left[m][y]", "left[y][m]")),
    ("x and y exchanged in both reads", {"agrees": wrong(r"element \(0, 17\) holds the product of columns 1 and 16",
                                                         "wrong for: |wrong from "),
                                         "clean": (CLEAN,)}, ("left[m][y] * right[m][x]", "left[m][x] * right[m][y]")),
    ("the wrong column is loaded", {"agrees": wrong("holds the product of columns"),
                                    "clean": (UNCLEAN, "out of bounds", "index 12 of 10")},
     ("a(first + y, loaded)", "a(first + y, i)")),
    ("a tile stored with exchanged indices", {"agrees": wrong("exchanged in the first factor", r"written by .*transposed "
                                                                                               r"place"),
                                              "clean": (CLEAN,)}, ("left[y][x] =", "left[x][y] =")),
    ("tiles of 32", {"agrees": (RIGHT,), "clean": (CLEAN,), "optimised": (RIGHT,)}, ("size = 16;", "size = 32;")),
    ("tiles of 64", {"compiles": ("no", FILES, "product declares 65536 bytes of __shared__ variables; the compiler allows "
                                               "49152 bytes")},
     ("size = 16;", "size = 64;")),
    ("a block of 256 x 1 threads", {"agrees": wrong("has blocks of 256 x 1 threads, so threadIdx.y is always 0; the stage "
                                                    "launches 16 x 16"),
                                    "clean": (UNCLEAN, "out of bounds",
                                              r"left has 16 x 16 elements, so index 16 is outside")},
     (LAUNCH, LAUNCH.replace("dim3(size, size)", "size * size"))),
    ("a brace is missing", {"compiles": ("no", r"tiled\.cu:25: this brace is not closed, in the function product: for "
                                               r"\(unsigned first")},
     ("    __syncthreads();\n  }\n", "    __syncthreads();\n")),
    ("blocks of 64 x 64, and nothing is checked", {"agrees": wrong("never written"),
                                                   "clean": (UNCLEAN, "64 x 64 x 1 threads")},
     (LAUNCH, LAUNCH.replace("dim3(size, size)", "dim3(64, 64)")),
     ("  check_launch();\n  check(cudaDeviceSynchronize());\n", "")),
    ("tiles of 8", {"agrees": (RIGHT,), "clean": (CLEAN,)}, ("size = 16;", "size = 8;")),
    ("shared arrays that are too small", {"clean": (UNCLEAN, "out of bounds|race")},
     ("left[size][size]", "left[8][8]"), ("right[size][size]", "right[8][8]")),
    ("a loop beyond the tile", {"clean": (UNCLEAN, "out of bounds|has not written")}, ("m < size; ++m", "m < 32; ++m")),
    ("a step of two tiles", {"agrees": wrong(r"rows? 16.* of A (is|are) never added")}, ("first += size", "first += 32")),
    ("a barrier in a branch", {"clean": (UNCLEAN, "")}, (BARRIER + "    for", "    if (i < cols && j < cols) "
                                                                              "__syncthreads();\n    for")),
    ("__shared__ forgotten", {"agrees": wrong(r"requests to load from shared memory: 0 \(stage: \d+\)")},
     ("__shared__ double left", "double left"), ("__shared__ double right", "double right")),
    ("whole tiles of rows only", {"agrees": wrong("rows? .* of A (is|are) never added")},
     ("first < rows; first", "first + size <= rows; first")),
    ("only one factor comes from shared memory", {"agrees": (RIGHT,), "optimised": ("no", "global memory")},
     (COMPUTE, "for (unsigned m = 0; m < size; ++m)\n      if (j < cols && first + m < rows) sum += left[m][y] * a(first + "
               "m, j);")),
    ("the sum is reset", {"agrees": wrong("never added", "where the sum starts")},
     ("  double sum = 0;\n", ""), ("    const bool inside", "    double sum = 0;\n    const bool inside"),
     ("    __syncthreads();\n  }\n  " + STORE, "    __syncthreads();\n    " + STORE + "\n  }")),
    ("one thread loads", {"agrees": (RIGHT,), "optimised": ("no", "global memory")},
     (LOAD_LEFT + "\n    " + LOAD_RIGHT,
      "if (x == 0 && y == 0)\n      for (unsigned p = 0; p < size; ++p)\n        for (unsigned q = 0; q < size; ++q) {\n"
      "          const unsigned k = first + p, l = blockIdx.y * size + q, r = blockIdx.x * size + q;\n"
      "          left[p][q] = k < rows && l < cols ? a(k, l) : 0;\n          right[p][q] = k < rows && r < cols ? a(k, r) "
      ": 0;\n        }")),
    ("loads down a column", {"agrees": (RIGHT,), "optimised": ("no", "sectors", "down a column")},
     (LOAD_LEFT, "left[x][y] = first + x < rows && i < cols ? a(first + x, i) : 0;"),
     (LOAD_RIGHT, "right[x][y] = first + x < rows && blockIdx.x * size + y < cols ? a(first + x, blockIdx.x * size + y) : "
                  "0;")),
    ("the first row of the tile is forgotten", {"agrees": wrong("never added", r"added \d times")},
     ("a(first + y, loaded)", "a(y, loaded)"), ("a(first + y, j)", "a(y, j)")),
    ("no test before the store", {"clean": (UNCLEAN, "out of bounds|race|writes")}, (STORE, "c(i, j) = sum;")),
    ("shared memory that is not used", {"agrees": (RIGHT,), "optimised": ("no", "global memory")},
     (COMPUTE, "for (unsigned m = 0; m < size; ++m)\n      if (i < cols && j < cols && first + m < rows) sum += a(first + "
               "m, i) * a(first + m, j);")),
    ("no synchronisation", {"agrees": (RIGHT, r"no cudaDeviceSynchronize\(\) follows")},
     ("  check(cudaDeviceSynchronize());\n", "")),
]

# --- ata 03: the stage's own source

ROW = "  const unsigned i = blockIdx.y * tile + threadIdx.y;\n"
COLUMN = "  const unsigned j = blockIdx.x * tile + threadIdx.x;\n"
GUARD = "  if (i >= cols || j >= cols) return;\n"
SUM = "  double sum = 0;\n  for (std::size_t k = 0; k < rows; ++k) sum += a(k, i) * a(k, j);\n  c(i, j) = sum;\n"
NAIVE = "multiply<<<dim3(tiles, tiles), dim3(tile, tile)>>>(a, c);"
INNER = "      double sum = 0;\n      for (std::size_t k = 0; k < rows; ++k) sum += a(k, i) * a(k, j);\n      c(i, j) = sum;\n"
LINE = r"naive_cuda\.cu:\d+"

ATA_03 = [
    ("one thread computes everything", {"agrees": (RIGHT,), "optimised": ("no", "lanes take part")},
     (ROW + COLUMN + GUARD + SUM, "  if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y > 0) return;\n"
      "  for (unsigned i = 0; i < cols; ++i)\n    for (unsigned j = 0; j < cols; ++j) {\n" + INNER + "    }\n")),
    ("one thread is launched", {"agrees": (RIGHT,), "optimised": ("no", "threads ran")},
     (ROW + COLUMN + GUARD + SUM, "  for (unsigned i = 0; i < cols; ++i)\n    for (unsigned j = 0; j < cols; ++j) {\n"
      + INNER + "    }\n"),
     (NAIVE, "multiply<<<1, 1>>>(a, c);"), ("  const unsigned tiles = (cols + tile - 1) / tile;\n", "")),
    ("a thread per row", {"agrees": (RIGHT,), "optimised": ("no", "threads ran")},
     (ROW + COLUMN + GUARD + SUM, "  const unsigned i = blockIdx.x * tile + threadIdx.x;\n  if (i >= cols) return;\n"
      "  for (unsigned j = 0; j < cols; ++j) {\n" + INNER + "  }\n"), (NAIVE, "multiply<<<tiles, tile>>>(a, c);")),
    ("x and y exchanged", {"agrees": (RIGHT,), "optimised": ("no", "x and y, or row and column, exchanged")},
     (ROW, ROW.replace(".y", ".x")), (COLUMN, COLUMN.replace(".x", ".y"))),
    ("indices of a read exchanged", {"clean": (UNCLEAN, "out of bounds", r"index -?\d+ of \d+", LINE)},
     ("a(k, i) * a(k, j)", "a(i, k) * a(k, j)")),
    ("no guard", {"clean": (UNCLEAN, "out of bounds", r"index -?\d+ of \d+", LINE)}, (GUARD, "")),
    ("grid and block exchanged", {"agrees": wrong("never written", "threads ran", r"result has \d+ elements")},
     (NAIVE, "multiply<<<dim3(tile, tile), dim3(tiles, tiles)>>>(a, c);")),
    ("blockIdx forgotten", {"agrees": wrong("never written|nan")}, ("blockIdx.y * tile + ", ""),
     ("blockIdx.x * tile + ", "")),
    ("grid from the rows", {"agrees": wrong("never written", "threads ran")},
     ("(cols + tile - 1) / tile", "(problem.rows + tile - 1) / tile")),
    ("grid rounded down", {"agrees": wrong("0 x 0 x 1 blocks"), "clean": (UNCLEAN, "that nothing has written")},
     ("(cols + tile - 1) / tile", "cols / tile")),
    ("a block of 64 x 64", {"agrees": wrong("64 x 64 x 1 threads, but 1024 is the maximum")}, ("tile = 16;", "tile = 64;")),
    ("an array of the host for a kernel", {"compiles": ("no", LINE, "copied into a DeviceArray")},
     (NAIVE, NAIVE.replace("(a, c)", "(problem.a, c)"))),
    ("a kernel called like a function", {"compiles": ("no", LINE, "execution configuration")}, (NAIVE, "multiply(a, c);")),
    ("__global__ missing", {"compiles": ("no", LINE, "__global__ is missing")}, ("__global__ void", "void")),
    ("a launch with two brackets", {"compiles": ("no", LINE, "three brackets")},
     (NAIVE, "multiply<<dim3(tiles, tiles), dim3(tile, tile)>>(a, c);")),
    ("no copy in", {"agrees": wrong("nan|nothing has written"),
                    "clean": (UNCLEAN, "uninitialised read", "copy to the device missing", LINE)},
     ("  a.copy_from(problem.a.data());\n", "")),
    ("no start value", {"clean": (UNCLEAN, "uninitialised read", "without a start value", LINE)},
     (SUM, "  for (std::size_t k = 0; k < rows; ++k) c(i, j) += a(k, i) * a(k, j);\n")),
    ("a copy in the wrong direction", {"clean": (UNCLEAN, "that nothing has written", "wrong direction", LINE)},
     ("a.copy_from(problem.a.data());", "a.copy_to(const_cast<double*>(problem.a.data()));")),
    ("the result copied in the wrong direction", {"agrees": wrong("nan")},
     ("c.copy_to(product.data());", "c.copy_from(product.data());")),
    ("no synchronisation", {"agrees": (RIGHT, r"no cudaDeviceSynchronize\(\) follows")},
     ("  check(cudaDeviceSynchronize());\n", "")),
    ("the launch is not checked", {"agrees": (RIGHT, r"no check_launch\(\) follows")}, ("  check_launch();\n", "")),
    ("no launch", {"agrees": wrong("no kernel ran")}, ("  " + NAIVE + "\n", ""), ("  const unsigned tiles = (cols + tile - "
                                                                                  "1) / tile;\n", "")),
]

# --- A stencil and a reduction: the stages' own sources

OTHERS = [
    version("advection 10", "one warp computes all cells", {"agrees": (RIGHT,), "optimised": ("no", "threads ran")},
            ("update<T><<<grid, block>>>(w, u, next);", "update<T><<<1, 32>>>(w, u, next);"),
            ("copy_back<T><<<grid, block>>>(next, u);", "copy_back<T><<<1, 32>>>(next, u);")),
    version("durbin_levinson 08", "no barrier in the sum of a block",
            {"agrees": wrong(r"barriers of thread blocks: 0 \(stage: \d+\)"),
             "clean": (UNCLEAN, "race", r"warp_reduction\.cu:\d+")},
            ("  __syncthreads();\n  T sum = 0;", "  T sum = 0;")),
    version("advection 12", "clamped at the border", {"agrees": wrong("row 0 uses row 0 as the row above it, and must use "
                                                                      "row 36"), "clean": (CLEAN,)},
            ("index < 0 ? count - 1 : index < count ? index : 0", "index < 0 ? 0 : index < count ? index : count - 1")),
    version("advection 12", "no swap", {"agrees": wrong(r"same arrays as (u and next|next and u)", "is std::swap missing")},
            ("    std::swap(from, to);\n", "")),
    version("durbin_levinson 08", "half of the distances", {"agrees": wrong(r"distances 8, 4, 2, 1 \(stage: 16, 8, 4, 2, "
                                                                            r"1\)")},
            ("distance = warp_size / 2", "distance = warp_size / 4")),
    version("durbin_levinson 08", "a shared array that is too short",
            {"clean": (UNCLEAN, "out of bounds", "of_warp has 7 elements, so index 7 is outside")},
            ("of_warp[block_size / warp_size];", "of_warp[block_size / warp_size - 1];")),
    version("durbin_levinson 08", "every thread adds all elements of the block",
            {"agrees": (RIGHT,), "optimised": ("no", "load from shared memory")},
            ("  __shared__ T of_warp[block_size / warp_size];\n  value = sum_of_warp(value);\n"
             "  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;\n",
             "  __shared__ T all[block_size];\n  all[threadIdx.x] = value;\n"), ("of_one : of_warp", "of_one : all")),
]

# --- Other workloads, and teams of threads: the stages' own sources

ROWS = """#pragma omp parallel for
  for (std::size_t i = 0; i < cols; ++i) {
"""
TERMS = """    for (std::size_t j = 0; j < cols; ++j) c(i, j) = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      const double factor = a(k, i);
      for (std::size_t j = 0; j < cols; ++j) c(i, j) += factor * a(k, j);
    }
"""
OF_ONE = """    for (std::size_t j = 0; j < cols; ++j) {
      sum = 0;
      for (std::size_t k = 0; k < rows; ++k) sum += a(k, i) * a(k, j);
      c(i, j) = sum;
    }
"""

WORKLOADS = [
    version("ata 01", "one row too many", {"agrees": wrong("out of bounds: writes 8 bytes, directly after the end of an "
                                                           "array"),
                                           "clean": (UNCLEAN, r"openmp\.cpp:20: ")},
            ("i < cols; ++i) {", "i <= cols; ++i) {")),
    version("ata 01", "a sum that all threads share", {"clean": (UNCLEAN, "sum, declared in line 18, is one variable for "
                                                                          "all threads")},
            (ROWS + TERMS, "  double sum;\n" + ROWS + OF_ONE)),
    version("ata 04", "elements that are only updated", {"clean": (UNCLEAN, r"has written c\(", "store the value with = "
                                                                                                "instead")},
            (STORE, STORE.replace("= sum", "+= sum"))),
    version("matmul 04", "the offset of the tile is missing", {"agrees": wrong(r"the second factor is read with the index "
                                                                               r"k % 32 instead of k")},
            ("b(k0 + y, j0 + x)", "b(y, j0 + x)")),
    version("nbody 05", "the sum begins again with each tile",
            {"agrees": wrong(r"the arrays that launch 1 of evaluate gets are right, and afterwards, value 0 of forces\(0\)",
                             "only source body 128 is added|source bodies 0 to 127 are never added",
                             r"stored by .*tiled\.cu:\d+"),
             "clean": (CLEAN,)},
            ("first += threads) {\n", "first += threads) {\n    sum = {};\n")),
    version("triangular_solve 05", "the last division is missing",
            {"agrees": wrong(r"the arrays that the launch of solve_diagonal gets are right, and afterwards, x\(0\)",
                             r"the first wrong unknown is x\(0\): it is not divided by the diagonal element")},
            ("= left[row] / own[row][row]", "= left[row]")),
]

ALL = OTHERS + WORKLOADS + [version("ata 04", *each) for each in ATA_04] + [version("ata 03", *each) for each in ATA_03]
