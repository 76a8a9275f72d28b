/// \file
/// Devices and contexts of the driver API.

#include "context.hpp"

#include <cstdio>
#include <deque>
#include <mutex>
#include <vector>

#include "../indestructible.hpp"
#include "../runtime/contexts.hpp"
#include "../runtime/errors.hpp"
#include "../runtime/stream.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"

struct CUctx_st {
  CUdevice device;
  std::uint32_t number = 0;  ///< ID of the context in the runtime; 0 for a primary context
  unsigned flags = 0;
  bool is_primary = false;
  int retained = 0;  ///< number of unreleased calls of cuDevicePrimaryCtxRetain
  bool lives = true;
};

namespace cuda_on_cpu {
namespace {

bool& is_initialised() {
  static bool initialised = false;
  return initialised;
}

/// All contexts of the program. Destroyed contexts are kept, so that their handles stay
/// recognisable.
std::deque<CUctx_st>& contexts() {
  static auto& contexts = indestructible<std::deque<CUctx_st>>();
  return contexts;
}

CUctx_st& primary_context(CUdevice device) {
  for (CUctx_st& context : contexts())
    if (context.is_primary && context.device == device) return context;
  contexts().push_back({.device = device, .is_primary = true});
  return contexts().back();
}

/// The context stack of the calling host thread. Its last element is the current context.
std::vector<CUcontext>& stack() {
  thread_local auto& stack = indestructible<std::vector<CUcontext>>();
  return stack;
}

bool is_context(CUcontext context) {
  for (const CUctx_st& known : contexts())
    if (&known == context) return known.lives;
  return false;
}

bool is_device(CUdevice device) { return device >= 0 && device < settings().devices; }

CUresult needs_initialisation() {
  return is_initialised() || runtime_is_used()
             ? CUDA_SUCCESS
             : fail_driver(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
}

CUresult needs_device(CUdevice device) {
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (is_device(device)) return CUDA_SUCCESS;
  return fail_driver(CUDA_ERROR_INVALID_DEVICE, "there is no device " + std::to_string(device));
}

/// Checks the devices, and then calls a function of the runtime that needs no context.
template <typename Call>
CUresult for_devices(std::initializer_list<CUdevice> devices, const Call& of_runtime) {
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  for (const CUdevice device : devices)
    if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  const cudaError_t before = last_error_of_thread();
  const bool used = runtime_is_used();
  const CUresult result = result_of(of_runtime(), before);
  runtime_is_used() = used;
  return result;
}

void choose(CUcontext context) {
  if (context != nullptr) current_device() = context->device;
  work_in_context(current_device(), context != nullptr ? context->number : 0);
}

}  // namespace

CUcontext current_context() {
  if (!stack().empty() && stack().back()->device == current_device()) return stack().back();
  // cudaSetDevice may have chosen another device since the context was pushed.
  return !stack().empty() || runtime_is_used() ? &primary_context(current_device()) : nullptr;
}

DriverCall::DriverCall()
    : refusal_(needs_initialisation()),
      before_(last_error_of_thread()),
      runtime_was_used_(runtime_is_used()) {
  if (refusal_ != CUDA_SUCCESS) return;
  const CUcontext context = current_context();
  if (context == nullptr)
    refusal_ =
        fail_driver(CUDA_ERROR_INVALID_CONTEXT,
                    "this host thread has no current context; create one, or make one current");
  else if (!context->lives)
    refusal_ = fail_driver(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                           "the current context of this host thread was destroyed");
}

CUresult DriverCall::end(cudaError_t error) const {
  runtime_is_used() = runtime_was_used_;
  return result_of(error, before_);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;
using Guard = std::scoped_lock<RuntimeMutex>;

CUresult cuInit(unsigned flags) {
  if (flags != 0) return fail_driver(CUDA_ERROR_INVALID_VALUE, "the flags of cuInit must be 0");
  is_initialised() = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  cudaDriverGetVersion(version);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (count == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  *count = settings().devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (const CUresult error = needs_device(ordinal); error != CUDA_SUCCESS) return error;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  if (name == nullptr || length < 1) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  std::snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  *uuid = properties.uuid;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  *bytes = settings().memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  if (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
      attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED ||
      attribute == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED) {
    *value = 1;
    return CUDA_SUCCESS;
  }
  const cudaError_t before = last_error_of_thread();
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device),
                   before);
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  *major = settings().capability / 10;
  *minor = settings().capability % 10;
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  for (const CUdevice each : {device, peer})
    if (const CUresult error = needs_device(each); error != CUDA_SUCCESS) return error;
  const cudaError_t before = last_error_of_thread();
  return result_of(cudaDeviceCanAccessPeer(can, device, peer), before);
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
  return for_devices({from, to}, [&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), from, to);
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return for_devices({device}, [&] { return cudaDeviceGetPCIBusId(id, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return for_devices({}, [&] { return cudaDeviceGetByPCIBusId(device, id); });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return for_devices({device}, [&] {
    return pool == nullptr ? fail(cudaErrorInvalidValue)
                           : cudaDeviceGetDefaultMemPool(pool, device);
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return for_devices({device}, [&] {
    return pool == nullptr ? fail(cudaErrorInvalidValue) : cudaDeviceGetMemPool(pool, device);
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return for_devices({device}, [&] { return cudaDeviceSetMemPool(device, pool); });
}

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  if (context == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const auto number = static_cast<std::uint32_t>(contexts().size() + 1);
  contexts().push_back({.device = device, .number = number, .flags = flags});
  *context = &contexts().back();
  stack().push_back(*context);
  choose(*context);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (!is_context(context) || context->is_primary) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  end_context(context->device, context->number, __builtin_return_address(0));
  context->lives = false;
  if (!stack().empty() && stack().back() == context) {
    stack().pop_back();
    choose(stack().empty() ? nullptr : stack().back());
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (!is_context(context)) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  stack().push_back(context);
  choose(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (stack().empty()) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  if (context != nullptr) *context = stack().back();
  stack().pop_back();
  choose(stack().empty() ? nullptr : stack().back());
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  if (context != nullptr && !is_context(context)) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  choose(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_initialisation(); error != CUDA_SUCCESS) return error;
  *context = current_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  const DriverCall call;
  if (call.refusal() == CUDA_SUCCESS) *device = current_device();
  return call.refusal();
}

CUresult cuCtxGetFlags(unsigned* flags) {
  const DriverCall call;
  if (call.refusal() == CUDA_SUCCESS) *flags = current_context()->flags;
  return call.refusal();
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  const Guard guard(runtime_mutex());
  if (context != nullptr && !is_context(context)) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return by_runtime([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return by_runtime([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  if (config == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const DriverCall call;
  if (call.refusal() == CUDA_SUCCESS) *config = CU_FUNC_CACHE_PREFER_NONE;
  return call.refusal();
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return by_runtime([&] {
    int low = 0, high = 0;
    const cudaError_t error = cudaDeviceGetStreamPriorityRange(&low, &high);
    if (least != nullptr) *least = low;
    if (greatest != nullptr) *greatest = high;
    return error;
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  const CUstream_st* found = find_stream(stream);
  if (context == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  if (found == nullptr) return fail_driver(CUDA_ERROR_INVALID_HANDLE);
  *context = &primary_context(found->device);
  for (CUctx_st& known : contexts())
    if (known.number == found->context && known.number != 0) *context = &known;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_context(to_context) || !is_context(from_context))
    return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  return call.end(cudaMemcpyPeerAsync(pointer_of(to), to_context->device, pointer_of(from),
                                      from_context->device, bytes, stream));
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_context(to_context) || !is_context(from_context))
    return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  return call.end(cudaMemcpyPeer(pointer_of(to), to_context->device, pointer_of(from),
                                 from_context->device, bytes));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) { return DriverCall().refusal(); }

CUresult cuCtxSynchronize() {
  const DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal() : call.end(cudaDeviceSynchronize());
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_context(peer)) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  return call.end(cudaDeviceEnablePeerAccess(peer->device, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_context(peer)) return fail_driver(CUDA_ERROR_INVALID_CONTEXT);
  return call.end(cudaDeviceDisablePeerAccess(peer->device));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  *context = &primary_context(device);
  ++(*context)->retained;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  CUctx_st& context = primary_context(device);
  if (context.retained == 0)
    return fail_driver(
        CUDA_ERROR_INVALID_CONTEXT,
        "cuDevicePrimaryCtxRelease was called more often than cuDevicePrimaryCtxRetain");
  if (--context.retained == 0 && !runtime_is_used())
    reset_device(device, __builtin_return_address(0));
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  reset_device(device, __builtin_return_address(0));
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  primary_context(device).flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const Guard guard(runtime_mutex());
  if (const CUresult error = needs_device(device); error != CUDA_SUCCESS) return error;
  *flags = primary_context(device).flags;
  *active = runtime_is_used() || primary_context(device).retained > 0;
  return CUDA_SUCCESS;
}
