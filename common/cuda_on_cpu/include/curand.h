/// \file
/// Replaces the cuRAND host header: arrays of random values, which are generated when the stream
/// executes the call.
///
/// All generators use Philox4x32-10. The values have the requested distribution, but differ from
/// the values of cuRAND.

#pragma once

#include <cstddef>

#include "cuda_on_cpu/library_call.hpp"
#include "curand_kernel.h"
#include "library_types.h"

#define CURAND_H_  // headers of other projects test this macro

#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 0
#define CURAND_VERSION (1000 * CURAND_VER_MAJOR + 100 * CURAND_VER_MINOR + CURAND_VER_PATCH)

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
enum curandRngType_t {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
using curandRngType = curandRngType_t;
enum curandOrdering_t {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
using curandOrdering = curandOrdering_t;

struct curandGenerator_st {
  cuda_on_cpu::Philox state;  ///< accessed only by the work of the stream
  cudaStream_t stream = nullptr;
};
using curandGenerator_t = curandGenerator_st*;

/// Creates a generator of pseudorandom values. Quasirandom generators are not supported.
inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (type >= CURAND_RNG_QUASI_DEFAULT || type < CURAND_RNG_PSEUDO_DEFAULT)
    return CURAND_STATUS_TYPE_ERROR;
  *generator = new curandGenerator_st();
  curand_init(0, 0, 0, &(*generator)->state);
  return CURAND_STATUS_SUCCESS;
}
/// Creates a generator for host memory, which is filled immediately.
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return CURAND_STATUS_OUT_OF_RANGE;
  const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  *value = parts[type];
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  cudaStreamSynchronize(generator->stream);
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  cudaStreamSynchronize(generator->stream);
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

namespace cuda_on_cpu {

/// Appends an operation on the state of a generator to the generator's stream.
template <typename Work>
curandStatus_t with_state(curandGenerator_t generator, const List<Touched>& touched, Work work) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  const cudaError_t error =
      library_call(generator->stream, touched, [generator, work] { work(generator->state); });
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

/// Fills an array with the values that a function of the state returns.
template <typename Value, typename Make>
curandStatus_t fill_random(curandGenerator_t generator, Value* out, std::size_t n, Make make) {
  return with_state(generator, {{out, n * sizeof(Value), true, false}},
                    [=](Philox& state) CUDA_ON_CPU_NOT_ANALYSED {
                      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Value>(make(&state));
                    });
}

}  // namespace cuda_on_cpu

/// Sets the seed, and keeps the position in the sequence, as on a GPU. An offset of 0 then selects
/// the beginning of the sequence.
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  return cuda_on_cpu::with_state(generator, {}, [=](cuda_on_cpu::Philox& state) {
    state.key[0] = static_cast<std::uint32_t>(seed);
    state.key[1] = static_cast<std::uint32_t>(seed >> 32);
    state.has_spare = state.has_spare_double = false;
    cuda_on_cpu::philox_rounds(state);
  });
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  return cuda_on_cpu::with_state(generator, {}, [=](cuda_on_cpu::Philox& state) {
    const std::uint64_t seed = std::uint64_t{state.key[1]} << 32 | state.key[0];
    curand_init(seed, 0, offset, &state);
  });
}
/// Selects the order of the values. All orderings have the same effect.
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                 curandOrdering_t order) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return order < CURAND_ORDERING_PSEUDO_BEST || order > CURAND_ORDERING_PSEUDO_DYNAMIC
             ? CURAND_STATUS_OUT_OF_RANGE
             : CURAND_STATUS_SUCCESS;
}
/// Refuses its generator, because no generator is quasirandom.
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                              unsigned) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_TYPE_ERROR;
}
/// Computes the state of a generator in advance. A generator has its state from the beginning here.
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return cuda_on_cpu::with_state(generator, {}, [](cuda_on_cpu::Philox&) {});
}

/// Refuses its generator, because only quasirandom generators make values of 64 bits.
inline curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long*,
                                             std::size_t) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_TYPE_ERROR;
}
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, std::size_t n) {
  return cuda_on_cpu::fill_random(generator, out, n, curand);
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out,
                                            std::size_t n) {
  return cuda_on_cpu::fill_random(generator, out, n, curand_uniform);
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out,
                                                  std::size_t n) {
  return cuda_on_cpu::fill_random(generator, out, n, curand_uniform_double);
}
/// Normally distributed values are generated in pairs, so CUDA does not accept an odd number of
/// values.
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, std::size_t n,
                                           float mean, float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return cuda_on_cpu::fill_random(generator, out, n, [=](cuda_on_cpu::Philox* state) {
    return mean + deviation * curand_normal(state);
  });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out,
                                                 std::size_t n, double mean, double deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return cuda_on_cpu::fill_random(generator, out, n, [=](cuda_on_cpu::Philox* state) {
    return mean + deviation * curand_normal_double(state);
  });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out,
                                              std::size_t n, float mean, float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return cuda_on_cpu::fill_random(generator, out, n, [=](cuda_on_cpu::Philox* state) {
    return curand_log_normal(state, mean, deviation);
  });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out,
                                                    std::size_t n, double mean, double deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return cuda_on_cpu::fill_random(generator, out, n, [=](cuda_on_cpu::Philox* state) {
    return curand_log_normal_double(state, mean, deviation);
  });
}

