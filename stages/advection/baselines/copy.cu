/// \file
/// A lower bound on the time of programs that move the field once per step: the timed phase copies
/// the field on the device once per step. A simple kernel computes the solution in another phase.

#include <utility>

#include "../advection.hpp"

namespace advection {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [update]
/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const unsigned rows = u.extent(0), cols = u.extent(1);
  for (unsigned i = row(); i < rows; i += staircase::rows())
    for (unsigned j = column(); j < cols; j += columns()) {
      T sum = 0;
      for (unsigned a = 0; a < 3; ++a)
        for (unsigned b = 0; b < 3; ++b)
          sum += w.y[a] * w.x[b] * u((i + a + rows - 1) % rows, (j + b + cols - 1) % cols);
      next(i, j) = sum;
    }
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  const std::size_t bytes = problem.rows * problem.cols * sizeof(T);
  for (std::int64_t step = 0; step < problem.steps; ++step)
    check(cudaMemcpyAsync(next.data(), u.data(), bytes, cudaMemcpyDeviceToDevice));
  check(cudaDeviceSynchronize());
  timeline.begin("solve");
  const auto w = weights_of<T>(problem);
  const auto [grid, block] = shape_of(problem, {128, 2});
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    update<T><<<grid, block>>>(w, from, to);
    check_launch();
    std::swap(from, to);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  (problem.steps % 2 == 0 ? u : next).copy_to(field.data());
  return field;
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Copies",
                                  .idea = "Copy the field on the device once per step",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
