#include "command.hpp"

namespace cuda_on_cpu::command {

std::string explanation() {
  return R"(What the CPU device covers of CUDA

Language   kernels and launches, in macros, templates and headers, too; static and dynamic shared
           memory; __device__, __constant__ and managed variables; clusters and launch bounds;
           printf and assert; C++17 and later. __CUDA_ARCH__ is 900 unless -D says otherwise.
Threads    __syncthreads and its siblings, shuffles, votes, matches and reductions of a warp,
           atomics, fences, cooperative groups, cuda::barrier, cuda::pipeline, cuda::atomic,
           asynchronous copies, grids that are launched cooperatively, clusters; the instructions of
           inline PTX that sources hold most often, without labels.
Runtime    memory (pinned, managed, pitched, in the order of streams, of pools), symbols, streams,
           events, graphs, captured or built node by node, with memory and conditions of their own,
           occupancy, hosts and kernels that wait for flags of each other in pinned or managed
           memory, several devices and their peers, memory and events that processes share;
           launches, copies, streams, events and memory in kernels, as of CUDA 12; arrays, layered
           ones and cube maps, too, texture and surface objects with filters and borders.
Driver     contexts, modules, launches, memory, also mapped, arrays and textures, streams, events.
           A module is what -cubin, -fatbin or -ptx makes here (on x86-64), or NVRTC when the
           program runs; link with -lcuda, and with -lnvrtc.
Numbers    CUDA's functions and roundings, half and bfloat16 with their pairs; products of a warp by
           nvcuda::wmma; four bytes or two halves of a word at once; shifts by as many bits as a number
           has, or more, as a GPU does them.
Libraries  some of cuBLAS with cublasLt, cuFFT and cuSOLVER by the host's OpenBLAS, FFTW and
           LAPACK; some of NCCL; the pseudorandom numbers of cuRAND. Thrust, CUB and libcu++ come from
           the headers of CUDA's toolkit, of version 13 or later, where it is installed (in
           /usr/local/cuda, or where CUDA_HOME says); algorithms of Thrust and CUB run on the
           device, and CUB's primitives of blocks and warps in the kernels that use them.

Not covered, with an error where it is compiled or linked

  most of inline PTX, tensor maps; mipmaps and texture references;
  graphs launched by kernels; of the driver's API graphs;
  modules of real PTX; quasirandom numbers, cuSPARSE, and the agents of CUB; kernels in shared
  libraries.

What differs from a GPU

  A thread has 128 KiB of stack. Speed, caches, registers and occupancy are not a GPU's. Sums may
  differ in their last digits where a GPU fuses multiplications with additions.

--analyze makes a program that finds races, accesses out of bounds, reads of memory that nobody
wrote, divergent barriers and errors that nobody looks at, at their lines, counts sectors and
wavefronts as NVIDIA's profiler does, and ends with status 1 if it found a mistake.

CUDA_ON_CPU_REPORT=FILE writes its report as JSON, or as SARIF if FILE ends in .sarif.
CUDA_ON_CPU_BLOCKS=64 analyses 64 blocks of each launch, and only runs the others.
CUDA_ON_CPU_SCHEDULE=descending, or random:SEED, begins blocks and threads in another order.
)";
}

}  // namespace cuda_on_cpu::command
