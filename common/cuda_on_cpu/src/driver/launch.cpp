/// \file
/// Driver calls that launch kernels, or read and set their attributes.

#include <algorithm>
#include <mutex>
#include <vector>

#include "../runtime/graphs.hpp"
#include "../runtime/stream.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"
#include "module.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// A buffer that contains all parameters of a launch.
struct Buffer {
  char* begin = nullptr;
  std::size_t bytes = 0;
};

Buffer buffer_of(void** extra) {
  Buffer buffer;
  for (void** each = extra; *each != CU_LAUNCH_PARAM_END; each += 2) {
    if (*each == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer.begin = static_cast<char*>(each[1]);
    if (*each == CU_LAUNCH_PARAM_BUFFER_SIZE) buffer.bytes = *static_cast<std::size_t*>(each[1]);
  }
  return buffer;
}

/// The addresses of a launch's arguments, or an error if the launch passes them incorrectly.
struct Arguments {
  CUresult error = CUDA_SUCCESS;
  std::vector<void*> addresses = {};
};

Arguments arguments_of(const CUfunc_st& function, void** parameters, void** extra) {
  const ImageEntry& entry = *function.entry;
  if (parameters != nullptr && extra != nullptr)
    return {fail_driver(
        CUDA_ERROR_INVALID_VALUE,
        "the launch of " + function.name +
            " passes its parameters both in kernelParams and in extra; use one of them")};
  if (parameters != nullptr)
    return {CUDA_SUCCESS, std::vector<void*>(parameters, parameters + entry.count)};
  const Buffer buffer = extra == nullptr ? Buffer{} : buffer_of(extra);
  const std::size_t needed = entry.parameters[entry.count].offset;
  if (entry.count > 0 && (buffer.begin == nullptr || buffer.bytes != needed))
    return {fail_driver(buffer.begin != nullptr && buffer.bytes > needed
                            ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
                            : CUDA_ERROR_INVALID_VALUE,
                        "the parameters of " + function.name + " have " + std::to_string(needed) +
                            " bytes, but the launch passes " + std::to_string(buffer.bytes))};
  Arguments arguments;
  for (std::size_t i = 0; i < entry.count; ++i)
    arguments.addresses.push_back(buffer.begin + entry.parameters[i].offset);
  return arguments;
}

CUresult launch(CUfunction function, const Configuration& configuration, void** parameters,
                void** extra) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_function(function))
    return fail_driver(CUDA_ERROR_INVALID_HANDLE,
                       "the function is not a kernel of a loaded module");
  if (function->module->device != current_device())
    return fail_driver(CUDA_ERROR_INVALID_HANDLE,
                       "the module of " + function->name + " was loaded for another device");
  Arguments arguments = arguments_of(*function, parameters, extra);
  if (arguments.error != CUDA_SUCCESS) return arguments.error;
  return call.end(
      function->entry->launch(function->entry->address, configuration, arguments.addresses.data()));
}

/// Translates the configuration of a launch to the runtime's attributes.
std::vector<cudaLaunchAttribute> attributes_of(const CUlaunchConfig& config) {
  std::vector<cudaLaunchAttribute> attributes;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    attributes.push_back({config.attrs[i].id, config.attrs[i].value});
  return attributes;
}
cudaLaunchConfig_t config_of(const CUlaunchConfig& config,
                             std::vector<cudaLaunchAttribute>& attributes) {
  return {dim3(config.gridDimX, config.gridDimY, config.gridDimZ),
          dim3(config.blockDimX, config.blockDimY, config.blockDimZ),
          config.sharedMemBytes,
          config.hStream,
          attributes.data(),
          config.numAttrs};
}

