/// \file
/// Changed: pairs are processed in the widest vectors of the processor. A vector contains elements
///          from i on. A shuffle reverses a second vector, which contains their mirror images.
/// Legal:   pairs are independent of each other. The sum has a partial sum per lane, and the order
///          of additions changes only the rounding.
/// Expect:  a step takes the time of the loads and stores of one pass, plus the time of a barrier.
/// Run:     ./climb durbin_levinson --stages 00-04
/// Next:    05_all_reduce replaces the barrier by an exchange of partial sums.

#include "../durbin_levinson.hpp"

#include <omp.h>

#include <staircase/simd.hpp>
#include <utility>

namespace durbin_levinson {

using staircase::View;

// [sizes]
constexpr std::size_t block = 64;  // bytes of the widest vectors
// [sizes]

// [Step]
/// The step from y of order k to y of order k + 1; `alpha` is the last element of the new y.
template <typename T>
struct Step {
  const T* r;
  T* y;
  std::size_t k;
  T alpha;
};
// [Step]

// [update_pairs]
/// Reverses the order of the elements of a vector.
template <typename Vector, std::size_t... lane>
[[gnu::always_inline]] inline void reverse(Vector& v, std::index_sequence<lane...>) {
#if __has_builtin(__builtin_shufflevector)
  v = __builtin_shufflevector(v, v, (sizeof...(lane) - 1 - lane)...);
#else  // g++ 11
  v = Vector{v[sizeof...(lane) - 1 - lane]...};
#endif
}

/// Updates elements i and k - 1 - i for `begin` <= i < `end`; the vector width divides `begin` and
/// `end`. Adds the products of r and the new elements to the partial sum of the next step.
template <typename T>
struct UpdatePairs {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Step<T>& step, std::size_t begin, std::size_t end,
                                         T* sum) {
    using Vector [[gnu::vector_size(bytes)]] = T;
    using InMemory [[gnu::vector_size(bytes), gnu::aligned(alignof(T))]] = T;
    constexpr std::size_t lanes = bytes / sizeof(T);
    constexpr std::make_index_sequence<lanes> order;
    const auto [r, y, k, alpha] = step;
    Vector sum_of_low{}, sum_of_high{};
    for (std::size_t i = begin; i < end; i += lanes) {
      const std::size_t j = k - i - lanes;
      const Vector low = reinterpret_cast<const InMemory&>(y[i]);
      Vector high = reinterpret_cast<const InMemory&>(y[j]);
      Vector r_of_low = reinterpret_cast<const InMemory&>(r[j + 2]);
      const Vector r_of_high = reinterpret_cast<const InMemory&>(r[i + 2]);
      reverse(high, order);
      reverse(r_of_low, order);
      const Vector new_low = low + alpha * high;
      Vector new_high = high + alpha * low;
      sum_of_low += r_of_low * new_low;
      sum_of_high += r_of_high * new_high;
      reverse(new_high, order);
      reinterpret_cast<InMemory&>(y[i]) = new_low;
      reinterpret_cast<InMemory&>(y[j]) = new_high;
    }
    sum_of_low += sum_of_high;
    for (std::size_t lane = 0; lane < lanes; ++lane) *sum += sum_of_low[lane];
  }
};
// [update_pairs]

// [update]
/// Executes one thread's chunk of a step; returns the thread's partial sum for the next step. Each
/// thread of the team gets contiguous blocks of pairs; the last thread also updates the remaining
/// elements in the middle.
template <typename T>
T update(const Step<T>& step, std::size_t me, std::size_t team) {
  static const auto update_pairs =
      staircase::ForWidestVectors<UpdatePairs<T>, const Step<T>&, std::size_t, std::size_t,
                                  T*>::function();
  constexpr std::size_t width = block / sizeof(T);
  const auto [r, y, k, alpha] = step;
  const std::size_t blocks = k / (2 * width);
  T sum = 0;
  update_pairs(step, blocks * me / team * width, blocks * (me + 1) / team * width, &sum);
  if (me + 1 < team) return sum;
  for (std::size_t i = blocks * width, j = k - 1 - i; i <= j && j < k; ++i, --j) {
    const T low = y[i], high = y[j];
    y[i] = low + alpha * high;
    y[j] = high + alpha * low;
    sum += r[j + 2] * y[i];
    if (i < j) sum += r[i + 2] * y[j];
  }
  y[k] = alpha;
  return sum + r[1] * alpha;
}
// [update]

// [durbin]
/// Durbin's recursion: computes y of order k + 1 from y of order k. Each step appends one element,
/// the reflection coefficient alpha. `sums` starts as a copy of r. An extra element at its end
/// receives the partial sums that the last step computes and no step reads.
template <typename T>
void durbin(const std::vector<T>& r, std::vector<T> sums, View<T, 2> solution) {
  const std::size_t n = solution.extent(1);
  solution(0, 0) = solution(1, 0) = -r[1];
  sums.push_back(0);
  sums[2] -= r[1] * r[1];
#pragma omp parallel
  {
    const std::size_t me = omp_get_thread_num();
    const std::size_t threads = omp_get_num_threads();
    T alpha = -r[1], beta = 1;
    for (std::size_t k = 1; k < n; ++k) {
      beta = (1 - alpha * alpha) * beta;
      alpha = -sums[k + 1] / beta;
      if (me == 0) solution(1, k) = alpha;
      const T part = update<T>({r.data(), solution.data(), k, alpha}, me, threads);
#pragma omp atomic
      sums[k + 2] += part;
#pragma omp barrier
    }
  }
}
// [durbin]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(2, problem.n);
  const std::vector<T> r(problem.r.begin(), problem.r.end());
  timeline.begin("kernels");
  durbin<T>(r, r, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Vectorised",
                                        .idea = "Process pairs with vectors from both ends",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
