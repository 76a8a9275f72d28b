/// \file
/// The widest vectors of the processor that a program runs on, whatever it was compiled for.

#pragma once

namespace staircase {

/// The function `Kernel::run<bytes>`, compiled for this processor's vectors of so many bytes: 64
/// with AVX-512, 32 with AVX2 and fused multiply-adds, else 16.
///
/// `run` must be static and [[gnu::always_inline]]: then it is compiled for the processor that its
/// caller is compiled for. Its vectors are those of [[gnu::vector_size(bytes)]].
template <typename Kernel, typename... Parameter>
class ForWidestVectors {
 public:
  using Function = void (*)(Parameter...);

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
