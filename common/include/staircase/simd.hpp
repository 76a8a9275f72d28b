/// \file
/// Selects, at run time, code that uses the widest vectors of the processor.

#pragma once

namespace staircase {

/// Selects the template instance `Kernel::run<bytes>` for the processor's widest vectors: 64 bytes
/// with AVX-512, 32 bytes with AVX2 and fused multiply-adds, and otherwise 16 bytes.
///
/// `run` must be static and [[gnu::always_inline]], so that the compiler uses the instruction set
/// of the calling function. The vectors in `run` have the type [[gnu::vector_size(bytes)]].
template <typename Kernel, typename... Parameter>
class ForWidestVectors {
 public:
  using Function = void (*)(Parameter...);

  /// The instance of `Kernel::run` for this processor.
  static Function function() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return with_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return with_avx2;
#endif
    return plain;
  }

 private:
  static void plain(Parameter... arguments) { Kernel::template run<16>(arguments...); }
#ifdef __x86_64__
  [[gnu::target("avx2,fma")]] static void with_avx2(Parameter... arguments) {
    Kernel::template run<32>(arguments...);
  }
  [[gnu::target("avx512f")]] static void with_avx512(Parameter... arguments) {
    Kernel::template run<64>(arguments...);
  }
#endif
};

}  // namespace staircase
