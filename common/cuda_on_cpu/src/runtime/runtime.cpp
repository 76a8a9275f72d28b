/// \file
/// The runtime's calls for devices and kernels.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "../settings.hpp"
#include "attributes.hpp"
#include "children.hpp"
#include "contexts.hpp"
#include "cuda_on_cpu/memory_pools.hpp"
#include "cuda_on_cpu/runtime_hints.hpp"
#include "errors.hpp"
#include "hints.hpp"
#include "memory.hpp"
#include "stream.hpp"
#include "symbols.hpp"

namespace cuda_on_cpu {
namespace {

// The device resembles a small H200. The limits per block and per thread are an H200's limits. The
// number of SMs is 16, the maximum number of blocks in a cluster.
constexpr int processors = 16;
constexpr int most_threads_of_processor = 2048;
constexpr std::size_t shared_of_processor = 228 << 10;
constexpr std::size_t reserved_shared = 1 << 10;
constexpr std::size_t plain_shared = 48 << 10;  // bytes that a kernel may use without
                                                // cudaFuncSetAttribute

/// Whether the device supports clusters, which require compute capability 9.0.
bool has_clusters() { return settings().capability >= 90; }

/// The launch limits of a kernel, which are not part of the code of the kernel.
struct KernelLimits {
  unsigned threads = most_threads;            ///< maximum number of threads per block
  std::size_t dynamic_shared = plain_shared;  ///< maximum bytes of dynamic shared memory per block
  bool large_clusters = false;                ///< whether the program has requested clusters of
                                              ///< more than 8 blocks
};

std::map<std::string, KernelLimits>& kernel_limits() {
  static auto& limits = indestructible<std::map<std::string, KernelLimits>>();
  return limits;
}

/// The limits of a kernel. A kernel without a symbol has the largest limits of all kernels.
KernelLimits limits_of(const std::string& name) {
  const auto& known = kernel_limits();
  if (const auto found = known.find(name); found != known.end()) return found->second;
  KernelLimits limits;
  if (known.empty() || has_function(name)) return limits;
  for (const auto& [other, asked] : known) {
    limits.dynamic_shared = std::max(limits.dynamic_shared, asked.dynamic_shared);
    limits.large_clusters = limits.large_clusters || asked.large_clusters;
  }
  return limits;
}

std::set<std::pair<int, int>>& peers() {
  static auto& peers = indestructible<std::set<std::pair<int, int>>>();
  return peers;
}

/// Whether two devices can access each other's memory.
bool are_linked(int one, int other) { return one / settings().peers == other / settings().peers; }

bool is_device(int d) { return d >= 0 && d < settings().devices; }

int blocks_of_processor(int block_size, std::size_t shared) {
  if (block_size < 1 || block_size > static_cast<int>(most_threads)) return 0;
  const int warps = (block_size + 31) / 32;
  const int by_threads = std::min(32, most_threads_of_processor / (32 * warps));
  const auto by_shared = static_cast<int>(shared_of_processor / (shared + reserved_shared));
  return std::min(by_threads, by_shared);
}

cudaError_t error_of(const std::string& kernel, const Configuration& c) {
  if (c.refusal != cudaSuccess) return c.refusal;
  if (!is_valid(c)) return cudaErrorInvalidConfiguration;
  const KernelLimits limits = limits_of(kernel);
  if (c.dynamic_shared > limits.dynamic_shared) return cudaErrorInvalidValue;
  if (c.block.x * c.block.y * c.block.z > limits.threads) return cudaErrorInvalidValue;
  const unsigned most_blocks = !has_clusters() ? 1 : limits.large_clusters ? 16 : 8;
  if (!has_whole_clusters(c, most_blocks)) return cudaErrorInvalidClusterSize;
  if (c.cooperative && c.cluster.x * c.cluster.y * c.cluster.z > 1) return cudaErrorNotSupported;
  const std::size_t blocks = std::size_t{c.grid.x} * c.grid.y * c.grid.z;
  const auto size = static_cast<int>(c.block.x * c.block.y * c.block.z);
  const auto together =
      static_cast<std::size_t>(processors * blocks_of_processor(size, c.dynamic_shared));
  if (c.cooperative && blocks > together) return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

std::string text_of(dim3 extent) {
  return std::to_string(extent.x) + " x " + std::to_string(extent.y) + " x " +
         std::to_string(extent.z);
}

/// A description of an invalid configuration for messages.
std::string reason_of(cudaError_t refusal, const std::string& kernel, const Configuration& c) {
  const std::size_t threads = std::size_t{c.block.x} * c.block.y * c.block.z;
  const KernelLimits limits = limits_of(kernel);
  const std::string block = "a block of " + kernel + " has " + text_of(c.block) + " threads";
  if (c.refusal != cudaSuccess)
    return "the launch of " + kernel +
           " requests an invalid L2 access window: it must have at most " +
           std::to_string(most_window_bytes) +
           " bytes, a hitRatio from 0 to 1, and a missProp other than cudaAccessPropertyPersisting";
  if (refusal == cudaErrorInvalidConfiguration) {
    if (std::size_t{c.grid.x} * c.grid.y * c.grid.z == 0)
      return "the grid of " + kernel + " has " + text_of(c.grid) +
             " blocks, but must have at least one";
    if (threads == 0) return block + ", but must have at least one";
    if (threads > most_threads) return block + ", but 1024 is the maximum";
    return "the grid of " + kernel + " has " + text_of(c.grid) + " blocks of " + text_of(c.block) +
           " threads, which is too many in one dimension";
  }
  if (refusal == cudaErrorInvalidValue && c.dynamic_shared > limits.dynamic_shared)
    return "the launch of " + kernel + " requests " + std::to_string(c.dynamic_shared) +
           " bytes of dynamic shared memory, but the limit is " +
           std::to_string(limits.dynamic_shared) + " unless cudaFuncSetAttribute sets another one";
  if (refusal == cudaErrorInvalidValue && threads > limits.threads)
    return block + ", but the __launch_bounds__ of the kernel allow at most " +
           std::to_string(limits.threads);
  if (refusal == cudaErrorInvalidClusterSize)
    return "the grid of " + kernel + " has " + text_of(c.grid) + " blocks in clusters of " +
           text_of(c.cluster) + ", but must consist of whole clusters of a supported size";
  return "";
}

}  // namespace

void* room_for(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* const room = std::aligned_alloc(alignment, size);
  if (room == nullptr) throw std::bad_alloc();
  return std::memset(room, 0, size);  // the analysis reads padding between arguments as well
}

struct Owned::Count {
  std::atomic<long> owners;
  void* owner;
  void (*destroy)(void* owner);
};

Owned::Owned(void* object, void* owner, void (*destroy)(void*))
    : object_(object), count_(new Count{{1}, owner, destroy}) {}

Owned::Owned(const Owned& other) : object_(other.object_), count_(other.count_) {
  if (count_ != nullptr) count_->owners.fetch_add(1, std::memory_order_relaxed);
}

Owned::~Owned() {
  if (count_ == nullptr || count_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  count_->destroy(count_->owner);
  delete count_;
}

namespace {

/// A closure in memory that room_for() has allocated, and its destructor.
struct ClosureInRoom {
  void* closure;
  void (*destroy)(void*);
};

}  // namespace

Owned owned(void* closure, void (*destroy)(void*)) {
  return {closure, new ClosureInRoom{closure, destroy}, [](void* owner) {
            const std::unique_ptr<ClosureInRoom> taken(static_cast<ClosureInRoom*>(owner));
            taken->destroy(taken->closure);
            std::free(taken->closure);
          }};
}

cudaError_t submit(const char* kernel, const Configuration& configuration, Invocation invocation) {
  if (is_on_device()) return submit_in_kernel(kernel, configuration, std::move(invocation));
  const std::scoped_lock guard(runtime_mutex());
  if (lasting_error() != cudaSuccess) return fail(lasting_error());
  CUstream_st* stream = find_stream(configuration.stream);
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  Refusal refusal = refusal_of(kernel, configuration);
  if (refusal.error == cudaSuccess && stream->device != current_device() &&
      configuration.stream != nullptr)
    refusal.error = cudaErrorInvalidResourceHandle;
  if (refusal.error != cudaSuccess) return fail(refusal.error, std::move(refusal.reason));
  enqueue(*stream, nullptr, nullptr,
          std::make_shared<Kernel>(Kernel{kernel, configuration, invocation}));
  return cudaSuccess;
}

Refusal refusal_of(const char* kernel, const Configuration& configuration) {
  const cudaError_t error = error_of(kernel, configuration);
  return {error, error == cudaSuccess ? "" : reason_of(error, kernel, configuration)};
}

Configuration configuration(const cudaLaunchConfig_t& config) {
  Configuration c{config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    const auto& extent = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      c.cluster = dim3(extent.x, extent.y, extent.z);
    else if (attribute.id == cudaLaunchAttributeCooperative)
      c.cooperative = attribute.val.cooperative != 0;
    else if (attribute.id == cudaLaunchAttributeAccessPolicyWindow &&
             !is_window(attribute.val.accessPolicyWindow))
      c.refusal = cudaErrorInvalidValue;
  }
  return c;
}

const char* name_of(AnyKernel kernel) {
  static auto& names = indestructible<std::map<AnyKernel, std::string>>();
  const std::scoped_lock guard(runtime_mutex());
  auto& name = names[kernel];
  if (name.empty()) name = function_at(reinterpret_cast<const void*>(kernel));
  return name.c_str();
}

cudaError_t set_attribute(AnyKernel kernel, cudaFuncAttribute attribute, int value) {
  const std::scoped_lock guard(runtime_mutex());
  KernelLimits& limits = kernel_limits()[name_of(kernel)];
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
    limits.large_clusters = value != 0;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return lasting_error();
  if (value < 0 || value > static_cast<int>(most_dynamic_shared))
    return fail(cudaErrorInvalidValue);
  limits.dynamic_shared = static_cast<std::size_t>(value);
  return lasting_error();
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, AnyKernel kernel) {
  const std::scoped_lock guard(runtime_mutex());
  const KernelLimits limits = limits_of(name_of(kernel));
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(limits.threads);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(limits.dynamic_shared);
  return lasting_error();
}

cudaError_t active_blocks(int* blocks, AnyKernel, int block_size, std::size_t shared) {
  if (block_size < 1 || block_size > static_cast<int>(most_threads))
    return fail(cudaErrorInvalidValue);
  *blocks = blocks_of_processor(block_size, shared);
  return lasting_error();
}

cudaError_t active_clusters(int* clusters, AnyKernel, const cudaLaunchConfig_t& config) {
  const Configuration c = configuration(config);
  if (!is_valid(c)) return fail(cudaErrorInvalidConfiguration);
  if (!has_whole_clusters(c, has_clusters() ? 16 : 1)) return fail(cudaErrorInvalidClusterSize);
  const auto size = static_cast<int>(c.block.x * c.block.y * c.block.z);
  const auto blocks = static_cast<int>(c.cluster.x * c.cluster.y * c.cluster.z);
  *clusters = processors * blocks_of_processor(size, c.dynamic_shared) / blocks;
  return lasting_error();
}

cudaError_t largest_cluster(int* blocks, AnyKernel kernel, const cudaLaunchConfig_t& config) {
  const std::scoped_lock guard(runtime_mutex());
  if (blocks == nullptr) return fail(cudaErrorInvalidValue);
  Configuration c = configuration(config);
  c.cluster = dim3(1);
  if (!is_valid(c)) return fail(cudaErrorInvalidConfiguration);
  *blocks = !has_clusters() ? 1 : limits_of(name_of(kernel)).large_clusters ? 16 : 8;
  return lasting_error();
}

cudaError_t available_shared(std::size_t* bytes, AnyKernel, int blocks, int block_size) {
  if (bytes == nullptr || blocks < 1 || blocks > blocks_of_processor(block_size, 0))
    return fail(cudaErrorInvalidValue);
  const std::size_t share = shared_of_processor / static_cast<std::size_t>(blocks);
  *bytes = std::min<std::size_t>(share - reserved_shared, most_dynamic_shared);
  return lasting_error();
}

cudaError_t check_occupancy_flags(unsigned flags) {
  return flags > cudaOccupancyDisableCachingOverride ? fail(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t best_block(int* grid, int* block, AnyKernel kernel, int limit, unsigned flags,
                       std::size_t (*shared_of)(void* closure, int block_size), void* closure) {
  const std::scoped_lock guard(runtime_mutex());
  if (grid == nullptr || block == nullptr || limit < 0) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = check_occupancy_flags(flags); error != cudaSuccess) return error;
  const int of_kernel = static_cast<int>(limits_of(name_of(kernel)).threads);
  int most_active = 0;
  *grid = *block = 0;
  for (int size = limit == 0 ? of_kernel : std::min(limit, of_kernel);
       size > 0 && most_active < most_threads_of_processor; size = (size - 1) / 32 * 32) {
    const int blocks = blocks_of_processor(size, shared_of(closure, size));
    if (blocks * size <= most_active) continue;
    most_active = blocks * size;
    *block = size;
    *grid = blocks * processors;
  }
  return lasting_error();
}

cudaError_t linked_name(const char** name, AnyKernel kernel) {
  static auto& names = indestructible<std::map<AnyKernel, std::string>>();
  const std::scoped_lock guard(runtime_mutex());
  if (name == nullptr) return fail(cudaErrorInvalidValue);
  if (kernel == nullptr) return fail(cudaErrorInvalidDeviceFunction);
  std::string& known = names[kernel];
  if (known.empty()) known = linked_name_at(reinterpret_cast<const void*>(kernel));
  *name = known.c_str();
  return lasting_error();
}

bool note_bounds(const char* kernel, unsigned threads) {
  kernel_limits()[kernel].threads = threads;
  return true;
}

void reset_device(int device, const void* place) {
  end_context(device, 0, place);
  std::erase_if(peers(),
                [=](const auto& pair) { return pair.first == device || pair.second == device; });
  forget_errors();
}

bool may_access(int from, int to) { return from == to || peers().contains({from, to}); }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return fail(cudaErrorInvalidValue);
  *count = settings().devices;
  return lasting_error();
}

cudaError_t cudaSetDevice(int d) {
  if (!is_device(d)) return fail(cudaErrorInvalidDevice);
  runtime_is_used() = true;
  current_device() = d;
  return lasting_error();
}

cudaError_t cudaGetDevice(int* d) {
  *d = is_on_device() ? block->launch->device : current_device();
  return lasting_error();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int d) {
  if (properties == nullptr) return fail(cudaErrorInvalidValue);
  if (!is_device(d)) return fail(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "CPU device");
  properties->totalGlobalMem = settings().memory;
  properties->sharedMemPerBlock = plain_shared;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = most_threads;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = most_threads;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 64 << 10;
  properties->major = settings().capability / 10;
  properties->minor = settings().capability % 10;
  properties->multiProcessorCount = processors;
  properties->concurrentKernels = properties->unifiedAddressing = properties->managedMemory = 1;
  properties->concurrentManagedAccess = properties->canMapHostMemory = 1;
  properties->asyncEngineCount = 3;
  properties->deviceOverlap = properties->computePreemptionSupported = 1;
  properties->clockRate = 1980000;
  properties->memoryClockRate = 3201000;
  properties->singleToDoublePrecisionPerfRatio = 2;
  properties->memPitch = 2147483647;
  properties->textureAlignment = properties->surfaceAlignment = 512;
  properties->texturePitchAlignment = 32;
  properties->hostRegisterSupported = properties->canUseHostPointerForRegisteredMem = 1;
  properties->globalL1CacheSupported = properties->localL1CacheSupported = 1;
  properties->memoryBusWidth = 6144;
  properties->l2CacheSize = l2_bytes;
  properties->persistingL2CacheMaxSize = most_persisting_l2_bytes;
  properties->accessPolicyMaxWindowSize = most_window_bytes;
  properties->maxThreadsPerMultiProcessor = most_threads_of_processor;
  properties->sharedMemPerMultiprocessor = shared_of_processor;
  properties->cooperativeLaunch = 1;
  properties->clusterLaunch = has_clusters();
  properties->sharedMemPerBlockOptin = most_dynamic_shared;
  properties->reservedSharedMemPerBlock = reserved_shared;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->streamPrioritiesSupported = properties->memoryPoolsSupported = 1;
  properties->ipcEventSupported = 1;
  properties->pciBusID = d + 1;
  properties->memoryPoolSupportedHandleTypes = cudaMemHandleTypePosixFileDescriptor;
  return lasting_error();
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int d) {
  const bool is_known = attribute >= cudaDevAttrMaxThreadsPerBlock &&
                        attribute <= cudaDevAttrOnlyPartialHostNativeAtomicSupported;
  if (value == nullptr || !is_known) return fail(cudaErrorInvalidValue);
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, d); error != cudaSuccess) return error;
  *value = attribute_of(p, attribute);
  return lasting_error();
}

cudaError_t cudaDeviceSynchronize() {
  if (is_on_device())
    fatal("kernel " + block->launch->kernel +
          " calls cudaDeviceSynchronize: since CUDA 12, a kernel cannot wait for what it launches");
  const std::scoped_lock guard(runtime_mutex());
  runtime_is_used() = true;
  synchronise_device(current_device());
  return fail(lasting_error());
}

cudaError_t cudaDeviceReset() {
  const std::scoped_lock guard(runtime_mutex());
  reset_device(current_device(), __builtin_return_address(0));
  return cudaSuccess;
}

namespace {

unsigned& flags_of_device(int d) {
  static auto& flags =
      indestructible<std::vector<unsigned>>(static_cast<std::size_t>(settings().devices), 0u);
  return flags[static_cast<std::size_t>(d)];
}

/// Whether flags name at most one way to wait for the device, and no unknown flag.
bool are_device_flags(unsigned flags) {
  const unsigned waits = flags & cudaDeviceScheduleMask;
  constexpr unsigned known =
      cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
  return (flags & ~known) == 0 && (waits & (waits - 1)) == 0;
}

}  // namespace

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const std::scoped_lock guard(runtime_mutex());
  if (!are_device_flags(flags)) return fail(cudaErrorInvalidValue);
  flags_of_device(current_device()) = flags;
  return lasting_error();
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  const std::scoped_lock guard(runtime_mutex());
  if (flags == nullptr) return fail(cudaErrorInvalidValue);
  *flags = flags_of_device(current_device()) | cudaDeviceMapHost;  // all memory can be mapped
  return lasting_error();
}

