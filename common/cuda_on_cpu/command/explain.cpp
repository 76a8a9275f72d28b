#include "command.hpp"

namespace cuda_on_cpu::command {

std::string explanation() {
  return R"(Supported parts of CUDA

Language   kernels and launches, also in macros, templates and headers; static and dynamic shared
           memory; __device__, __constant__ and managed variables; clusters and launch bounds;
           printf and assert; C++17 and later. __CUDA_ARCH__ is 900, unless -D defines it.
Threads    __syncthreads and its variants; shuffles, votes, matches and reductions of a warp;
           atomics and fences; cooperative groups; cuda::barrier, cuda::pipeline, cuda::atomic;
           asynchronous copies; cooperative launches and clusters; inline PTX without labels (the
           most common instructions, ldmatrix, stmatrix, and dense mma.sync in all shapes).
Runtime    memory (pinned, managed, pitched, stream-ordered, pools); symbols, streams and events;
           graphs, captured or built node by node, with memory nodes and conditional nodes;
           occupancy; host and kernels that wait for each other's flags in pinned or managed memory;
           several devices and peer access; memory and events that processes share; launches,
           copies, streams, events and memory in kernels, as of CUDA 12; arrays, also layered ones
           and cube maps; texture and surface objects with filters and borders.
Driver     contexts, modules, launches, memory (also mapped, and from pools), arrays and textures,
           streams, events, capture and graphs, addresses of functions (cuGetProcAddress). Modules
           are made with -cubin, -fatbin or -ptx (on x86-64), or by NVRTC at run time. Link the
           program with -lcuda, and with -lnvrtc for NVRTC.
Arithmetic functions and rounding modes of CUDA; half and bfloat16, also in pairs; floating-point
           types of 8, 6 and 4 bits; matrix products of a warp with nvcuda::wmma; SIMD functions for
           four bytes or two halves of a word; functions for dynamic programming (DPX); shifts by at
           least the width of a value, with the result of a GPU.
Libraries  cuBLAS: levels 1 to 3; products, solvers, LU, QR and least squares in batches. Dense
           cuSOLVER: linear systems, orthogonal factorisations, eigenvalues and singular values.
           cuFFT on one device; parts of cublasLt. These libraries call OpenBLAS, FFTW and LAPACK of
           the host. Parts of NCCL; the pseudorandom generators of cuRAND. Thrust, CUB, libcu++ and
           MTGP32 of cuRAND require the headers of the CUDA toolkit, version 13 or later, in
           /usr/local/cuda or in the directory CUDA_HOME. Algorithms of Thrust and CUB run on the
           device. Primitives of CUB for blocks and warps run in the kernels that use them.

Not supported (an error of the compiler, of the linker or of a call)

  labels and rare instructions of inline PTX, tensor maps; mipmaps and texture references; graphs
  that kernels launch; modules with real PTX; quasirandom generators; the agents of CUB;
  expert functions and sparse matrices of cuSOLVER; kernels in shared libraries. The command
  refuses cuSPARSE, cuDNN and other libraries by name.

Differences from a GPU

  A thread has 544 KiB of stack. Speed, caches, registers and occupancy are not modelled. Sums may
  differ in their last digits because a GPU fuses multiplications with additions.

Analysis

  A program that is built with --analyze finds races, accesses out of bounds, reads of uninitialised
  memory, divergent barriers and ignored errors. It reports them with their source lines, however it
  ends. It ends with status 1 if it found any. It also counts sectors and wavefronts as NVIDIA's
  profiler does.

  CUDA_ON_CPU_REPORT=FILE writes the report as JSON, or as SARIF if FILE ends in .sarif.
  CUDA_ON_CPU_BLOCKS=64 analyses 64 blocks of each launch. The other blocks only run.
  CUDA_ON_CPU_SCHEDULE=descending (or random:SEED) changes the order in which blocks and threads
  start.
)";
}

}  // namespace cuda_on_cpu::command
