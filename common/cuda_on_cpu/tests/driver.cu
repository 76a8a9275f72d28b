/// \file
/// The driver API: contexts, modules, launches and memory; and NVRTC, which compiles the modules.

#include <cuda.h>
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

#include "tap.hpp"

namespace {

using tap::expect;
using tap::expect_equal;

const char* const kernels = R"(
#include "scale.h"
__device__ int offset = 7;
__constant__ int weights[4] = {1, 2, 3, 4};
extern "C" __global__ void scale(char pad, const double* in, double* out, short by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * by + offset * SCALE;
}
__global__ void reverse(int* x) {
  __shared__ int s[64];
  extern __shared__ int more[];
  s[threadIdx.x] = x[threadIdx.x];
  more[threadIdx.x] = weights[threadIdx.x % 4];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x] * more[63 - threadIdx.x];
}
template <typename T, int n>
__global__ void fill(T* x) { x[threadIdx.x] = n; }
namespace inner {
__global__ void fill(float* x) { x[threadIdx.x] = 1; }
__global__ void fill(float* x, float by) { x[threadIdx.x] = by; }
}
)";

void check(CUresult error, tap::Location place = tap::Location::current()) {
  const char* name = "";
  (void)cuGetErrorName(error, &name);
  if (error == CUDA_SUCCESS) return;
  tap::complain(name, place);
  throw tap::Abandoned{};
}

void check(nvrtcResult error, tap::Location place = tap::Location::current()) {
  if (error == NVRTC_SUCCESS) return;
  tap::complain(nvrtcGetErrorString(error), place);
  throw tap::Abandoned{};
}

/// The result of compiling a source with NVRTC.
struct Made {
  nvrtcResult result;
  std::string log, ptx, cubin;
  std::vector<std::string> names;
};

/// Only code for a real architecture can be loaded as a cubin.
constexpr const char* architecture = "-arch=sm_90";

Made compile(const char* source, const std::vector<const char*>& expressions = {},
             const std::vector<const char*>& options = {}) {
  const char* headers[] = {"#define SCALE 2\n"};
  const char* header_names[] = {"scale.h"};
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source, "kernels.cu", 1, headers, header_names));
  for (const char* expression : expressions) check(nvrtcAddNameExpression(program, expression));
  Made made{};
  made.result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  std::size_t bytes = 0;
  check(nvrtcGetProgramLogSize(program, &bytes));
  made.log.resize(bytes);
  check(nvrtcGetProgramLog(program, made.log.data()));
  if (made.result != NVRTC_SUCCESS) return made;
  check(nvrtcGetPTXSize(program, &bytes));
  made.ptx.resize(bytes);
  check(nvrtcGetPTX(program, made.ptx.data()));
  check(nvrtcGetCUBINSize(program, &bytes));
  made.cubin.resize(bytes);
  check(nvrtcGetCUBIN(program, made.cubin.data()));
  for (const char* expression : expressions) {
    const char* name = nullptr;
    check(nvrtcGetLoweredName(program, expression, &name));
    made.names.emplace_back(name);
  }
  check(nvrtcDestroyProgram(&program));
  return made;
}

/// The last device, which differs from the first one if there are several.
CUdevice last_device() {
  int count = 0;
  check(cuDeviceGetCount(&count));
  return count - 1;
}

const Made& made() {
  static const Made made = compile(kernels, {"fill<int, 5>", "&offset", "reverse"}, {architecture});
  return made;
}

/// A context of device 0 with the loaded kernels, which exists during one test.
struct Session {
  CUcontext context = nullptr;
  CUmodule module = nullptr;

  Session() {
    check(cuInit(0));
    check(cuCtxCreate(&context, nullptr, 0, 0));
    check(made().result);
    check(cuModuleLoadData(&module, made().cubin.data()));
  }
  ~Session() { (void)cuCtxDestroy(context); }

  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    check(cuModuleGetFunction(&found, module, name));
    return found;
  }
};