cudaError_t cudaInitDevice(int d, unsigned, unsigned) {
  return is_device(d) ? lasting_error() : fail(cudaErrorInvalidDevice);
}

cudaError_t cudaChooseDevice(int* d, const cudaDeviceProp* properties) {
  if (d == nullptr || properties == nullptr) return fail(cudaErrorInvalidValue);
  *d = 0;
  return lasting_error();
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (count < 0 || (devices == nullptr && count > 0)) return fail(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i)
    if (!is_device(devices[i])) return fail(cudaErrorInvalidDevice);
  if (count > 0 && !runtime_is_used()) current_device() = devices[0];
  return lasting_error();
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int d) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, d); error != cudaSuccess) return error;
  constexpr int needed = 13;  // characters, including the final 0
  if (id == nullptr || length < needed) return fail(cudaErrorInvalidValue);
  std::snprintf(id, needed, "%04x:%02x:%02x.0", static_cast<unsigned>(p.pciDomainID) & 0xFFFF,
                static_cast<unsigned>(p.pciBusID) & 0xFF,
                static_cast<unsigned>(p.pciDeviceID) & 0xFF);
  return lasting_error();
}

cudaError_t cudaDeviceGetByPCIBusId(int* d, const char* id) {
  if (d == nullptr || id == nullptr) return fail(cudaErrorInvalidValue);
  unsigned domain = 0, bus = 0, number = 0;
  if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &number) != 3) {
    domain = 0;
    if (std::sscanf(id, "%x:%x", &bus, &number) != 2) return fail(cudaErrorInvalidValue);
  }
  for (int other = 0; other < settings().devices; ++other) {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, other);
    if (p.pciDomainID != static_cast<int>(domain) || p.pciBusID != static_cast<int>(bus) ||
        p.pciDeviceID != static_cast<int>(number))
      continue;
    *d = other;
    return lasting_error();
  }
  return fail(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (value == nullptr) return fail(cudaErrorInvalidValue);
  if (!is_device(from) || !is_device(to) || from == to) return fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
      *value = 0;
      return lasting_error();
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
      *value = are_linked(from, to);
      return lasting_error();
    default:
      return fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int d, int peer) {
  if (!is_device(d) || !is_device(peer)) return fail(cudaErrorInvalidDevice);
  *can = d != peer && are_linked(d, peer);
  return lasting_error();
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  const std::scoped_lock guard(runtime_mutex());
  if (!is_device(peer) || peer == current_device()) return fail(cudaErrorInvalidDevice);
  if (flags != 0) return fail(cudaErrorInvalidValue);
  if (!are_linked(current_device(), peer)) return fail(cudaErrorPeerAccessUnsupported);
  if (!peers().insert({current_device(), peer}).second)
    return fail(cudaErrorPeerAccessAlreadyEnabled);
  return lasting_error();
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const std::scoped_lock guard(runtime_mutex());
  if (!is_device(peer)) return fail(cudaErrorInvalidDevice);
  return peers().erase({current_device(), peer}) == 1 ? lasting_error()
                                                      : fail(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return lasting_error();
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return lasting_error();
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return lasting_error(); }
