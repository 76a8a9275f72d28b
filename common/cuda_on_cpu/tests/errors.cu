/// \file
/// Results of invalid calls of the runtime, the lifetime of errors, and the properties of the
/// device.

#undef NDEBUG  // kernels use assert below

#include <sys/wait.h>
#include <unistd.h>

#include <cooperative_groups.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using tap::expect_refusal;

__global__ void write_seven(int* out) { *out = 7; }
__global__ void do_nothing() {}
__global__ void __launch_bounds__(64) do_nothing_in_small_blocks() {}

/// Expects that all calls work after an error that does not persist.
void expect_working() {
  Device<int> out(1);
  write_seven<<<1, 1>>>(out.get());
  expect_equal(out.to_host(), {7});
}

// --- Launches

/// Whether a launch was refused because no device can run its configuration. The documentation and
/// CUDA 12 specify cudaErrorInvalidConfiguration; CUDA 13 returns cudaErrorInvalidValue.
bool is_refused(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

void expect_launch_error(dim3 grid, dim3 block, std::size_t shared = 0,
                         tap::Location place = tap::Location::current()) {
  do_nothing<<<grid, block, shared>>>();
  const cudaError_t error = cudaPeekAtLastError();
  expect(is_refused(error), std::string("the launch is refused: ") + cudaGetErrorName(error),
         place);
  expect_error(cudaGetLastError(), error, place);
  expect_error(cudaGetLastError(), cudaSuccess, place);
}

void expect_launch(dim3 grid, dim3 block, std::size_t shared = 0,
                   tap::Location place = tap::Location::current()) {
  do_nothing<<<grid, block, shared>>>();
  expect_error(cudaGetLastError(), cudaSuccess, place);
}

TEST(empty_grids_and_blocks_are_refused) {
  expect_launch_error(1, 0);
  expect_launch_error(0, 32);
  expect_launch_error(dim3(1, 0), 32);
  expect_launch_error(dim3(1, 1, 0), 32);
  expect_launch_error(1, dim3(32, 0));
  expect_launch_error(1, dim3(32, 1, 0));
  expect_working();
}

TEST(blocks_have_at_most_1024_threads) {
  expect_launch(1, 1024);
  expect_launch_error(1, 1025);
  expect_launch_error(1, dim3(33, 32));
  expect_launch_error(1, dim3(1, 1025));
  expect_launch_error(1, dim3(1, 16, 65));
  expect_launch_error(1, dim3(1, 1, 65));
  expect_launch(1, dim3(1, 16, 64));
  expect_working();
}

TEST(grids_are_at_most_65535_high_and_deep) {
  expect_launch(dim3(1, 65535), 1);
  expect_launch_error(dim3(1, 65536), 1);
  expect_launch_error(dim3(1, 1, 65536), 1);
  expect_launch_error(dim3(1u << 31), 1);
  expect_working();
}

TEST(too_much_shared_memory_is_refused) {
  expect_launch(1, 32, 48 << 10);
  expect_launch_error(1, 32, (48 << 10) + 1);
  expect_refusal(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (227 << 10) + 1),
                 cudaErrorInvalidValue);
  // An opt-in applies to one kernel only.
  check(cudaFuncSetAttribute(do_nothing_in_small_blocks,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  do_nothing_in_small_blocks<<<1, 32, 100 << 10>>>();
  check(cudaGetLastError());
  expect_launch_error(1, 32, 100 << 10);
  expect_working();
}

namespace {
__global__ void __launch_bounds__(32) do_nothing_in_a_namespace_without_a_name() {}
}  // namespace

TEST(launch_bounds_are_kept_in_namespaces_without_a_name) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, do_nothing_in_a_namespace_without_a_name));
  expect_equal(attributes.maxThreadsPerBlock, 32);
}

TEST(launch_bounds_are_kept) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, do_nothing_in_small_blocks));
  expect_equal(attributes.maxThreadsPerBlock, 64);
  do_nothing_in_small_blocks<<<1, 64>>>();
  check(cudaGetLastError());
  do_nothing_in_small_blocks<<<1, 65>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue);
  expect_working();
}

TEST(a_refused_launch_does_not_run) {
  Device<int> out(std::vector<int>{3});
  write_seven<<<1, 2000>>>(out.get());
  expect(is_refused(cudaGetLastError()), "the launch is refused");
  expect_equal(out.to_host(), {3});
}