template <typename T>
CUdeviceptr memory_with(const std::vector<T>& values) {
  CUdeviceptr address = 0;
  check(cuMemAlloc(&address, values.size() * sizeof(T)));
  check(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
  return address;
}

template <typename T>
std::vector<T> values_at(CUdeviceptr address, std::size_t count) {
  std::vector<T> values(count);
  check(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
  return values;
}

TEST(a_kernel_of_a_module_takes_parameters_by_their_addresses) {
  const Session session;
  CUdeviceptr in = memory_with<double>({1, 2, 3, 4}), out = memory_with<double>({0, 0, 0, 0});
  char pad = 0;
  short by = 10;
  void* parameters[] = {&pad, &in, &out, &by};
  check(
      cuLaunchKernel(session.function("scale"), 2, 1, 1, 2, 1, 1, 0, nullptr, parameters, nullptr));
  check(cuCtxSynchronize());
  expect_equal(values_at<double>(out, 4), std::vector<double>{24, 34, 44, 54});
  check(cuMemFree(in));
  check(cuMemFree(out));
}

TEST(a_kernel_of_a_module_takes_parameters_in_a_buffer) {
  const Session session;
  struct {
    char pad = 0;
    CUdeviceptr in = memory_with<double>({1, 2}), out = memory_with<double>({0, 0});
    short by = 3;
  } parameters;
  std::size_t bytes = 26;  // without padding after the last member of a structure
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  const CUfunction scale = session.function("scale");
  check(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra));
  expect_equal(values_at<double>(parameters.out, 2), std::vector<double>{17, 20});
  bytes = sizeof parameters;
  expect_equal(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra),
               CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU driver reads beyond a buffer that is too short
  bytes = 24;
  expect_equal(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra),
               CUDA_ERROR_INVALID_VALUE);
#endif
  expect_equal(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_VALUE);
}

TEST(blocks_of_a_module_share_memory) {
  const Session session;
  std::vector<int> values(64), expected(64);
  for (int i = 0; i < 64; ++i) values[i] = i, expected[63 - i] = i * (i % 4 + 1);
  CUdeviceptr x = memory_with(values);
  void* parameters[] = {&x};
  check(cuLaunchKernel(session.function(made().names[2].c_str()), 1, 1, 1, 64, 1, 1, 256, nullptr,
                       parameters, nullptr));
  expect_equal(values_at<int>(x, 64), expected);
}

TEST(variables_of_a_module_have_addresses) {
  const Session session;
  CUdeviceptr offset = 0, weights = 0;
  std::size_t bytes = 0;
  check(cuModuleGetGlobal(&offset, &bytes, session.module, made().names[1].c_str()));
  expect_equal(bytes, sizeof(int));
  expect_equal(values_at<int>(offset, 1)[0], 7);
  check(cuMemsetD32(offset, 9, 1));
  expect_equal(values_at<int>(offset, 1)[0], 9);
  check(cuModuleGetGlobal(&weights, &bytes, session.module, "weights"));
  expect_equal(bytes, 4 * sizeof(int));
}

TEST(every_module_has_variables_of_its_own) {
  const Session one, other;
  CUdeviceptr first = 0, second = 0;
  check(cuModuleGetGlobal(&first, nullptr, one.module, "offset"));
  check(cuModuleGetGlobal(&second, nullptr, other.module, "offset"));
  expect(first != second, "two modules of one image lie apart");
}

TEST(an_instance_of_a_template_has_a_name_that_nvrtc_tells) {
  const Session session;
  CUdeviceptr x = memory_with<int>({0, 0, 0});
  void* parameters[] = {&x};
  check(cuLaunchKernel(session.function(made().names[0].c_str()), 1, 1, 1, 3, 1, 1, 0, nullptr,
                       parameters, nullptr));
  expect_equal(values_at<int>(x, 3), std::vector<int>{5, 5, 5});
}

