#include "hints.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "../indestructible.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/runtime_hints.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

constexpr int kinds_of_limits = cudaLimitPersistingL2CacheSize + 1;
using Limits = std::array<std::size_t, kinds_of_limits>;

/// The limits of a device in bytes or counts, indexed by cudaLimit.
Limits& limits_of(int device) {
  constexpr std::size_t kilobyte = 1 << 10, megabyte = 1 << 20;
  static auto& all =
      indestructible<std::vector<Limits>>(static_cast<std::size_t>(settings().devices),
                                          Limits{kilobyte, megabyte, 8 * megabyte, 2, 2048, 64, 0});
  return all[static_cast<std::size_t>(device)];
}

bool is_limit(int limit) { return limit >= 0 && limit < kinds_of_limits; }

}  // namespace

std::size_t& limit_of(int device, cudaLimit limit) { return limits_of(device)[limit]; }

bool is_window(const cudaAccessPolicyWindow& window) {
  return window.num_bytes <= most_window_bytes && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.hitProp >= cudaAccessPropertyNormal &&
         window.hitProp <= cudaAccessPropertyPersisting &&
         (window.missProp == cudaAccessPropertyNormal ||
          window.missProp == cudaAccessPropertyStreaming);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  const Guard guard(runtime_mutex());
  if (!is_limit(limit)) return fail(cudaErrorInvalidValue);
  if (limit == cudaLimitPersistingL2CacheSize && value > most_persisting_l2_bytes)
    return fail(cudaErrorInvalidValue, "cudaLimitPersistingL2CacheSize must be at most " +
                                           std::to_string(most_persisting_l2_bytes) +
                                           " bytes, not " + std::to_string(value));
  limit_of(current_device(), limit) = value;
  return lasting_error();
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  const Guard guard(runtime_mutex());
  if (value == nullptr) return fail(cudaErrorInvalidValue);
  if (!is_limit(limit)) return fail(cudaErrorInvalidValue);
  *value = limit_of(current_device(), limit);
  return lasting_error();
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return fail(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      if (!is_window(value->accessPolicyWindow))
        return fail(cudaErrorInvalidValue, "an L2 access window must have at most " +
                                               std::to_string(most_window_bytes) +
                                               " bytes, a hitRatio from 0 to 1, and a missProp "
                                               "other than cudaAccessPropertyPersisting");
      found->window = value->accessPolicyWindow;
      return lasting_error();
    case cudaLaunchAttributeSynchronizationPolicy:
      if (value->syncPolicy < cudaSyncPolicyAuto || value->syncPolicy > cudaSyncPolicyBlockingSync)
        return fail(cudaErrorInvalidValue);
      found->policy = value->syncPolicy;
      return lasting_error();
    case cudaLaunchAttributePriority:
      found->priority = std::clamp(value->priority, -5, 0);
      return lasting_error();
    default:
      return fail(cudaErrorInvalidValue,
                  "the CPU device does not support this attribute of a stream");
  }
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return fail(cudaErrorInvalidValue);
  if (attribute == cudaLaunchAttributeAccessPolicyWindow)
    value->accessPolicyWindow = found->window;
  else if (attribute == cudaLaunchAttributeSynchronizationPolicy)
    value->syncPolicy = found->policy;
  else if (attribute == cudaLaunchAttributePriority)
    value->priority = found->priority;
  else
    return fail(cudaErrorInvalidValue,
                "the CPU device does not support this attribute of a stream");
  return lasting_error();
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  const Guard guard(runtime_mutex());
  CUstream_st *target = find_stream(to), *source = find_stream(from);
  if (target == nullptr || source == nullptr) return fail(cudaErrorInvalidResourceHandle);
  target->window = source->window;
  target->policy = source->policy;
  return lasting_error();
}
