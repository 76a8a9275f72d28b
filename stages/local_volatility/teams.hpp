/// \file
/// The number of threads that solve a tridiagonal system together, and the rows of each thread.

#pragma once

#include <cstddef>
#include <type_traits>

#include "local_volatility.hpp"

namespace local_volatility {

constexpr int warp_size = 32;
constexpr int block_size = 128;  // threads of all teams of a block

// [launch]
/// Calls `launch` with the size of a team for systems of n rows, the number of rows per thread, and
/// the block dimensions. A team is a warp if n <= 256 (8 rows per thread), else a thread block.
template <typename Launch>
void with_team(std::size_t n, Launch launch) {
  const auto call = [&](auto team, auto held) {
    launch(team, held, dim3(team, block_size / team));
  };
  using std::integral_constant;
  constexpr integral_constant<int, warp_size> warp;
  if (n <= 1 * warp_size)
    call(warp, integral_constant<int, 1>());
  else if (n <= 2 * warp_size)
    call(warp, integral_constant<int, 2>());
  else if (n <= 4 * warp_size)
    call(warp, integral_constant<int, 4>());
  else if (n <= 8 * warp_size)
    call(warp, integral_constant<int, 8>());
  else
    call(integral_constant<int, block_size>(), integral_constant<int, 8>());
}
// [launch]

}  // namespace local_volatility
