/// \file
/// Treats subnormal floating-point values as zero.

#pragma once

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace staircase {

/// During the lifetime of the object, the arithmetic of this thread treats subnormal operands and
/// results as zero. A value is subnormal if its magnitude is below 1.2e-38 in f32, or below
/// 2.2e-308 in f64. An operation with a subnormal value can cost more than 100 cycles. The object
/// has an effect only on x86-64 processors.
class FlushToZero {
 public:
  FlushToZero() { set_control(before_ | results | operands); }
  ~FlushToZero() { set_control(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  static constexpr unsigned results = 0x8000, operands = 0x0040;  // bits FTZ and DAZ of MXCSR

#ifdef __x86_64__
  static unsigned control() { return _mm_getcsr(); }
  static void set_control(unsigned bits) { _mm_setcsr(bits); }
#else
  static unsigned control() { return 0; }
  static void set_control(unsigned) {}
#endif

  unsigned before_ = control();
};

}  // namespace staircase
