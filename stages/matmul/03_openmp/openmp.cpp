/// \file
/// Changed: slices are dealt to threads, each of which has buffers of its own.
/// Legal:   slices are disjoint parts of C, and nobody writes A or B. What two slices would share
///          is a buffer, and that is private now.
/// Expect:  the time divided by the number of cores. Each thread has four slices at least, since
///          the last one to end keeps all waiting.
/// Run:     ./climb matmul --stages 02,03
/// Next:    04_cuda_slices lets a GPU compute them.

#include "../matmul.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace matmul {

using staircase::Array;
using staircase::View;

// [Buffers]
/// Room for what a slice takes.
template <typename Memory>
struct Buffers {
  Buffers(const Slices& slices, std::size_t depth)
      : a(slices.rows * depth), b(depth * slices.cols), c(slices.rows * slices.cols) {}
  Memory a, b, c;
};

/// What a slice takes, in such room: its rows of A, its columns of B as rows, and itself.
template <typename T>
struct Parts {
  template <typename Memory>
  Parts(Slice s, std::size_t depth, const Buffers<Memory>& room)
      : a(room.a.data(), {s.rows, depth}),
        b(room.b.data(), {s.cols, depth}),
        c(room.c.data(), {s.rows, s.cols}) {}
  View<T, 2> a, b, c;
};
// [Buffers]

// [serialise]
/// Copies what a slice reads into its buffers.
template <typename T>
void serialise(Slice s, View<const T, 2> a, View<const T, 2> b, Parts<T> to) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&a(s.i0 + i, 0), depth, &to.a(i, 0));
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t j = 0; j < s.cols; ++j) to.b(j, k) = b(k, s.j0 + j);
}

/// Copies a slice to its place in C.
template <typename T>
void deserialise(Slice s, Parts<T> from, View<T, 2> c) {
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&from.c(i, 0), s.cols, &c(s.i0 + i, s.j0));
}
// [serialise]

// [multiply]
/// A slice of C = A B, element by element: row i of A times column j of B.
template <typename T>
void multiply(Parts<T> s) {
  const std::size_t rows = s.c.extent(0), cols = s.c.extent(1), depth = s.a.extent(1);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < depth; ++k) sum += s.a(i, k) * s.b(j, k);
      s.c(i, j) = sum;
    }
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const std::size_t depth = problem.m, threads = omp_get_max_threads();
  const Slices slices = slices_of(problem, 1, sizeof(T), 4 * threads);
  std::vector<Buffers<Array<T, 1>>> host;
  for (std::size_t t = 0; t < threads; ++t) host.emplace_back(slices, depth);
  timeline.begin("multiply");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
    const Parts<T> here(s, depth, host[omp_get_thread_num()]);
    serialise<T>(s, problem.a<T>(), problem.b<T>(), here);
    multiply<T>(here);
    deserialise<T>(s, here, c);
  }
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "OpenMP",
                               .idea = "Slices are dealt to threads",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
