/// \file
/// Changed: blocks of 64 rows are distributed cyclically to the threads. Before a thread solves its
///          block, it subtracts the products with all unknowns that are ready, along whole rows of
///          L. A counter of the solved blocks replaces all barriers.
/// Legal:   a thread reads unknowns only after it has loaded a counter that includes their block.
///          Each row belongs to one thread, so no other thread changes its right-hand side.
/// Expect:  the program needs only the time to read the triangle once with all cores.
/// Run:     ./climb triangular_solve --stages 03,19,20
/// Next:    nothing; this is the last stage.

#include "../four_rows.hpp"
#include "../triangular_solve.hpp"

#include <omp.h>
#include <algorithm>
#include <atomic>
#include <thread>

namespace triangular_solve {

using staircase::View;

// [substitute]
/// Solves L x = b by left-looking blocked forward substitution. `solved` counts the blocks whose
/// unknowns are ready. There is at most one thread per four blocks.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x) {
  static const auto update =
      staircase::ForWidestVectors<Update<T>, const Rows<T>&, std::size_t>::function();
  static const auto solve_rows = staircase::ForWidestVectors<Solve<T>, const Rows<T>&>::function();
  const std::size_t n = l.extent(0), blocks = (n + block - 1) / block;
  const std::size_t threads = std::clamp<std::size_t>(blocks / 4, 1, omp_get_max_threads());
  std::copy_n(b.data(), n, x.data());
  std::atomic<std::size_t> solved = 0;
#pragma omp parallel num_threads(threads)
  for (std::size_t mine = omp_get_thread_num(); mine < blocks; mine += omp_get_num_threads()) {
    const std::size_t begin = mine * block, end = std::min(begin + block, n);
    Rows<T> rows{l.data(), n, begin, end, 0, x.data()};
    for (std::size_t ready = 0, tries = 0; ready < mine;) {
      ready = solved.load(std::memory_order_acquire);
      if (ready < mine && ready * block > rows.first) {
        update(rows, ready * block);
        rows.first = ready * block;
      } else if (++tries % 1000 == 0) {
        std::this_thread::yield();  // a thread that has unknowns to compute may need this core
      }
    }
    solve_rows(rows);
    solved.store(mine + 1, std::memory_order_release);
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> x(problem.rhs, problem.n);
  timeline.begin("kernels");
  for (std::size_t side = 0; side < x.extent(0); ++side)
    substitute<T>(problem.l<T>(), problem.b<T>().row(side), x.row(side));
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Pipelined rows",
                                         .idea = "Subtract all unknowns that are ready",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
