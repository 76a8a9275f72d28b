/// \file
/// The device of programs with kernels. The device is a GPU or the CPU device, depending on the
/// compiler of this file.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <harness/device.hpp>
#include <harness/memory.hpp>
#include <harness/ranks.hpp>
#include <numeric>
#include <staircase/cluster.hpp>
#include <staircase/cuda.hpp>
#include <staircase/devices.hpp>
#include <staircase/error.hpp>
#include <staircase/stream.hpp>
#include <string>
#include <vector>

#ifdef STAIRCASE_CUDA_ON_CPU
#include <cuda_on_cpu/reasons.hpp>
#endif

namespace staircase {
namespace {

#ifdef STAIRCASE_CUDA_ON_CPU
constexpr bool on_cpu = true;  // device memory is host memory
#else
constexpr bool on_cpu = false;
#endif

cudaDeviceProp properties() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return properties;
}

/// The compute capability of the GPU as text, for example "9.0".
std::string compute_capability() {
  const cudaDeviceProp gpu = properties();
  return std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

/// Advice for error messages, for example "build it with -Dgpu_arch=90a (./climb --gpu 90a)".
std::string how_to_build() {
  const cudaDeviceProp gpu = properties();
  const std::string arch = std::to_string(10 * gpu.major + gpu.minor) + (gpu.major < 9 ? "" : "a");
  return "build it with -Dgpu_arch=" + arch + " (./climb --gpu " + arch + ")";
}

/// Throws the error that the program has no code for this GPU.
[[noreturn]] void refuse_gpu(cudaError_t error) {
  throw NotAvailable("this program has no code for this GPU, which has compute capability " +
                     compute_capability() + " (" + cudaGetErrorString(error) + "); " +
                     how_to_build());
}

__global__ void do_nothing() {}

/// Ten times the compute capability for which the code that runs on this GPU was compiled. This
/// capability may be lower than the capability of the GPU, because the driver translates PTX of
/// lower capabilities. All kernels of a program are compiled for the same capabilities, so an empty
/// kernel represents all of them.
int capability_of_code() {
  cudaFuncAttributes code{};
  if (const cudaError_t error = cudaFuncGetAttributes(&code, do_nothing); error != cudaSuccess)
    refuse_gpu(error);
  return code.ptxVersion;
}

/// Starts the ranks of a program with ranks, and creates the CUDA context. The ranks on a machine
/// are assigned to its GPUs cyclically.
void prepare() {
  const Ranks* const ranks = ranks_of_program();
  if (ranks != nullptr) ranks->start();
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0)
    throw NotAvailable(std::string("this stage needs a CUDA GPU, and there is none (") +
                       cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error) + ")");
  if (ranks != nullptr) check(cudaSetDevice(ranks->local_rank() % count));
  check(cudaFree(nullptr));
  capability_of_code();
}

std::string name() { return properties().name; }

double free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return static_cast<double>(free);
}

/// Lets `device` access the memory of `other`, if the hardware supports such accesses.
/// \returns whether the hardware supports such accesses
bool reaches(int device, int other) {
  if (device == other) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, other));
  if (can == 0) return false;
  const OnDevice here(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();  // access was already enabled: clears the error
  else
    check(error);
  return true;
}

/// Lets `device` access the memory of `other`.
/// \throws NotAvailable if the hardware does not support such accesses
void require_reach(int device, int other, const char* description) {
  if (!reaches(device, other))
    throw NotAvailable("GPU " + std::to_string(device) + " cannot access the memory of GPU " +
                       std::to_string(other) + description +
                       "; this stage needs GPUs with peer access");
}

void wake() {
  do_nothing<<<1, 1>>>();
  check_launch();
  check(cudaDeviceSynchronize());
}

