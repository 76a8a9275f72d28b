/// \file
/// From:    11_coalesced
/// Changed: the field is Fourier-transformed, each wave is multiplied by its factor for all steps
///          together, and the product is transformed back.
/// Legal:   a step is a convolution with constant weights on a periodic field. Waves are
///          eigenvectors of a step, and therefore of any number of steps.
/// Expect:  the program takes the time of two transforms, for a single step as well as for a
///          million. The previous stages take less time for up to about ten steps.
/// Run:     ./climb advection --stages 11,18

#include "../advection.hpp"

#include <algorithm>
#include <staircase/cufft.hpp>

namespace advection {

using staircase::blocks;
using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::Complex;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [powers]
/// Returns the factor by which all steps multiply wave k, whose phase advances by 2π k / count per
/// cell: the symbol of the weights to the power of `steps`. The weights add up to 1, so the
/// difference from 1 is computed separately, without cancellation for long waves.
__device__ inline Complex<double> power(const double (&w)[3], unsigned k, unsigned count,
                                        std::int64_t steps) {
  const double half = double(k) / count, sine = sinpi(half), cosine = cospi(half);
  Complex<double> square{1 - 2 * (w[0] + w[2]) * sine * sine, 2 * (w[2] - w[0]) * sine * cosine};
  Complex<double> result{1, 0};
  for (; steps > 0; steps /= 2) {
    if (steps % 2 == 1) result = result * square;
    square = square * square;
  }
  return result;
}

/// Computes the powers of all waves along x and along y. Both transforms together multiply the
/// field by rows · cols, so the powers are divided by cols (along x) and by rows (along y).
template <typename T>
__global__ void set_powers(Weights<double> w, std::int64_t steps, unsigned cols,
                           View<Complex<T>, 1> of_x, View<Complex<T>, 1> of_y) {
  const unsigned waves = of_x.extent(0), rows = of_y.extent(0);
  for (unsigned k = column(); k < waves; k += columns())
    of_x(k) = (power(w.x, k, cols, steps) * (1.0 / cols)).template as<T>();
  for (unsigned k = column(); k < rows; k += columns())
    of_y(k) = (power(w.y, k, rows, steps) * (1.0 / rows)).template as<T>();
}
// [powers]

// [multiply]
/// Multiplies each wave of a spectrum by its factor for all steps.
template <typename T>
__global__ void multiply(View<const Complex<T>, 1> of_x, View<const Complex<T>, 1> of_y,
                         View<Complex<T>, 2> spectrum) {
  for (unsigned i = row(); i < spectrum.extent(0); i += staircase::rows())
    for (unsigned j = column(); j < spectrum.extent(1); j += columns())
      spectrum(i, j) = spectrum(i, j) * (of_y(i) * of_x(j));
}
// [multiply]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned rows = problem.rows, cols = problem.cols, waves = cols / 2 + 1;
  Field<T> field(rows, cols);
  DeviceArray<T, 2> u(rows, cols);
  DeviceArray<Complex<T>, 2> spectrum(rows, waves);
  DeviceArray<Complex<T>, 1> of_x(waves), of_y(rows);
  const staircase::RealTransform<T> transform(rows, cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  set_powers<T><<<ceil_div(std::max(waves, rows), 128), 128>>>(weights_of<double>(problem),
                                                               problem.steps, cols, of_x, of_y);
  check_launch();
  transform.forward(u.data(), spectrum.data());
  multiply<T><<<blocks({128, 2}, waves, rows), dim3(128, 2)>>>(of_x, of_y, spectrum);
  check_launch();
  transform.backward(spectrum.data(), u.data());
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  u.copy_to(field.data());
  return field;
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Spectral",
                                  .idea = "Multiply the spectrum by a power of the symbol",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
