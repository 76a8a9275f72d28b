/// \file
/// What the device says of its L2 cache, and what it lets programs ask of it.

#pragma once

#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

inline constexpr int l2_bytes = 60 << 20;
inline constexpr int most_persisting_l2_bytes = l2_bytes / 4 * 3;
inline constexpr int most_window_bytes = 128 << 20;

/// What cudaDeviceSetLimit has set for a device. But for the launches by kernels that wait, and the
/// part of the L2 cache that persists, these limit nothing here.
std::size_t& limit_of(int device, cudaLimit limit);

/// Whether the cache may be told of a window.
bool is_window(const cudaAccessPolicyWindow& window);

}  // namespace cuda_on_cpu
