/// \file
/// cuRAND in kernels and for arrays: known values of Philox, and moments of the distributions.

#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_near;

__global__ void draw(unsigned* out, unsigned long long seed, int sequence, int offset) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, sequence, offset, &state);
  for (int i = 0; i < 7; ++i) out[i] = curand(&state);
}

std::vector<unsigned> drawn(unsigned long long seed, int sequence, int offset) {
  const Device<unsigned> out(7);
  draw<<<1, 1>>>(out.get(), seed, sequence, offset);
  return out.to_host();
}

TEST(philox_gives_the_numbers_of_curand) {
  expect_equal(drawn(1234567890123, 0, 0), {1158483830u, 1944096801u, 1539648582u, 3984221340u,
                                            2153090688u, 3378309470u, 3160489075u});
  expect_equal(drawn(1234567890124, 5, 3), {2969985041u, 3467177930u, 3590221119u, 4213434192u,
                                            1417366306u, 3879018463u, 2610616642u});
}

TEST(an_offset_skips_numbers) {
  const auto all = drawn(7, 1, 0);
  const auto behind = drawn(7, 1, 5);
  expect_equal(behind[0], all[5]);
  expect_equal(behind[1], all[6]);
  expect(drawn(7, 2, 0) != all, "another sequence has other numbers");
}

/// Four values of each distribution per thread.
constexpr int threads = 256, blocks = 32, draws = 4, count = threads * blocks * draws;

template <typename T, typename Make>
__global__ void make(T* out, Make one) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state;
  curand_init(42, i, 0, &state);
  for (int k = 0; k < draws; ++k) out[draws * i + k] = one(&state);
}

/// Allows an error of five standard errors for the mean, and of 15 variance / √n for the variance,
/// which is about ten standard errors or more for these distributions. A fixed seed makes the
/// result reproducible.
template <typename T>
void expect_moments(const std::vector<T>& values, double mean, double variance) {
  double sum = 0, squares = 0;
  for (const T value : values) sum += value;
  const double n = static_cast<double>(values.size()), found = sum / n;
  for (const T value : values) squares += (value - found) * (value - found);
  expect_near(found, mean, 5 * std::sqrt(variance / n));
  expect_near(squares / n, variance, 15 * variance / std::sqrt(n));
}

struct Uniform {
  __device__ float operator()(curandState* state) const { return curand_uniform(state); }
};
struct UniformDouble {
  __device__ double operator()(curandState* state) const { return curand_uniform_double(state); }
};
struct Normal {
  __device__ float operator()(curandState* state) const { return curand_normal(state); }
};
struct NormalDouble {
  __device__ double operator()(curandState* state) const { return curand_normal_double(state); }
};
struct Poisson {
  __device__ unsigned operator()(curandState* state) const { return curand_poisson(state, 3.5); }
};

template <typename T, typename Make>
std::vector<T> made(Make one) {
  const Device<T> out(count);
  make<<<blocks, threads>>>(out.get(), one);
  return out.to_host();
}

TEST(kernels_draw_from_distributions) {
  expect_moments(made<float>(Uniform()), 0.5, 1.0 / 12);
  expect_moments(made<double>(UniformDouble()), 0.5, 1.0 / 12);
  expect_moments(made<float>(Normal()), 0, 1);
  expect_moments(made<double>(NormalDouble()), 0, 1);
  expect_moments(made<unsigned>(Poisson()), 3.5, 3.5);
}

TEST(uniform_numbers_are_above_0_and_at_most_1) {
  for (const float value : made<float>(Uniform())) expect(value > 0 && value <= 1, "it is inside");
}

void expect_done(curandStatus_t status) { expect_equal(status, CURAND_STATUS_SUCCESS); }

