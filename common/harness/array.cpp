#include <limits>
#include <staircase/array.hpp>

namespace staircase {
namespace {

template <typename T>
void fill_with_nan(std::span<T> elements) {
  const std::size_t few = (std::size_t{1} << 20) / sizeof(T);  // one thread is fast enough
  const auto count = static_cast<std::ptrdiff_t>(elements.size());
#pragma omp parallel for if (elements.size() > few)
  for (std::ptrdiff_t i = 0; i < count; ++i)
    elements[static_cast<std::size_t>(i)] = std::numeric_limits<T>::quiet_NaN();
}

}  // namespace

void poison(std::span<double> elements) { fill_with_nan(elements); }
void poison(std::span<float> elements) { fill_with_nan(elements); }

}  // namespace staircase
