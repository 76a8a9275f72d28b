/// \file
/// The L2 cache and the limits of a device, which programs can query and set.

#pragma once

#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

inline constexpr int l2_bytes = 60 << 20;
inline constexpr int most_persisting_l2_bytes = l2_bytes / 4 * 3;
inline constexpr int most_window_bytes = 128 << 20;

/// A limit set by cudaDeviceSetLimit. The CPU device enforces only the number of pending launches
/// by kernels and the persisting part of the L2 cache.
std::size_t& limit_of(int device, cudaLimit limit);

/// Whether the parameters of an access-policy window of the L2 cache are valid.
bool is_window(const cudaAccessPolicyWindow& window);

}  // namespace cuda_on_cpu