TEST(launches_by_function_call_return_the_error) {
  Device<int> out(std::vector<int>{3});
  int* pointer = out.get();
  void* arguments[] = {&pointer};
  expect(is_refused(cudaLaunchKernel((void*)write_seven, 1, 1025, arguments, 0, nullptr)),
         "cudaLaunchKernel returns the error");
  expect(is_refused(cudaGetLastError()), "the error is the last one");
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 1025;
  expect(is_refused(cudaLaunchKernelEx(&config, write_seven, pointer)),
         "cudaLaunchKernelEx returns the error");
  expect(is_refused(cudaGetLastError()), "the error is the last one");
  expect_equal(out.to_host(), {3});
}

TEST(cooperative_grids_fit_on_the_device) {
  int blocks = 0, processors = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 1024, 0));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaLaunchCooperativeKernel((void*)do_nothing, blocks * processors, 1024, nullptr, 0,
                                    nullptr));
  check(cudaDeviceSynchronize());
  expect_refusal(cudaLaunchCooperativeKernel((void*)do_nothing, blocks * processors + 1, 1024,
                                             nullptr, 0, nullptr),
                 cudaErrorCooperativeLaunchTooLarge);
  expect_working();
}

TEST(clusters_divide_the_grid_and_have_at_most_8_blocks) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 6;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  expect_refusal(cudaLaunchKernelEx(&config, do_nothing), cudaErrorInvalidClusterSize);
  config.gridDim = 16;
  attribute.val.clusterDim.x = 16;
  expect_refusal(cudaLaunchKernelEx(&config, do_nothing), cudaErrorInvalidClusterSize);
  attribute.val.clusterDim.x = 8;
  check(cudaLaunchKernelEx(&config, do_nothing));
  expect_working();
}

// --- Memory

TEST(memory_that_is_not_there_is_refused) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  void* pointer = nullptr;
  expect_refusal(cudaMalloc(&pointer, total + 1), cudaErrorMemoryAllocation);
  expect_refusal(cudaMalloc(&pointer, ~std::size_t{0}), cudaErrorMemoryAllocation);
  expect(pointer == nullptr, "a refused allocation leaves the pointer");
  expect_working();
}

TEST(an_allocation_of_nothing_is_null) {
  int value = 0;
  void* pointer = &value;
  check(cudaMalloc(&pointer, 0));
  expect(pointer == nullptr, "the pointer is null");
  check(cudaFree(pointer));
}

