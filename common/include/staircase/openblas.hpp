/// \file
/// Makes OpenBLAS use the widest vector instructions of this processor.

#pragma once

#include <cblas.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace staircase {

/// Restarts the program if OpenBLAS has chosen kernels with narrower vectors than the processor
/// supports.
///
/// OpenBLAS treats a processor that is newer than the library as an older type of core. The
/// environment variable OPENBLAS_CORETYPE selects another type, but OpenBLAS reads it before `main`
/// begins. If the user has set this variable, the program does not change it.
inline void use_widest_openblas_kernels([[maybe_unused]] char** argv) {
#ifdef __x86_64__
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const std::string_view chosen = openblas_get_corename();
  const bool has_512_bits = chosen == "SkylakeX" || chosen == "Cooperlake" ||
                            chosen == "SapphireRapids" || chosen == "Sapphirerapids";
  const bool has_256_bits = has_512_bits || chosen == "Haswell" || chosen == "Zen";
  const char* wider = nullptr;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    wider = has_512_bits ? nullptr : "SkylakeX";
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    wider = has_256_bits ? nullptr : "Haswell";
  if (wider == nullptr) return;
  setenv("OPENBLAS_CORETYPE", wider, 1);
  execv("/proc/self/exe", argv);  // returns only if the file does not exist
#endif
}

}  // namespace staircase
