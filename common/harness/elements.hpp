/// \file
/// Input arrays in f64 or f32, and their conversion to the precision in which a stage solves.

#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include <staircase/array.hpp>

#include "npy.hpp"

namespace staircase {

/// The elements of an array in row-major order, in f64 or in f32.
using EitherElements = std::variant<Elements<double>, Elements<float>>;

inline bool is_empty(const EitherElements& elements) {
  return std::visit([](const auto& values) { return values.empty(); }, elements);
}

/// Moves the elements out of an array that was read from a file. The array must be f64 or f32.
inline EitherElements elements_of(NpyArray&& input) {
  if (auto* values = std::get_if<Elements<double>>(&input.values)) return std::move(*values);
  return std::get<Elements<float>>(std::move(input.values));
}

/// Converts the elements to type T, unless they already have this type.
template <typename T>
void convert(EitherElements& elements) {
  std::visit(
      [&](auto& from) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(from)>, Elements<T>>) {
          Elements<T> to(from.size());
#pragma omp parallel for
          for (std::size_t e = 0; e < to.size(); ++e) to[e] = static_cast<T>(from[e]);
          elements = std::move(to);
        }
      },
      elements);
}

}  // namespace staircase
