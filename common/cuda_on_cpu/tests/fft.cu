/// \file
/// Transforms with cuFFT's interface, compared with direct sums, and calls with invalid arguments.

#include <cufft.h>

#include <complex>
#include <numbers>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::random_value;

using Complex = std::complex<double>;

struct Shape {
  int depth, rows, cols;

  int elements() const { return depth * rows * cols; }
};

/// Element (a, b, c) of the transform of a cube, computed as a sum over all elements.
Complex transformed(const std::vector<Complex>& from, const Shape& shape, int a, int b, int c,
                    int sign) {
  Complex sum = 0;
  for (int i = 0; i < shape.depth; ++i)
    for (int j = 0; j < shape.rows; ++j)
      for (int k = 0; k < shape.cols; ++k) {
        const double turns = double(a * i % shape.depth) / shape.depth +
                             double(b * j % shape.rows) / shape.rows +
                             double(c * k % shape.cols) / shape.cols;
        sum += from[(i * shape.rows + j) * shape.cols + k] *
               std::polar(1.0, sign * 2 * std::numbers::pi * turns);
      }
  return sum;
}

std::vector<Complex> random_waves(int count) {
  std::vector<Complex> values(count);
  for (Complex& value : values) value = {random_value(-1.0, 1.0), random_value(-1.0, 1.0)};
  return values;
}

constexpr Shape shapes[] = {{1, 1, 1}, {1, 1, 30}, {1, 7, 12}, {1, 16, 9}, {3, 4, 5}};

cufftHandle plan_for(const Shape& shape, cufftType type) {
  cufftHandle plan;
  const auto result = shape.depth > 1
                          ? cufftPlan3d(&plan, shape.depth, shape.rows, shape.cols, type)
                          : cufftPlan2d(&plan, shape.rows, shape.cols, type);
  expect(result == CUFFT_SUCCESS, "a plan is made");
  return plan;
}

TEST(complex_transforms_are_sums_over_all_waves) {
  for (const Shape& shape : shapes) {
    const auto values = random_waves(shape.elements());
    std::vector<double2> pairs;
    for (const Complex& value : values) pairs.push_back({value.real(), value.imag()});
    const Device<double2> from(pairs), to(pairs);
    const cufftHandle plan = plan_for(shape, CUFFT_Z2Z);
    for (const int sign : {CUFFT_FORWARD, CUFFT_INVERSE}) {
      expect(cufftExecZ2Z(plan, from.get(), to.get(), sign) == CUFFT_SUCCESS, "it runs");
      const auto found = to.to_host();
      for (int e = 0; e < shape.elements(); ++e) {
        const Complex wanted = transformed(values, shape, e / shape.cols / shape.rows,
                                           e / shape.cols % shape.rows, e % shape.cols, sign);
        expect(std::abs(Complex(found[e].x, found[e].y) - wanted) < 1e-12, "an element is right");
      }
    }
    cufftDestroy(plan);
  }
}

TEST(real_transforms_keep_half_of_the_waves_and_come_back) {
  for (const Shape& shape : shapes) {
    std::vector<double> values(shape.elements());
    for (double& value : values) value = random_value(-1.0, 1.0);
    const int half = shape.cols / 2 + 1, waves = shape.depth * shape.rows * half;
    const Device<double> field(values), back(values);
    const Device<double2> spectrum(std::vector<double2>(waves, {7, 7}));
    const cufftHandle there = plan_for(shape, CUFFT_D2Z), here = plan_for(shape, CUFFT_Z2D);
    expect(cufftExecD2Z(there, field.get(), spectrum.get()) == CUFFT_SUCCESS, "it runs");
    const auto found = spectrum.to_host();
    const std::vector<Complex> as_complex(values.begin(), values.end());
    for (int e = 0; e < waves; ++e) {
      const Complex wanted = transformed(as_complex, shape, e / half / shape.rows,
                                         e / half % shape.rows, e % half, CUFFT_FORWARD);
      expect(std::abs(Complex(found[e].x, found[e].y) - wanted) < 1e-12, "a wave is right");
    }
    expect(cufftExecZ2D(here, spectrum.get(), back.get()) == CUFFT_SUCCESS, "it runs back");
    const auto after = back.to_host();
    for (int e = 0; e < shape.elements(); ++e)
      expect(std::abs(after[e] / shape.elements() - values[e]) < 1e-14, "a number comes back");
    cufftDestroy(there);
    cufftDestroy(here);
  }
}

TEST(batches_and_single_precision_do_as_well) {
  const int n = 10, batch = 3;
  std::vector<float> values(n * batch);
  for (float& value : values) value = random_value(-1.0F, 1.0F);
  const Device<float> field(values), back(values);
  const Device<float2> spectrum(std::vector<float2>(batch * (n / 2 + 1), {7, 7}));
  cufftHandle there, here;
  expect(cufftPlan1d(&there, n, CUFFT_R2C, batch) == CUFFT_SUCCESS, "a plan is made");
  expect(cufftPlan1d(&here, n, CUFFT_C2R, batch) == CUFFT_SUCCESS, "a plan is made");
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  expect(cufftSetStream(there, stream) == CUFFT_SUCCESS, "it has a stream");
  expect(cufftSetStream(here, stream) == CUFFT_SUCCESS, "it has a stream");
  expect(cufftExecR2C(there, field.get(), spectrum.get()) == CUFFT_SUCCESS, "it runs");
  expect(cufftExecC2R(here, spectrum.get(), back.get()) == CUFFT_SUCCESS, "it runs back");
  check(cudaStreamSynchronize(stream));
  const auto after = back.to_host();
  for (int e = 0; e < n * batch; ++e)
    expect(std::abs(after[e] / n - values[e]) < 1e-6F, "a number comes back");
  check(cudaStreamDestroy(stream));
}

TEST(what_is_no_plan_is_refused) {
  cufftHandle plan;
  expect(cufftPlan2d(&plan, 0, 4, CUFFT_Z2Z) == CUFFT_INVALID_SIZE, "no rows");
  expect(cufftPlan1d(&plan, 4, CUFFT_Z2Z, 0) == CUFFT_INVALID_SIZE, "no batch");
  const Device<double2> waves(std::vector<double2>(4));
  expect(cufftExecZ2Z(123456, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         "a handle of nothing");
  expect(cufftPlan1d(&plan, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS, "a plan is made");
#ifdef STAIRCASE_CUDA_ON_CPU  // cuFFT 12 ignores these values and uses those of the plan
  expect(cufftExecZ2Z(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_INVALID_TYPE,
         "another type");
#endif
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, "it is destroyed");
  expect(cufftDestroy(plan) == CUFFT_SUCCESS || cufftSetStream(plan, nullptr) != CUFFT_SUCCESS,
         "twice does no harm");
  expect(cufftExecC2C(plan, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         "what was destroyed");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
