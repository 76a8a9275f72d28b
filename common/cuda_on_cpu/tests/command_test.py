"""Tests that cuda-on-cpu builds what nvcc builds: command_test.py COMMAND MESON. Prints TAP."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND, MESON = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
HERE = pathlib.Path(__file__).parent
BUILD_FILES = HERE.parent / "command"
TOOLKIT = pathlib.Path(os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda") / "include/cccl/thrust"
FLAGS = ["-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80", "-lineinfo", "--expt-relaxed-constexpr", "-use_fast_math",
         "-Xptxas=-v", "-rdc=true"]
FILES = {
    "kernels.h": "void run(int* x, int n);\nint host(int);\n",
    "kernels.cu": """#include "kernels.h"
__global__ void twice(int* x) { x[threadIdx.x] *= FACTOR; }
void run(int* x, int n) {
  twice<<<1, n>>>(x);
  cudaDeviceSynchronize();
}
""",
    "host.cpp": """#include <cuda_runtime.h>
#include "kernels.h"
int host(int x) { int count = 0; return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? x : -1; }
""",
    # This source does not include CUDA's header; nvcc includes it, and with it <limits.h>.
    "main.cu": """#include "kernels.h"
static_assert(INT_MAX > CHAR_MAX);
int main() {
  int* x;
  cudaMallocManaged(&x, 8 * sizeof(int));
  for (int i = 0; i < 8; ++i) x[i] = i;
  run(x, 8);
  printf("%d %d\\n", x[7], host(3));
}
""",
    "race.cu": """__global__ void shift(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int* x;
  cudaMallocManaged(&x, 64 * sizeof(int));
  memset(x, 0, 64 * sizeof(int));
  shift<<<1, 64>>>(x);
  return cudaDeviceSynchronize();
}
""",
    # Most blocks write elements that other blocks read: in a later kernel, or after the previous block has set a flag.
    "blocks.cu": """__global__ void produce(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }
