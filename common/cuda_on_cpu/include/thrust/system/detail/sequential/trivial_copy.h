/// \file
/// Replaces the Thrust header of the same name: copies bytes in a way that the analysis can
/// observe.

#pragma once

#include <thrust/detail/config.h>
#include <thrust/system/detail/sequential/general_copy.h>

#include <cstddef>
#include <cstring>

#ifdef CUDA_ON_CPU_ANALYSE
extern "C" void* __tsan_memmove(void* to, const void* from, std::size_t bytes);
#endif

THRUST_NAMESPACE_BEGIN
namespace system::detail::sequential {

template <typename Value>
Value* trivial_copy_n(const Value* first, std::ptrdiff_t count, Value* result) {
  if (count == 0) return result;
#ifdef CUDA_ON_CPU_ANALYSE
  __tsan_memmove(result, first, static_cast<std::size_t>(count) * sizeof(Value));
#else
  std::memmove(result, first, static_cast<std::size_t>(count) * sizeof(Value));
#endif
  return result + count;
}

}  // namespace system::detail::sequential
THRUST_NAMESPACE_END
