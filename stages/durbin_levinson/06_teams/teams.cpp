/// \file
/// Changed: a single thread works while the row is short, and the team doubles as the row grows.
/// Legal:   the steps are the same; all threads synchronise at a barrier before the team grows.
/// Expect:  threads exchange nothing while rows are shorter than 32 KB; small orders need no team.
/// Run:     ./climb durbin_levinson --stages 00-06
/// Next:    07_naive_cuda starts again from stage 01 on the GPU, with two kernels per step.

#include "../durbin_levinson.hpp"
#include "../exchange.hpp"

#include <omp.h>

#include <algorithm>
#include <staircase/simd.hpp>
#include <utility>

namespace durbin_levinson {

using staircase::View;

// [sizes]
constexpr std::size_t share = 16384;  // least bytes of y per thread after the team has doubled
constexpr std::size_t block = 64;     // bytes of the widest vectors
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

// [advance]
/// The values that a step passes to the next one in addition to the row.
template <typename T>
struct State {
  T alpha, beta, sum;
};

/// Executes the steps from `first` to `last` - 1 as one thread of the team.
template <typename T>
State<T> advance(std::size_t first, std::size_t last, State<T> state, const std::vector<T>& r,
                 View<T, 2> solution, Exchange<T>& exchange, std::size_t me, std::size_t team) {
  auto [alpha, beta, sum] = state;
  for (std::size_t k = first; k < last; ++k) {
    beta = (1 - alpha * alpha) * beta;
    alpha = -(r[k + 1] + sum) / beta;
    if (me == 0) solution(1, k) = alpha;
    const T part = update<T>({r.data(), solution.data(), k, alpha}, me, team);
    sum = team == 1 ? part : exchange.sum(k, me, team, part);
  }
  return {alpha, beta, sum};
}
// [advance]

// [durbin]
/// Executes Durbin's recursion with a team of threads that doubles as the rows grow.
template <typename T>
void durbin(const std::vector<T>& r, View<T, 2> solution) {
  const std::size_t n = solution.extent(1);
  solution(0, 0) = solution(1, 0) = -r[1];
  State<T> state{.alpha = -r[1], .beta = 1, .sum = -r[1] * r[1]};
  Exchange<T> exchange(omp_get_max_threads());
#pragma omp parallel if (n > 2 * share / sizeof(T))
  {
    const std::size_t me = omp_get_thread_num();
    const std::size_t threads = omp_get_num_threads();
    for (std::size_t first = 1, team = 1; first < n; team = std::min(2 * team, threads)) {
      const std::size_t worth = 2 * team * share / sizeof(T);
      const std::size_t last = team == threads ? n : std::min(worth, n);
      if (me < team) {
        const State<T> after = advance(first, last, state, r, solution, exchange, me, team);
        if (me == 0) state = after;
      }
      first = last;
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
  durbin<T>(r, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Teams",
                                        .idea = "Teams that double as rows grow",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
