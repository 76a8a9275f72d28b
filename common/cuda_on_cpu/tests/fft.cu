/// \file
/// Transforms with cuFFT's interface, compared with direct sums, and calls with invalid arguments.

#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;

using Complex = std::complex<double>;

struct Shape {
  int depth, rows, cols;

  int elements() const { return depth * rows * cols; }
};

/// Element (a, b, c) of a three-dimensional transform, computed as a sum over all elements.
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

// --- Arrays with gaps

/// The types and functions of one precision.
struct Single {
  using Real = float;
  using Complex = float2;
  static constexpr cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
  static constexpr double tolerance = 1e-4;
  static cufftResult run(cufftHandle plan, float2* from, float2* to, int sign) {
    return cufftExecC2C(plan, from, to, sign);
  }
  static cufftResult run(cufftHandle plan, float* from, float2* to, int) {
    return cufftExecR2C(plan, from, to);
  }
  static cufftResult run(cufftHandle plan, float2* from, float* to, int) {
    return cufftExecC2R(plan, from, to);
  }
};
struct Double {
  using Real = double;
  using Complex = double2;
  static constexpr cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
  static constexpr double tolerance = 1e-11;
  static cufftResult run(cufftHandle plan, double2* from, double2* to, int sign) {
    return cufftExecZ2Z(plan, from, to, sign);
  }
  static cufftResult run(cufftHandle plan, double* from, double2* to, int) {
    return cufftExecD2Z(plan, from, to);
  }
  static cufftResult run(cufftHandle plan, double2* from, double* to, int) {
    return cufftExecZ2D(plan, from, to);
  }
};

int product(const std::vector<int>& factors) {
  int product = 1;
  for (const int factor : factors) product *= factor;
  return product;
}

/// The extents of the values on one side of a plan, and the places of the values in memory.
struct Layout {
  std::vector<int> extents, storage;
  int stride, distance, batch;

  int count() const { return product(extents); }
  /// The index in memory of value e of transform b, in the order of the rows.
  int index(int b, int e) const {
    int index = 0, factor = stride;
    for (int i = static_cast<int>(extents.size()) - 1; i >= 0; --i) {
      index += e % extents[i] * factor;
      e /= extents[i];
      factor *= storage[i];
    }
    return index + b * distance;
  }
  int size() const { return index(batch - 1, count() - 1) + 1; }
};

Layout random_layout(const std::vector<int>& extents, int batch) {
  Layout layout = {extents, extents, random_value(1, 3), 0, batch};
  for (int& extent : layout.storage) extent += random_value(0, 2);
  layout.distance = layout.stride;
  if (random_value(0, 1) == 0) {  // the transforms alternate
    layout.stride *= batch;
  } else {
    layout.distance = layout.stride * product(layout.storage) + random_value(0, 3);
  }
  return layout;
}

/// The layout of real values that share their memory with `waves`. Each row has a gap at its end,
/// and there are no other gaps.
Layout in_place_layout(const Layout& waves, int cols) {
  Layout real = waves;
  real.extents.back() = cols;
  real.storage.back() *= 2;
  real.distance *= 2;
  return real;
}

/// All values of a transform, computed as sums over all elements.
std::vector<Complex> transformed(const std::vector<Complex>& from, std::vector<int> extents,
                                 int sign) {
  extents.insert(extents.begin(), 3 - extents.size(), 1);
  const Shape shape = {extents[0], extents[1], extents[2]};
  std::vector<Complex> result;
  for (int e = 0; e < shape.elements(); ++e)
    result.push_back(transformed(from, shape, e / shape.cols / shape.rows,
                                 e / shape.cols % shape.rows, e % shape.cols, sign));
  return result;
}

Complex value_of(float value) { return value; }
Complex value_of(double value) { return value; }
Complex value_of(float2 value) { return {value.x, value.y}; }
Complex value_of(double2 value) { return {value.x, value.y}; }
void store(float& value, Complex from) { value = static_cast<float>(from.real()); }
void store(double& value, Complex from) { value = from.real(); }
void store(float2& value, Complex from) {
  value = {static_cast<float>(from.real()), static_cast<float>(from.imag())};
}
void store(double2& value, Complex from) { value = {from.real(), from.imag()}; }

