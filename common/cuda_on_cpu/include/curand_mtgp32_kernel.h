/// \file
/// Replaces the cuRAND header of MTGP32 for kernels. A thread block of at most 256 threads shares
/// one state of this generator. Source: M. Saito and M. Matsumoto, Variants of Mersenne Twister
/// Suitable for Graphic Processors, ACM Transactions on Mathematical Software 39(2), 2013.

#pragma once

#include "curand_kernel.h"
#include "curand_mtgp32.h"

namespace cuda_on_cpu {

/// The next word of the recursion, computed from words 0, 1 and `pos` of the circular buffer.
inline unsigned mtgp32_next(const mtgp32_kernel_params_t& p, int set, unsigned first,
                            unsigned second, unsigned picked) {
  unsigned x = (first & p.mask[0]) ^ second;
  x ^= x << p.sh1_tbl[set];
  const unsigned y = x ^ (picked >> p.sh2_tbl[set]);
  return y ^ p.param_tbl[set][y & 15];
}
/// The output for a word, tempered with the bits of another word.
inline unsigned mtgp32_tempered(const unsigned (&table)[16], unsigned word, unsigned by,
                                bool into_float) {
  by ^= by >> 16;
  by ^= by >> 8;
  return into_float ? word >> 9 ^ table[by & 15] : word ^ table[by & 15];
}

/// Returns the random word of thread `index`. All `count` threads must call the function; they
/// synchronise before and after the buffer advances.
inline unsigned mtgp32(curandStateMtgp32_t* state, unsigned index, unsigned count,
                       bool into_float) {
  const mtgp32_kernel_params_t& p = *state->k;
  const int set = state->pIdx;
  const unsigned begin = static_cast<unsigned>(state->offset) + index, pick = p.pos_tbl[set];
  const auto at = [&](unsigned i) { return state->s[(begin + i) & MTGP32_STATE_MASK]; };
  const unsigned word = mtgp32_next(p, set, at(0), at(1), at(pick));
  state->s[(begin + MTGPDC_N) & MTGP32_STATE_MASK] = word;
  const unsigned number = mtgp32_tempered(into_float ? p.single_temper_tbl[set] : p.temper_tbl[set],
                                          word, at(pick - 1), into_float);
  __syncthreads();
  if (index == 0)
    state->offset =
        static_cast<int>((static_cast<unsigned>(state->offset) + count) & MTGP32_STATE_MASK);
  __syncthreads();
  return number;
}
inline unsigned mtgp32_of_block(curandStateMtgp32_t* state, bool into_float) {
  const unsigned index = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return mtgp32(state, index, blockDim.x * blockDim.y * blockDim.z, into_float);
}
/// The quantile of the normal distribution for a probability. The approximation 26.2.23 of M.
/// Abramowitz and I. Stegun, Handbook of Mathematical Functions, is refined by three steps of
/// Halley's method.
inline double normal_quantile(double probability) {
  const double half = probability < 0.5 ? probability : 1 - probability;
  const double t = std::sqrt(-2 * std::log(half));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  for (int step = 0; step < 3; ++step) {
    const double error = 0.5 * std::erfc(-x * std::sqrt(0.5)) - half;
    const double u = error * std::sqrt(2 * pi<double>) * std::exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return probability < 0.5 ? x : -x;
}
/// Converts to a float in [1, 2), as cuRAND does on a GPU. The documentation of cuRAND specifies
/// [0, 1].
inline float mtgp32_in_1_to_2(unsigned bits) { return bit_cast<float>(bits); }

}  // namespace cuda_on_cpu

inline unsigned curand(curandStateMtgp32_t* state) {
  return cuda_on_cpu::mtgp32_of_block(state, false);
}
inline unsigned curand_mtgp32_specific(curandStateMtgp32_t* state, unsigned char index,
                                       unsigned char n) {
  return cuda_on_cpu::mtgp32(state, index, n, false);
}
inline float curand_mtgp32_single(curandStateMtgp32_t* state) {
  return cuda_on_cpu::mtgp32_in_1_to_2(cuda_on_cpu::mtgp32_of_block(state, true));
}
inline float curand_mtgp32_single_specific(curandStateMtgp32_t* state, unsigned char index,
                                           unsigned char n) {
  return cuda_on_cpu::mtgp32_in_1_to_2(cuda_on_cpu::mtgp32(state, index, n, true));
}
inline float curand_uniform(curandStateMtgp32_t* state) {
  return cuda_on_cpu::unit_float(curand(state));
}
inline double curand_uniform_double(curandStateMtgp32_t* state) {
  return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-33;
}
/// A normally distributed value, computed by the inverse distribution function, because each thread
/// receives only one value.
inline float curand_normal(curandStateMtgp32_t* state) {
  return static_cast<float>(cuda_on_cpu::normal_quantile(curand(state) * 0x1p-32 + 0x1p-33));
}
inline double curand_normal_double(curandStateMtgp32_t* state) {
  return cuda_on_cpu::normal_quantile(curand_uniform_double(state));
}
inline float curand_log_normal(curandStateMtgp32_t* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
inline double curand_log_normal_double(curandStateMtgp32_t* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}
/// A Poisson-distributed value, computed by the inverse distribution function.
inline unsigned curand_poisson(curandStateMtgp32_t* state, double mean) {
  const double uniform = curand_uniform_double(state);
  if (mean > 1000) {  // the distribution is almost normal
    const double number = mean + std::sqrt(mean) * cuda_on_cpu::normal_quantile(uniform);
    return number > 0 ? static_cast<unsigned>(number + 0.5) : 0;
  }
  // The terms are computed from their logarithms, because exp(-mean) may underflow.
  double logarithm = -mean, sum = std::exp(logarithm);
  unsigned events = 0;
  while (sum < uniform && events < 100000) {
    ++events;
    logarithm += std::log(mean / events);
    sum += std::exp(logarithm);
  }
  return events;
}