/// Calls a function of the runtime for the kernel of a module.
template <typename Question>
CUresult asked(CUfunction function, const Question& question) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_function(function)) return fail_driver(CUDA_ERROR_INVALID_HANDLE);
  return call.end(question(any_kernel(function->entry->address)));
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  return launch(function,
                {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared, stream},
                parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr || (config->attrs == nullptr && config->numAttrs > 0))
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  auto attributes = attributes_of(*config);
  return launch(function, configuration(config_of(*config, attributes)), parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  Configuration configuration{dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared,
                              stream};
  configuration.cooperative = true;
  return launch(function, configuration, parameters, nullptr);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (value == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return asked(function, [&](AnyKernel kernel) {
    cudaFuncAttributes all;
    const cudaError_t error = get_attributes(&all, kernel);
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? all.maxThreadsPerBlock
             : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                 ? all.maxDynamicSharedSizeBytes
                 : 0;
    return error;
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const auto of_runtime = attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                              ? cudaFuncAttributeNonPortableClusterSizeAllowed
                              : static_cast<cudaFuncAttribute>(attribute);
  return asked(function,
               [&](AnyKernel kernel) { return set_attribute(kernel, of_runtime, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return asked(function, [](AnyKernel) { return cudaSuccess; });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return asked(function, [&](AnyKernel) {
    *name = function->name.c_str();
    return cudaSuccess;
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return asked(function, [&](AnyKernel) {
    *module = function->module;
    return cudaSuccess;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, std::size_t shared) {
  return asked(function,
               [&](AnyKernel kernel) { return active_blocks(blocks, kernel, block_size, shared); });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          std::size_t (*shared_of)(int block), std::size_t shared,
                                          int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                   CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned flags) {
  struct Shared {
    CUoccupancyB2DSize of;
    std::size_t always;
  } memory{shared_of, shared};
  return asked(function, [&](AnyKernel kernel) {
    return best_block(
        grid, block, kernel, limit, flags,
        [](void* closure, int size) {
          const auto& given = *static_cast<const Shared*>(closure);
          return given.of != nullptr ? given.of(size) : given.always;
        },
        &memory);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, std::size_t shared,
                                                              unsigned flags) {
  return asked(function, [&](AnyKernel kernel) {
    const cudaError_t error = check_occupancy_flags(flags);
    return error != cudaSuccess ? error : active_blocks(blocks, kernel, block_size, shared);
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int block_size) {
  return asked(function, [&](AnyKernel kernel) {
    return available_shared(bytes, kernel, blocks, block_size);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  if (config == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  auto attributes = attributes_of(*config);
  return asked(function, [&](AnyKernel kernel) {
    return largest_cluster(blocks, kernel, config_of(*config, attributes));
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  if (config == nullptr || clusters == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  auto attributes = attributes_of(*config);
  return asked(function, [&](AnyKernel kernel) {
    return active_clusters(clusters, kernel, config_of(*config, attributes));
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return asked(function, [&](AnyKernel) {
    if (offset == nullptr || index >= function->entry->count) return fail(cudaErrorInvalidValue);
    *offset = function->entry->parameters[index].offset;
    if (bytes != nullptr) *bytes = function->entry->parameters[index].bytes;
    return cudaSuccess;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return asked(function, [](AnyKernel) { return cudaSuccess; });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  if (state == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return asked(function, [&](AnyKernel) {
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return cudaSuccess;
  });
}

// --- Kernel nodes of graphs

namespace cuda_on_cpu {
namespace {

/// Calls a function of the runtime that records the launch of a kernel node.
template <typename Record>
CUresult record_kernel(const CUDA_KERNEL_NODE_PARAMS* given, const Record& record) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (given == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const CUDA_KERNEL_NODE_PARAMS& p = *given;
  if (!is_function(p.func))
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the function of a kernel node is not a kernel of a loaded module");
  Arguments arguments = arguments_of(*p.func, p.kernelParams, p.extra);
  if (arguments.error != CUDA_SUCCESS) return arguments.error;
  return call.end(record([&](cudaStream_t stream) {
    return p.func->entry->launch(
        p.func->entry->address,
        {dim3(p.gridDimX, p.gridDimY, p.gridDimZ), dim3(p.blockDimX, p.blockDimY, p.blockDimZ),
         p.sharedMemBytes, stream},
        arguments.addresses.data());
  }));
}

}  // namespace
}  // namespace cuda_on_cpu

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  const void* place = __builtin_return_address(0);
  return record_kernel(parameters, [&](const auto& launch) {
    return add_launch(node, graph, after, count, launch, place);
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  const void* place = __builtin_return_address(0);
  return record_kernel(parameters,
                       [&](const auto& launch) { return change_launch(node, launch, place); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  const void* place = __builtin_return_address(0);
  return record_kernel(parameters, [&](const auto& launch) {
    return change_launch(executable, node, launch, place);
  });
}
