/// \file
/// The addresses of the driver API's functions by their names.

#include <string>

#include "../runtime/errors.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "cuda_on_cpu/entry_points.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

template <typename... Parameters>
void* address_of(CUresult (*function)(Parameters...)) {
  return reinterpret_cast<void*>(function);
}

struct EntryPoint {
  const char* name;
  void* address;
};

const EntryPoint entry_points[] = {
    {"cuCtxCreate",
     address_of(static_cast<CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned, CUdevice)>(
         cuCtxCreate))},
    {"cuArray3DCreate", address_of(cuArray3DCreate)},
    {"cuArray3DGetDescriptor", address_of(cuArray3DGetDescriptor)},
    {"cuArrayCreate", address_of(cuArrayCreate)},
    {"cuArrayDestroy", address_of(cuArrayDestroy)},
    {"cuArrayGetDescriptor", address_of(cuArrayGetDescriptor)},
    {"cuCtxDestroy", address_of(cuCtxDestroy)},
    {"cuCtxDisablePeerAccess", address_of(cuCtxDisablePeerAccess)},
    {"cuCtxEnablePeerAccess", address_of(cuCtxEnablePeerAccess)},
    {"cuCtxGetApiVersion", address_of(cuCtxGetApiVersion)},
    {"cuCtxGetCacheConfig", address_of(cuCtxGetCacheConfig)},
    {"cuCtxGetCurrent", address_of(cuCtxGetCurrent)},
    {"cuCtxGetDevice", address_of(cuCtxGetDevice)},
    {"cuCtxGetFlags", address_of(cuCtxGetFlags)},
    {"cuCtxGetLimit", address_of(cuCtxGetLimit)},
    {"cuCtxGetStreamPriorityRange", address_of(cuCtxGetStreamPriorityRange)},
    {"cuCtxPopCurrent", address_of(cuCtxPopCurrent)},
    {"cuCtxPushCurrent", address_of(cuCtxPushCurrent)},
    {"cuCtxSetCacheConfig", address_of(cuCtxSetCacheConfig)},
    {"cuCtxSetCurrent", address_of(cuCtxSetCurrent)},
    {"cuCtxSetLimit", address_of(cuCtxSetLimit)},
    {"cuCtxSynchronize", address_of(cuCtxSynchronize)},
    {"cuDeviceCanAccessPeer", address_of(cuDeviceCanAccessPeer)},
    {"cuDeviceComputeCapability", address_of(cuDeviceComputeCapability)},
    {"cuDeviceGet", address_of(cuDeviceGet)},
    {"cuDeviceGetAttribute", address_of(cuDeviceGetAttribute)},
    {"cuDeviceGetByPCIBusId", address_of(cuDeviceGetByPCIBusId)},
    {"cuDeviceGetCount", address_of(cuDeviceGetCount)},
    {"cuDeviceGetDefaultMemPool", address_of(cuDeviceGetDefaultMemPool)},
    {"cuDeviceGetMemPool", address_of(cuDeviceGetMemPool)},
    {"cuDeviceGetName", address_of(cuDeviceGetName)},
    {"cuDeviceGetP2PAttribute", address_of(cuDeviceGetP2PAttribute)},
    {"cuDeviceGetPCIBusId", address_of(cuDeviceGetPCIBusId)},
    {"cuDeviceGetUuid", address_of(cuDeviceGetUuid)},
    {"cuDevicePrimaryCtxGetState", address_of(cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxRelease", address_of(cuDevicePrimaryCtxRelease)},
    {"cuDevicePrimaryCtxReset", address_of(cuDevicePrimaryCtxReset)},
    {"cuDevicePrimaryCtxRetain", address_of(cuDevicePrimaryCtxRetain)},
    {"cuDevicePrimaryCtxSetFlags", address_of(cuDevicePrimaryCtxSetFlags)},
    {"cuDeviceSetMemPool", address_of(cuDeviceSetMemPool)},
    {"cuDeviceTotalMem", address_of(cuDeviceTotalMem)},
    {"cuDriverGetVersion", address_of(cuDriverGetVersion)},
    {"cuEventCreate", address_of(cuEventCreate)},
    {"cuEventDestroy", address_of(cuEventDestroy)},
    {"cuEventElapsedTime", address_of(cuEventElapsedTime)},
    {"cuEventQuery", address_of(cuEventQuery)},
    {"cuEventRecord", address_of(cuEventRecord)},
    {"cuEventRecordWithFlags", address_of(cuEventRecordWithFlags)},
    {"cuEventSynchronize", address_of(cuEventSynchronize)},
    {"cuFuncGetAttribute", address_of(cuFuncGetAttribute)},
    {"cuFuncGetModule", address_of(cuFuncGetModule)},
    {"cuFuncGetName", address_of(cuFuncGetName)},
    {"cuFuncGetParamInfo", address_of(cuFuncGetParamInfo)},
    {"cuFuncIsLoaded", address_of(cuFuncIsLoaded)},
    {"cuFuncLoad", address_of(cuFuncLoad)},
    {"cuFuncSetAttribute", address_of(cuFuncSetAttribute)},
    {"cuFuncSetCacheConfig", address_of(cuFuncSetCacheConfig)},
    {"cuGetErrorName", address_of(cuGetErrorName)},
    {"cuGetErrorString", address_of(cuGetErrorString)},
    {"cuGetProcAddress", address_of(cuGetProcAddress)},
    {"cuGraphAddChildGraphNode", address_of(cuGraphAddChildGraphNode)},
    {"cuGraphAddDependencies", address_of(cuGraphAddDependencies)},
    {"cuGraphAddEmptyNode", address_of(cuGraphAddEmptyNode)},
    {"cuGraphAddEventRecordNode", address_of(cuGraphAddEventRecordNode)},
    {"cuGraphAddEventWaitNode", address_of(cuGraphAddEventWaitNode)},
    {"cuGraphAddHostNode", address_of(cuGraphAddHostNode)},
    {"cuGraphAddKernelNode", address_of(cuGraphAddKernelNode)},
    {"cuGraphAddMemcpyNode", address_of(cuGraphAddMemcpyNode)},
    {"cuGraphAddMemsetNode", address_of(cuGraphAddMemsetNode)},
    {"cuGraphClone", address_of(cuGraphClone)},
    {"cuGraphCreate", address_of(cuGraphCreate)},
    {"cuGraphDebugDotPrint", address_of(cuGraphDebugDotPrint)},
    {"cuGraphDestroy", address_of(cuGraphDestroy)},
    {"cuGraphDestroyNode", address_of(cuGraphDestroyNode)},
    {"cuGraphExecDestroy", address_of(cuGraphExecDestroy)},
    {"cuGraphExecGetFlags", address_of(cuGraphExecGetFlags)},
    {"cuGraphExecKernelNodeSetParams", address_of(cuGraphExecKernelNodeSetParams)},
    {"cuGraphExecMemcpyNodeSetParams", address_of(cuGraphExecMemcpyNodeSetParams)},
    {"cuGraphExecMemsetNodeSetParams", address_of(cuGraphExecMemsetNodeSetParams)},
    {"cuGraphExecUpdate", address_of(cuGraphExecUpdate)},
    {"cuGraphGetEdges", address_of(cuGraphGetEdges)},
    {"cuGraphGetNodes", address_of(cuGraphGetNodes)},
    {"cuGraphGetRootNodes", address_of(cuGraphGetRootNodes)},
    {"cuGraphInstantiate", address_of(cuGraphInstantiate)},
    {"cuGraphKernelNodeSetParams", address_of(cuGraphKernelNodeSetParams)},
    {"cuGraphLaunch", address_of(cuGraphLaunch)},
    {"cuGraphMemcpyNodeSetParams", address_of(cuGraphMemcpyNodeSetParams)},
    {"cuGraphMemsetNodeSetParams", address_of(cuGraphMemsetNodeSetParams)},
    {"cuGraphNodeGetDependencies", address_of(cuGraphNodeGetDependencies)},
    {"cuGraphNodeGetDependentNodes", address_of(cuGraphNodeGetDependentNodes)},
    {"cuGraphNodeGetEnabled", address_of(cuGraphNodeGetEnabled)},
    {"cuGraphNodeGetType", address_of(cuGraphNodeGetType)},
    {"cuGraphNodeSetEnabled", address_of(cuGraphNodeSetEnabled)},
    {"cuGraphRemoveDependencies", address_of(cuGraphRemoveDependencies)},
    {"cuGraphUpload", address_of(cuGraphUpload)},
    {"cuInit", address_of(cuInit)},
    {"cuIpcCloseMemHandle", address_of(cuIpcCloseMemHandle)},
    {"cuIpcGetEventHandle", address_of(cuIpcGetEventHandle)},
    {"cuIpcGetMemHandle", address_of(cuIpcGetMemHandle)},
    {"cuIpcOpenEventHandle", address_of(cuIpcOpenEventHandle)},
    {"cuIpcOpenMemHandle", address_of(cuIpcOpenMemHandle)},
    {"cuLaunchCooperativeKernel", address_of(cuLaunchCooperativeKernel)},
    {"cuLaunchHostFunc", address_of(cuLaunchHostFunc)},
    {"cuLaunchKernel", address_of(cuLaunchKernel)},
    {"cuLaunchKernelEx", address_of(cuLaunchKernelEx)},
    {"cuLinkAddData", address_of(cuLinkAddData)},
    {"cuLinkAddFile", address_of(cuLinkAddFile)},
    {"cuLinkComplete", address_of(cuLinkComplete)},
    {"cuLinkCreate", address_of(cuLinkCreate)},
    {"cuLinkDestroy", address_of(cuLinkDestroy)},
    {"cuMemAddressFree", address_of(cuMemAddressFree)},
    {"cuMemAddressReserve", address_of(cuMemAddressReserve)},
    {"cuMemAlloc", address_of(cuMemAlloc)},
    {"cuMemAllocAsync", address_of(cuMemAllocAsync)},
    {"cuMemAllocFromPoolAsync", address_of(cuMemAllocFromPoolAsync)},
    {"cuMemAllocHost", address_of(cuMemAllocHost)},
    {"cuMemAllocManaged", address_of(cuMemAllocManaged)},
    {"cuMemAllocPitch", address_of(cuMemAllocPitch)},
    {"cuMemCreate", address_of(cuMemCreate)},
    {"cuMemExportToShareableHandle", address_of(cuMemExportToShareableHandle)},
    {"cuMemFree", address_of(cuMemFree)},
    {"cuMemFreeAsync", address_of(cuMemFreeAsync)},
    {"cuMemFreeHost", address_of(cuMemFreeHost)},
    {"cuMemGetAddressRange", address_of(cuMemGetAddressRange)},
    {"cuMemGetAllocationGranularity", address_of(cuMemGetAllocationGranularity)},
    {"cuMemGetAllocationPropertiesFromHandle", address_of(cuMemGetAllocationPropertiesFromHandle)},
    {"cuMemGetInfo", address_of(cuMemGetInfo)},
    {"cuMemHostAlloc", address_of(cuMemHostAlloc)},
    {"cuMemHostGetDevicePointer", address_of(cuMemHostGetDevicePointer)},
    {"cuMemHostGetFlags", address_of(cuMemHostGetFlags)},
    {"cuMemHostRegister", address_of(cuMemHostRegister)},
    {"cuMemHostUnregister", address_of(cuMemHostUnregister)},
    {"cuMemImportFromShareableHandle", address_of(cuMemImportFromShareableHandle)},
    {"cuMemMap", address_of(cuMemMap)},
    {"cuMemPoolCreate", address_of(cuMemPoolCreate)},
    {"cuMemPoolDestroy", address_of(cuMemPoolDestroy)},
    {"cuMemPoolGetAccess", address_of(cuMemPoolGetAccess)},
    {"cuMemPoolGetAttribute", address_of(cuMemPoolGetAttribute)},
    {"cuMemPoolSetAccess", address_of(cuMemPoolSetAccess)},
    {"cuMemPoolSetAttribute", address_of(cuMemPoolSetAttribute)},
    {"cuMemPoolTrimTo", address_of(cuMemPoolTrimTo)},
    {"cuMemRelease", address_of(cuMemRelease)},
    {"cuMemSetAccess", address_of(cuMemSetAccess)},
    {"cuMemUnmap", address_of(cuMemUnmap)},
    {"cuMemcpy", address_of(cuMemcpy)},
    {"cuMemcpy2D", address_of(cuMemcpy2D)},
    {"cuMemcpy2DAsync", address_of(cuMemcpy2DAsync)},
    {"cuMemcpy2DUnaligned", address_of(cuMemcpy2DUnaligned)},
    {"cuMemcpy3D", address_of(cuMemcpy3D)},
    {"cuMemcpy3DAsync", address_of(cuMemcpy3DAsync)},
    {"cuMemcpy3DPeer", address_of(cuMemcpy3DPeer)},
    {"cuMemcpy3DPeerAsync", address_of(cuMemcpy3DPeerAsync)},
    {"cuMemcpyAsync", address_of(cuMemcpyAsync)},
    {"cuMemcpyAtoA", address_of(cuMemcpyAtoA)},
    {"cuMemcpyAtoD", address_of(cuMemcpyAtoD)},
    {"cuMemcpyAtoH", address_of(cuMemcpyAtoH)},
    {"cuMemcpyAtoHAsync", address_of(cuMemcpyAtoHAsync)},
    {"cuMemcpyDtoA", address_of(cuMemcpyDtoA)},
    {"cuMemcpyDtoD", address_of(cuMemcpyDtoD)},
    {"cuMemcpyDtoDAsync", address_of(cuMemcpyDtoDAsync)},
    {"cuMemcpyDtoH", address_of(cuMemcpyDtoH)},
    {"cuMemcpyDtoHAsync", address_of(cuMemcpyDtoHAsync)},
    {"cuMemcpyHtoA", address_of(cuMemcpyHtoA)},
    {"cuMemcpyHtoAAsync", address_of(cuMemcpyHtoAAsync)},
    {"cuMemcpyHtoD", address_of(cuMemcpyHtoD)},
    {"cuMemcpyHtoDAsync", address_of(cuMemcpyHtoDAsync)},
    {"cuMemcpyPeer", address_of(cuMemcpyPeer)},
    {"cuMemcpyPeerAsync", address_of(cuMemcpyPeerAsync)},
    {"cuMemsetD16", address_of(cuMemsetD16)},
    {"cuMemsetD16Async", address_of(cuMemsetD16Async)},
    {"cuMemsetD2D16", address_of(cuMemsetD2D16)},
    {"cuMemsetD2D16Async", address_of(cuMemsetD2D16Async)},
    {"cuMemsetD2D32", address_of(cuMemsetD2D32)},
    {"cuMemsetD2D32Async", address_of(cuMemsetD2D32Async)},
    {"cuMemsetD2D8", address_of(cuMemsetD2D8)},
    {"cuMemsetD2D8Async", address_of(cuMemsetD2D8Async)},
    {"cuMemsetD32", address_of(cuMemsetD32)},
    {"cuMemsetD32Async", address_of(cuMemsetD32Async)},
    {"cuMemsetD8", address_of(cuMemsetD8)},
    {"cuMemsetD8Async", address_of(cuMemsetD8Async)},
    {"cuModuleGetFunction", address_of(cuModuleGetFunction)},
    {"cuModuleGetGlobal", address_of(cuModuleGetGlobal)},
    {"cuModuleLoad", address_of(cuModuleLoad)},
    {"cuModuleLoadData", address_of(cuModuleLoadData)},
    {"cuModuleLoadDataEx", address_of(cuModuleLoadDataEx)},
    {"cuModuleLoadFatBinary", address_of(cuModuleLoadFatBinary)},
    {"cuModuleUnload", address_of(cuModuleUnload)},
    {"cuOccupancyAvailableDynamicSMemPerBlock",
     address_of(cuOccupancyAvailableDynamicSMemPerBlock)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
     address_of(cuOccupancyMaxActiveBlocksPerMultiprocessor)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
     address_of(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)},
    {"cuOccupancyMaxActiveClusters", address_of(cuOccupancyMaxActiveClusters)},
    {"cuOccupancyMaxPotentialBlockSize", address_of(cuOccupancyMaxPotentialBlockSize)},
    {"cuOccupancyMaxPotentialBlockSizeWithFlags",
     address_of(cuOccupancyMaxPotentialBlockSizeWithFlags)},
    {"cuOccupancyMaxPotentialClusterSize", address_of(cuOccupancyMaxPotentialClusterSize)},
    {"cuPointerGetAttribute", address_of(cuPointerGetAttribute)},
    {"cuPointerGetAttributes", address_of(cuPointerGetAttributes)},
    {"cuProfilerStart", address_of(cuProfilerStart)},
    {"cuProfilerStop", address_of(cuProfilerStop)},
    {"cuStreamAddCallback", address_of(cuStreamAddCallback)},
    {"cuStreamBeginCapture", address_of(cuStreamBeginCapture)},
    {"cuStreamBeginCaptureToGraph", address_of(cuStreamBeginCaptureToGraph)},
    {"cuStreamCreate", address_of(cuStreamCreate)},
    {"cuStreamCreateWithPriority", address_of(cuStreamCreateWithPriority)},
    {"cuStreamDestroy", address_of(cuStreamDestroy)},
    {"cuStreamEndCapture", address_of(cuStreamEndCapture)},
    {"cuStreamGetCaptureInfo", address_of(cuStreamGetCaptureInfo)},
    {"cuStreamGetCtx", address_of(cuStreamGetCtx)},
    {"cuStreamGetDevice", address_of(cuStreamGetDevice)},
    {"cuStreamGetFlags", address_of(cuStreamGetFlags)},
    {"cuStreamGetId", address_of(cuStreamGetId)},
    {"cuStreamGetPriority", address_of(cuStreamGetPriority)},
    {"cuStreamIsCapturing", address_of(cuStreamIsCapturing)},
    {"cuStreamQuery", address_of(cuStreamQuery)},
    {"cuStreamSynchronize", address_of(cuStreamSynchronize)},
    {"cuStreamWaitEvent", address_of(cuStreamWaitEvent)},
    {"cuSurfObjectCreate", address_of(cuSurfObjectCreate)},
    {"cuSurfObjectDestroy", address_of(cuSurfObjectDestroy)},
    {"cuTexObjectCreate", address_of(cuTexObjectCreate)},
    {"cuTexObjectDestroy", address_of(cuTexObjectDestroy)},
    {"cuThreadExchangeStreamCaptureMode", address_of(cuThreadExchangeStreamCaptureMode)},
};

/// The address of a function, or null. A name may end in a version such as `_v2`, because all
/// versions have the same function here.
void* find_entry_point(std::string name) {
  for (const char* suffix : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"})
    if (name.ends_with(suffix)) name.resize(name.size() - std::string(suffix).size());
  for (const EntryPoint& entry : entry_points)
    if (name == entry.name) return entry.address;
  return nullptr;
}

constexpr int version_of_driver = 13000;

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags,
                          CUdriverProcAddressQueryResult* status) {
  if (name == nullptr || function == nullptr ||
      flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED,
                       "the CPU device has no functions with one default stream per thread");
  *function = version > version_of_driver ? nullptr : find_entry_point(name);
  if (status != nullptr)
    *status = *function != nullptr          ? CU_GET_PROC_ADDRESS_SUCCESS
              : version > version_of_driver ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                            : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != nullptr || status != nullptr
             ? CUDA_SUCCESS
             : fail_driver(CUDA_ERROR_NOT_FOUND,
                           "the driver API of the CPU device has no " + std::string(name));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult error = cuGetProcAddress(name, function, static_cast<int>(version), flags, &found);
  if (error != CUDA_SUCCESS)
    return fail(static_cast<cudaError_t>(error), "cannot look up a function of the driver API");
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return lasting_error();
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, version_of_driver, flags, status);
}