TEST(ptx_is_a_text_that_can_be_linked_and_loaded) {
  const Session session;
  expect_equal(made().ptx.size(), std::strlen(made().ptx.c_str()) + 1);
  CUlinkState state = nullptr;
  check(cuLinkCreate(0, nullptr, nullptr, &state));
  std::string text = made().ptx;
  check(cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size(), "text", 0, nullptr,
                      nullptr));
  void* image = nullptr;
  std::size_t bytes = 0;
  check(cuLinkComplete(state, &image, &bytes));
  CUmodule module = nullptr;
  char log[] = "of something else";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER};
  void* values[] = {(void*)sizeof log, log};
  check(cuModuleLoadDataEx(&module, image, 2, options, values));
  expect_equal(std::strlen(log), 0u);
  check(cuLinkDestroy(state));
  CUfunction scale = nullptr;
  check(cuModuleGetFunction(&scale, module, "scale"));
  check(cuModuleUnload(module));
  expect_equal(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_HANDLE);
}

TEST(what_is_no_module_is_refused) {
  const Session session;
  CUmodule module = nullptr;
  expect_equal(cuModuleLoadData(&module, "It is no module, whatever else it may be."),
               CUDA_ERROR_INVALID_IMAGE);
#ifdef STAIRCASE_CUDA_ON_CPU  // the CPU device cannot load PTX from other compilers
  expect_equal(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n"),
               CUDA_ERROR_INVALID_IMAGE);
  expect_equal(cuModuleUnload(reinterpret_cast<CUmodule>(8)), CUDA_ERROR_INVALID_HANDLE);
#endif
  expect_equal(cuModuleLoad(&module, "/nowhere/kernels.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
  expect_equal(cuModuleLoad(&module, "/bin/sh"), CUDA_ERROR_INVALID_IMAGE);
  CUfunction function = nullptr;
  expect_equal(cuModuleGetFunction(&function, session.module, "nobody"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr address = 0;
  expect_equal(cuModuleGetGlobal(&address, nullptr, session.module, "nothing"),
               CUDA_ERROR_NOT_FOUND);
  expect_equal(cuModuleGetGlobal(nullptr, nullptr, session.module, "nothing"),
               CUDA_ERROR_INVALID_VALUE);
}

TEST(calls_need_a_context) {
  check(cuInit(0));
  CUcontext context = nullptr;
  check(cuCtxSetCurrent(nullptr));
  check(cuCtxGetCurrent(&context));
  expect(context == nullptr, "nobody has made a context");
  CUdeviceptr address = 0;
  expect_equal(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  expect_equal(cuCtxCreate(&context, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  check(cuCtxCreate(&context, nullptr, 0, last_device()));
  CUdevice device = -1;
  check(cuCtxGetDevice(&device));
  expect_equal(device, last_device());
  check(cuMemAlloc(&address, 4));
  check(cuMemFree(address));
  check(cuCtxDestroy(context));
#ifdef STAIRCASE_CUDA_ON_CPU  // the driver of a GPU does not detect this error
  expect_equal(cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
#endif
}

/// Expects one of the two errors that a GPU's driver returns for objects of a destroyed context.
void expect_gone(CUresult result, tap::Location place = tap::Location::current()) {
  if (result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
    expect_equal(result, CUDA_ERROR_INVALID_HANDLE, place);
}

TEST(what_was_made_in_a_context_ends_with_it) {
  check(cuInit(0));
  CUcontext lasting = nullptr, ending = nullptr;
  CUdeviceptr kept = 0, memory = 0, managed = 0, ordered = 0;
  std::size_t before = 0, after = 0, total = 0;
  check(cuCtxCreate(&lasting, nullptr, 0, 0));
  check(cuMemAlloc(&kept, 4));
  check(cuMemGetInfo(&before, &total));
  check(cuCtxCreate(&ending, nullptr, 0, 0));
  void* pinned = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  check(cuMemAlloc(&memory, 4096));
  check(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  check(cuMemAllocHost(&pinned, 4096));
  check(cuMemAllocAsync(&ordered, 4, nullptr));
  check(cuStreamCreate(&stream, 0));
  check(cuEventCreate(&event, 0));
  check(cuEventRecord(event, stream));
  check(made().result);
  check(cuModuleLoadData(&module, made().cubin.data()));
  check(cuModuleGetFunction(&scale, module, "scale"));
  check(cuCtxDestroy(ending));
  check(cuMemGetInfo(&after, &total));
#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU driver keeps a pool of 32 MiB, and crashes if a destroyed
                              // stream is used
  expect_equal(before - after, std::size_t{4});
  expect_equal(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  expect_equal(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
#endif
  expect_equal(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  expect_equal(cuMemFree(managed), CUDA_ERROR_INVALID_VALUE);
  expect_equal(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  expect_gone(cuModuleGetFunction(&scale, module, "scale"));
  expect_equal(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_HANDLE);
  // Memory of a pool belongs to the device.
  check(cuMemFreeAsync(ordered, nullptr));
  check(cuMemsetD32(kept, 5, 1));
  expect_equal(values_at<int>(kept, 1)[0], 5);
  check(cuMemFree(kept));
  check(cuCtxDestroy(lasting));
}

TEST(a_primary_context_ends_when_it_is_reset) {
  check(cuInit(0));
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  check(cuDevicePrimaryCtxRetain(&context, last_device()));
  check(cuCtxPushCurrent(context));
  check(cuMemAlloc(&memory, 4));
  check(made().result);
  check(cuModuleLoadData(&module, made().cubin.data()));
  check(cuDevicePrimaryCtxReset(last_device()));
  expect_gone(cuModuleGetFunction(&scale, module, "scale"));
#ifdef STAIRCASE_CUDA_ON_CPU  // on a GPU the context no longer exists until it is retained again
  expect_equal(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  check(cuMemAlloc(&memory, 4));
#endif
  check(cuCtxPopCurrent(&context));
  check(cuDevicePrimaryCtxRelease(last_device()));
}

TEST(errors_of_the_driver_are_not_the_runtimes) {
  const Session session;
  expect_equal(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
  expect_equal(cudaPeekAtLastError(), cudaSuccess);
  const char *name = nullptr, *text = nullptr;
  check(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name));
  check(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
  expect_equal(std::string(name) + ", " + text, "CUDA_ERROR_NOT_FOUND, named symbol not found");
}

TEST(both_apis_share_streams_and_memory) {
  const Session session;
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int* x = nullptr;
  expect_equal(cudaMalloc(&x, 12), cudaSuccess);
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(x);
  void* parameters[] = {&address};
  check(cuLaunchKernel(session.function(made().names[0].c_str()), 1, 1, 1, 3, 1, 1, 0, stream,
                       parameters, nullptr));
  expect_equal(cudaStreamSynchronize(stream), cudaSuccess);
  expect_equal(values_at<int>(address, 3), std::vector<int>{5, 5, 5});
  expect_equal(cudaFree(x), cudaSuccess);
  check(cuStreamDestroy(stream));
}

TEST(memory_is_mapped_where_the_program_wants_it) {
  const Session session;
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  int has_mapped_memory = 0;
  check(cuDeviceGetAttribute(&has_mapped_memory,
                             CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  expect_equal(has_mapped_memory, 1);
  std::size_t piece = 0;
  check(cuMemGetAllocationGranularity(&piece, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  check(cuMemAddressReserve(&range, 2 * piece, 0, 0, 0));
  const int value = 5;
  expect_equal(cuMemcpyHtoD(range, &value, 4), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = 0;
  expect_equal(cuMemCreate(&handle, piece / 2, &property, 0), CUDA_ERROR_INVALID_VALUE);
  for (const CUdeviceptr address : {range, range + piece}) {
    property.location.id = address == range ? 0 : last_device();
    check(cuMemCreate(&handle, piece, &property, 0));
    check(cuMemMap(address, piece, 0, handle, 0));
    expect_equal(cuMemMap(address, piece, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    check(cuMemRelease(handle));
  }
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check(cuMemSetAccess(range, 2 * piece, &access, 1));
  const std::vector<int> values = tap::random_values(2 * piece / sizeof(int), 0, 9);
  check(cuMemcpyHtoD(range, values.data(), 2 * piece));
  CUdeviceptr between = range + piece - 4;
  void* parameters[] = {&between};
  check(cuLaunchKernel(session.function(made().names[0].c_str()), 1, 1, 1, 3, 1, 1, 0, nullptr,
                       parameters, nullptr));
  expect_equal(values_at<int>(between, 4),
               std::vector<int>{5, 5, 5, values[piece / sizeof(int) + 2]});
  expect_equal(cuMemAddressFree(range, 2 * piece), CUDA_ERROR_INVALID_VALUE);
  check(cuMemUnmap(range, 2 * piece));
  expect_equal(cuMemcpyHtoD(range, &value, 4), CUDA_ERROR_INVALID_VALUE);
  check(cuMemAddressFree(range, 2 * piece));
}

TEST(graphs_of_the_driver_run_kernels_copies_and_fills) {
  const Session session;
  CUdeviceptr x = memory_with<int>(std::vector<int>(8, 1)), y = memory_with<int>({0, 0, 0, 0});
  CUgraph graph = nullptr;
  check(cuGraphCreate(&graph, 0));
  CUgraphNode fill = nullptr, kernel = nullptr, copy = nullptr;
  CUDA_MEMSET_NODE_PARAMS memset{};
  memset.dst = x;
  memset.value = 3;
  memset.elementSize = 4;
  memset.width = 8;
  memset.height = 1;
  check(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset, session.context));
  void* arguments[] = {&x};
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.func = session.function(made().names[0].c_str());
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.blockDimX = 2;
  launch.kernelParams = arguments;
  check(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = x;
  box.dstDevice = y;
  box.WidthInBytes = 16;
  box.Height = box.Depth = 1;
  check(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &box, session.context));
  std::size_t count = 0;
  check(cuGraphGetNodes(graph, nullptr, &count));
  expect_equal(count, 3u);
  CUgraphNodeType type{};
  check(cuGraphNodeGetType(kernel, &type));
  expect_equal(type, CU_GRAPH_NODE_TYPE_KERNEL);
  CUgraphExec instance = nullptr;
  check(cuGraphInstantiate(&instance, graph, 0));
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  check(cuGraphLaunch(instance, stream));
  check(cuStreamSynchronize(stream));
  expect_equal(values_at<int>(y, 4), std::vector<int>{5, 5, 3, 3});
  launch.blockDimX = 3;
  check(cuGraphExecKernelNodeSetParams(instance, kernel, &launch));
  memset.value = 4;
  check(cuGraphExecMemsetNodeSetParams(instance, fill, &memset, session.context));
  check(cuGraphLaunch(instance, stream));
  check(cuStreamSynchronize(stream));
  expect_equal(values_at<int>(y, 4), std::vector<int>{5, 5, 5, 4});
  launch.func = nullptr;
  expect_equal(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch), CUDA_ERROR_INVALID_VALUE);
  check(cuGraphExecDestroy(instance));
  check(cuGraphDestroy(graph));
  check(cuStreamDestroy(stream));
}

TEST(streams_of_the_driver_capture_launches) {
  const Session session;
  CUdeviceptr x = memory_with<int>({0, 0, 0});
  void* parameters[] = {&x};
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 3;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const CUfunction fill = session.function(made().names[0].c_str());
  CUstream stream = nullptr;
  check(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
  config.hStream = stream;
  int priority = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  CUcontext context = nullptr;
  check(cuStreamGetPriority(stream, &priority));
  check(cuStreamGetFlags(stream, &flags));
  check(cuStreamGetId(stream, &id));
  check(cuStreamGetCtx(stream, &context));
  expect_equal(priority, -1);
  expect_equal(flags, CU_STREAM_NON_BLOCKING);
  expect(context == session.context, "the stream belongs to the context");
  CUstreamCaptureStatus status{};
  check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  check(cuStreamIsCapturing(stream, &status));
  expect_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  check(cuLaunchKernelEx(&config, fill, parameters, nullptr));
  CUgraph graph = nullptr;
  check(cuStreamEndCapture(stream, &graph));
  expect_equal(values_at<int>(x, 3), std::vector<int>{0, 0, 0});
  CUgraphExec instance = nullptr;
  check(cuGraphInstantiate(&instance, graph, 0));
  check(cuGraphLaunch(instance, stream));
  check(cuStreamSynchronize(stream));
  expect_equal(values_at<int>(x, 3), std::vector<int>{5, 5, 5});
  check(cuGraphExecDestroy(instance));
  check(cuGraphDestroy(graph));
  check(cuStreamDestroy(stream));
}

TEST(rows_are_filled_and_boxes_copied) {
  const Session session;
  CUdeviceptr x = memory_with<int>(std::vector<int>(24, 1)),
              y = memory_with<int>(std::vector<int>(4));
  check(cuMemsetD2D32(x + 4, 16, 7, 2, 3));
  check(cuMemsetD2D8Async(x + 64, 16, 0, 4, 2, nullptr));
  check(cuMemsetD2D16(x + 76, 16, 2, 1, 1));
  expect_equal(values_at<int>(x, 24), std::vector<int>{1, 7, 7, 1, 1, 7, 7, 1, 1, 7, 7, 1,
                                                       1, 1, 1, 1, 0, 1, 1, 2, 0, 1, 1, 1});
  expect_equal(cuMemsetD2D32(x, 4, 7, 2, 3), CUDA_ERROR_INVALID_VALUE);
  expect_equal(cuMemsetD2D16(x + 1, 16, 7, 2, 3), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D box{};  // the second column of two rows in the middle slice of 2 x 2 x 6
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = x;
  box.srcXInBytes = 4;
  box.srcZ = 1;
  box.srcPitch = 8;
  box.srcHeight = 2;
  box.dstDevice = y;
  box.dstPitch = 8;
  box.WidthInBytes = 4;
  box.Height = 2;
  box.Depth = 1;
  check(cuMemcpy3D(&box));
  check(cuCtxSynchronize());
  expect_equal(values_at<int>(y, 4), std::vector<int>{7, 0, 1, 0});
  check(cuMemcpyPeer(y, session.context, x + 4, session.context, 8));
  check(cuCtxSynchronize());
  expect_equal(values_at<int>(y, 2), std::vector<int>{7, 7});
  unsigned type = 0, managed = 9;
  CUdeviceptr address = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  void* found[] = {&type, &managed, &address};
  check(cuPointerGetAttributes(3, attributes, found, x));
  expect_equal(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  expect_equal(managed, 0u);
  expect_equal(address, x);
  int local = 0;
  check(cuPointerGetAttributes(1, attributes, found, reinterpret_cast<CUdeviceptr>(&local)));
  expect_equal(type, 0u);
}

TEST(pools_of_the_driver_give_memory) {
  const Session session;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  check(cuMemPoolCreate(&pool, &properties));
  unsigned long long threshold = 4096, found = 0;
  check(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  check(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &found));
  expect_equal(found, threshold);
  CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccess_flags access{};
  check(cuMemPoolGetAccess(&access, pool, &place));
  expect_equal(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr x = 0;
  check(cuMemAllocFromPoolAsync(&x, 8, pool, stream));
  check(cuMemsetD32Async(x, 6, 2, stream));
  check(cuStreamSynchronize(stream));
  expect_equal(values_at<int>(x, 2), std::vector<int>{6, 6});
  check(cuMemFreeAsync(x, stream));
  check(cuStreamSynchronize(stream));
  check(cuMemPoolTrimTo(pool, 0));
  check(cuMemPoolDestroy(pool));
  check(cuStreamDestroy(stream));
  check(cuDeviceGetDefaultMemPool(&pool, 0));
  expect(pool != nullptr, "a device has a pool");
}

TEST(kernels_of_modules_are_asked_for_their_parameters_and_blocks) {
  const Session session;
  const CUfunction scale = session.function("scale");
  std::size_t offset = 0, bytes = 0;
  check(cuFuncGetParamInfo(scale, 3, &offset, &bytes));
  expect_equal(offset, 24u);
  expect_equal(bytes, sizeof(short));
  expect_equal(cuFuncGetParamInfo(scale, 4, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  CUfunctionLoadingState state{};
  check(cuFuncLoad(scale));
  check(cuFuncIsLoaded(&state, scale));
  expect_equal(state, CU_FUNCTION_LOADING_STATE_LOADED);
  int grid = 0, block = 0, blocks = 0, processors = 0;
  check(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  check(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, scale, nullptr, 0, 128,
                                                  CU_OCCUPANCY_DEFAULT));
  expect(block > 0 && block <= 128, "the block is within its limit");
  check(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &blocks, scale, block, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
  expect_equal(grid, blocks * processors);
  check(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, scale, 2, 128));
  check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 128, bytes));
  expect(blocks >= 2, "two blocks fit");
}

TEST(devices_of_the_driver_have_addresses_and_limits) {
  const Session session;
  char id[16];
  CUdevice found = -1;
  check(cuDeviceGetPCIBusId(id, sizeof id, last_device()));
  check(cuDeviceGetByPCIBusId(&found, id));
  expect_equal(found, last_device());
  std::size_t before = 0, after = 0;
  check(cuCtxGetLimit(&before, CU_LIMIT_PRINTF_FIFO_SIZE));
  check(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 * before));
  check(cuCtxGetLimit(&after, CU_LIMIT_PRINTF_FIFO_SIZE));
  expect_equal(after, 2 * before);
  check(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, before));
  int least = -1, greatest = 1;
  check(cuCtxGetStreamPriorityRange(&least, &greatest));
  expect(greatest <= least, "a greater priority has a lower number");
}

TEST(functions_are_found_by_their_names) {
  const Session session;
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  check(
      cuGetProcAddress("cuDeviceGetCount", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  expect_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
  int count = 0;
  check(reinterpret_cast<CUresult (*)(int*)>(function)(&count));
  expect_equal(count, last_device() + 1);
  cudaDriverEntryPointQueryResult found{};
  expect_equal(
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &found),
      cudaSuccess);
  expect_equal(found, cudaDriverEntryPointSuccess);
  CUdeviceptr x = 0;
  check(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(function)(&x, 64));
  check(cuMemFree(x));
  expect_equal(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &found),
      cudaSuccess);
  expect_equal(found, cudaDriverEntryPointSymbolNotFound);
  expect(function == nullptr, "there is no such function");
}

TEST(nvrtc_tells_what_is_wrong_at_its_line) {
  const Made bad = compile("__global__ void k(int* x) {\n  x[0] = nothing;\n}\n");
  expect_equal(bad.result, NVRTC_ERROR_COMPILATION);
  expect(
      bad.log.find("kernels.cu:2") != bad.log.npos || bad.log.find("kernels.cu(2)") != bad.log.npos,
      "the log names the line: " + bad.log);
}

/// A source without device annotations, which NVRTC can compile as device code.
const char* const unmarked = R"(
int table[4] = {1, 2, 3, 4};
static int count = 2;
enum Kind { none, some = 1 << 2 };
int shifted(int x, int by) { return x << by; }
template <typename T, int n = (3 > 2)>
T scaled(T x) { return x * n; }
namespace inner {
int next(int x) { return x + table[1]; }
}
struct Pair {
  int first{1}, second;
  Pair(int value) : first{value}, second(2) {}
 public:
  int left(int by) const { return shifted(first, by) + (second << by); }
  struct Inner { static int one() { return 1; } };
};
int Pair_sum(Pair p) { return p.first + p.second; }
auto twice = [](int x) { return 2 * x; };
__device__ int marked(int x) { return x + some; }
extern "C" __global__ void use(int* x) {
  Pair pair(3);
  x[0] = shifted(5, x[0]) + pair.left(x[1]);
  x[1] = scaled(2) + inner::next(1) + Pair_sum(pair) + Pair::Inner::one() + twice(3) + marked(1) + count++;
}
)";

TEST(nvrtc_takes_what_is_unmarked_for_the_devices_where_it_is_told_to) {
  const Session session;
  for (const char* option : {"-default-device", "--device-as-default-execution-space"}) {
    const Made made = compile(unmarked, {"&table"}, {option, architecture});
    expect(made.result == NVRTC_SUCCESS, "it is compiled: " + made.log);
    CUmodule module = nullptr;
    CUfunction use = nullptr;
    CUdeviceptr table = 0;
    check(cuModuleLoadData(&module, made.cubin.data()));
    check(cuModuleGetFunction(&use, module, "use"));
    check(cuModuleGetGlobal(&table, nullptr, module, made.names[0].c_str()));
    check(cuMemsetD32(table + 4, 9, 1));
    // Shifts must behave as on a GPU, both in functions outside classes and in a member function.
    CUdeviceptr x = memory_with<int>({32, 33});
    void* parameters[] = {&x};
    check(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    expect_equal(values_at<int>(x, 2), std::vector<int>{0, 2 + 10 + 5 + 1 + 6 + 5 + 2});
    check(cuMemFree(x));
    check(cuModuleUnload(module));
  }
}

TEST(nvrtc_knows_its_options) {
  const char* const source =
      "#if __CUDA_ARCH__ == 800 && X == 1 && Y == 2 && Z && !defined W\n"
      "__global__ void k(int* x) { x[0] = 1; }\n#else\n#error options are lost\n#endif\n";
  const Made good = compile(source, {"k"},
                            {"--gpu-architecture=sm_90",
                             "-arch",
                             "compute_80",
                             "-DX=1",
                             "-D",
                             "Y=2",
                             "--define-macro=Z",
                             "-DW",
                             "-UW",
                             "-I/nowhere",
                             "-I",
                             "/nowhere",
                             "--include-path=/nowhere",
                             "--std=c++17",
                             "--use_fast_math",
                             "-lineinfo",
                             "-G",
                             "--extra-device-vectorization",
                             "--restrict",
                             "-dopt=on",
                             "--fmad=false",
                             "-ftz=true",
                             "--prec-div",
                             "true",
                             "-rdc=true",
                             "--maxrregcount=32",
                             "-Xptxas",
                             "-v",
                             "-w",
                             "--diag-suppress=177",
                             "--minimal",
                             "--split-compile=2",
                             "-time=-",
                             " -no-cache ",
                             "-dopt"});
  expect(good.result == NVRTC_SUCCESS, "it is compiled: " + good.log);
  for (const std::vector<const char*>& wrong :
       std::vector<std::vector<const char*>>{{"-O3"},
                                             {"--foo"},
                                             {"foo"},
                                             {"-o", "x"},
                                             {"-cubin"},
                                             {"-lm"},
                                             {"--default-device"},
                                             {"-default-device=true"},
                                             {"-arch=sm_10"},
                                             {"-arch=native"},
                                             {"--std=gnu++17"},
                                             {"-std", "c++17"},
                                             {"--fmad=no"},
                                             {"-rdc"},
                                             {"--use_fast_math=true"},
                                             {"-dopt=off"},
                                             {"--maxrregcount=x"},
                                             {"--diag-suppress=0"},
                                             {"-Werror"}}) {
    const Made bad = compile(source, {}, wrong);
    expect(bad.result == NVRTC_ERROR_INVALID_OPTION && bad.log.starts_with("nvrtc: error: "),
           std::string(wrong[0]) + " is refused: " + bad.log);
  }
}

#ifdef STAIRCASE_CUDA_ON_CPU  // these options produce code for a GPU, and NVRTC accepts them
TEST(nvrtc_makes_nothing_for_linkers_of_a_gpu) {
  for (const char* option : {"-dlto", "-optix-ir"})
    expect_equal(compile("", {}, {option}).result, NVRTC_ERROR_INVALID_OPTION);
}
#endif

TEST(nvrtc_compiles_for_the_least_architecture_where_nothing_is_said) {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> all(count);
  check(nvrtcGetSupportedArchs(all.data()));
  expect_equal(all[0], 75);
  const Made made =
      compile("__device__ int a = __CUDA_ARCH__;\n#if __CUDA_ARCH__ != 750\n#error\n#endif\n");
  expect_equal(made.result, NVRTC_SUCCESS);
}

TEST(nvrtc_takes_macros_and_architectures) {
  const Made good = compile("__global__ void k(int* x) { x[0] = VALUE; }\n", {},
                            {"--gpu-architecture=compute_90", "-DVALUE=3", "--std=c++17"});
  expect_equal(good.result, NVRTC_SUCCESS);
  const Made bad = compile("__global__ void k(int* x) { x[0] = VALUE; }\n");
  expect_equal(bad.result, NVRTC_ERROR_COMPILATION);
}

}  // namespace

int main(int argc, char** argv) {
  return tap::run(argc, argv, [] {});
}
