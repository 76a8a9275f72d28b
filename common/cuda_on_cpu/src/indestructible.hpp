/// \file
/// Objects that outlive all statics.

#pragma once

#include <memory>
#include <utility>

namespace cuda_on_cpu {

/// Makes an object that is never destroyed: work that nobody waited for runs at the very end of the
/// program, and destructors of other statics may still launch.
template <typename T, typename... Arguments>
T& indestructible(Arguments&&... arguments) {
  return *std::make_unique<T>(std::forward<Arguments>(arguments)...).release();
}

/// Keeps the object that a function returns in the same way.
template <typename T>
T& indestructible_from(T (*make)()) {
  return *std::make_unique<T>(make()).release();
}

}  // namespace cuda_on_cpu