TEST(arrays_are_filled_in_their_stream) {
  curandGenerator_t generator;
  expect_done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  expect_done(curandSetPseudoRandomGeneratorSeed(generator, 5));
  const Device<float> uniform(count), normal(count);
  expect_done(curandGenerateUniform(generator, uniform.get(), count));
  expect_done(curandGenerateNormal(generator, normal.get(), count, 3, 2));
  expect_moments(uniform.to_host(), 0.5, 1.0 / 12);
  expect_moments(normal.to_host(), 3, 4);
  expect_equal(curandGenerateNormal(generator, normal.get(), 3, 0, 1),
               CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  const auto before = uniform.to_host();
  expect_done(curandSetPseudoRandomGeneratorSeed(generator, 5));
  expect_done(curandGenerateUniform(generator, uniform.get(), count));
  expect(uniform.to_host() != before, "a seed alone does not begin the sequence again");
  expect_done(curandSetGeneratorOffset(generator, 0));
  expect_done(curandGenerateUniform(generator, uniform.get(), count));
  expect_equal(uniform.to_host(), before);
  expect_done(curandDestroyGenerator(generator));
}

struct Discrete {
  curandDiscreteDistribution_t distribution;
  __device__ unsigned operator()(curandState* state) const {
    return curand_discrete(state, distribution);
  }
};

TEST(kernels_draw_from_a_distribution_of_the_host) {
  for (const double mean : {0.5, 3.5, 60.0, 20000.0}) {
    curandDiscreteDistribution_t distribution;
    expect_done(curandCreatePoissonDistribution(mean, &distribution));
    expect_moments(made<unsigned>(Discrete{distribution}), mean, mean);
    expect_done(curandDestroyDistribution(distribution));
  }
  curandDiscreteDistribution_t none = nullptr;
  expect_equal(curandCreatePoissonDistribution(0, &none), CURAND_STATUS_OUT_OF_RANGE);
  expect_equal(curandCreatePoissonDistribution(400001, &none), CURAND_STATUS_OUT_OF_RANGE);
  expect_equal(curandCreatePoissonDistribution(1, nullptr), CURAND_STATUS_NOT_INITIALIZED);
  expect_equal(curandDestroyDistribution(nullptr), CURAND_STATUS_NOT_INITIALIZED);
}

TEST(arrays_have_discrete_and_log_normal_distributions) {
  curandGenerator_t generator;
  expect_done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  const Device<unsigned> counts(count);
  struct Case {
    unsigned trials;
    double probability;
  };
  for (const auto& [trials, p] : {Case{20, 0.3}, Case{1, 0.9}, Case{1000000, 0.25}}) {
    expect_done(curandGenerateBinomial(generator, counts.get(), count, trials, p));
    expect_moments(counts.to_host(), trials * p, trials * p * (1 - p));
  }
  expect_done(curandGeneratePoisson(generator, counts.get(), count, 3.5));
  expect_moments(counts.to_host(), 3.5, 3.5);
  const Device<double> values(count);
  expect_done(curandGenerateLogNormalDouble(generator, values.get(), count, 0.5, 0.25));
  auto logarithms = values.to_host();
  for (double& value : logarithms) value = std::log(value);
  expect_moments(logarithms, 0.5, 0.0625);
  expect_equal(curandGenerateLogNormalDouble(generator, values.get(), 3, 0, 1),
               CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  expect_equal(curandGeneratePoisson(generator, counts.get(), count, 0),
               CURAND_STATUS_OUT_OF_RANGE);
#ifdef STAIRCASE_CUDA_ON_CPU  // cuRAND does not document these two results
  expect_done(curandGenerateBinomial(generator, counts.get(), count, 7, 1));
  expect_moments(counts.to_host(), 7, 0);
  expect_equal(curandGenerateBinomial(generator, counts.get(), count, 7, 1.5),
               CURAND_STATUS_OUT_OF_RANGE);
#endif
  expect_done(curandDestroyGenerator(generator));
}

TEST(seeds_and_orderings_of_a_philox_generator_keep_its_sequence) {
  const Device<unsigned> first(64), second(64);
  curandGenerator_t generator;
  expect_done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  expect_done(curandGenerate(generator, first.get(), 64));
  expect_done(curandDestroyGenerator(generator));
  expect_done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  expect_done(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DEFAULT));
  expect_done(curandGenerateSeeds(generator));
  expect_done(curandGenerate(generator, second.get(), 64));
  expect_equal(second.to_host(), first.to_host());
  expect_equal(curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT),
               CURAND_STATUS_OUT_OF_RANGE);
  expect_equal(curandSetQuasiRandomGeneratorDimensions(generator, 2), CURAND_STATUS_TYPE_ERROR);
  const Device<unsigned long long> wide(4);
  expect_equal(curandGenerateLongLong(generator, wide.get(), 4), CURAND_STATUS_TYPE_ERROR);
  expect_done(curandDestroyGenerator(generator));
  expect_equal(curandGenerateSeeds(nullptr), CURAND_STATUS_NOT_INITIALIZED);
}

TEST(the_library_has_a_version) {
  int version = 0, major = 0, minor = 0, patch = 0;
  expect_done(curandGetVersion(&version));
  expect_done(curandGetProperty(MAJOR_VERSION, &major));
  expect_done(curandGetProperty(MINOR_VERSION, &minor));
  expect_done(curandGetProperty(PATCH_LEVEL, &patch));
  expect_equal(version, 1000 * major + 100 * minor + patch);
  expect_equal(curandGetProperty(static_cast<libraryPropertyType>(9), &patch),
               CURAND_STATUS_OUT_OF_RANGE);
}

#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU supports these generators
TEST(quasirandom_numbers_are_refused) {
  curandGenerator_t generator;
  expect_equal(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32),
               CURAND_STATUS_TYPE_ERROR);
}
#endif

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
