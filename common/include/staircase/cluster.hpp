/// \file
/// Clusters of thread blocks. The blocks of a cluster run at the same time and can access each
/// other's shared memory (distributed shared memory). Source: CUDA C++ Programming Guide, "Thread
/// Block Clusters".

#pragma once

#include <cooperative_groups.h>

#include <cstddef>

#include "cuda.hpp"

namespace staircase {

/// The value of Stage::needs for stages that use clusters.
constexpr const char* needs_clusters = "clusters of thread blocks (compute capability 9.0)";

/// Throws if the GPU does not support clusters, which require compute capability 9.0 or later.
/// \throws NotAvailable
void require_clusters();

/// Throws an exception, because the GPU cannot run a cluster of `blocks` thread blocks with
/// `shared_bytes` bytes of shared memory each.
/// \throws NotAvailable always
[[noreturn]] void refuse_clusters(unsigned blocks, std::size_t shared_bytes);

/// The cluster of the calling thread.
///
/// In code for GPUs without clusters, which is compiled but never launched, each thread block is a
/// cluster of its own.
struct Cluster {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  /// The number of thread blocks in the cluster, and the rank of the calling thread's block,
  /// from 0.
  __device__ static unsigned blocks() { return cooperative_groups::this_cluster().num_blocks(); }
  __device__ static unsigned rank() { return cooperative_groups::this_cluster().block_rank(); }

  /// Barrier for all threads of the cluster.
  __device__ static void sync() {
    if (blocks() > 1)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }

  /// The address of a variable in the shared memory of block `rank`, from its address in the shared
  /// memory of the calling block.
  template <typename T>
  __device__ static T* of_block(T* variable, unsigned rank) {
    return cooperative_groups::this_cluster().map_shared_rank(variable, rank);
  }
#else
  __device__ static unsigned blocks() { return 1; }
  __device__ static unsigned rank() { return 0; }
  __device__ static void sync() { __syncthreads(); }
  template <typename T>
  __device__ static T* of_block(T* variable, unsigned) {
    return variable;
  }
#endif
};

/// Launches a kernel in clusters of thread blocks.
template <typename... Parameter>
class ClusterLaunch {
 public:
  /// \param kernel the kernel to launch
  /// \param blocks the number of blocks of a cluster, at most 16
  /// \param threads the number of threads of a block
  /// \param shared_bytes the bytes of dynamic shared memory per block
  ClusterLaunch(void (*kernel)(Parameter...), unsigned blocks, unsigned threads,
                std::size_t shared_bytes)
      : kernel_(kernel),
        blocks_(blocks),
        fits_(shared_bytes <= most_shared_bytes() && is_for_clusters(kernel)) {
    cluster_.id = cudaLaunchAttributeClusterDimension;
    cluster_.val.clusterDim = {blocks, 1, 1};
    config_.gridDim = blocks;
    config_.blockDim = threads;
    config_.dynamicSmemBytes = shared_bytes;
    config_.attrs = &cluster_;
    config_.numAttrs = 1;
    if (!fits_) return;
    allow_shared_memory(kernel, shared_bytes);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  /// The number of clusters that the GPU can run at the same time. The number is 0 if a cluster
  /// needs too many resources, or if the program was built for GPUs without clusters.
  unsigned at_once() const {
    if (!fits_) return 0;
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel_, &config_);
    if (error == cudaErrorInvalidClusterSize) {
      cudaGetLastError();  // the cluster is too large: clears the error
      return 0;
    }
    check(error);
    return static_cast<unsigned>(clusters);
  }

  /// The number of clusters that the GPU can run at the same time, at least 1.
  /// \throws NotAvailable if the GPU cannot run any cluster
  unsigned require_at_once() const {
    const unsigned clusters = at_once();
    if (clusters == 0) refuse_clusters(blocks_, config_.dynamicSmemBytes);
    return clusters;
  }

  /// Launches `clusters` clusters in the default stream.
  void operator()(unsigned clusters, Parameter... arguments) {
    config_.gridDim = blocks_ * clusters;
    check(cudaLaunchKernelEx(&config_, kernel_, arguments...));
    check_launch();
  }

  /// Launches one cluster in the default stream.
  /// \throws NotAvailable if the GPU cannot run the cluster
  void once(Parameter... arguments) {
    require_at_once();
    (*this)(1, arguments...);
  }

 private:
  /// Whether the code of the kernel was compiled for GPUs with clusters.
  static bool is_for_clusters([[maybe_unused]] void (*kernel)(Parameter...)) {
#ifdef STAIRCASE_CUDA_ON_CPU
    return true;
#else
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, kernel));
    return code.ptxVersion >= 90;
#endif
  }

  static std::size_t most_shared_bytes() {
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    return static_cast<std::size_t>(bytes);
  }

  void (*kernel_)(Parameter...);
  unsigned blocks_;
  bool fits_;  // whether the GPU allows the shared memory, and the code supports clusters
  cudaLaunchAttribute cluster_{};
  cudaLaunchConfig_t config_{};
};

}  // namespace staircase
