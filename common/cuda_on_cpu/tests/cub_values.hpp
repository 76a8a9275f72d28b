/// \file
/// Values, operations and expected results for the tests of CUB.

#pragma once

#include <cstddef>
#include <numeric>
#include <ostream>
#include <vector>

#include "device.hpp"

/// The map x -> scale x + shift. The composition of such maps is associative but not commutative.
struct Map {
  unsigned scale, shift;
  friend bool operator==(Map a, Map b) { return a.scale == b.scale && a.shift == b.shift; }
  friend std::ostream& operator<<(std::ostream& to, Map m) {
    return to << m.scale << " x + " << m.shift;
  }
};
struct After {
  __host__ __device__ Map operator()(Map a, Map b) const {
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
  }
};
struct Plus {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <typename T>
T value(int i) {
  return static_cast<T>(i * 7919 % 1000) - 300;
}
template <>
inline Map value<Map>(int i) {
  return {2 * static_cast<unsigned>(i) + 1, static_cast<unsigned>(i * 7919 % 1000)};
}

template <typename T>
std::vector<T> values(int count) {
  std::vector<T> all;
  for (int i = 0; i < count; ++i) all.push_back(value<T>(i));
  return all;
}

template <typename T, typename Operation>
T total(const std::vector<T>& all, std::size_t count, Operation operation) {
  return std::accumulate(all.begin() + 1, all.begin() + static_cast<std::ptrdiff_t>(count), all[0],
                         operation);
}

template <typename T, typename Operation>
std::vector<T> scanned(const std::vector<T>& all, Operation operation) {
  std::vector<T> sums(all.size());
  std::partial_sum(all.begin(), all.end(), sums.begin(), operation);
  return sums;
}
