/// \file
/// Changed: a thread solves 64 systems at a time. It transposes their autocorrelations, so that
///          elements of equal index are adjacent, runs the recursion with one system per vector
///          lane, and transposes y and the reflection coefficients back.
/// Legal:   systems are independent, and the operations of each system keep their order.
/// Expect:  the speed grows by a factor of vector lanes times cores, apart from the transpositions.
/// Run:     ./climb durbin_levinson_batched --stages 00,01
/// Next:    02_naive_cuda gives each system a GPU thread.

#include "../groups.hpp"

#include <staircase/simd.hpp>

namespace durbin_levinson_batched {

using staircase::View;

// [solve_group]
/// Solves a group of systems by Durbin's recursion; r begins with r_1. Each set of four vectors of
/// systems goes through all orders before the next set.
template <typename T>
struct SolveGroup {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Row<T>* row_of_r, std::size_t n, Row<T>* row_of_y,
                                         Row<T>* row_of_alphas) {
    using Vector [[gnu::vector_size(bytes)]] = T;
    constexpr std::size_t row = sizeof(Row<T>) / bytes, vectors = 4;
    const auto* r = reinterpret_cast<const Vector(*)[row]>(row_of_r);
    auto* y = reinterpret_cast<Vector(*)[row]>(row_of_y);
    auto* alphas = reinterpret_cast<Vector(*)[row]>(row_of_alphas);
    for (std::size_t v0 = 0; v0 < row; v0 += vectors) {
      Vector alpha[vectors], beta[vectors];
      for (Vector& b : beta) b = Vector{} + 1;
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t v = 0; v < vectors; ++v) alpha[v] = r[k][v0 + v];
        for (std::size_t i = 0; i < k; ++i)
#pragma GCC unroll 4
          for (std::size_t v = 0; v < vectors; ++v) alpha[v] += r[k - 1 - i][v0 + v] * y[i][v0 + v];
        for (std::size_t v = 0; v < vectors; ++v) alpha[v] /= -beta[v];
        for (std::size_t i = 0; 2 * i < k; ++i)
#pragma GCC unroll 4
          for (std::size_t v = v0; v < v0 + vectors; ++v) {
            const Vector low = y[i][v], high = y[k - 1 - i][v];
            y[i][v] = low + alpha[v - v0] * high;
            y[k - 1 - i][v] = high + alpha[v - v0] * low;
          }
        for (std::size_t v = 0; v < vectors; ++v) {
          y[k][v0 + v] = alphas[k][v0 + v] = alpha[v];
          beta[v] *= 1 - alpha[v] * alpha[v];
        }
      }
    }
  }
};
template <typename T>
using GroupSolver =
    staircase::ForWidestVectors<SolveGroup<T>, const Row<T>*, std::size_t, Row<T>*, Row<T>*>;
// [solve_group]

// [solve_systems]
template <typename T>
void solve_systems(View<const T, 2> r, View<T, 3> solution) {
  const std::size_t systems = solution.extent(0), n = solution.extent(2);
  const auto solve_group = GroupSolver<T>::function();
#pragma omp parallel
  {
    staircase::Elements<Row<T>> rows_of_r(n, Row<T>()), y(n, Row<T>()), alphas(n, Row<T>());
#pragma omp for
    for (std::size_t s = 0; s < systems; s += group) {
      gather<T>(r, s, rows_of_r);
      solve_group(rows_of_r.data(), n, y.data(), alphas.data());
      scatter<T>(y, s, 0, solution);
      scatter<T>(alphas, s, 1, solution);
    }
  }
}
// [solve_systems]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);
  const View<const T, 2> r(numbers.data(), {solution.extent(0), solution.extent(2) + 1});
  timeline.begin("kernels");
  solve_systems<T>(r, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(
      argc, argv,
      {
          .title = "OpenMP",
          .idea = "Solve one system per vector lane, on threads",
          .solve_f64 = durbin_levinson_batched::solve<double>,
          .solve_f32 = durbin_levinson_batched::solve<float>,
      });
}