namespace cuda_on_cpu {

inline bool is_poisson_mean(double mean) { return mean > 0 && mean <= 400000; }

/// The values of a discrete distribution whose distance from its mean is at most 30 more than 12
/// standard deviations. The probability of all other values is less than the rounding error.
struct DiscreteRange {
  unsigned first, count;

  DiscreteRange(double mean, double variance, double most) {
    const double reach = 12 * std::sqrt(variance) + 30;
    const double low = std::floor(mean - reach), high = std::ceil(mean + reach);
    first = low > 0 ? static_cast<unsigned>(low) : 0;
    count = static_cast<unsigned>(high < most ? high : most) - first + 1;
  }
};

/// Computes the cumulative probabilities of consecutive values.
/// \param logarithm the logarithm of the probability of a value
template <typename Logarithm>
void accumulate(double* up_to, const DiscreteRange& range, Logarithm logarithm) {
  double sum = 0;
  for (unsigned i = 0; i < range.count; ++i) {
    sum += std::exp(logarithm(static_cast<double>(range.first) + i));
    up_to[i] = sum;
  }
  up_to[range.count - 1] = 1;
}

}  // namespace cuda_on_cpu

/// Creates a Poisson distribution in managed memory, for curand_discrete.
inline curandStatus_t curandCreatePoissonDistribution(double mean,
                                                      curandDiscreteDistribution_t* distribution) {
  if (distribution == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!cuda_on_cpu::is_poisson_mean(mean)) return CURAND_STATUS_OUT_OF_RANGE;
  const cuda_on_cpu::DiscreteRange range(mean, mean, 4294967295.0);
  void* memory = nullptr;
  const cudaError_t error = cudaMallocManaged(
      &memory, sizeof(curandDiscreteDistribution_st) + range.count * sizeof(double));
  if (error != cudaSuccess) return CURAND_STATUS_ALLOCATION_FAILED;
  auto* const made = static_cast<curandDiscreteDistribution_st*>(memory);
  auto* const up_to = reinterpret_cast<double*>(made + 1);
  cuda_on_cpu::accumulate(up_to, range, [=](double value) {
    return value * std::log(mean) - mean - std::lgamma(value + 1);
  });
  *made = {range.first, range.count, up_to};
  *distribution = made;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  if (distribution == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return cudaFree(distribution) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                               : CURAND_STATUS_NOT_INITIALIZED;
}

inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out,
                                            std::size_t n, double mean) {
  if (!cuda_on_cpu::is_poisson_mean(mean)) return CURAND_STATUS_OUT_OF_RANGE;
  return cuda_on_cpu::fill_random(
      generator, out, n, [=](cuda_on_cpu::Philox* state) { return curand_poisson(state, mean); });
}

/// The number of successes of `trials` experiments, each of which succeeds with a given
/// probability.
inline curandStatus_t curandGenerateBinomial(curandGenerator_t generator, unsigned* out,
                                             std::size_t n, unsigned trials, double probability) {
  if (!(probability >= 0 && probability <= 1)) return CURAND_STATUS_OUT_OF_RANGE;
  if (probability == 0 || probability == 1)
    return cuda_on_cpu::fill_random(generator, out, n, [=](cuda_on_cpu::Philox* state) {
      curand_uniform_double(state);
      return probability == 0 ? 0 : trials;
    });
  const double mean = trials * probability, failure = 1 - probability;
  const cuda_on_cpu::DiscreteRange range(mean, mean * failure, trials);
  cuda_on_cpu::List<double> up_to(range.count);
  cuda_on_cpu::accumulate(up_to.data(), range, [=](double value) {
    return std::lgamma(trials + 1.0) - std::lgamma(value + 1) - std::lgamma(trials - value + 1) +
           value * std::log(probability) + (trials - value) * std::log1p(-probability);
  });
  return cuda_on_cpu::fill_random(
      generator, out, n, [=, up_to = std::move(up_to)](cuda_on_cpu::Philox* state) {
        return cuda_on_cpu::discrete_value({range.first, range.count, up_to.data()},
                                           curand_uniform_double(state));
      });
}
