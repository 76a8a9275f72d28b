/// \file
/// Clusters of thread blocks: blocks that run at the same time and reach each other's shared
/// memory.

#pragma once

#include <cooperative_groups.h>

#include <cstddef>

#include "cuda.hpp"

namespace staircase {

/// What a stage with clusters says that it needs.
constexpr const char* needs_clusters = "clusters of thread blocks (compute capability 9.0)";

/// Throws if the GPU has no clusters; they came with compute capability 9.0.
/// \throws NotAvailable
void require_clusters();

/// Says that the GPU has no room for clusters of so many blocks with so much shared memory each.
/// \throws NotAvailable
[[noreturn]] void refuse_clusters(unsigned blocks, std::size_t shared_bytes);

/// The cluster that the calling thread is in.
///
/// Code for GPUs without clusters is compiled, too, but never launched: there the cluster is the
/// block.
struct Cluster {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  /// The number of blocks, and which of them this one is.
  __device__ static unsigned blocks() { return cooperative_groups::this_cluster().num_blocks(); }
  __device__ static unsigned rank() { return cooperative_groups::this_cluster().block_rank(); }

  /// Waits for all threads of the cluster.
  __device__ static void sync() {
    if (blocks() > 1)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }

  /// Where a variable in this block's shared memory lies in another block's.
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

/// The launch of a kernel in clusters.
template <typename... Parameter>
class ClusterLaunch {
 public:
  /// Clusters of so many blocks (16 at most), with so much dynamic shared memory per block.
  ClusterLaunch(void (*kernel)(Parameter...), unsigned blocks, unsigned threads,
                std::size_t shared_bytes)
      : kernel_(kernel),
        blocks_(blocks),
        fits_(shared_bytes <= most_shared_bytes() && knows_clusters(kernel)) {
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

  /// How many of the clusters the GPU runs at once; none if a cluster is too large for it, or the
  /// program was built for GPUs without clusters.
  unsigned at_once() const {
    if (!fits_) return 0;
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel_, &config_);
    if (error == cudaErrorInvalidClusterSize) {
      cudaGetLastError();  // an answer, not a failure
      return 0;
    }
    check(error);
    return static_cast<unsigned>(clusters);
  }

  /// The same, but one at least.
  /// \throws NotAvailable if it is none
  unsigned require_at_once() const {
    const unsigned clusters = at_once();
    if (clusters == 0) refuse_clusters(blocks_, config_.dynamicSmemBytes);
    return clusters;
  }

  void operator()(unsigned clusters, Parameter... arguments) {
    config_.gridDim = blocks_ * clusters;
    check(cudaLaunchKernelEx(&config_, kernel_, arguments...));
    check_launch();
  }

  /// Launches one cluster.
  /// \throws NotAvailable if the GPU has no room for it
  void once(Parameter... arguments) {
    require_at_once();
    (*this)(1, arguments...);
  }

 private:
  /// Whether the code that this GPU runs was compiled for clusters.
  static bool knows_clusters([[maybe_unused]] void (*kernel)(Parameter...)) {
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
  bool fits_;  // whether a block may have so much shared memory, and the code is for clusters
  cudaLaunchAttribute cluster_{};
  cudaLaunchConfig_t config_{};
};

}  // namespace staircase
