/// \file
/// Replaces the cuRAND device header: random values within kernels.
///
/// All generators use Philox4x32-10, with a seed, a sequence and an offset. For
/// curandStatePhilox4_32_10_t, the values are equal to cuRAND's values. For all other generators,
/// only the distribution is the same.

#pragma once

#include <cmath>
#include <cstdint>

#include "cuda_runtime.h"

namespace cuda_on_cpu {

/// The state of a thread's generator: a counter, a key, and the values of the last round that are
/// not used yet.
struct Philox {
  std::uint32_t counter[4];
  std::uint32_t key[2];
  std::uint32_t output[4];
  unsigned used;
  float spare;  ///< the second of a pair of normally distributed values
  double spare_double;
  bool has_spare, has_spare_double;
};

/// Computes four output words by ten rounds of multiplications and exclusive ors.
inline void philox_rounds(Philox& state) {
  std::uint32_t c[4] = {state.counter[0], state.counter[1], state.counter[2], state.counter[3]};
  std::uint32_t key[2] = {state.key[0], state.key[1]};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c[2];
    const std::uint32_t next[4] = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ key[0],
                                   static_cast<std::uint32_t>(second),
                                   static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ key[1],
                                   static_cast<std::uint32_t>(first)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  for (int i = 0; i < 4; ++i) state.output[i] = c[i];
}

/// Advances the counter by `rounds`. The upper half of the counter contains the index of the
/// sequence.
inline void philox_advance(Philox& state, std::uint64_t rounds) {
  const std::uint64_t low = std::uint64_t{state.counter[1]} << 32 | state.counter[0];
  const std::uint64_t sum = low + rounds;
  state.counter[0] = static_cast<std::uint32_t>(sum);
  state.counter[1] = static_cast<std::uint32_t>(sum >> 32);
  if (sum < low && ++state.counter[2] == 0) ++state.counter[3];
}

/// Converts to a value in the interval (0, 1].
inline float unit_float(std::uint32_t bits) {
  return static_cast<float>(bits) * 0x1p-32f + 0x1p-33f;
}
inline double unit_double(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = low ^ std::uint64_t{high} << 21;
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

/// Converts two uniform values in (0, 1] to two normally distributed values, by the Box-Muller
/// transform.
template <typename Value>
void to_normal(Value& first, Value& second) {
  const Value radius = std::sqrt(Value(-2) * std::log(first));
  const Value angle = Value(6.283185307179586476925) * second;
  first = radius * std::sin(angle);
  second = radius * std::cos(angle);
}

}  // namespace cuda_on_cpu

using curandStatePhilox4_32_10 = cuda_on_cpu::Philox;
using curandStatePhilox4_32_10_t = cuda_on_cpu::Philox;
using curandStateXORWOW = cuda_on_cpu::Philox;
using curandStateXORWOW_t = cuda_on_cpu::Philox;
using curandStateMRG32k3a = cuda_on_cpu::Philox;
using curandStateMRG32k3a_t = cuda_on_cpu::Philox;
using curandState = cuda_on_cpu::Philox;
using curandState_t = cuda_on_cpu::Philox;

inline void skipahead(unsigned long long n, cuda_on_cpu::Philox* state) {
  const unsigned long long used = state->used + n;
  cuda_on_cpu::philox_advance(*state, used / 4);
  state->used = static_cast<unsigned>(used % 4);
  cuda_on_cpu::philox_rounds(*state);
}
inline void skipahead_sequence(unsigned long long n, cuda_on_cpu::Philox* state) {
  const std::uint64_t sequence = (std::uint64_t{state->counter[3]} << 32 | state->counter[2]) + n;
  state->counter[2] = static_cast<std::uint32_t>(sequence);
  state->counter[3] = static_cast<std::uint32_t>(sequence >> 32);
  cuda_on_cpu::philox_rounds(*state);
}

inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, cuda_on_cpu::Philox* state) {
  *state = {};
  state->key[0] = static_cast<std::uint32_t>(seed);
  state->key[1] = static_cast<std::uint32_t>(seed >> 32);
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

inline unsigned curand(cuda_on_cpu::Philox* state) {
  const unsigned number = state->output[state->used++];
  if (state->used == 4) {
    state->used = 0;
    cuda_on_cpu::philox_advance(*state, 1);
    cuda_on_cpu::philox_rounds(*state);
  }
  return number;
}
inline uint4 curand4(cuda_on_cpu::Philox* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return {x, y, z, w};
}

inline float curand_uniform(cuda_on_cpu::Philox* state) {
  return cuda_on_cpu::unit_float(curand(state));
}
inline float4 curand_uniform4(cuda_on_cpu::Philox* state) {
  const uint4 bits = curand4(state);
  return {cuda_on_cpu::unit_float(bits.x), cuda_on_cpu::unit_float(bits.y),
          cuda_on_cpu::unit_float(bits.z), cuda_on_cpu::unit_float(bits.w)};
}
inline double curand_uniform_double(cuda_on_cpu::Philox* state) {
  const unsigned low = curand(state), high = curand(state);
  return cuda_on_cpu::unit_double(low, high);
}
inline double2 curand_uniform2_double(cuda_on_cpu::Philox* state) {
  const double x = curand_uniform_double(state), y = curand_uniform_double(state);
  return {x, y};
}

inline float2 curand_normal2(cuda_on_cpu::Philox* state) {
  float x = curand_uniform(state), y = curand_uniform(state);
  cuda_on_cpu::to_normal(x, y);
  return {x, y};
}
inline float curand_normal(cuda_on_cpu::Philox* state) {
  if (state->has_spare) {
    state->has_spare = false;
    return state->spare;
  }
  const float2 pair = curand_normal2(state);
  state->spare = pair.y;
  state->has_spare = true;
  return pair.x;
}
inline float4 curand_normal4(cuda_on_cpu::Philox* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return {first.x, first.y, second.x, second.y};
}
inline double2 curand_normal2_double(cuda_on_cpu::Philox* state) {
  double x = curand_uniform_double(state), y = curand_uniform_double(state);
  cuda_on_cpu::to_normal(x, y);
  return {x, y};
}
inline double curand_normal_double(cuda_on_cpu::Philox* state) {
  if (state->has_spare_double) {
    state->has_spare_double = false;
    return state->spare_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->spare_double = pair.y;
  state->has_spare_double = true;
  return pair.x;
}

inline float curand_log_normal(cuda_on_cpu::Philox* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
inline double curand_log_normal_double(cuda_on_cpu::Philox* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}

/// A value with a Poisson distribution: the number of factors after which a product of uniform
/// values falls below exp(-mean). The mean is divided into parts of at most 500, so that exp() does
/// not underflow.
inline unsigned curand_poisson(cuda_on_cpu::Philox* state, double mean) {
  unsigned events = 0;
  for (double rest = mean; rest > 0; rest -= 500) {
    const double limit = std::exp(rest < 500 ? -rest : -500.0);
    for (double product = curand_uniform_double(state); product > limit;
         product *= curand_uniform_double(state))
      ++events;
  }
  return events;
}

/// A discrete distribution: the values `first`, `first` + 1, … and the probability of values up to
/// each of them. The last probability is 1.
struct curandDiscreteDistribution_st {
  unsigned first, count;
  const double* up_to;
};
using curandDiscreteDistribution_t = curandDiscreteDistribution_st*;

namespace cuda_on_cpu {

/// The value at which the cumulative probability reaches a uniform value in (0, 1].
inline unsigned discrete_value(const curandDiscreteDistribution_st& distribution, double uniform) {
  unsigned low = 0, high = distribution.count - 1;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (distribution.up_to[middle] < uniform)
      low = middle + 1;
    else
      high = middle;
  }
  return distribution.first + low;
}

}  // namespace cuda_on_cpu

/// A value with a distribution that curandCreatePoissonDistribution has created.
inline unsigned curand_discrete(cuda_on_cpu::Philox* state,
                                curandDiscreteDistribution_t distribution) {
  return cuda_on_cpu::discrete_value(*distribution, curand_uniform_double(state));
}
inline uint4 curand_discrete4(cuda_on_cpu::Philox* state,
                              curandDiscreteDistribution_t distribution) {
  const unsigned x = curand_discrete(state, distribution), y = curand_discrete(state, distribution);
  const unsigned z = curand_discrete(state, distribution), w = curand_discrete(state, distribution);
  return {x, y, z, w};
}
