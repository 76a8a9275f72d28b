"""Tests that macros of a program do not affect the CPU device's headers: names_test.py COMMAND. Prints TAP.

Programs are compiled with flags such as -DN=1024 or -DT=float, and define macros such as BLOCK_SIZE before they
include a header. The test compiles a source that includes all public headers. Every capital letter and many usual
macro names are defined as values that no name in a header can have.
"""

import pathlib
import string
import subprocess
import sys
import tempfile

COMMAND = pathlib.Path(sys.argv[1]).resolve()
HEADERS = pathlib.Path(__file__).resolve().parent.parent / "include"
# These headers replace headers of Thrust and CUB and include other headers of these libraries, which use T as a name.
OF_TOOLKIT = ["cub/", "thrust/", "cuda_on_cpu/cub.hpp", "cuda_on_cpu/thrust.hpp", "curand_mtgp32dc_p_11213.h"]
# These headers only report that a library is not covered.
REFUSING = ["cusparse"]
TYPES = "RST"
WORDS = """ALPHA ARRAY BATCH BETA BINS BLOCK BLOCKS BLOCKSIZE BLOCK_DIM BLOCK_SIZE BM BN BK COLS CONSTANT COUNT DATA DEBUG DEPTH DEVICE DIM DIMS DOUBLE DT
DX DY DZ ELEMENT EPS EPSILON ERROR FALSE FLOAT FULL_MASK GAMMA GLOBAL GRID GRID_SIZE HEIGHT HOST ID IDX INDEX INT ITERATIONS KERNEL LANE LENGTH LOCAL
MASK MATRIX NUM NUM_BLOCKS NUM_THREADS NX NY NZ OFFSET OK PI RADIUS REAL REPEAT ROWS SEED SHARED SIZE STAGES STEPS STREAMS STRIDE SUCCESS TEST THREADS
THREADS_PER_BLOCK TILE TILE_DIM TILE_SIZE TILE_WIDTH TM TN TK TRUE TYPE UNROLL VALUE VECTOR VERBOSE WARP WARPS WARP_SIZE WIDTH""".split()
FUNCTIONS = ["ABS(x)=((x)<0?-(x):(x))", "ADD(a,b)=((a)+(b))", "CEIL_DIV(a,b)=(((a)+(b)-1)/(b))", "CHECK(x)=(x)", "MAX(a,b)=((a)>(b)?(a):(b))",
             "MIN(a,b)=((a)<(b)?(a):(b))", "MUL(a,b)=((a)*(b))", "SUM(a,b)=((a)+(b))", "SWAP(a,b)=(a,b)"]
MACROS = ([f"-D{letter}={'float' if letter in TYPES else 1024}" for letter in string.ascii_uppercase]
          + [f"-D{word}=16" for word in WORDS] + [f"-D{function}" for function in FUNCTIONS])
# Macros that a source may define after <cuda_runtime.h> and before all other headers except libcu++.
BEFORE = """#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
"""
# The macros of the program work as usual after the headers.
AFTER = """
namespace cg = cooperative_groups;
__global__ void sum(T* x) {
  const auto tile = cg::tiled_partition<WARP_SIZE>(cg::this_thread_block());
  const T all = cg::reduce(tile, x[threadIdx.x], cg::plus<T>());
  if (tile.thread_rank() == 0) x[threadIdx.x] = all;
}
int main() {
  T* x;
  cudaMallocManaged(&x, TILE_SIZE * sizeof(T));
  for (int i = 0; i < TILE_SIZE; ++i) x[i] = i + MAX(A, B);
  sum<<<1, TILE_SIZE>>>(x);
  cudaDeviceSynchronize();
  printf("%g\\n", x[0]);
  cudaFree(x);
}
"""
WAYS = [("a program", [], True), ("a program that is analysed", ["--analyze"], True), ("a module", ["-cubin"], False)]


def public_headers():
    names = sorted(str(header.relative_to(HEADERS)) for header in HEADERS.rglob("*") if header.is_file())
    return [name for name in names if not name.startswith(tuple(OF_TOOLKIT + REFUSING))]


def main():
    headers = public_headers()
    print(f"1..{1 + len(WAYS)}")
    print(f"{'ok' if 'cooperative_groups.h' in headers and len(headers) > 50 else 'not ok'} 1 - {len(headers)} headers were found")
    with tempfile.TemporaryDirectory() as directory:
        source, output = pathlib.Path(directory) / "names.cu", pathlib.Path(directory) / "names"
        headers.sort(key=lambda name: not name.startswith("cuda/std/"))
        lines = [f"#include <{name}>\n" for name in headers]
        lines.insert(sum(name.startswith("cuda/std/") for name in headers), BEFORE)
        source.write_text("".join(lines) + AFTER)
        for number, (what, options, runs) in enumerate(WAYS, 2):
            libraries = ["-lcublas", "-lcufft", "-lcusolver"] if runs else []
            done = subprocess.run([COMMAND, *options, "-O1", *MACROS, source, "-o", output, *libraries], text=True, capture_output=True)
            if done.returncode == 0 and runs:
                done = subprocess.run([output], text=True, capture_output=True)
            # The sum of sixteen values, the first of which is MAX(A, B).
            passed = done.returncode == 0 and (not runs or done.stdout == f"{16 * 1024 + 15 * 16 // 2}\n")
            print(f"{'ok' if passed else 'not ok'} {number} - "
                  f"{what} with {len(MACROS)} macros compiles with all public headers")
            if not passed:
                print("".join(f"# {line}\n" for line in (done.stdout + done.stderr).splitlines()[:20]), end="")


main()
