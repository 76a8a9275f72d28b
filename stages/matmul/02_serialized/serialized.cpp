/// \file
/// Changed: what a slice reads is copied into contiguous memory first, columns of B one after the
///          other, and the slice is copied from there to where it belongs in C (loop (4)).
/// Legal:   a copy of what nobody writes can be read in its place; a slice of C that nobody reads
///          can be written later.
/// Expect:  both factors of a sum stream from neighbour to neighbour; the sum itself, one addition
///          after the other, is what is left.
/// Run:     ./climb matmul --stages 01,02
/// Next:    03_openmp deals the slices to threads.

#include "../matmul.hpp"

#include <algorithm>

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
  const Slices slices = slices_of(problem, 1, sizeof(T));
  Buffers<T> buffers(slices, problem.m);
  timeline.begin("multiply");
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
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
                               .title = "Serialised",
                               .idea = "Slices compute in contiguous buffers",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
