"""Programs give what they give on a GPU, and what they may not do there is found: results_test.py COMMAND. Speaks TAP.

A source is built with the words of its flags. If it is analysed, its report has to tell of the lines that end in `// here`, or in
`// here with FLAG` where it is built with -DFLAG, errors and notes alike, and of no others.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

COMMAND = pathlib.Path(sys.argv[1]).resolve()
SECONDS = 120  # that a program may take
CHECK = "#include <cstdio>\n#define CHECK(call) if ((call) != cudaSuccess) { printf(\"%s fails\\n\", #call); return 2; }\n"
SOURCES = {
    # Each form of a launch: the caller makes one copy and destroys it, and no thread does either.
    "arguments.cu": CHECK + """#include <atomic>
static std::atomic<int> copies{0}, ends{0};
struct Counted {
  int value;
  explicit Counted(int v) : value(v) {}
  Counted(const Counted& other) : value(other.value) { ++copies; }
  ~Counted() { ++ends; }
};
struct Copied {  // has no destructor of its own
  int value;
  explicit Copied(int v) : value(v) {}
  __host__ __device__ Copied(const Copied& other) : value(other.value + 1000) {}
};
struct Widened {
  long value;
  Widened(int v) : value(v) {}
  ~Widened() { ++ends; }
};
__global__ void plain(Counted a, int* sum) {
  a.value += threadIdx.x;  // each thread has its own
  atomicAdd(sum, a.value);
}
template <typename T>
__global__ void deduced(T a, int* sum) { atomicAdd(sum, a.value); }
template <typename T>
__global__ void scaled(T a, long factor, int* sum) { atomicAdd(sum, int(a.value * factor)); }
__global__ void overloaded(Counted a, int* sum) { atomicAdd(sum, a.value); }
__global__ void overloaded(int a, int* sum) { atomicAdd(sum, 2 * a); }
__global__ void converts(Widened a, Counted b, int* sum) { atomicAdd(sum, int(a.value) + b.value); }
__global__ void both(Copied a, Counted b, int* sum) { atomicAdd(sum, a.value + b.value); }
struct Owner {
  void (*kernel)(Counted, int*) = plain;
  void run(const Counted& a, int* sum) { kernel<<<1, 2>>>(a, sum); }
};
int main() {
  int* sum;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  const auto show = [&](const char* what) {
    CHECK(cudaDeviceSynchronize());
    printf("%s %d %d %d\\n", what, *sum, copies.load(), ends.load());
    *sum = copies = ends = 0;
    return 0;
  };
  *sum = 0;
  Counted a(3);
  plain<<<2, 4>>>(a, sum);
  show("plain");
  deduced<<<1, 4>>>(a, sum);
  show("deduced");
  scaled<Counted><<<1, 4>>>(a, 2, sum);
  show("scaled");
  overloaded<<<1, 4>>>(a, sum);
  show("overloaded");
  overloaded<<<1, 4>>>(7, sum);
  show("another overload");
  converts<<<1, 4>>>(5, a, sum);
  show("converts");
  both<<<1, 4>>>(Copied(1), a, sum);
  show("both");
  Owner().run(a, sum);
  show("by pointer");
  Counted b(8);
  void* arguments[] = {&b, &sum};
  CHECK(cudaLaunchKernel(plain, dim3(1), dim3(2), arguments));
  show("by addresses");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(2);
  CHECK(cudaLaunchKernelEx(&config, plain, b, sum));
  show("with attributes");
}
""",
    "punning.cu": CHECK + """__global__ void swap_halves(const float4* from, float4* to) {
  float4 value = from[threadIdx.x];
  long long* const words = reinterpret_cast<long long*>(&value);
  const long long first = words[0];
  words[0] = words[1];
  words[1] = first;
  float* const floats = reinterpret_cast<float*>(words);
  *reinterpret_cast<unsigned*>(&floats[0]) ^= 0x80000000u;
  to[threadIdx.x] = value;
}
int main() {
  float4 values[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *from, *to;
  CHECK(cudaMalloc(&from, sizeof values));
  CHECK(cudaMalloc(&to, sizeof values));
  CHECK(cudaMemcpy(from, values, sizeof values, cudaMemcpyHostToDevice));
  swap_halves<<<1, 2>>>(from, to);
  CHECK(cudaMemcpy(values, to, sizeof values, cudaMemcpyDeviceToHost));
  for (const float4& v : values) printf("%g %g %g %g\\n", v.x, v.y, v.z, v.w);
}
""",
    "own.cuh": """__device__ int total;
__constant__ int step = STEP;
inline __device__ int scaled(int x) { return x * step; }
template <typename T>
__device__ void add(T x) { atomicAdd(&total, scaled(x)); }
""",
    "one.cu": """#define STEP 1
#include "own.cuh"
#include <cstdio>
int of_other();
__device__ int named_alike[2] = {1, 2}, beside = 3;
__global__ void run() { add(1 + named_alike[0] * beside); }
int main() {
  run<<<1, 8>>>();
  int mine = 0;
  if (cudaMemcpyFromSymbol(&mine, total, sizeof mine) != cudaSuccess) return 2;
  printf("%d %d\\n", mine, of_other());
}
""",
    "two.cu": """#define STEP 10
#include "own.cuh"
namespace { __device__ float named_alike; }
__device__ int beside = 4;
__global__ void run_other() { add(beside); named_alike = 1; }
int of_other() {
  int step_of_host = 100, mine = 0;
  if (cudaMemcpyToSymbol(step, &step_of_host, sizeof mine) != cudaSuccess) return -1;
  run_other<<<1, 8>>>();
  return cudaMemcpyFromSymbol(&mine, total, sizeof mine) == cudaSuccess ? mine : -1;
}
""",
    "defines.cu": "__device__ int shared_by_all;\n__constant__ int known = 5;\n",
    "uses.cu": CHECK + """extern __device__ int shared_by_all;
extern __constant__ int known;
__global__ void count() { atomicAdd(&shared_by_all, known); }
int main() {
  int value = 0;
  count<<<1, 8>>>();
  CHECK(cudaMemcpyFromSymbol(&value, shared_by_all, sizeof value));
  printf("%d\\n", value);
}
""",
    "print.cu": CHECK + """__global__ void print(int* results) {
  printf("a statement %d\\n", 1);
  results[0] = printf("nothing\\n");
  results[1] = std::printf("%d %s\\n", 1, "two");
  if (const int count = ::printf("%d %d %d\\n", 1, 2, 3); count > 0) results[2] = count;
}
int main() {
  int results[3] = {}, *r;
  CHECK(cudaMalloc(&r, sizeof results));
  print<<<1, 1>>>(r);
  CHECK(cudaMemcpy(results, r, sizeof results, cudaMemcpyDeviceToHost));
  printf("%d %d %d\\n", results[0], results[1], results[2]);
}
""",
    "symbols.cu": CHECK + """struct Pair { int a, b; };
__constant__ float weights[4];
__device__ Pair pair;
__managed__ int both;
namespace inner { __device__ int value; }
template <typename T> __device__ T variable;
static float of_host[4];
static const int table_of_host[4] = {1, 2, 3, 4};
__global__ void use(float* out) {
  *out = weights[0] + pair.a + both + inner::value + variable<int> + variable<float>;
}
int main() {
  float values[4] = {1, 2, 3, 4};
  int one = 1;
  std::size_t size = 0;
  void* address = &size;
  const auto show = [](cudaError_t error) { printf("%s\\n", cudaGetErrorName(error)); cudaGetLastError(); };
  show(cudaMemcpyToSymbol("weights", values, sizeof values));
  show(cudaMemcpyToSymbol(&weights, values, sizeof values));
  show(cudaMemcpyToSymbol(of_host, values, sizeof values));
  show(cudaMemcpyFromSymbol(&one, table_of_host, sizeof one));
  show(cudaMemcpyToSymbol(weights[1], values, sizeof *values));
  show(cudaMemcpyToSymbol(pair.b, &one, sizeof one));
  show(cudaGetSymbolAddress(&address, of_host));
  show(cudaGetSymbolSize(&size, values));
  printf("%d\\n", address == &size && size == 0);
  show(cudaMemcpyToSymbol(weights, values, sizeof values + 1));
  one = 1;
  CHECK(cudaMemcpyToSymbol(weights, values, sizeof values));
  CHECK(cudaMemcpyToSymbol(pair, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(both, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(inner::value, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(variable<int>, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(variable<float>, values, sizeof *values));
  CHECK(cudaGetSymbolSize(&size, pair));
  float* out;
  CHECK(cudaMallocManaged(&out, sizeof *out));
  use<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  printf("%g %zu\\n", *out, size);
}
""",
    "far.cu": """__global__ void fill(double* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    a[i] = i;  // here
  }
}
int main() {
  const int n = 1 << 20;
  double* a;
  if (cudaMalloc(&a, n) != cudaSuccess) return 2;  // the number of elements, not of bytes
  fill<<<1, 128>>>(a, n);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "wild.cu": """#include <cstring>
__global__ void copy(char* to, const char* from) {
  memmove(to, from, 64);  // here
}
int main() {
  char* to;
  if (cudaMalloc(&to, 64) != cudaSuccess) return 2;
  copy<<<1, 1>>>(to, reinterpret_cast<const char*>(16));
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "called.cu": """using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function functions[2] = {twice, nullptr};
__global__ void call(int* out, int which) {
  *out = functions[which](*out);  // here
}
int main() {
  int* out;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess || cudaMemset(out, 0, sizeof *out) != cudaSuccess) return 2;
  call<<<1, 1>>>(out, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  call<<<1, 1>>>(out, 1);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "constants.cu": """__constant__ int limits[2] = {1, 2};
__device__ void raise(int* which) {
  atomicMax(which, 7);  // here
}
__global__ void change() { raise(limits + 1); }
int main() {
  int values[2] = {};
  change<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) return 2;
  return cudaMemcpyFromSymbol(values, limits, sizeof values) == cudaErrorLaunchFailure ? 0 : 2;
}
""",
    "passes.cu": """#ifdef __CUDA_ARCH__
__device__ int sum(int a) {
  return
      a + 1;
}
#else
__device__ int sum(int a) { return a; }
#endif
__host__ __device__ int both(int a) {
#ifndef __CUDA_ARCH__
  return a
         + 2;
#endif
  return a + 3;
}
__global__ void collide(int* a) {
  *a = sum(both(threadIdx.x));  // here
}
int main() {
  int* a;
  if (cudaMalloc(&a, sizeof *a) != cudaSuccess) return 2;
  collide<<<1, 64>>>(a);
  return cudaDeviceSynchronize();
}
""",
    "header.cuh": """__device__ inline void give(int* all, int where) {
  atomicAdd(all + where, 1);  // here
}
__global__ void spread(int* all) {
  give(all, threadIdx.x);
}
""",
    "header.cu": """#include "header.cuh"
int main() {
  int* all;
  if (cudaMalloc(&all, 128) != cudaSuccess || cudaMemset(all, 0, 128) != cudaSuccess) return 2;
  spread<<<1, 33>>>(all);
  return cudaDeviceSynchronize();
}
""",
    "functions.cu": CHECK + """using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function of_device = twice;
struct Step { Function function; int value; };
__global__ void call(Function function, int* out) { *out = function(4); }
__global__ void ignore(const Step*) {}
int main() {
  Function function = nullptr;
  int* out;
  CHECK(cudaMalloc(&out, sizeof *out));
#ifdef OF_HOST
  call<<<1, 1>>>(&twice, out);  // here with OF_HOST
#endif
#ifdef IN_A_COPY
  Step step{twice, 1}, *steps;
  CHECK(cudaMalloc(&steps, sizeof step));
  CHECK(cudaMemcpy(steps, &step, sizeof step, cudaMemcpyHostToDevice));  // here with IN_A_COPY
  ignore<<<1, 1>>>(steps);
#endif
  CHECK(cudaMemcpyFromSymbol(&function, of_device, sizeof function));
  call<<<1, 1>>>(function, out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "virtual.cu": CHECK + """#include <new>
struct Shape { __host__ __device__ virtual int sides() const { return 0; } };  // here with BY_HOST
struct Square : Shape { __host__ __device__ int sides() const override { return 4; } };  // here with BY_HOST
__global__ void ask(const Shape* shape, int* out) { *out = shape->sides(); }
__global__ void make(void* memory) { new (memory) Square; }
__global__ void take(Square square, int* out) { *out = square.Square::sides(); }
int main() {
  int* out;
  void* memory;
  Square square;
  CHECK(cudaMalloc(&out, sizeof *out));
  CHECK(cudaMallocManaged(&memory, sizeof square));
#if defined BY_VALUE
  take<<<1, 1>>>(square, out);  // here with BY_VALUE
#elif defined BY_COPY
  CHECK(cudaMemcpy(memory, &square, sizeof square, cudaMemcpyHostToDevice));  // here with BY_COPY
#elif defined BY_HOST
  new (memory) Square;
#endif
  make<<<1, 1>>>(memory);
  ask<<<1, 1>>>(static_cast<const Shape*>(memory), out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "letters.cu": CHECK + """int x = 1, y = 2, m = 3;
template <int n> struct Chosen { int values[n]; };
__device__ int sum_of(Chosen<3> c, int n, int m) { return c.values[0] + n + m; }
__device__ int n = 4;
__global__ void read(int* out) {
  out[0] = n + sum_of({{1, 2, 3}}, 1, 2);
  out[1] = x;  // here
  out[2] = y;  // here
  out[3] = m;  // here
}
int main() {
  int* out;
  CHECK(cudaMalloc(&out, 16));
  x = y = m = 5;
  read<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "lanes.cu": CHECK + """__global__ void reduce(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x < 24) {
    for (int by = 16; by > 0; by /= 2) {
      const int other = __shfl_down_sync(0xFFFFFF, sum, by);  // here
      if (threadIdx.x + by < 24) sum += other;
    }
    if (threadIdx.x == 0) *out = sum;
  }
}
int main() {
  int *out, sum = 0;
  CHECK(cudaMalloc(&out, sizeof *out));
  reduce<<<1, 32>>>(out);
  CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  printf("%d\\n", sum);
}
""",
}
ARGUMENTS = """plain 36 1 1
deduced 12 1 1
scaled 24 1 1
overloaded 12 1 1
another overload 56 0 0
converts 32 1 2
both 4016 1 1
by pointer 7 1 1
by addresses 17 0 0
with attributes 17 1 1
"""
NO_SYMBOL = "cudaErrorInvalidSymbol\n"
# What is tried; its sources and flags; what the program prints, where that matters; its status; what is found, if it is analysed.
RUNS = [
    ("arguments are copied as bytes, and destroyed once", "arguments.cu", "-O2", ARGUMENTS, 0, None),
    ("so are those of programs that are analysed", "arguments.cu", "--analyze", ARGUMENTS, 0, []),
    ("a local value is used as another type", "punning.cu", "-O3", "-3 4 1 2\n-7 8 5 6\n", 0, None),
    ("each source has its own variables of the device", "one.cu two.cu", "-O0", "32 3200\n", 0, None),
    ("where code of the device is linked, they are those of all", "defines.cu uses.cu", "-rdc=true", "40\n", 0, None),
    ("printf in a kernel returns the number of its arguments", "print.cu", "-O2",
     "a statement 1\nnothing\n1 two\n1 2 3\n0 2 3\n", 0, None),
    ("only a variable of the device is a symbol", "symbols.cu", "-O2", 8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, None),
    ("so it is in a program at a fixed address", "symbols.cu", "-Xcompiler -no-pie",
     8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, None),
    ("so it is where a program is analysed", "symbols.cu", "--analyze", 8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, []),
    ("far out of bounds", "far.cu", "--analyze", None, 1, ["out of bounds"]),
    ("an illegal address in a function of the C library", "wild.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a call of no function", "called.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a constant is changed", "constants.cu", "--analyze", None, 1, ["illegal device access"]),
    ("a line behind functions of one pass", "passes.cu", "--analyze", None, 1, ["race"]),
    ("a line of a header's kernel", "header.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a function's address comes from the device", "functions.cu", "--analyze", None, 0, []),
    ("so it does in a program at a fixed address", "functions.cu", "--analyze -Xcompiler -no-pie", None, 0, []),
    ("a function's address is the host's", "functions.cu", "--analyze -DOF_HOST", None, 1, ["illegal device access"]),
    ("a copy brings a function's address", "functions.cu", "--analyze -DIN_A_COPY", None, 0, ["host code address"]),
    ("a kernel makes an object with virtual functions", "virtual.cu", "--analyze", None, 0, []),
    ("the host passes one to a kernel", "virtual.cu", "--analyze -DBY_VALUE", None, 1, ["illegal device access"]),
    ("the host copies one", "virtual.cu", "--analyze -DBY_COPY", None, 0, ["host code address"]),
    ("the host makes one in managed memory", "virtual.cu", "--analyze -DBY_HOST", None, 0, 2 * ["host code address"]),
    ("variables of the host with names of one letter", "letters.cu", "--analyze", None, 1, 3 * ["illegal device access"]),
    ("a shuffle from outside of its mask", "lanes.cu", "--analyze", "276\n", 0, ["undefined value"]),
]


def meant_lines(sources, flags):
    """File and line of what is meant, in the sources and in what they include."""
    files = {name for name in SOURCES if pathlib.Path(name).stem in {pathlib.Path(source).stem for source in sources}}
    ends = ["// here", *("// here with " + flag.removeprefix("-D") for flag in flags.split())]
    return sorted((name, number) for name in files for number, text in enumerate(SOURCES[name].split("\n"), 1)
                  if text.endswith(tuple(ends)))


def problem_of(cwd, sources, flags, printed, status, kinds):
    """What is wrong with a run; empty if nothing is."""
    built = subprocess.run([COMMAND, *flags.split(), *sources, "-o", "program"], cwd=cwd, text=True, capture_output=True, check=False)
    if built.returncode != 0:
        return built.stderr
    report = cwd / "report.json"
    report.unlink(missing_ok=True)
    ran = subprocess.run(["./program"], cwd=cwd, text=True, capture_output=True, check=False, timeout=SECONDS,
                         env={**os.environ, "CUDA_ON_CPU_REPORT": str(report)})
    said = f"status {ran.returncode}, not {status}\n{ran.stdout}{ran.stderr}"
    if ran.returncode != status or (printed is not None and ran.stdout != printed):
        return said
    if kinds is None:
        return ""
    told = json.loads(report.read_text())
    found = sorted((pathlib.Path(f["file"]).name, f["line"], f["kind"]) for f in told["errors"] + told["notes"])
    wanted = [(*place, kind) for place, kind in zip(meant_lines(sources, flags), kinds, strict=True)]
    return "" if found == wanted else f"found {found}, not {wanted}\n{said}"


def main():
    print(f"1..{len(RUNS)}")
    with tempfile.TemporaryDirectory() as directory:
        cwd = pathlib.Path(directory)
        for name, text in SOURCES.items():
            (cwd / name).write_text(text)
        for number, (what, sources, flags, printed, status, kinds) in enumerate(RUNS, 1):
            problem = problem_of(cwd, sources.split(), flags, printed, status, kinds)
            print(f"{'not ok' if problem else 'ok'} {number} - {what}", flush=True)
            print("".join(f"# {line}\n" for line in problem.splitlines()), end="")


main()
