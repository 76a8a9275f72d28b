/// \file
/// The functions of the rows of a tridiagonal system, and their parallel scan by a team of threads.

#pragma once

#include <bit>
#include <cstdint>

#include "teams.hpp"

namespace local_volatility {

// [functions]
/// The function g → (gq + gg g) / (qq + qg g). With g = G / q, the matrix ((qq, qg), (gq, gg)) maps
/// (q, G) of one row to (q, G) of the next row.
template <typename Real>
struct Fractional {
  Real qq, qg, gq, gg;
  __device__ Real operator()(Real g) const { return (gq + gg * g) / (qq + qg * g); }
};

/// The function x → a + b x.
template <typename Real>
struct Linear {
  Real a, b;
  __device__ Real operator()(Real x) const { return a + b * x; }
};

/// The power of two that scales the magnitude of x to at least 1 and less than 2.
__device__ double scale_of(double x) {
  const auto exponent = std::bit_cast<std::uint64_t>(x) & 0x7FF0'0000'0000'0000;
  return std::bit_cast<double>(0x7FE0'0000'0000'0000 - exponent);
}
__device__ float scale_of(float x) {
  const auto exponent = std::bit_cast<std::uint32_t>(x) & 0x7F80'0000;
  return std::bit_cast<float>(0x7F00'0000 - exponent);
}

/// Returns the same function with its matrix scaled by a power of two. Only the ratio of q and G
/// matters, and a power of two causes no rounding.
template <typename Real>
__device__ Fractional<Real> scaled(Fractional<Real> f) {
  const Real scale = scale_of(f.qq + f.qg);
  return {scale * f.qq, scale * f.qg, scale * f.gq, scale * f.gg};
}

/// Returns the function that applies `first` and then `second`.
template <typename Real>
__device__ Fractional<Real> compose(Fractional<Real> second, Fractional<Real> first) {
  const auto [qq, qg, gq, gg] = first;
  return scaled(Fractional<Real>{second.qq * qq + second.qg * gq, second.qq * qg + second.qg * gg,
                                 second.gq * qq + second.gg * gq, second.gq * qg + second.gg * gg});
}
template <typename Real>
__device__ Linear<Real> compose(Linear<Real> second, Linear<Real> first) {
  return {second.a + second.b * first.a, second.b * first.b};
}
// [functions]

// [scan]
/// Returns the value of the lane that is `distance` lanes before the calling lane, in a forward
/// (+1) or backward (-1) scan.
template <int direction, typename Real>
__device__ Real before(Real x, int distance) {
  return direction > 0 ? __shfl_up_sync(0xFFFFFFFF, x, distance)
                       : __shfl_down_sync(0xFFFFFFFF, x, distance);
}
template <int direction, typename Real>
__device__ Fractional<Real> before(Fractional<Real> f, int distance) {
  return {before<direction>(f.qq, distance), before<direction>(f.qg, distance),
          before<direction>(f.gq, distance), before<direction>(f.gg, distance)};
}
template <int direction, typename Real>
__device__ Linear<Real> before(Linear<Real> f, int distance) {
  return {before<direction>(f.a, distance), before<direction>(f.b, distance)};
}

/// Returns shared memory for one function per warp; all scans use the same memory.
template <typename Real>
__device__ Real* of_warps() {
  __shared__ Real memory[block_size / warp_size * sizeof(Fractional<Real>) / sizeof(Real)];
  return memory;
}

/// Applies the functions of a team's threads one after the other, forwards (+1) or backwards (-1).
/// Returns the value that enters this thread's function. `value` is the value that enters the first
/// function; in a team larger than a warp, it becomes the value that leaves the last function.
template <int team, int direction, typename Function, typename Real>
__device__ Real scan(Function f, Real& value) {
  const int lane = threadIdx.x % warp_size;
  const int rank = direction > 0 ? lane : warp_size - 1 - lane;  // position in the scan
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const Function earlier = before<direction>(f, distance);
    if (rank >= distance) f = compose(f, earlier);
  }

  Real entering = value;
  if constexpr (team > warp_size) {
    constexpr int warps = team / warp_size;
    Function* of_warp = reinterpret_cast<Function*>(of_warps<Real>());
    const int warp = threadIdx.x / warp_size;
    if (rank == warp_size - 1) of_warp[warp] = f;
    __syncthreads();
    for (int w = 0; w < warps; ++w) {
      const int next = direction > 0 ? w : warps - 1 - w;
      if (next == warp) entering = value;
      value = of_warp[next](value);
    }
    __syncthreads();  // before the next scan overwrites of_warp
  }

  const Real previous = before<direction>(f(entering), 1);
  return rank == 0 ? entering : previous;
}
// [scan]

}  // namespace local_volatility
