/// \file
/// Replaces the NCCL header: the functions that the stages of this project use, for several devices
/// of one process.
///
/// One thread may control several ranks by means of groups, or each rank may have its own thread.
/// As on a GPU, all operations of a group start together when their streams have reached the group.
/// A send completes after its receive has begun. If the lengths of a send and its receive differ,
/// both ranks fail.

#pragma once

#include <cstddef>

#include "cuda_on_cpu/runtime_api.hpp"

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_VERSION_CODE 22809
#define NCCL_UNIQUE_ID_BYTES 128

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
};
enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };
enum ncclDataType_t {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9
};

struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};
using ncclComm_t = struct ncclComm*;

ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);

/// Returns a sentence about the latest error of the calling thread, for any communicator.
const char* ncclGetLastError(ncclComm_t comm);

// --- Communicators

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);

/// Creates a communicator of the ranks of one process that pass the same id. Outside a group,
/// the call waits for all ranks.
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);

/// Creates one rank per device, all controlled by one thread. If `devices` is null, the first
/// `count` devices are used.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices);

/// Precedes the destruction of a communicator. The communicator has no work outside of streams, so
/// there is nothing to finish.
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommCount(ncclComm_t comm, int* count);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);

// --- Communication. Buffers contain `count` elements

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);

/// Reduces the elements of all ranks by sum, product, minimum or maximum, in the order of the
/// ranks. The elements have 8, 32 or 64 bits. `to` may equal `from`.
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream);

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
