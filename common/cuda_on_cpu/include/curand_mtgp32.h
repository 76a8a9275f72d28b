/// \file
/// Replaces the cuRAND header of the same name: the parameters and states of the generator MTGP32.

#pragma once

#define CURAND_MTGP32_H  // the toolkit's table of parameters tests this macro

#define MTGPDC_MEXP 11213
#define MTGPDC_N 351
#define MTGPDC_FLOOR_2P 256
#define MTGPDC_CEIL_2P 512
#define MTGPDC_PARAM_TABLE mtgp32dc_params_fast_11213
#define MTGP32_STATE_SIZE 1024
#define MTGP32_STATE_MASK 1023
#define CURAND_NUM_MTGP32_PARAMS 200

/// A set of parameters, which the authors' program *dynamic creator* generates.
struct mtgp32_params_fast {
  int mexp;  ///< the exponent of the period
  int pos;   ///< the index of the third word of the recursion, relative to the first
  int sh1, sh2;
  unsigned tbl[16];          ///< table of the recursion, indexed by four bits
  unsigned tmp_tbl[16];      ///< table of the tempering
  unsigned flt_tmp_tbl[16];  ///< table of the tempering for floats
  unsigned mask;
  unsigned char poly_sha1[21];
};
typedef struct mtgp32_params_fast mtgp32_params_fast_t;

/// The parameter sets of many thread blocks, as a structure of arrays.
struct mtgp32_kernel_params {
  unsigned pos_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned param_tbl[CURAND_NUM_MTGP32_PARAMS][16];
  unsigned temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
  unsigned single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
  unsigned sh1_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned sh2_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;

/// The state that the threads of a block share: a circular buffer of words, and the index of its
/// first word.
struct curandStateMtgp32 {
  unsigned s[MTGP32_STATE_SIZE];
  int offset;
  int pIdx;
  mtgp32_kernel_params_t* k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;