/// Whether each real value in memory belongs to an element of an array.
template <typename Element, typename Real>
std::vector<bool> places(const Layout& layout, std::size_t numbers) {
  constexpr int width = sizeof(Element) / sizeof(Real);
  std::vector<bool> used(numbers);
  for (int b = 0; b < layout.batch; ++b)
    for (int e = 0; e < layout.count(); ++e)
      for (int i = 0; i < width; ++i) used[layout.index(b, e) * width + i] = true;
  return used;
}

/// Runs a plan between two layouts, and compares the result with sums. Values in the gaps must not
/// change.
template <typename Precision, typename From, typename To>
void expect_transform(const Layout& from, const Layout& to, cufftType type, int sign,
                      bool in_place) {
  using Real = typename Precision::Real;
  const Real poison = 77;
  const auto& shape = from.count() > to.count() ? from.extents : to.extents;
  const int count = std::max(from.count(), to.count()), cols = shape.back();
  const auto value_at = [&](const Layout& layout, const std::vector<Complex>& all, int e) {
    const int row = layout.extents.back();
    return all[e / row * cols + e % row];
  };
  std::size_t from_numbers = from.size() * sizeof(From) / sizeof(Real);
  std::size_t to_numbers = to.size() * sizeof(To) / sizeof(Real);
  if (in_place) from_numbers = to_numbers = std::max(from_numbers, to_numbers);
  std::vector<Real> start(from_numbers, poison);
  std::vector<std::vector<Complex>> wanted;
  for (int b = 0; b < from.batch; ++b) {
    std::vector<Complex> values(count);
    for (Complex& value : values)
      value = {random_value(-1.0, 1.0), type == Precision::c2c ? random_value(-1.0, 1.0) : 0};
    auto given = values;
    if (type == Precision::c2r) {  // the input is the transform of real values
      given = transformed(values, shape, CUFFT_FORWARD);
      for (Complex& value : values) value *= count;
      wanted.push_back(values);
    } else {
      wanted.push_back(transformed(values, shape, sign));
    }
    for (int e = 0; e < from.count(); ++e) {
      From element;
      store(element, value_at(from, given, e));
      const Real* const parts = reinterpret_cast<const Real*>(&element);
      std::copy_n(parts, sizeof(From) / sizeof(Real),
                  start.data() + from.index(b, e) * sizeof(From) / sizeof(Real));
    }
  }
  const Device<Real> input(start), output(std::vector<Real>(to_numbers, poison));
  Real* const target = in_place ? input.get() : output.get();
  auto shape_of_plan = shape;
  auto in_storage = from.storage, out_storage = to.storage;
  cufftHandle plan;
  expect(cufftPlanMany(&plan, static_cast<int>(shape.size()), shape_of_plan.data(),
                       in_storage.data(), from.stride, from.distance, out_storage.data(), to.stride,
                       to.distance, type, from.batch) == CUFFT_SUCCESS,
         "a plan is made");
  expect(Precision::run(plan, reinterpret_cast<From*>(input.get()), reinterpret_cast<To*>(target),
                        sign) == CUFFT_SUCCESS,
         "it runs");
  const auto before = input.to_host(), after = in_place ? before : output.to_host();
  for (int b = 0; b < to.batch; ++b)
    for (int e = 0; e < to.count(); ++e) {
      const To found = reinterpret_cast<const To*>(after.data())[to.index(b, e)];
      expect(std::abs(value_of(found) - value_at(to, wanted[b], e)) <= Precision::tolerance,
             "a value is right");
    }
  const auto read = places<From, Real>(from, from_numbers);
  const auto written = places<To, Real>(to, to_numbers);
  for (std::size_t i = 0; i < to_numbers; ++i)
    if (!written[i] && !(in_place && read[i])) expect(after[i] == poison, "a gap stays unchanged");
  for (std::size_t i = 0; i < from_numbers && !in_place; ++i)
    if (!read[i] || type != Precision::c2r)
      expect(before[i] == start[i], "the input stays unchanged");
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, "it is destroyed");
}

