/// \file
/// Changed: a slice reads contiguous copies of its data, with the columns of B as rows. The
///          finished slice is copied to its position in C: loop (4) of the chapter on slicing.
/// Legal:   no slice writes A or B, so a copy can be read instead. No slice reads C, so a slice can
///          be copied to C later.
/// Expect:  both factors of a sum are read contiguously. The dependency chain of additions remains
///          the bottleneck.
/// Run:     ./climb matmul --stages 01,02
/// Next:    03_openmp distributes the slices to threads.

#include "../matmul.hpp"

#include <algorithm>

namespace matmul {

using staircase::Array;
using staircase::View;

// [Buffers]
/// Memory for the matrices of one slice.
template <typename Memory>
struct Buffers {
  Buffers(const Slices& slices, std::size_t depth)
      : a(slices.rows * depth), b(depth * slices.cols), c(slices.rows * slices.cols) {}
  Memory a, b, c;
};

/// The matrices of a slice in its buffers: its rows of A, its columns of B as rows, its part of C.
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
/// Fills the buffers of a slice with the elements of A and B that the slice reads.
template <typename T>
void serialise(Slice s, View<const T, 2> a, View<const T, 2> b, Parts<T> to) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&a(s.i0 + i, 0), depth, &to.a(i, 0));
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t j = 0; j < s.cols; ++j) to.b(j, k) = b(k, s.j0 + j);
}

/// Copies a slice to its position in C.
template <typename T>
void deserialise(Slice s, Parts<T> from, View<T, 2> c) {
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&from.c(i, 0), s.cols, &c(s.i0 + i, s.j0));
}
// [serialise]

// [multiply]
/// Computes a slice of C = A B: element (i, j) is the product of row i of A and column j of B.
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
  const std::size_t depth = problem.m;
  const Slices slices = slices_of(problem, 1, sizeof(T));
  const Buffers<Array<T, 1>> host(slices, depth);
  timeline.begin("multiply");
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
    const Parts<T> here(s, depth, host);
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
                               .title = "Serialised",
                               .idea = "Copy each slice into contiguous buffers",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
