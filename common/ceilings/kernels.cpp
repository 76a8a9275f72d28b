#include "kernels.hpp"

#include <omp.h>
#include <cstddef>
#include <cstring>

namespace staircase {
namespace {

/// Computes `chains` independent dependency chains x = x * a + b on vectors of `bytes` bytes in
/// registers.
/// \returns the number of operations
///
/// A unit that starts one multiply-add per cycle with a latency of four cycles needs four chains to
/// be busy all the time. Two such units need eight chains.
template <typename Real, int bytes, int chains>
[[gnu::always_inline]] inline double multiply_add(long steps) {
  using Vector [[gnu::vector_size(bytes)]] = Real;
  constexpr int lanes = bytes / sizeof(Real);
  const Vector a = Vector{} + Real(0.99);
  const Vector b = Vector{} + Real(1e-3);
  Vector x[chains];
  for (int c = 0; c < chains; ++c) x[c] = Vector{} + Real(c);  // equal chains would be merged
  for (long step = 0; step < steps; ++step)
#pragma GCC unroll 16
    for (int c = 0; c < chains; ++c) x[c] = x[c] * a + b;
  for (int c = 0; c < chains; ++c) asm volatile("" : : "m"(x[c]));
  return 2.0 * lanes * chains * static_cast<double>(steps);
}

template <typename Real>
double multiply_add_plain(long steps) {
  return multiply_add<Real, 16, 10>(steps);
}

#ifdef __x86_64__
template <typename Real>
[[gnu::target("avx2,fma")]] double multiply_add_avx2(long steps) {
  return multiply_add<Real, 32, 12>(steps);
}

template <typename Real>
[[gnu::target("avx512f")]] double multiply_add_avx512(long steps) {
  return multiply_add<Real, 64, 16>(steps);
}
#endif

}  // namespace

MultiplyAddKernels multiply_add_kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {multiply_add_avx512<double>, multiply_add_avx512<float>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiply_add_avx2<double>, multiply_add_avx2<float>};
#endif
  return {multiply_add_plain<double>, multiply_add_plain<float>};
}

void copy_in_parallel(std::span<const double> from, std::span<double> to) {
#pragma omp parallel num_threads(omp_get_num_procs())
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t begin = from.size() * thread / threads;
    const std::size_t end = from.size() * (thread + 1) / threads;
    std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(double));
  }
}

}  // namespace staircase
