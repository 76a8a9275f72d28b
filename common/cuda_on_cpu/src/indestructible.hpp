/// \file
/// Objects that are never destroyed.

#pragma once

#include <memory>
#include <utility>

namespace cuda_on_cpu {

/// Makes an object that is never destroyed. Pending operations run at the very end of the program,
/// and destructors of static objects may still launch kernels.
template <typename T, typename... Arguments>
T& indestructible(Arguments&&... arguments) {
  return *std::make_unique<T>(std::forward<Arguments>(arguments)...).release();
}

/// Moves the result of a function into an object that is never destroyed.
template <typename T>
T& indestructible_from(T (*make)()) {
  return *std::make_unique<T>(make()).release();
}

}  // namespace cuda_on_cpu