template <typename Precision>
void expect_transforms() {
  using Real = typename Precision::Real;
  using Wave = typename Precision::Complex;
  for (int rank = 1; rank <= 3; ++rank)
    for (const bool in_place : {false, true}) {
      std::vector<int> extents(rank);
      for (int& extent : extents) extent = random_value(1, rank == 3 ? 4 : 6);
      auto half = extents;
      half.back() = extents.back() / 2 + 1;
      const int batch = random_value(1, 3);
      const Layout from = random_layout(extents, batch);
      const Layout to = in_place ? from : random_layout(extents, batch);
      expect_transform<Precision, Wave, Wave>(from, to, Precision::c2c, CUFFT_FORWARD, in_place);
      expect_transform<Precision, Wave, Wave>(from, to, Precision::c2c, CUFFT_INVERSE, in_place);
      Layout waves = random_layout(half, batch);
      if (in_place) {
        waves.stride = 1;
        waves.distance = random_value(0, 2) + product(waves.storage);
      }
      const Layout values = in_place ? in_place_layout(waves, extents.back()) : from;
      expect_transform<Precision, Real, Wave>(values, waves, Precision::r2c, CUFFT_FORWARD,
                                              in_place);
      expect_transform<Precision, Wave, Real>(waves, values, Precision::c2r, CUFFT_INVERSE,
                                              in_place);
    }
}

TEST(arrays_with_gaps_are_transformed_in_single_precision) { expect_transforms<Single>(); }
TEST(arrays_with_gaps_are_transformed_in_double_precision) { expect_transforms<Double>(); }

/// Without a layout, arrays are contiguous, and real values in place have gaps at the end of a row.
TEST(contiguous_transforms_run_in_place) {
  const int rows = 3, cols = 5, half = cols / 2 + 1, batch = 2;
  int extents[] = {rows, cols}, ignored[] = {9, 9};
  const auto values = tap::random_values(batch * rows * cols, -1.0, 1.0);
  std::vector<double> padded(batch * rows * 2 * half);
  for (int e = 0; e < batch * rows * cols; ++e) padded[e / cols * 2 * half + e % cols] = values[e];
  const Device<double> field(padded);
  double2* const waves = reinterpret_cast<double2*>(field.get());
  cufftHandle there, here;
  expect(cufftPlanMany(&there, 2, extents, nullptr, 0, 0, nullptr, 0, 0, CUFFT_D2Z, batch) ==
             CUFFT_SUCCESS,
         "a plan is made");
  expect(cufftPlanMany(&here, 2, extents, ignored, 7, 7, nullptr, 7, 7, CUFFT_Z2D, batch) ==
             CUFFT_SUCCESS,
         "one layout alone is ignored");
  expect(cufftExecD2Z(there, field.get(), waves) == CUFFT_SUCCESS, "it runs");
  const auto found = field.to_host();
  for (int b = 0; b < batch; ++b) {
    const std::vector<Complex> of_batch(values.begin() + b * rows * cols,
                                        values.begin() + (b + 1) * rows * cols);
    for (int e = 0; e < rows * half; ++e) {
      const Complex wanted = transformed(of_batch, {1, rows, cols}, 0, e / half, e % half, -1);
      const double* const parts = &found[2 * (b * rows * half + e)];
      expect(std::abs(Complex(parts[0], parts[1]) - wanted) < 1e-12, "a wave is right");
    }
  }
  expect(cufftExecZ2D(here, waves, field.get()) == CUFFT_SUCCESS, "it runs back");
  const auto after = field.to_host();
  for (int e = 0; e < batch * rows * cols; ++e)
    expect(std::abs(after[e / cols * 2 * half + e % cols] / (rows * cols) - values[e]) < 1e-14,
           "a value comes back");
  cufftDestroy(there);
  cufftDestroy(here);
}

/// Overlapping input is permitted: each window begins two values after the previous one.
TEST(windows_may_overlap) {
  const int width = 4, step = 2, windows = 5, length = (windows - 1) * step + width;
  const auto values = random_waves(length);
  std::vector<double2> pairs;
  for (const Complex& value : values) pairs.push_back({value.real(), value.imag()});
  const Device<double2> from(pairs), to(std::vector<double2>(windows * width));
  long long extents[] = {width}, unused[] = {0};
  std::size_t bytes = 0;
  cufftHandle plan;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  expect(cufftMakePlanMany64(plan, 1, extents, unused, 1, step, unused, 1, width, CUFFT_Z2Z,
                             windows, &bytes) == CUFFT_SUCCESS,
         "a plan is made");
  expect(cufftExecZ2Z(plan, from.get(), to.get(), CUFFT_FORWARD) == CUFFT_SUCCESS, "it runs");
  const auto found = to.to_host();
  for (int w = 0; w < windows; ++w) {
    const std::vector<Complex> window(values.begin() + w * step, values.begin() + w * step + width);
    for (int k = 0; k < width; ++k) {
      const Complex wanted = transformed(window, {1, 1, width}, 0, 0, k, CUFFT_FORWARD);
      const double2 one = found[w * width + k];
      expect(std::abs(Complex(one.x, one.y) - wanted) < 1e-12, "a wave is right");
    }
  }
  cufftDestroy(plan);
}

