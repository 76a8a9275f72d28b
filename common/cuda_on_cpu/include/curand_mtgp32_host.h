/// \file
/// Replaces the cuRAND header of the same name: functions by which the host creates states of
/// MTGP32 for kernels.

#pragma once

#include <cstring>

#include "curand.h"
#include "curand_mtgp32.h"
#include "curand_mtgp32_kernel.h"

namespace cuda_on_cpu {

/// Initialises the words of a circular buffer from a seed, as the original generator does.
inline void mtgp32_start(unsigned* words, const mtgp32_params_fast_t& p, unsigned seed) {
  const unsigned hidden = p.tbl[4] ^ (p.tbl[8] << 16);
  unsigned filler = hidden;
  filler += filler >> 16;
  filler += filler >> 8;
  const int size = p.mexp / 32 + 1;
  std::memset(words, static_cast<int>(filler & 0xff), static_cast<std::size_t>(size) * 4);
  words[0] = seed;
  words[1] = hidden;
  for (int i = 1; i < size; ++i)
    words[i] ^= 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + static_cast<unsigned>(i);
}

}  // namespace cuda_on_cpu

/// Copies parameters to the device, in the layout that kernels use.
inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[],
                                                mtgp32_kernel_params_t* on_device) {
  auto* const all = new mtgp32_kernel_params_t();
  all->mask[0] = params[0].mask;
  for (int i = 0; i < CURAND_NUM_MTGP32_PARAMS; ++i) {
    all->pos_tbl[i] = static_cast<unsigned>(params[i].pos);
    all->sh1_tbl[i] = static_cast<unsigned>(params[i].sh1);
    all->sh2_tbl[i] = static_cast<unsigned>(params[i].sh2);
    std::memcpy(all->param_tbl[i], params[i].tbl, sizeof params[i].tbl);
    std::memcpy(all->temper_tbl[i], params[i].tmp_tbl, sizeof params[i].tmp_tbl);
    std::memcpy(all->single_temper_tbl[i], params[i].flt_tmp_tbl, sizeof params[i].flt_tmp_tbl);
  }
  const cudaError_t error = cudaMemcpy(on_device, all, sizeof *all, cudaMemcpyHostToDevice);
  delete all;
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

/// Creates `n` states on the device, each with its own parameter set.
inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t* states,
                                                  mtgp32_params_fast_t params[],
                                                  mtgp32_kernel_params_t* constants, int n,
                                                  unsigned long long seed) {
  if (n < 0 || n > CURAND_NUM_MTGP32_PARAMS) return CURAND_STATUS_OUT_OF_RANGE;
  cuda_on_cpu::List<curandStateMtgp32_t> all(static_cast<std::size_t>(n));
  seed ^= seed >> 32;
  for (int i = 0; i < n; ++i) {
    curandStateMtgp32_t& state = all[static_cast<std::size_t>(i)];
    cuda_on_cpu::mtgp32_start(state.s, params[i],
                              static_cast<unsigned>(seed) + static_cast<unsigned>(i) + 1);
    state.pIdx = i;
    state.k = constants;
  }
  return cudaMemcpy(states, all.data(), all.size() * sizeof(curandStateMtgp32_t),
                    cudaMemcpyHostToDevice) == cudaSuccess
             ? CURAND_STATUS_SUCCESS
             : CURAND_STATUS_INITIALIZATION_FAILED;
}
