/// \file
/// Includes the table of parameters for MTGP32 from the toolkit.

#pragma once

#include "curand_mtgp32.h"

#if __has_include_next("curand_mtgp32dc_p_11213.h")
#include_next "curand_mtgp32dc_p_11213.h"
#elif __has_include("/usr/local/cuda/include/curand_mtgp32dc_p_11213.h")
#include "/usr/local/cuda/include/curand_mtgp32dc_p_11213.h"
#else
#error "the parameters of MTGP32 come with CUDA's toolkit, which is not in /usr/local/cuda"
#endif