/// Measures the copy with the host's clock. The time includes one launch and one synchronisation,
/// like the time of a stage's phase.
double seconds_to_copy(double bytes) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  DeviceArray<unsigned char, 1> from(half), to(half);
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  check(cudaMemcpyAsync(to.data(), from.data(), half, cudaMemcpyDeviceToDevice));
  check(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

const Device& this_device() {
  static const Device device{.kind = on_cpu ? "cpu-device" : "gpu",
                             .prepare = prepare,
                             .name = name,
                             .free_memory = free_memory,
                             .seconds_to_copy = on_cpu ? nullptr : seconds_to_copy,
                             .ranks = ranks_of_program(),
                             .wake = wake};
  return device;
}

void fail(cudaError_t error) {
  if (error == cudaErrorNoKernelImageForDevice) refuse_gpu(error);
  std::string reason;
#ifdef STAIRCASE_CUDA_ON_CPU
  reason = cuda_on_cpu::take_reason_of_last_error();
#endif
  throw Failure(Exit::exhausted, std::string("the device failed: ") + cudaGetErrorString(error) +
                                     (reason.empty() ? "" : ": " + reason));
}

void require_shared_memory(std::size_t bytes) {
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (bytes > static_cast<std::size_t>(most))
    throw NotAvailable("this stage needs a GPU with " + std::to_string(bytes) +
                       " bytes of shared memory per thread block, and this one has " +
                       std::to_string(most));
}

void require_capability(int major, int minor, const char* what) {
  const cudaDeviceProp gpu = properties();
  if (gpu.major * 100 + gpu.minor < major * 100 + minor)
    throw NotAvailable(std::string("this stage needs a GPU with ") + what +
                       " (compute capability " + std::to_string(major) + "." +
                       std::to_string(minor) + " or later), and this one has " +
                       compute_capability());
  const int code = on_cpu ? 10 * gpu.major + gpu.minor : capability_of_code();
  if (code < 10 * major + minor)
    throw NotAvailable(std::string("this stage needs code for ") + what + " (compute capability " +
                       std::to_string(major) + "." + std::to_string(minor) +
                       " or later), and this program has code for " + std::to_string(code / 10) +
                       "." + std::to_string(code % 10) + "; " + how_to_build());
}

void StreamTimes::add_to_timeline() {
  const std::string ending(ending_.begin(), ending_.end());
  for (const auto& [name, begin, end] : of_host_)
    timeline_.add_overlapping((name + ending).c_str(), begin, end);
  for (const auto& [name, begin, end] : spans_) {
    end.wait();
    timeline_.add_overlapping((name + ending).c_str(), zero_ + begin.seconds_since(start_),
                              zero_ + end.seconds_since(start_));
  }
}

void require_clusters() {
  if (attribute(cudaDevAttrClusterLaunch) == 0)
    require_capability(9, 0, "clusters of thread blocks");
}

void refuse_clusters(unsigned blocks, std::size_t shared_bytes) {
  require_shared_memory(shared_bytes);
  throw NotAvailable("this stage needs clusters of " + std::to_string(blocks) +
                     " thread blocks with " + std::to_string(shared_bytes) +
                     " bytes of shared memory each, and this GPU cannot run one");
}

unsigned processors() { return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount)); }

std::vector<int> devices(std::int64_t wanted) {
  int available = 0;
  check(cudaGetDeviceCount(&available));
  if (wanted > available)
    throw NotAvailable("this run needs " + std::to_string(wanted) + " GPUs, and " +
                       std::to_string(available) + (available == 1 ? " is" : " are") +
                       " available; gpus=0 uses all of them");
  std::vector<int> numbers(static_cast<std::size_t>(wanted == 0 ? available : wanted));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

int fullest(const std::vector<int>& devices) {
  const auto free_on = [](int device) {
    const OnDevice here(device);
    return free_memory();
  };
  return *std::min_element(devices.begin(), devices.end(),
                           [&](int a, int b) { return free_on(a) < free_on(b); });
}

void connect(const std::vector<int>& devices) {
  for (const int device : devices)
    for (const int other : devices) reaches(device, other);
}

void connect_ring(const std::vector<int>& devices) {
  const std::size_t count = devices.size();
  for (std::size_t d = 0; d < count; ++d)
    for (const std::size_t other : {(d + 1) % count, (d + count - 1) % count})
      require_reach(devices[d], devices[other], ", its neighbour");
}

void connect_all(const std::vector<int>& devices) {
  for (const int device : devices)
    for (const int other : devices) require_reach(device, other, "");
}

void* allocate_on_device(std::size_t bytes) {
  if (on_cpu) reserve(bytes);
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, bytes); error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw NotEnoughMemory("this problem needs " + std::to_string(bytes) +
                          " more bytes of device memory, and " +
                          std::to_string(static_cast<std::size_t>(free_memory())) +
                          " bytes are available; choose a smaller problem");
  } else {
    check(error);
  }
  device_arrays().add(bytes);
  // The CPU device itself fills new memory with 0xFF bytes, but its analysis treats the memset as a
  // write. Without the memset, the analysis reports every read of an unwritten element. A correct
  // stage may read such elements if it does not use their values, for example the padding of a
  // matrix. Therefore only the tutor of the exercises (common/tutor) omits the memset.
  if (!on_cpu || std::getenv("STAIRCASE_REPORT_UNWRITTEN") == nullptr)
    check(cudaMemset(memory, 0xFF, bytes));
  return memory;
}

void free_on_device(void* memory, std::size_t bytes) noexcept {
  cudaFree(memory);
  device_arrays().subtract(bytes);
  if (on_cpu) host_arrays().subtract(bytes);
}

}  // namespace staircase