TEST(null_pointers_are_refused) {
  Device<int> device(4);
  int value = 0;
  expect_refusal(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  expect_refusal(cudaMemcpy(nullptr, device.get(), 4, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidValue);
  expect_refusal(cudaMemcpy(nullptr, &value, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_refusal(cudaMemcpy(device.get(), nullptr, 4, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
  expect_refusal(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  expect_working();
}

TEST(copies_past_the_end_of_an_allocation_are_refused) {
  const std::size_t bytes = 4 << 20;
  std::vector<char> host(bytes + 4096, 1);
  Device<char> device(bytes);
  expect_refusal(cudaMemcpy(device.get(), host.data(), bytes + 4096, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
  expect_refusal(cudaMemcpy(host.data(), device.get() + 4096, bytes, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidValue);
  expect_refusal(cudaMemset(device.get() + 1, 0, bytes), cudaErrorInvalidValue);
  expect_working();
}

TEST(directions_of_copies_are_checked) {
  Device<int> device(4);
  int value = 0;
  expect_refusal(cudaMemcpy(device.get(), &value, 4, static_cast<cudaMemcpyKind>(77)),
                 cudaErrorInvalidMemcpyDirection);
  expect_working();
}

TEST(pitches_are_checked) {
  Device<char> device(1000);
  std::vector<char> host(1000);
  expect_refusal(cudaMemcpy2D(device.get(), 10, host.data(), 20, 20, 5, cudaMemcpyHostToDevice),
                 cudaErrorInvalidPitchValue);
  expect_refusal(cudaMemcpy2D(device.get(), 20, host.data(), 10, 20, 5, cudaMemcpyHostToDevice),
                 cudaErrorInvalidPitchValue);
}

__constant__ int constants[4];

TEST(copies_past_the_end_of_a_symbol_are_refused) {
  const int values[5] = {};
  expect_refusal(cudaMemcpyToSymbol(constants, values, sizeof values), cudaErrorInvalidValue);
  expect_refusal(cudaMemcpyToSymbol(constants, values, 8, 12), cudaErrorInvalidValue);
  check(cudaMemcpyToSymbol(constants, values, 4, 12));
}

TEST(foreign_pointers_are_not_freed) {
  int value = 0;
  Device<char> device(1000);
  expect_refusal(cudaFree(&value), cudaErrorInvalidValue);
  expect_refusal(cudaFree(device.get() + 8), cudaErrorInvalidValue);
  expect_refusal(cudaFreeHost(&value), cudaErrorInvalidValue);
  expect_refusal(cudaFreeHost(device.get()), cudaErrorInvalidValue);
  void* twice = nullptr;
  check(cudaMalloc(&twice, 100));
  check(cudaFree(twice));
  expect_refusal(cudaFree(twice), cudaErrorInvalidValue);
  expect_working();
}

TEST(memory_of_the_host_is_registered_once) {
  std::vector<int> values(10000);
  const std::size_t bytes = values.size() * sizeof(int);
  expect_refusal(cudaHostUnregister(values.data()), cudaErrorHostMemoryNotRegistered);
  check(cudaHostRegister(values.data(), bytes, cudaHostRegisterDefault));
  expect_refusal(cudaHostRegister(values.data(), bytes, cudaHostRegisterDefault),
                 cudaErrorHostMemoryAlreadyRegistered);
  check(cudaHostUnregister(values.data()));
  expect_working();
}

// --- Devices, events, streams

TEST(devices_that_are_not_there_are_refused) {
  int count = 0, device = -1, value = 0;
  check(cudaGetDeviceCount(&count));
  expect(count >= 1, "there is a device");
  expect_refusal(cudaSetDevice(count), cudaErrorInvalidDevice);
  expect_refusal(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  expect_refusal(cudaGetDeviceProperties(&properties, count), cudaErrorInvalidDevice);
  expect_refusal(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count),
                 cudaErrorInvalidDevice);
  expect_refusal(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
                 cudaErrorInvalidValue);
  expect_refusal(cudaDeviceCanAccessPeer(&value, 0, count), cudaErrorInvalidDevice);
  expect_refusal(cudaDeviceEnablePeerAccess(count, 0), cudaErrorInvalidDevice);
  check(cudaGetDevice(&device));
  expect_equal(device, 0);
}

TEST(time_between_events_needs_two_recorded_ones) {
  cudaEvent_t first = nullptr, second = nullptr, untimed = nullptr;
  float milliseconds = -1;
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&second));
  check(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  expect_refusal(cudaEventElapsedTime(&milliseconds, first, second),
                 cudaErrorInvalidResourceHandle);
  check(cudaEventRecord(first));
  check(cudaEventRecord(untimed));
  check(cudaDeviceSynchronize());
  expect_refusal(cudaEventElapsedTime(&milliseconds, first, second),
                 cudaErrorInvalidResourceHandle);
  expect_refusal(cudaEventElapsedTime(&milliseconds, first, untimed),
                 cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {first, second, untimed}) check(cudaEventDestroy(event));
}

TEST(handles_are_checked) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  expect_refusal(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
  expect_refusal(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  expect_refusal(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  expect_refusal(cudaStreamWaitEvent(nullptr, nullptr, 0), cudaErrorInvalidResourceHandle);
  expect_refusal(cudaStreamCreateWithFlags(&stream, 1000), cudaErrorInvalidValue);
  expect_refusal(cudaEventCreateWithFlags(&event, 1000), cudaErrorInvalidValue);
  expect_working();
}

TEST(captures_begin_and_end_in_streams_that_capture) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  check(cudaStreamCreate(&stream));
  expect_refusal(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  expect_refusal(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
                 cudaErrorStreamCaptureUnsupported);
  check(cudaStreamDestroy(stream));
}

// --- The lifetime of an error

TEST(an_error_lasts_until_it_is_fetched) {
  expect_error(cudaGetLastError(), cudaSuccess);
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  check(cudaSetDevice(0));  // a successful call does not reset the last error
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  check(cudaDeviceSynchronize());
  expect_error(cudaGetLastError(), cudaErrorInvalidDevice);
  expect_error(cudaGetLastError(), cudaSuccess);
  expect_error(cudaPeekAtLastError(), cudaSuccess);
}

TEST(the_last_error_counts) {
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  expect_error(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue);
  expect_error(cudaGetLastError(), cudaSuccess);
}

TEST(errors_belong_to_a_thread_of_the_host) {
  cudaError_t there = cudaErrorUnknown;
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  std::thread([&] { there = cudaPeekAtLastError(); }).join();
  expect_error(there, cudaSuccess);
  expect_error(cudaGetLastError(), cudaErrorInvalidDevice);
}

__global__ void write_to(int* address) { *address = 1; }
__global__ void assert_small(int value) { assert(value < 10); }
__global__ void trap() { __trap(); }

/// In each cluster, the first block fails long after the second one has ended.
__global__ void __cluster_dims__(2) trap_in_clusters() {
  if (blockIdx.x % 2 != 0) return;
  for (volatile int i = 0; i < 10'000'000; i = i + 1) continue;
  __trap();
}

/// Checks the results of runtime calls after a kernel that failed.
/// \returns the exit status: 0 if all results are as expected
int fail_for_ever(cudaError_t expected) {
  int* memory = nullptr;
  expect_error(cudaDeviceSynchronize(), expected);
  expect_error(cudaPeekAtLastError(), expected);
  expect_error(cudaGetLastError(), expected);
  expect_error(cudaGetLastError(), cudaSuccess);  // returned once, but persistent
  expect_error(cudaMalloc(&memory, 4), expected);
  expect_error(cudaDeviceSynchronize(), expected);
  do_nothing<<<1, 1>>>();
  expect_error(cudaGetLastError(), expected);
  return tap::complaints();
}

/// Each block reads a value of the other block of its cluster.
__global__ void __cluster_dims__(2) pass_on(int* out) {
  __shared__ int mine;
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) mine = static_cast<int>(blockIdx.x);
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
  cluster.sync();
}

/// The last block of the cluster reads from the next one, which does not exist.
__global__ void __cluster_dims__(2) read_beyond_the_cluster(int* out) {
  __shared__ int mine;
  const auto cluster = cooperative_groups::this_cluster();
  mine = 1;
  cluster.sync();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() + 1);
  cluster.sync();
}

/// Thread `who_leaves` of each tile returns before the barrier of the tile. If a tile has no such
/// thread, all its threads reach the barrier.
__global__ void turn_in_tiles(int* out, unsigned who_leaves) {
  __shared__ int values[128];
  const auto tile =
      cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
  if (tile.thread_rank() == who_leaves) return;
  values[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[threadIdx.x ^ 63];
}

/// Checks that a reset discards the state of incomplete tiles, so that the device works again.
int turn_after_a_failure() {
  int* out = nullptr;
  check(cudaMalloc(&out, 16 * 128 * sizeof(int)));
  turn_in_tiles<<<16, 128>>>(out, 5);
  expect_error(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  check(cudaDeviceReset());
  check(cudaMalloc(&out, 16 * 128 * sizeof(int)));
  turn_in_tiles<<<16, 128>>>(out, 64);
  std::vector<int> values(16 * 128);
  check(cudaMemcpy(values.data(), out, 16 * 128 * sizeof(int), cudaMemcpyDeviceToHost));
  expect_equal(values, tap::table<int>(16 * 128, [](int i) { return i % 128 ^ 63; }));
  return tap::complaints();
}

/// Ends the program while a launch is pending, for which only the destructor of `out` waits.
int leave() {
  static const Device<int> out(4);
  pass_on<<<4, 32>>>(out.get());
  check(cudaDeviceSynchronize());
  pass_on<<<4, 32>>>(out.get());
  return tap::complaints();
}

int fail(const std::string& how) {
  if (how == "address") {
    write_to<<<1, 1>>>(nullptr);
    return fail_for_ever(cudaErrorIllegalAddress);
  }
  if (how == "block") {
    const Device<int> out(2);
    read_beyond_the_cluster<<<2, 1>>>(out.get());
    return fail_for_ever(cudaErrorLaunchFailure);
  }
  if (how == "assert") {
    assert_small<<<1, 1>>>(10);
    return fail_for_ever(cudaErrorAssert);
  }
  if (how == "tiles") return turn_after_a_failure();
  if (how == "clusters")
    trap_in_clusters<<<6, 1>>>();
  else
    trap<<<1, 1>>>();
  return fail_for_ever(cudaErrorLaunchFailure);
}

/// Under analysis, a kernel that fails is a finding, and the exit status is 1.
#ifdef CUDA_ON_CPU_ANALYSE
constexpr int with_ended_kernels = 1;
#else
constexpr int with_ended_kernels = 0;
#endif

/// Runs this program as another process, which must end with the given exit status.
void expect_status(int wanted, const char* option, const char* how, const std::string& what) {
  std::cout << std::flush;
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execl("/proc/self/exe", "errors", option, how, nullptr);
    _exit(100);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == wanted, what);
}

/// Runs the failing case `how` in another process, because the device is unusable afterwards.
void expect_failing_for_ever(const char* how) {
  expect_status(with_ended_kernels, "--fail", how, "the error lasts, and is the right one");
}

TEST(a_passing_assertion_does_nothing) {
  assert_small<<<1, 32>>>(9);
  check(cudaDeviceSynchronize());
}

TEST(an_illegal_address_is_for_ever) { expect_failing_for_ever("address"); }
TEST(a_block_that_the_cluster_lacks_fails_the_launch) { expect_failing_for_ever("block"); }
TEST(a_failed_assertion_is_for_ever) { expect_failing_for_ever("assert"); }
TEST(a_trap_is_for_ever) { expect_failing_for_ever("trap"); }
TEST(a_trap_stops_the_clusters_behind_it) { expect_failing_for_ever("clusters"); }

#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU does not wait for threads that have ended
TEST(tiles_begin_anew_when_the_device_was_reset) {
  expect_status(with_ended_kernels, "--fail", "tiles",
                "tiles wait as if they had never waited in vain");
}
#endif

TEST(a_program_may_end_before_its_kernels) {
  expect_status(0, "--leave", nullptr, "the program ends");
}

// --- Names of errors

TEST(errors_have_names_and_texts) {
  struct Text {
    cudaError_t error;
    int number;
    const char *name, *text;
  };
  const Text texts[] = {
      {cudaSuccess, 0, "cudaSuccess", "no error"},
      {cudaErrorInvalidValue, 1, "cudaErrorInvalidValue", "invalid argument"},
      {cudaErrorMemoryAllocation, 2, "cudaErrorMemoryAllocation", "out of memory"},
      {cudaErrorInvalidConfiguration, 9, "cudaErrorInvalidConfiguration",
       "invalid configuration argument"},
      {cudaErrorInvalidPitchValue, 12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
      {cudaErrorInvalidSymbol, 13, "cudaErrorInvalidSymbol", "invalid device symbol"},
      {cudaErrorInvalidMemcpyDirection, 21, "cudaErrorInvalidMemcpyDirection",
       "invalid copy direction for memcpy"},
      {cudaErrorInvalidDeviceFunction, 98, "cudaErrorInvalidDeviceFunction",
       "invalid device function"},
      {cudaErrorNoDevice, 100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {cudaErrorInvalidDevice, 101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {cudaErrorInvalidResourceHandle, 400, "cudaErrorInvalidResourceHandle",
       "invalid resource handle"},
      {cudaErrorIllegalState, 401, "cudaErrorIllegalState",
       "the operation cannot be performed in the present state"},
      {cudaErrorNotReady, 600, "cudaErrorNotReady", "device not ready"},
      {cudaErrorIllegalAddress, 700, "cudaErrorIllegalAddress",
       "an illegal memory access was encountered"},
      {cudaErrorLaunchOutOfResources, 701, "cudaErrorLaunchOutOfResources",
       "too many resources requested for launch"},
      {cudaErrorPeerAccessAlreadyEnabled, 704, "cudaErrorPeerAccessAlreadyEnabled",
       "peer access is already enabled"},
      {cudaErrorPeerAccessNotEnabled, 705, "cudaErrorPeerAccessNotEnabled",
       "peer access has not been enabled"},
      {cudaErrorAssert, 710, "cudaErrorAssert", "device-side assert triggered"},
      {cudaErrorHostMemoryAlreadyRegistered, 712, "cudaErrorHostMemoryAlreadyRegistered",
       "part or all of the requested memory range is already mapped"},
      {cudaErrorHostMemoryNotRegistered, 713, "cudaErrorHostMemoryNotRegistered",
       "pointer does not correspond to a registered memory region"},
      {cudaErrorLaunchFailure, 719, "cudaErrorLaunchFailure", "unspecified launch failure"},
      {cudaErrorCooperativeLaunchTooLarge, 720, "cudaErrorCooperativeLaunchTooLarge",
       "too many blocks in cooperative launch"},
      {cudaErrorNotSupported, 801, "cudaErrorNotSupported", "operation not supported"},
      {cudaErrorStreamCaptureUnsupported, 900, "cudaErrorStreamCaptureUnsupported",
       "operation not permitted when stream is capturing"},
      {cudaErrorStreamCaptureInvalidated, 901, "cudaErrorStreamCaptureInvalidated",
       "operation failed due to a previous error during capture"},
      {cudaErrorStreamCaptureUnjoined, 904, "cudaErrorStreamCaptureUnjoined",
       "capturing stream has unjoined work"},
      {cudaErrorInvalidClusterSize, 912, "cudaErrorInvalidClusterSize",
       "a kernel launch error has occurred due to cluster misconfiguration"},
      {cudaErrorUnknown, 999, "cudaErrorUnknown", "unknown error"}};
  for (const auto& [error, number, name, text] : texts) {
    expect_equal(static_cast<int>(error), number);
    expect_equal(std::string(cudaGetErrorName(error)), name);
    expect_equal(std::string(cudaGetErrorString(error)), text);
  }
  expect_equal(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))),
               "unrecognized error code");
}

// --- Properties of the device

int attribute(cudaDeviceAttr attribute) {
  int value = -1;
  check(cudaDeviceGetAttribute(&value, attribute, 0));
  return value;
}

TEST(attributes_and_properties_agree) {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0));
  expect_equal(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
  expect_equal(attribute(cudaDevAttrWarpSize), p.warpSize);
  expect_equal(attribute(cudaDevAttrMaxThreadsPerBlock), p.maxThreadsPerBlock);
  expect_equal(attribute(cudaDevAttrMaxBlockDimX), p.maxThreadsDim[0]);
  expect_equal(attribute(cudaDevAttrMaxBlockDimY), p.maxThreadsDim[1]);
  expect_equal(attribute(cudaDevAttrMaxBlockDimZ), p.maxThreadsDim[2]);
  expect_equal(attribute(cudaDevAttrMaxGridDimX), p.maxGridSize[0]);
  expect_equal(attribute(cudaDevAttrMaxGridDimY), p.maxGridSize[1]);
  expect_equal(attribute(cudaDevAttrMaxGridDimZ), p.maxGridSize[2]);
  expect_equal(p.sharedMemPerBlock, attribute(cudaDevAttrMaxSharedMemoryPerBlock));
  expect_equal(p.sharedMemPerBlockOptin, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  expect_equal(p.sharedMemPerMultiprocessor,
               attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  expect_equal(p.reservedSharedMemPerBlock, attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  expect_equal(p.totalConstMem, attribute(cudaDevAttrTotalConstantMemory));
  expect_equal(attribute(cudaDevAttrMaxRegistersPerBlock), p.regsPerBlock);
  expect_equal(attribute(cudaDevAttrMaxRegistersPerMultiprocessor), p.regsPerMultiprocessor);
  expect_equal(attribute(cudaDevAttrMaxThreadsPerMultiProcessor), p.maxThreadsPerMultiProcessor);
  expect_equal(attribute(cudaDevAttrMaxBlocksPerMultiprocessor), p.maxBlocksPerMultiProcessor);
  expect_equal(attribute(cudaDevAttrL2CacheSize), p.l2CacheSize);
  expect_equal(attribute(cudaDevAttrGlobalMemoryBusWidth), p.memoryBusWidth);
  expect_equal(attribute(cudaDevAttrComputeCapabilityMajor), p.major);
  expect_equal(attribute(cudaDevAttrComputeCapabilityMinor), p.minor);
  expect_equal(attribute(cudaDevAttrCooperativeLaunch), p.cooperativeLaunch);
  expect_equal(attribute(cudaDevAttrClusterLaunch), p.clusterLaunch);
  expect_equal(attribute(cudaDevAttrConcurrentKernels), p.concurrentKernels);
  expect_equal(attribute(cudaDevAttrAsyncEngineCount), p.asyncEngineCount);
  expect_equal(attribute(cudaDevAttrUnifiedAddressing), p.unifiedAddressing);
  expect_equal(attribute(cudaDevAttrManagedMemory), p.managedMemory);
  expect_equal(attribute(cudaDevAttrCanMapHostMemory), p.canMapHostMemory);
  expect_equal(attribute(cudaDevAttrStreamPrioritiesSupported), p.streamPrioritiesSupported);
}

/// The limits of compute capability 9.0, on which the kernels of the stages rely.
TEST(the_device_is_of_the_Hopper_kind) {
  cudaDeviceProp p{};
  std::size_t free = 0, total = 0;
  check(cudaGetDeviceProperties(&p, 0));
  check(cudaMemGetInfo(&free, &total));
  expect(std::strlen(p.name) > 0, "the device has a name");
  expect_equal(p.major, 9);
  expect_equal(p.minor, 0);
  expect_equal(p.warpSize, 32);
  expect_equal(p.maxThreadsPerBlock, 1024);
  expect_equal(p.maxThreadsPerMultiProcessor, 2048);
  expect_equal(p.maxBlocksPerMultiProcessor, 32);
  expect_equal(p.maxThreadsDim[2], 64);
  expect_equal(p.maxGridSize[0], INT32_MAX);
  expect_equal(p.maxGridSize[1], 65535);
  expect_equal(p.sharedMemPerBlock, 48u << 10);
  expect_equal(p.sharedMemPerBlockOptin, 227u << 10);
  expect_equal(p.sharedMemPerMultiprocessor, 228u << 10);
  expect_equal(p.reservedSharedMemPerBlock, 1u << 10);
  expect_equal(p.totalConstMem, 64u << 10);
  expect_equal(p.regsPerBlock, 65536);
  expect_equal(p.regsPerMultiprocessor, 65536);
  expect_equal(p.cooperativeLaunch, 1);
  expect_equal(p.clusterLaunch, 1);
  expect_equal(p.unifiedAddressing, 1);
  expect(p.multiProcessorCount >= 1, "there is a multiprocessor");
  expect(p.l2CacheSize > 0, "there is a cache");
  expect_equal(p.totalGlobalMem, total);
}

__global__ void use_shared_memory(int* out) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

int blocks_per_processor(int threads, std::size_t shared) {
  int blocks = -1;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_shared_memory, threads, shared));
  return blocks;
}

TEST(occupancy_is_bound_by_threads_blocks_and_shared_memory) {
  check(cudaFuncSetAttribute(use_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             227 << 10));
  check(cudaFuncSetAttribute(use_shared_memory, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
  expect_equal(blocks_per_processor(1024, 0), 2);
  expect_equal(blocks_per_processor(256, 0), 8);
  expect_equal(blocks_per_processor(250, 0), 8);  // incomplete warps count as complete
  expect_equal(blocks_per_processor(32, 0), 32);
  expect_equal(blocks_per_processor(1, 0), 32);
  expect_equal(blocks_per_processor(128, 227 << 10), 1);
  expect_equal(blocks_per_processor(128, 113 << 10), 2);
  expect_equal(blocks_per_processor(128, 114 << 10), 1);  // each block needs an additional 1 KiB
  expect_equal(blocks_per_processor(128, 37 << 10), 6);
}

TEST(occupancy_finds_a_block_size) {
  int grid = -1, block = -1, processors = attribute(cudaDevAttrMultiProcessorCount);
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, use_shared_memory, 0, 0));
  expect(block >= 32 && block <= 1024 && block % 32 == 0, "the block size is whole warps");
  expect_equal(grid, processors * blocks_per_processor(block, 0));
  expect_equal(blocks_per_processor(block, 0) * block, 2048);
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, use_shared_memory, 0, 128));
  expect(block <= 128, "the block size is limited");
}

TEST(occupancy_counts_clusters) {
  const int processors = attribute(cudaDevAttrMultiProcessorCount);
  for (const unsigned size : {1u, 2u, 4u, 8u}) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 8;
    config.blockDim = 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = -1;
    check(cudaOccupancyMaxActiveClusters(&clusters, use_shared_memory, &config));
    expect(clusters >= 1, "a cluster fits");
    expect(clusters * static_cast<int>(size) <= 2 * processors, "the blocks of clusters fit");
  }
}

int main(int argc, char** argv) {
  constexpr int complaint = 2;  // differs from status 1 of an analysis with findings
  if (argc == 3 && std::string(argv[1]) == "--fail")
    std::_Exit(fail(argv[2]) == 0 ? 0 : complaint);
  if (argc == 2 && std::string(argv[1]) == "--leave") return leave();
  return tap::run_on_device(argc, argv);
}