__global__ void consume(const int* x, int* y) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[n - 1 - i] + x[(i + n / 2) % n];
}
__global__ void hand_on(volatile int* flags, int* x) {
  const int b = blockIdx.x;
  if (b > 0) {
    while (flags[b - 1] == 0) {}
    __threadfence();
  }
  x[b] = b == 0 ? 1 : x[b - 1] + x[0];
  __threadfence();
  flags[b] = 1;
}
#ifdef AHEAD
// Each block stores its own element long before it reads an element of a later block.
__global__ void look_ahead(int* x, int* y) {
  __shared__ int s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;
  for (int step = 0; step < 100; ++step) {
    s[threadIdx.x] = step;
    __syncthreads();
  }
  if (blockIdx.x + 8 < gridDim.x) y[i] = 2 * x[i + 8 * blockDim.x];
}
#endif
#ifdef RACE
__global__ void collide(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[blockIdx.x * blockDim.x + threadIdx.x] = s[63 - threadIdx.x];
}
#endif
int main() {
  int *x, *y, *flags, last = 0;
  cudaMalloc(&x, 6400 * sizeof(int));
  cudaMalloc(&y, 6400 * sizeof(int));
  cudaMalloc(&flags, 100 * sizeof(int));
  cudaMemset(flags, 0, 100 * sizeof(int));
  produce<<<100, 64>>>(x);
  consume<<<100, 64>>>(x, y);
  hand_on<<<100, 1>>>(flags, x);
#ifdef RACE
  collide<<<100, 64>>>(y);
#endif
#ifdef AHEAD
  int* fresh;
  cudaMalloc(&fresh, 6400 * sizeof(int));
  look_ahead<<<100, 64>>>(fresh, y);
#endif
  if (cudaMemcpy(&last, x + 99, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  printf("%d\\n", last);
  return cudaGetLastError();
}
""",
    "shifts.cu": """#include <cstdio>
__global__ void shift(const int* by, long long* x) {
  const int i = threadIdx.x;
  x[i] = 1LL << by[i];
  x[i] += -1 >> by[i];
  x[i] += i < 32 ? 1u << i : 0;
}
int main() {
  int by[34];
  for (int i = 0; i < 34; ++i) by[i] = i == 33 ? -1 : i;
  int* b;
  long long *x, y[34] = {};
  if (cudaMalloc(&b, sizeof by) != cudaSuccess || cudaMalloc(&x, sizeof y) != cudaSuccess) return 2;
  if (cudaMemcpy(b, by, sizeof by, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
  shift<<<1, ALL ? 34 : 32>>>(b, x);
  if (cudaMemcpy(y, x, (ALL ? 34 : 32) * sizeof *y, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  printf("%lld %lld %lld\\n", y[31], ALL ? y[32] : 0, ALL ? y[33] : 0);
  return 0;
}
""",
    "passes.cu": """#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "too old"
#endif
__host__ __device__ int pass() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__;
#else
  return -1;
#endif
}
__global__ void ask(int* x) { *x = pass(); }
int main() {
  int* x;
  cudaMallocManaged(&x, sizeof(int));
  ask<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  printf("%d %d %d\\n", *x, pass(), __LINE__);
}
""",
    # Five blocks of four threads claim indices from an atomic counter before a barrier.
    "order.cu": """__global__ void draw(int* next, int* order) {
  order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
}
int main() {
  int* x;
  cudaMallocManaged(&x, 21 * sizeof(int));
  x[0] = 0;
  draw<<<5, 4>>>(x, x + 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 1; i <= 20; ++i) printf("%d ", x[i]);
}
""",
    "sorted.cu": """#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <cstdio>
int main() {
  thrust::device_vector<int> v = {3, 1, 2};
  thrust::sort(v.begin(), v.end() + BEYOND);
  printf("%d %d %d\\n", int(v[0]), int(v[1]), int(v[2]));
  // As with nvcc, <thrust/sort.h> also declares these names.
  thrust::sequence(v.begin(), v.end(), 4);
  thrust::copy(v.begin(), v.end(), thrust::make_discard_iterator());
  printf("%d\\n", int(*thrust::max_element(v.begin(), v.end())));
}
""",
    "summed.cu": """#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cstdio>
__global__ void sum(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  extern __shared__ char memory[];
  auto& temp = reinterpret_cast<Reduce::TempStorage&>(memory);
  const int all = Reduce(temp).Sum(in[threadIdx.x]);
  BARRIER;
  const int most = Reduce(temp).Reduce(in[threadIdx.x], cuda::maximum<>{});
  if (threadIdx.x == 0) *out = all + most;
}
int main() {
  int* x;
  void* temp = nullptr;
  size_t bytes = 0;
  cudaMallocManaged(&x, 65 * sizeof(int));
  for (int i = 0; i < 64; ++i) x[i] = 1;
  cub::DeviceScan::InclusiveSum(temp, bytes, x, 64);
  cudaMalloc(&temp, bytes);
  cub::DeviceScan::InclusiveSum(temp, bytes, x, 64);
  sum<<<1, 64, sizeof(cub::BlockReduce<int, 64>::TempStorage)>>>(x, x + 64);
  cudaDeviceSynchronize();
  printf("%d\\n", x[64]);
}
""",
    "exit.cu": """#include <cub/util_ptx.cuh>
__global__ void leave() { cub::ThreadExit(); }
int main() {
  leave<<<1, 1>>>();
  cudaDeviceSynchronize();
}
""",
    "nested.cu": """#include <cstdio>
__global__ void child(int block) { printf("child %d\\n", block); }
__global__ void parent(bool waits) {
  child<<<1, 1>>>(blockIdx.x);
  printf("parent %d\\n", blockIdx.x);
  if (waits) cudaDeviceSynchronize();
}
int main(int argc, char**) {
  parent<<<2, 1>>>(argc > 1);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
""",
    "spin.cu": """__global__ void spin(volatile int* flag) {
  while (*flag == 0)
    ;
}
int main() {
  int* flag;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  spin<<<1, 2>>>(flag);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
""",
    "wrong.cu": "__global__ void k(int* x) {\n  x[0] = undeclared;\n}\nint main() {}\n",
    "module.cu": """#ifndef LAST
#define LAST 63
#endif
extern "C" __global__ void mirror(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
#ifndef RACE
  __syncthreads();
#endif
  x[threadIdx.x] = *(&s[0] + LAST - threadIdx.x);
}
""",
    # Loads the module that the second argument names, or compiles the source of this name. With a third argument, ignores an
    # error.
    "load.cu": """#include <cuda.h>
#include <nvrtc.h>
#include <fstream>
#include <iterator>
#include <string>
std::string compiled(const char* file, bool races) {
  std::ifstream from(file);
  const std::string source((std::istreambuf_iterator<char>(from)), {});
  nvrtcProgram program;
  const char* options[] = {races ? "-DRACE" : "-DNO_RACE"};
  std::size_t bytes = 0;
  if (nvrtcCreateProgram(&program, source.c_str(), "at_run_time.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS ||
      nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS || nvrtcGetPTXSize(program, &bytes) != NVRTC_SUCCESS)
    return "";
  std::string ptx(bytes, ' ');
  return nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS ? ptx : "";
}
int main(int, char** argv) {
  CUcontext context;
  CUmodule module;
  CUfunction mirror;
  CUdeviceptr x;
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = i;
  const std::string what = argv[1];
  if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, 0, 0) != CUDA_SUCCESS) return 2;
  if (what == "file" ? cuModuleLoad(&module, argv[2])
                     : cuModuleLoadData(&module, compiled(argv[2], what == "races").c_str())) return 3;
  if (argv[3])
    cuModuleGetFunction(&mirror, module, argv[3]);
  if (cuModuleGetFunction(&mirror, module, "mirror") != CUDA_SUCCESS) return 4;
  if (cuMemAlloc(&x, sizeof values) != CUDA_SUCCESS || cuMemcpyHtoD(x, values, sizeof values) != CUDA_SUCCESS) return 5;
  void* parameters[] = {&x};
  if (cuLaunchKernel(mirror, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr) != CUDA_SUCCESS) return 6;
  if (cuMemcpyDtoH(values, x, sizeof values) != CUDA_SUCCESS) return 7;
  printf("%d %d\\n", values[0], values[63]);
}
""",
    "ptx.cu": '__global__ void k() {\n\n  asm("bra.uni L1;");\n}\nint main() {}\n',
    "Makefile": """NVCC = nvcc
NVCCFLAGS = -O3 -arch=sm_80 -Xcompiler -Wall,-Wextra -DFACTOR=2
program: main.o kernels.o host.o
	$(NVCC) $(NVCCFLAGS) -o $@ $^ -lcudart
%.o: %.cu kernels.h
	$(NVCC) $(NVCCFLAGS) -c -o $@ $<
%.o: %.cpp kernels.h
	$(NVCC) $(NVCCFLAGS) -c -o $@ $<
""",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.20)
project(small LANGUAGES CXX CUDA)
add_compile_definitions(FACTOR=2)
add_library(kernels STATIC kernels.cu)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(program main.cu host.cpp)
target_link_libraries(program PRIVATE kernels)
target_compile_options(program PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -lineinfo>)
""",
    # A program without a kernel.
    "toolkit/libraries.cpp": """#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cstdio>
int main() {
  float* x;
  cudaMallocManaged(&x, 12 * sizeof(float));
  for (int i = 0; i < 8; ++i) x[i] = 1;
  cublasHandle_t blas;
  cublasCreate(&blas);
  const float one = 1, zero = 0;
  cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 8, &one, x, 1, x, 8, &zero, x + 8, 1);
  cufftHandle fft;
  cufftPlan1d(&fft, 4, CUFFT_C2C, 1);
  cufftExecC2C(fft, reinterpret_cast<cufftComplex*>(x), reinterpret_cast<cufftComplex*>(x), CUFFT_FORWARD);
  curandGenerator_t random;
  curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);
  curandGenerateUniform(random, x + 9, 1);
  cusolverDnHandle_t solver;
  int* info;
  cudaMallocManaged(&info, sizeof(int));
  x[10] = 16;
  cusolverDnCreate(&solver);
  cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, 1, x + 10, 1, x + 11, 1, info);
  cudaDeviceSynchronize();
  std::printf("%g %g %d %g\\n", x[8], x[0], x[9] > 0 && x[9] <= 1, x[10]);
}
""",
    "toolkit/module.cpp": """#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <vector>
int main() {
  const char* source = "extern \\"C\\" __global__ void answer(int* x) { *x = 42; }";
  nvrtcProgram program;
  std::size_t bytes = 0;
  nvrtcCreateProgram(&program, source, "answer.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 0, nullptr) != NVRTC_SUCCESS || nvrtcGetCUBINSize(program, &bytes) != NVRTC_SUCCESS) return 1;
  std::vector<char> image(bytes);
  nvrtcGetCUBIN(program, image.data());
  CUcontext context;
  CUmodule module;
  CUfunction answer;
  CUdeviceptr x;
  int value = 0;
  cuInit(0);
  cuCtxCreate(&context, nullptr, 0, 0);
  if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS) return 2;
  cuModuleGetFunction(&answer, module, "answer");
  cuMemAlloc(&x, sizeof value);
  void* arguments[] = {&x};
  cuLaunchKernel(answer, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(&value, x, sizeof value);
  std::printf("%d\\n", value);
}
""",
    # The project has CMake modules of its own. Its programs have sources in C++, in CUDA C++, or in both.
    "toolkit/CMakeLists.txt": """cmake_minimum_required(VERSION 3.20)
project(libraries LANGUAGES CXX CUDA)
set(CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
find_package(CUDAToolkit 12.2 REQUIRED)
add_executable(libraries libraries.cpp)
target_link_libraries(libraries PRIVATE CUDA::cudart CUDA::cublas CUDA::cufft CUDA::curand CUDA::cusolver)
add_executable(module module.cpp)
target_link_libraries(module PRIVATE CUDA::cudart_static CUDA::cuda_driver CUDA::nvrtc)
add_executable(mixed mixed.cu other.cpp)
target_link_libraries(mixed PRIVATE CUDA::cudart CUDA::cublas CUDA::nvtx3)
add_executable(kernel mixed.cu other.cu)
target_link_libraries(kernel PRIVATE CUDA::cudart CUDA::cublas CUDA::cuda_driver)
""",
    "toolkit/mixed.cu": """float sum(const float* x, int n);
__global__ void fill(float* x) { x[threadIdx.x] = 2; }
int main() {
  float* x;
  cudaMallocManaged(&x, 8 * sizeof(float));
  fill<<<1, 8>>>(x);
  cudaDeviceSynchronize();
  printf("%g\\n", sum(x, 8));
  cudaFree(x);
}
""",
    "toolkit/other.cpp": """#include <cublas_v2.h>
float sum(const float* x, int n) {
  cublasHandle_t blas;
  cublasCreate(&blas);
  float* result;
  cudaMallocManaged(&result, sizeof(float));
  const float half = 0.5f, zero = 0;
  cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, n, &half, x, 1, x, n, &zero, result, 1);
  cudaDeviceSynchronize();
  const float value = *result;
  cudaFree(result);
  cublasDestroy(blas);
  return value;
}
""",
    "warned.cu": "__global__ void k(int* p) {\n  int unused;\n  p[0] = p[1] << p[2];\n}\nint main() { k<<<1, 1>>>(nullptr); }\n",
    "sparse.cu": "#include <cusparse.h>\nint main() {}\n",
    "toolkit/other.cu": """#include "other.cpp"
""",
    "meson.build": """project('small', 'cpp', 'cuda')
add_project_arguments('-DFACTOR=2', language: 'cuda')
kernels = static_library('kernels', 'kernels.cu')
executable('program', 'main.cu', 'host.cpp', link_with: kernels)
""",
}


def run(*words, cwd, expected=0):
    """Runs a command and returns its result. Raises an error if the exit status is not the expected one."""
    environment = {**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    result = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    if result.returncode != expected:
        raise AssertionError(f"{words} ends with status {result.returncode}, not {expected}: {result.stdout}{result.stderr}")
    return result


def check(passed, message):
    if not passed:
        raise AssertionError(message)


def run_program(program, cwd):
    output = run(cwd / program, cwd=cwd).stdout
    check(output == "14 3\n", f"{program} prints {output}")


def several_files(cwd):
    """Several sources are built into a program with the usual flags of nvcc"""
    output = run(COMMAND, *FLAGS, "-DFACTOR=2", "-O2", "main.cu", "kernels.cu", "host.cpp", "-o", "program", "-lcudart",
                 cwd=cwd).stderr
    run_program("program", cwd)
    check(output.count("\n") == 1, f"the ignored flags are not named in exactly one line: {output}")
    for flag in ("-arch=sm_90", "-gencode arch=compute_80,code=sm_80", "-use_fast_math"):
        check(flag in output, f"the ignored flag {flag} is not named: {output}")


def objects(cwd):
    """Objects, a device link and an archive are linked"""
    quiet = [COMMAND, "--quiet"]
    run(*quiet, "-dc", "-DFACTOR=2", "kernels.cu", "main.cu", cwd=cwd)
    run(*quiet, "-c", "host.cpp", "-o", "elsewhere.o", cwd=cwd)
    run(*quiet, "-dlink", "-Xcompiler=-fPIC", "-shared", "kernels.o", "main.o", "-o", "linked.o", cwd=cwd)
    run(*quiet, "--lib", "kernels.o", "elsewhere.o", "-o", "libkernels.a", cwd=cwd)
    run(*quiet, "main.o", "linked.o", "-L.", "-lkernels", cwd=cwd)
    run_program("a.out", cwd)


def libraries_first(cwd):
    """Libraries may precede the objects that need them, and libraries of the toolkit may be named by file"""
    run(COMMAND, "--lib", "-DFACTOR=2", "kernels.cu", "-o", "libkernels.a", cwd=cwd)
    run(COMMAND, "-c", "main.cu", cwd=cwd)
    run(COMMAND, "-L.", "-lkernels", "/nowhere/libcudart.so", "main.o", "host.cpp", "-o", "program", cwd=cwd)
    run_program("program", cwd)


def plain_c(cwd):
    """A source in C calls the runtime"""
    (cwd / "chosen.c").write_text("int cudaSetDevice(int device);\nint chosen(void) { return cudaSetDevice(0); }\n")
    (cwd / "choose.cu").write_text('extern "C" int chosen();\nint main() { return chosen(); }\n')
    run(COMMAND, "choose.cu", "chosen.c", "-o", "choose", cwd=cwd)
    run(cwd / "choose", cwd=cwd)


def last_kernel(cwd):
    """A source may end with a kernel and a comment, analysed or not"""
    (cwd / "last.cu").write_text("__global__ void last(int* x) { *x = 1; }\n// the end")
    for words in ([], ["--analyze"]):
        run(COMMAND, *words, "-c", "last.cu", cwd=cwd)


def translated(cwd):
    """-cuda writes the translated source as C++ that g++ compiles"""
    run(COMMAND, "-cuda", "-DFACTOR=2", "kernels.cu", cwd=cwd)
    text = (cwd / "kernels.cu.cpp.ii").read_text()
    check("<<<" not in text and "x[threadIdx.x] *= 2" in text, "kernels.cu.cpp.ii is not the source in C++")
    run("g++", "-x", "c++-cpp-output", "-std=gnu++17", "-Wno-deprecated", "-c", "kernels.cu.cpp.ii", "-o", "kernels.o", cwd=cwd)
    run(COMMAND, "main.cu", "host.cpp", "kernels.o", "-o", "program", cwd=cwd)
    run_program("program", cwd)
    run(COMMAND, "--cuda", "-DFACTOR=2", "kernels.cu", "-o", "nowhere/kernels.ii", cwd=cwd, expected=1)


def profiler(cwd):
    """Programs that use NVTX or link NVML need no toolkit"""
    (cwd / "ranges.cu").write_text("""#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
int main() {
  nvtxNameCudaStreamA(nullptr, "all");
  const nvtxRangeId_t range = nvtxRangeStart("program");
  nvtxRangePush("part");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "mark";
  nvtxMarkEx(&attributes);
  nvtxRangePop();
  nvtxRangeEnd(range);
}
""")
    run(COMMAND, "ranges.cu", "-o", "ranges", "-lnvToolsExt", "-lnvidia-ml", cwd=cwd)
    run(cwd / "ranges", cwd=cwd)


def another_language(cwd):
    """-x cu declares a file with any name as CUDA"""
    shutil.copy(cwd / "main.cu", cwd / "main.cc")
    run(COMMAND, "-x", "cu", "main.cc", "kernels.cu", "-x", "c++", "host.cpp", "-D", "FACTOR=2", "-o", "program", cwd=cwd)
    run_program("program", cwd)


def dependencies(cwd):
    """-MD and -M name the headers of a source"""
    run(COMMAND, "-c", "-MD", "-MF", "main.d", "main.cu", "-o", "main.o", cwd=cwd)
    check("kernels.h" in (cwd / "main.d").read_text(), "main.d does not name kernels.h")
    check("kernels.h" in run(COMMAND, "-M", "main.cu", cwd=cwd).stdout, "-M does not name kernels.h")


def makefile(cwd):
    """A Makefile works with NVCC=cuda-on-cpu"""
    run("make", f"NVCC={COMMAND}", cwd=cwd)
    run_program("program", cwd)


def cmake(cwd):
    """CMake builds with the toolchain file"""
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={BUILD_FILES}/cuda-on-cpu.cmake"
    run("cmake", "-B", "build", toolchain, ".", cwd=cwd)
    run("cmake", "--build", "build", cwd=cwd)
    run_program("build/program", cwd)


def cmake_toolkit(cwd):
    """find_package(CUDAToolkit) finds the libraries of the host, also for programs without kernels"""
    expected = {"libraries": "8 4 1 4\n", "module": "42\n", "mixed": "16\n", "kernel": "16\n"}
    for flags in [], ["-DCMAKE_CUDA_FLAGS=--analyze"]:
        build = cwd / f"toolkit{len(flags)}"
        run("cmake", "-S", "toolkit", "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={BUILD_FILES}/cuda-on-cpu.cmake", *flags, cwd=cwd)
        run("cmake", "--build", build, cwd=cwd)
        for name, values in expected.items():
            output = run(build / name, cwd=cwd)
            check(output.stdout == values, f"{name} prints {output.stdout}{output.stderr}")
            check(("No error was found" in output.stderr) == bool(flags), f"{name} prints {output.stderr}")


def meson(cwd):
    """Meson builds with the native file"""
    headers = run(COMMAND, "--headers", cwd=cwd).stdout.strip()
    run(MESON, "setup", "build", "--native-file", BUILD_FILES / "cuda-on-cpu.ini", f"-Dcpp_args=-I{headers}", cwd=cwd)
    run(MESON, "compile", "-C", "build", cwd=cwd)
    run_program("build/program", cwd)


def passes(cwd):
    """__CUDA_ARCH__ is 900 in device code and undefined in host code, unless the user defines it"""
    for words, expected in (([], "900 -1 17\n"), (["-D__CUDA_ARCH__=800"], "800 800 17\n")):
        run(COMMAND, *words, "passes.cu", "-o", "passes", cwd=cwd)
        output = run(cwd / "passes", cwd=cwd).stdout
        check(output == expected, f"a program that is built with {words} prints {output}")
    output = run(COMMAND, "-D__CUDA_ARCH__=600", "passes.cu", cwd=cwd, expected=1).stderr
    check("passes.cu:2:2: error" in output, output)


def analysis(cwd):
    """--analyze builds a program that finds a race and reports its line"""
    run(COMMAND, "--analyze", "race.cu", "-o", "race", cwd=cwd)
    output = run(cwd / "race", cwd=cwd, expected=1).stderr
    check("race.cu:3: error: race" in output, output)


def other_compiler(cwd):
    """-ccbin selects another compiler for the same libraries, and a program that is not a compiler is refused"""
    for compiler in filter(shutil.which, ("g++", "clang++")):
        output = run(COMMAND, "-ccbin", compiler, "--analyze", "race.cu", "-o", "race", cwd=cwd).stderr
        check(output == "", output)
        output = run(cwd / "race", cwd=cwd, expected=1).stderr
        check("race.cu:3: error: race" in output, f"{compiler}: {output}")
        output = run(COMMAND, "-ccbin", compiler, "kernels.cu", "host.cpp", "main.cu", "-DFACTOR=2", "-o", "main",
                     cwd=cwd).stderr
        check(output == "" and run(cwd / "main", cwd=cwd).stdout == "14 3\n", output)
    for compiler, why in (("no-compiler", "is not found"), ("true", "is not a C++ compiler")):
        output = run(COMMAND, "-ccbin", compiler, "main.cu", cwd=cwd, expected=1).stderr
        check(f"'{compiler}' {why}" in output and output.count("\n") == 1, output)


def warnings(cwd):
    """Each compiler prints the warning of a source and no other"""
    for compiler in filter(shutil.which, ("g++", "clang++")):
        for analyse in ([], ["--analyze"]):
            output = run(COMMAND, "-ccbin", compiler, *analyse, "-Xcompiler", "-Wall", "-c", "warned.cu", "-o", "warned.o",
                         cwd=cwd).stderr
            check("unused" in output and output.count("warning:") == 1 and "note:" not in output and "-Wno-" not in output,
                  output)


def names_of_std(cwd):
    """A program that uses namespace std may name its own variables as nvcc permits"""
    # cusolverDn.h includes LAPACK's header, which includes <complex> and further headers.
    names = ("array clamp function bind complex variant thread mutex deque list map queue stack set gcd accumulate iota random_device ratio regex "
             "find transform reduce shuffle sample unique_ptr shared_ptr unordered_map for_each merge rotate generate vector sort count optional").split()
    # CUDA's own cuda_runtime.h includes <utility>, which declares std::array since GCC 14.
    plain = cwd / "plain.cpp"
    plain.write_text("#include <utility>\nusing namespace std;\nfloat array;\nfloat value() { return array; }\n")
    if subprocess.run(["g++", "-std=c++17", "-fsyntax-only", plain], capture_output=True, check=False).returncode != 0:
        names.remove("array")
    for header in ("cuda_runtime.h", "cooperative_groups.h", "cuda_fp16.h", "cuda_fp8.h", "cublas_v2.h", "cufft.h", "curand.h"):
        (cwd / "std.cu").write_text(f"#include <{header}>\nusing namespace std;\n" + "".join(f"float {name};\n" for name in names)
                                    + "__global__ void k(float* p) { p[threadIdx.x] = 1; }\n"
                                    + "int main() { k<<<1, 1>>>(nullptr); return int(" + " + ".join(names) + "); }\n")
        run(COMMAND, "-c", "std.cu", "-o", "std.o", cwd=cwd)


def uncovered_libraries(cwd):
    """A library without a replacement is refused when it is included or linked"""
    output = run(COMMAND, "-c", "sparse.cu", "-o", "sparse.o", cwd=cwd, expected=1).stderr
    check("sparse.cu:1:" in output and "cuSPARSE is not covered" in output, output)
    for library in ("-lcusparse", "-lnppig", "-lnpps_static"):
        output = run(COMMAND, "race.cu", library, "-o", "race", cwd=cwd, expected=1).stderr
        check(f"{library}: this library is not covered" in output and output.count("\n") == 1, output)


def shifts(cwd):
    """Shifts by a negative amount or by at least the width of the value work as on a GPU, and lead to notes"""
    for every, values, expected in ((0, "4294967295 0 0\n", {}), (1, "4294967295 4294967295 -1\n", {4: "64 bits is shifted by -1", 5: "32 bits is shifted by 32"})):
        run(COMMAND, f"-DALL={every}", "shifts.cu", "-o", "shifts", cwd=cwd)
        output = run(cwd / "shifts", cwd=cwd).stdout
        check(output == values, output)
        run(COMMAND, "--analyze", f"-DALL={every}", "shifts.cu", "-o", "shifts", cwd=cwd)
        environment = {**os.environ, "CUDA_ON_CPU_REPORT": "shifts.json"}
        result = subprocess.run(["./shifts"], capture_output=True, text=True, cwd=cwd, env=environment)
        contents = json.loads((cwd / "shifts.json").read_text())
        found = {note["line"]: note["sentence"] for note in contents["notes"] if note["kind"] == "wide shift"}
        check(result.returncode == 0 and result.stdout == values and not contents["errors"]
              and found.keys() == expected.keys(),
              result.stderr)
        check(all(expected[line] in found[line] for line in expected), f"{found}")


def report(cwd):
    """The report has a summary, and is in SARIF format if the name of its file ends in .sarif"""
    run(COMMAND, "--analyze", "race.cu", "-o", "race", cwd=cwd)
    environment = {**os.environ, "CUDA_ON_CPU_REPORT": str(cwd / "found.sarif")}
    output = subprocess.run([cwd / "race"], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    check("3 errors were found: race (2), uninitialised read (1)." in output.stderr
          and "Look first at race.cu:" in output.stderr,
          output.stderr)
    sarif = json.loads((cwd / "found.sarif").read_text())
    result = sarif["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    check(sarif["version"] == "2.1.0" and result["ruleId"] == "race" and result["level"] == "error", f"{sarif}")
    check(place["artifactLocation"]["uri"] == "race.cu" and place["region"]["startLine"] in (3, 4), f"{place}")


def contents(cwd):
    """CUDA_ON_CPU_CONTENTS names a file with the changed arrays of each launch, before and after it"""
    (cwd / "scale.cu").write_text("""__global__ void scale(int n, int* x, const int* y) { x[threadIdx.x] *= n + y[threadIdx.x]; }
int main() {
  int *x, *y;
  cudaMalloc(&x, 8);
  cudaMalloc(&y, 8);
  const int a[] = {1, 2}, b[] = {3, 4};
  cudaMemcpy(x, a, 8, cudaMemcpyHostToDevice);
  cudaMemcpy(y, b, 8, cudaMemcpyHostToDevice);
  scale<<<1, 2>>>(10, x, y);
  return cudaDeviceSynchronize();
}
""")
    run(COMMAND, "--analyze", "scale.cu", "-o", "scale", cwd=cwd)
    subprocess.run(["./scale"], cwd=cwd, env={**os.environ, "CUDA_ON_CPU_CONTENTS": "arrays"}, check=True, capture_output=True)
    data, found = (cwd / "arrays").read_bytes(), []
    while data:
        line, _, data = data.partition(b"\n")
        record = json.loads(line)
        values = []
        for array in record["arrays"]:
            if array["changed"]:
                values.append(list(memoryview(data[:array["bytes"]]).cast("i")))
                data = data[array["bytes"]:]
        found.append((record["when"], record["kernel"], [array["changed"] for array in record["arrays"]], values))
        check(any(word % 2 ** 32 == 10 for _, word in record["others"]), f"{record}")
    check(found == [("before", "scale", [True, True], [[1, 2], [3, 4]]), ("after", "scale", [True, False], [[13, 28]])], f"{found}")


def sample(cwd):
    """CUDA_ON_CPU_BLOCKS analyses some thread blocks of a grid, without false findings if other blocks order accesses"""
    def result(number, expected, threads=1):
        environment = {**os.environ, "CUDA_ON_CPU_BLOCKS": str(number), "CUDA_ON_CPU_REPORT": "blocks.json", "CUDA_ON_CPU_THREADS": str(threads)}
        result = subprocess.run(["./blocks"], capture_output=True, text=True, cwd=cwd, env=environment)
        check(result.returncode == expected,
              f"{number} analysed blocks: the exit status is {result.returncode}, not {expected}\n"
              f"{result.stdout}{result.stderr}")
        return result

    sentence = "Of 300 blocks, {} only ran, and were neither checked nor counted (CUDA_ON_CPU_BLOCKS)."
    run(COMMAND, "--analyze", "blocks.cu", "-o", "blocks", cwd=cwd)
    for number, left_out, threads in ((1, 294, 1), (2, 294, 4), (8, 276, 1), (8, 276, 4), (99, 0, 1), (100, 0, 4)):
        output = result(number, 0, threads)
        check(output.stdout == "100\n", output.stdout)
        check(sentence.format(left_out) in output.stderr if left_out else "CUDA_ON_CPU_BLOCKS" not in output.stderr,
              output.stderr)
        counted = json.loads((cwd / "blocks.json").read_text())["kernels"][0]["global_stores"]["requests"]
        check(counted == 2 * (300 - left_out) // 3, f"{number} analysed blocks: the report counts {counted} store requests")
    check("must be an integer" in result(0, 2).stderr, "CUDA_ON_CPU_BLOCKS=0 is not refused")
    run(COMMAND, "--analyze", "-DRACE", "blocks.cu", "-o", "blocks", cwd=cwd)
    for threads in (1, 4):
        check("error: race" in result(2, 1, threads).stderr, f"the race is not reported with {threads} threads")
    # Blocks that are left out run concurrently with analysed blocks, and their accesses count as later ones.
    run(COMMAND, "--analyze", "-DAHEAD", "blocks.cu", "-o", "blocks", cwd=cwd)
    for threads in (1, 4):
        result(8, 1, threads)
        errors = json.loads((cwd / "blocks.json").read_text())["errors"]
        check([(error["kind"], error["count"]) for error in errors] == [("uninitialised read", 384)], f"{threads} threads: {errors}")


def thrust(cwd):
    """Thrust sorts on the device, and an excessive range is reported at the line of the call"""
    run(COMMAND, "-DBEYOND=0", "sorted.cu", "-o", "sorted", cwd=cwd)
    check(run(cwd / "sorted", cwd=cwd).stdout == "1 2 3\n6\n", "thrust::sort does not sort")
    for beyond, status in ((0, 0), (1, 1)):
        run(COMMAND, "--analyze", f"-DBEYOND={beyond}", "sorted.cu", "-o", "sorted", cwd=cwd)
        output = run(cwd / "sorted", cwd=cwd, expected=status).stderr
        check(("sorted.cu:6: error: out of bounds" in output) == (beyond == 1), output)


def cub(cwd):
    """CUB's algorithms sum, and a missing barrier between two uses of temporary storage is reported"""
    for barrier, status in (("__syncthreads()", 0), ("", 1)):
        run(COMMAND, "--analyze", f"-DBARRIER={barrier}", "summed.cu", "-o", "summed", cwd=cwd)
        output = run(cwd / "summed", cwd=cwd, expected=status)
        check(("summed.cu:10: error: race" in output.stderr) == (status == 1), output.stderr)
    run(COMMAND, "-DBARRIER=__syncthreads()", "summed.cu", "-o", "summed", cwd=cwd)
    run(COMMAND, "exit.cu", "-o", "exit", cwd=cwd)
    status = subprocess.run([cwd / "exit"], text=True, capture_output=True, check=False)
    check(status.returncode > 0 and "'exit;', PTX in a header of the toolkit, does not run" in status.stderr, f"{status}")
    check(run(cwd / "summed", cwd=cwd).stdout == f"{sum(range(1, 65)) + 64}\n", "CUB computes wrong sums")


def no_toolkit(cwd):
    """Without a toolkit, the error message names the source of Thrust"""
    environment = {**os.environ, "CUDA_HOME": "/nowhere"}
    result = subprocess.run([COMMAND, "-DBEYOND=0", "sorted.cu"], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    expected = ("cuda-on-cpu: <thrust/device_vector.h> belongs to the CUDA toolkit, version 13 or later, "
                "which is not in /nowhere; set CUDA_HOME to its directory")
    check(result.returncode == 1 and result.stderr.splitlines()[-1] == expected, result.stderr)
    result = subprocess.run([COMMAND, "wrong.cu"], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    check(result.returncode == 1 and "toolkit" not in result.stderr, result.stderr)


def without_toolkit(cwd):
    """Without the toolkit, all headers of cuda::std can be included in one source"""
    headers = sorted(path.name for path in (HERE.parent / "include" / "cuda" / "std").iterdir())
    check(len(headers) >= 12, headers)
    for order in (headers, headers[::-1]):
        (cwd / "together.cu").write_text("".join(f"#include <cuda/std/{name}>\n" for name in order) + """#include <cstdio>
__global__ void k(cuda::std::atomic<int>* sum, cuda::std::array<int, 2> of) {
  sum->fetch_add(cuda::std::get<1>(cuda::std::make_tuple(0, of[1])) + int(cuda::std::numeric_limits<unsigned char>::max()));
}
int main() {
  cuda::std::atomic<int>* sum;
  cudaMallocManaged(&sum, sizeof *sum);
  *sum = 0;
  k<<<2, 32>>>(sum, {1, 2});
  cudaDeviceSynchronize();
  std::printf("%d\\n", sum->load());
}
""")
        environment = {**os.environ, "CUDA_HOME": "/nowhere"}
        result = subprocess.run([COMMAND, "--quiet", "together.cu", "-o", "together"], cwd=cwd, env=environment, text=True, capture_output=True, check=False)
        check(result.returncode == 0 and not result.stderr, result.stderr)
        output = run(cwd / "together", cwd=cwd).stdout
        check(output == f"{64 * 257}\n", output)


def order(cwd):
    """Blocks and threads run in the order given by CUDA_ON_CPU_SCHEDULE"""
    run(COMMAND, "order.cu", "-o", "order", cwd=cwd)

    def orders(schedule, threads="1"):
        environment = {**os.environ, "CUDA_ON_CPU_SCHEDULE": schedule, "CUDA_ON_CPU_THREADS": threads}
        output = subprocess.run([cwd / "order"], env=environment, text=True, capture_output=True, check=False)
        return output.stdout.split() if output.returncode == 0 else output.returncode

    ascending = [str(i) for i in range(20)]
    check(orders("ascending") == ascending, "blocks and threads do not run in ascending order")
    check(orders("descending") == ascending[::-1], f"the descending order is {orders('descending')}")
    seven, eight = orders("random:7"), orders("random:8")
    check(sorted(seven, key=int) == ascending and seven != ascending, f"the order for random:7 is {seven}")
    check(orders("random:7") == seven != eight, f"random:7 is not reproducible, or gives the order of random:8, {eight}")
    for schedule in ("random", "random:x", "sideways"):
        check(orders(schedule) == 2, f"{schedule} is not refused")


def first_error(cwd):
    """The first error names the source and its line"""
    output = run(COMMAND, "wrong.cu", cwd=cwd, expected=1).stderr
    first = next(line for line in output.splitlines() if "error" in line)
    check(re.match(r"wrong\.cu:2:\d+: error: .undeclared. was not declared", first), output)
    (cwd / "short.cu").write_text("int main() {}\nint short")
    output = run(COMMAND, "short.cu", cwd=cwd, expected=1).stderr
    check("short.cu:2:" in output, output)
    output = run(COMMAND, "ptx.cu", cwd=cwd, expected=1).stderr
    check(output.startswith("ptx.cu:3: error: PTX"), output)


def nested(cwd):
    """A kernel launches kernels in the order of the schedule, and a message reports that it cannot wait for them"""
    for words in ([], ["--analyze"]):
        run(COMMAND, *words, "-rdc=true", "nested.cu", "-o", "nested", "-lcudadevrt", cwd=cwd)
        for schedule, blocks in (("ascending", (0, 1)), ("descending", (1, 0))):
            environment = {**os.environ, "CUDA_ON_CPU_SCHEDULE": schedule, "CUDA_ON_CPU_THREADS": "1"}
            result = subprocess.run(["./nested"], text=True, capture_output=True, cwd=cwd, env=environment, check=False)
            expected = "".join(f"{who} {block}\n" for who in ("parent", "child") for block in blocks)
            check(result.returncode == 0 and result.stdout == expected, f"{schedule}: {result}")
            check(not words or "child: 2 launches, 2 blocks, 2 threads" in result.stderr,
                  f"the report does not count the launches of child: {result}")
        result = subprocess.run(["./nested", "waits"], text=True, capture_output=True, cwd=cwd, check=False)
        check(result.returncode == 3 and "kernel parent calls cudaDeviceSynchronize" in result.stderr, f"{result}")


def spins(cwd):
    """An endless wait for a volatile variable ends with an error message, with and without analysis"""
    for words, expected in (([], 3), (["--analyze"], 1)):
        run(COMMAND, *words, "spin.cu", "-o", "spin", cwd=cwd)
        environment = {**os.environ, "CUDA_ON_CPU_PATIENCE": "1"}
        result = subprocess.run(["./spin"], capture_output=True, text=True, cwd=cwd, env=environment, timeout=100)
        check(result.returncode == expected and "waits in a loop for a value that no thread stores" in result.stderr, f"{result}")


def modules(cwd):
    """A program loads modules, and refuses files that are not modules for the CPU device"""
    run(COMMAND, "load.cu", "-o", "load", "-lcuda", cwd=cwd)
    for kind in ("-ptx", "-cubin", "--fatbin"):
        run(COMMAND, kind, "module.cu", cwd=cwd)
        output = run("./load", "file", "module" + kind.replace("-", ".", 1).replace(".-", "."), cwd=cwd).stdout
        check(output == "63 0\n", f"{kind} prints {output}")
    (cwd / "gpu.ptx").write_text(".version 8.0\n.target sm_90\n")
    output = run("./load", "file", "gpu.ptx", cwd=cwd, expected=3).stderr
    check("'gpu.ptx' is not a module for the CPU device; compile its source with cuda-on-cpu" in output, output)
    run(COMMAND, "--analyze", "-cubin", "module.cu", "-o", "analysed.cubin", cwd=cwd)
    output = run("./load", "file", "analysed.cubin", cwd=cwd, expected=3).stderr
    check("'analysed.cubin' was built with --analyze, but the program was built without it; build both in the same way" in output, output)
    run(COMMAND, "load.cu", "-o", "bare", cwd=cwd)
    output = run("./bare", "file", "module.cubin", cwd=cwd, expected=3).stderr
    check("link the program with -lcuda" in output, output)


def analysed_modules(cwd):
    """Findings in modules are reported at their lines, and so are ignored errors"""
    run(COMMAND, "--analyze", "load.cu", "-o", "load", "-lcuda", "-lnvrtc", cwd=cwd)
    run(COMMAND, "--analyze", "-fatbin", "module.cu", "-o", "right.fatbin", cwd=cwd)
    run(COMMAND, "--analyze", "-fatbin", "-DRACE", "module.cu", "-o", "wrong.fatbin", cwd=cwd)
    for words in (("file", "right.fatbin"), ("right", "module.cu")):
        output = run("./load", *words, cwd=cwd).stderr
        check("No error was found" in output, output)
    for words, place in ((("file", "wrong.fatbin"), "module.cu:"), (("races", "module.cu"), "at_run_time.cu:")):
        output = run("./load", *words, cwd=cwd, expected=1).stderr
        check(f"{place}6: error: race" in output or f"{place}10: error: race" in output, output)
    run(COMMAND, "--analyze", "-fatbin", "-DLAST=64", "module.cu", "-o", "beyond.fatbin", cwd=cwd)
    output = run("./load", "file", "beyond.fatbin", cwd=cwd, expected=1).stderr
    check("module.cu:10: error: out of bounds" in output and "past the end of a variable in shared memory" in output, output)
    output = run("./load", "file", "right.fatbin", "nobody", cwd=cwd, expected=1).stderr
    check("load.cu:30: error: ignored error: CUDA_ERROR_NOT_FOUND, named symbol not found: the module has no kernel 'nobody'; it has mirror"
          in output, output)


def shared_limit(cwd):
    """More than 48 KiB of variables in shared memory are refused, as ptxas does"""
    (cwd / "shared.cu").write_text("template <typename T> __global__ void fill(T* x) {\n  __shared__ T a[N], b[1];\n  a[threadIdx.x] = b[0] = *x;\n"
                                   "  *x = a[0];\n}\nvoid run(double* x) {\n  static thread_local char own[100000];\n  own[0] = 1;\n"
                                   "  fill<<<1, 1>>>(x);\n  *x = own[0];\n}\n")
    run(COMMAND, "-DN=6143", "-c", "shared.cu", cwd=cwd)
    said = run(COMMAND, "-DN=6144", "-c", "shared.cu", "-o", "large.o", cwd=cwd, expected=1).stderr
    check(said == "shared.cu: error: kernel fill declares 49160 bytes of __shared__ variables; the compiler allows 49152 bytes per block\n"
          and not (cwd / "large.o").exists(), said)
    (cwd / "operator.cu").write_text("struct Table {\n  __device__ double operator[](int i) const {\n    __shared__ double a[6145];\n"
                                     "    a[threadIdx.x] = i;\n    return a[0];\n  }\n};\n"
                                     "__global__ void fill(double* x) { *x = Table()[1]; }\n")
    said = run(COMMAND, "-c", "operator.cu", "-o", "large.o", cwd=cwd, expected=1).stderr
    check("function operator[] declares 49160 bytes" in said, said)


def refusals(cwd):
    """Requests that have no meaning on a CPU are refused with one sentence"""
    for words, message in ((["--optix-ir", "main.cu"], "--optix-ir makes code for a GPU"), ([], "no source"),
                           (["-o"], "-o needs a value"),
                           (["-shared", "main.cu"], "shared libraries"), (["-x", "ada", "a"], "'ada' is not a language"),
                           (["-c", "main.cu", "kernels.cu", "-o", "a.o"], "2 sources"), (["code.ptx"], "'code.ptx'")):
        result = run(COMMAND, *words, cwd=cwd, expected=2)
        check(message in result.stderr and result.stderr.count("\n") == 1, result.stderr)


def questions(cwd):
    """--help, --version and --explain print their texts"""
    for word, text in (("--help", "make NVCC=cuda-on-cpu"), ("--version", "release 13.0"), ("--explain", "Not supported")):
        check(text in run(COMMAND, word, cwd=cwd).stdout, f"{word} does not print {text!r}")


def standards(cwd):
    """All headers compile without warnings as C++17 and C++20"""
    include = HERE.parent / "include"
    headers = [path.relative_to(include) for path in (*include.glob("*.h"), *include.glob("nvtx3/*.h"))
               if not path.name.startswith("cusparse") and path.name != "curand_mtgp32dc_p_11213.h"]
    (cwd / "all.cu").write_text("".join(f"#include <{name}>\n" for name in sorted(headers)) + "int main() {}\n")
    for standard in ("c++14", "c++17", "c++20"):
        run(COMMAND, f"-std={standard}", "-Xcompiler", "-Wall,-Wextra,-Werror", "-c", "all.cu", "-o", "all.o", cwd=cwd)


CHECKS = (several_files, objects, libraries_first, plain_c, last_kernel, translated, profiler, another_language, dependencies, makefile, cmake, cmake_toolkit, meson, passes, analysis, other_compiler, warnings, names_of_std, uncovered_libraries, shifts, report, contents, sample, thrust, cub, no_toolkit, without_toolkit, order, first_error,
          nested, spins, modules, analysed_modules, shared_limit, refusals, questions, standards)


def main():
    print(f"1..{len(CHECKS)}")
    for number, what in enumerate(CHECKS, 1):
        if what in (cmake, cmake_toolkit, makefile) and not shutil.which("make" if what is makefile else "cmake"):
            print(f"ok {number} - {what.__doc__} # SKIP it is not installed")
            continue
        if what in (thrust, cub) and not TOOLKIT.exists():
            print(f"ok {number} - {what.__doc__} # SKIP {TOOLKIT} does not exist")
            continue
        with tempfile.TemporaryDirectory() as directory:
            cwd = pathlib.Path(directory)
            for name, text in FILES.items():
                (cwd / name).parent.mkdir(exist_ok=True)
                (cwd / name).write_text(text)
            try:
                what(cwd)
                print(f"ok {number} - {what.__doc__}", flush=True)
            except AssertionError as error:
                print(f"not ok {number} - {what.__doc__}")
                print("".join(f"# {line}\n" for line in str(error).splitlines()), end="", flush=True)


main()