// --- Handles and work areas

TEST(a_created_plan_gets_its_parameters_once) {
  cufftHandle plan;
  std::size_t bytes = 0, other = 0;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  const Device<float2> waves(std::vector<float2>(60));
  expect(cufftExecC2C(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         "it has no parameters");
  expect(cufftMakePlan3d(plan, 3, 4, 5, CUFFT_C2C, &bytes) == CUFFT_SUCCESS, "a plan is made");
  expect(cufftGetSize(plan, &other) == CUFFT_SUCCESS, "it has a size");
  expect_equal(other, bytes);
  expect(cufftMakePlan1d(plan, 60, CUFFT_C2C, 1, &bytes) == CUFFT_INVALID_PLAN,
         "it has its parameters already");
  expect(cufftExecC2C(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_SUCCESS, "it runs");
  for (const float2 wave : waves.to_host()) expect(wave.x == 0 && wave.y == 0, "0 stays 0");
  cufftDestroy(plan);
}

TEST(a_program_may_provide_the_work_area) {
  const int n = 16, batch = 3;
  cufftHandle plan;
  std::size_t bytes = 0, estimate = 0;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  expect(cufftSetAutoAllocation(plan, 0) == CUFFT_SUCCESS, "the program allocates");
  expect(cufftEstimate1d(n, CUFFT_Z2Z, batch, &estimate) == CUFFT_SUCCESS, "an estimate");
  expect(cufftGetSize1d(plan, n, CUFFT_Z2Z, batch, &bytes) == CUFFT_SUCCESS, "a better one");
  expect(cufftMakePlan1d(plan, n, CUFFT_Z2Z, batch, &bytes) == CUFFT_SUCCESS, "a plan is made");
  const Device<double2> waves(std::vector<double2>(n * batch, {1, 0}));
#ifdef STAIRCASE_CUDA_ON_CPU  // cuFFT needs no area for small transforms
  expect_equal(bytes, sizeof(double2) * n * batch);
  expect_equal(estimate, bytes);
  expect(cufftExecZ2Z(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_NO_WORKSPACE,
         "the area is missing");
#endif
  const Device<char> area(std::max<std::size_t>(bytes, 1));
  expect(cufftSetWorkArea(plan, area.get()) == CUFFT_SUCCESS, "it has an area");
  expect(cufftExecZ2Z(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_SUCCESS, "it runs");
  const auto found = waves.to_host();
  for (int e = 0; e < n * batch; ++e)
    expect(std::abs(found[e].x - (e % n == 0 ? n : 0)) < 1e-12, "the sum is the first wave");
  cufftDestroy(plan);
}

TEST(sizes_of_all_shapes_agree) {
  int extents[] = {6, 5, 8};
  long long extents64[] = {6, 5, 8};
  std::size_t a = 0, b = 0, c = 0;
  cufftHandle plan;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  expect(cufftGetSize3d(plan, 6, 5, 8, CUFFT_R2C, &a) == CUFFT_SUCCESS &&
             cufftGetSizeMany(plan, 3, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1, &b) ==
                 CUFFT_SUCCESS &&
             cufftGetSizeMany64(plan, 3, extents64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1,
                                &c) == CUFFT_SUCCESS,
         "a plan in three dimensions has a size");
  expect_equal(b, a);
  expect_equal(c, a);
  expect(cufftGetSize2d(plan, 6, 5, CUFFT_R2C, &a) == CUFFT_SUCCESS, "in two dimensions, too");
  expect(cufftEstimate2d(6, 5, CUFFT_R2C, &b) == CUFFT_SUCCESS &&
             cufftEstimate3d(6, 5, 8, CUFFT_R2C, &b) == CUFFT_SUCCESS &&
             cufftEstimateMany(3, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1, &c) ==
                 CUFFT_SUCCESS,
         "there are estimates");
  expect_equal(c, b);
  std::size_t made = 0;
  expect(cufftMakePlan2d(plan, 6, 5, CUFFT_R2C, &made) == CUFFT_SUCCESS, "a plan is made");
  expect_equal(made, a);
  cufftDestroy(plan);
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  expect(cufftMakePlanMany(plan, 3, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 2, &made) ==
             CUFFT_SUCCESS,
         "a plan of a batch is made");
  cufftDestroy(plan);
}

TEST(the_library_has_a_version) {
  int version = 0, major = 0, minor = 0, patch = 0;
  expect(cufftGetVersion(&version) == CUFFT_SUCCESS, "a version");
  expect(cufftGetProperty(MAJOR_VERSION, &major) == CUFFT_SUCCESS &&
             cufftGetProperty(MINOR_VERSION, &minor) == CUFFT_SUCCESS &&
             cufftGetProperty(PATCH_LEVEL, &patch) == CUFFT_SUCCESS,
         "its parts");
  expect_equal(version, 1000 * major + 100 * minor + patch);
}

TEST(a_plan_keeps_its_properties) {
  const auto property = NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT;
  cufftHandle plan;
  long long first = 0, value = 0;
  std::size_t bytes = 0;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "a handle is made");
  expect(cufftGetPlanPropertyInt64(plan, property, &first) == CUFFT_SUCCESS, "a property");
  expect(cufftSetPlanPropertyInt64(plan, property, 1) == CUFFT_SUCCESS, "another value");
  expect(cufftGetPlanPropertyInt64(plan, property, &value) == CUFFT_SUCCESS, "it is stored");
  expect_equal(value, 1);
  expect(cufftResetPlanProperty(plan, property) == CUFFT_SUCCESS, "the first value");
  expect(cufftGetPlanPropertyInt64(plan, property, &value) == CUFFT_SUCCESS, "it is back");
  expect_equal(value, first);
  expect(cufftSetPlanPropertyInt64(plan, static_cast<cufftProperty>(99), 1) != CUFFT_SUCCESS,
         "no such property");
  expect(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes) == CUFFT_SUCCESS, "a plan is made");
  expect(cufftSetPlanPropertyInt64(plan, property, 1) == CUFFT_NOT_SUPPORTED, "it is too late");
  cufftDestroy(plan);
}

TEST(what_is_no_plan_is_refused) {
  cufftHandle plan;
  expect(cufftPlan2d(&plan, 0, 4, CUFFT_Z2Z) == CUFFT_INVALID_SIZE, "no rows");
  expect(cufftPlan1d(&plan, 4, CUFFT_Z2Z, 0) == CUFFT_INVALID_SIZE, "no batch");
  int extents[] = {4, 4, 4, 4};
  std::size_t bytes = 0;
  expect(
      cufftPlanMany(&plan, 4, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z, 1) != CUFFT_SUCCESS,
      "four dimensions");
  expect(
      cufftPlanMany(&plan, 0, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z, 1) != CUFFT_SUCCESS,
      "no dimension");
  expect(
      cufftPlanMany(&plan, 1, extents, extents, 0, 4, extents, 1, 4, CUFFT_Z2Z, 1) != CUFFT_SUCCESS,
      "no stride");
#ifdef STAIRCASE_CUDA_ON_CPU  // cuFFT does not document these errors
  int storage[] = {4, 0, 4};
  expect(cufftPlanMany(&plan, 3, extents, storage, 1, 64, extents, 1, 64, CUFFT_Z2Z, 1) ==
             CUFFT_INVALID_VALUE,
         "no storage");
  expect(cufftEstimate1d(4, CUFFT_Z2Z, 1, nullptr) == CUFFT_INVALID_VALUE, "no size");
#endif
  expect(cufftMakePlan1d(123456, 4, CUFFT_Z2Z, 1, &bytes) == CUFFT_INVALID_PLAN,
         "a handle of nothing has no parameters");
  expect(cufftPlan1d(&plan, 4, static_cast<cufftType>(1), 1) == CUFFT_INVALID_TYPE, "no type");
  const Device<double2> waves(std::vector<double2>(4));
  expect(cufftExecZ2Z(123456, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         "a handle of nothing");
  expect(cufftPlan1d(&plan, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS, "a plan is made");
#ifdef STAIRCASE_CUDA_ON_CPU  // cuFFT 12 ignores these values and uses those of the plan
  expect(cufftExecZ2Z(plan, waves.get(), waves.get(), CUFFT_FORWARD) == CUFFT_INVALID_TYPE,
         "another type");
#endif
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, "it is destroyed");
  expect(cufftDestroy(plan) == CUFFT_INVALID_PLAN, "twice does no harm");
  expect(cufftExecC2C(plan, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         "what was destroyed");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
