/// \file
/// Changed: slices are dealt to threads, each of which has buffers of its own.
/// Legal:   slices are disjoint parts of C, and nobody writes A or B; what two slices would share
/// is
///          a buffer, and that is private now.
/// Expect:  the time divided by the number of cores. There are four slices for each thread at
/// least,
///          since the last to end keeps all waiting.
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
/// What a slice takes: its rows of A, its columns of B as rows, and itself.
template <typename T>
struct Buffers {
  Buffers(const Slices& slices, std::size_t depth)
      : a(slices.rows, depth), b(slices.cols, depth), c(slices.rows, slices.cols) {}
  Array<T, 2> a, b, c;
};
// [Buffers]

// [serialise]
/// Copies what a slice reads into its buffers.
template <typename T>
void serialise(Slice s, View<const T, 2> a, View<const T, 2> b, Buffers<T>& to) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&a(s.i0 + i, 0), depth, &to.a(i, 0));
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t j = 0; j < s.cols; ++j) to.b(j, k) = b(k, s.j0 + j);
}

/// Copies a slice to its place in C.
template <typename T>
void deserialise(Slice s, const Buffers<T>& from, View<T, 2> c) {
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&from.c(i, 0), s.cols, &c(s.i0 + i, s.j0));
}
// [serialise]

// [multiply]
/// A slice of C = A B, element by element: row i of A times column j of B.
template <typename T>
void multiply(Slice s, View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = 0; i < s.rows; ++i)
    for (std::size_t j = 0; j < s.cols; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < depth; ++k) sum += a(i, k) * b(j, k);
      c(i, j) = sum;
    }
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const std::size_t threads = omp_get_max_threads();
  const Slices slices = slices_of(problem, 1, sizeof(T), 4 * threads);
  std::vector<Buffers<T>> all_buffers;
  for (std::size_t t = 0; t < threads; ++t) all_buffers.emplace_back(slices, problem.m);
  timeline.begin("multiply");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
    Buffers<T>& buffers = all_buffers[omp_get_thread_num()];
    serialise<T>(s, problem.a<T>(), problem.b<T>(), buffers);
    multiply<T>(s, buffers.a, buffers.b, buffers.c);
    deserialise<T>(s, buffers, c);
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
