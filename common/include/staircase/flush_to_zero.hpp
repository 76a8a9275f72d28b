/// \file
/// Numbers too small to be normal, taken for zero.

#pragma once

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace staircase {

/// While it lives, this thread's arithmetic takes subnormal numbers for zero, as operands and as
/// results: those below 1.2e-38 in f32 and 2.2e-308 in f64. An operation on one may cost more than
/// a hundred cycles. Other processors than x86-64 go on as before.
class FlushToZero {
 public:
  FlushToZero() { set_control(before_ | results | operands); }
  ~FlushToZero() { set_control(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  static constexpr unsigned results = 0x8000, operands = 0x0040;  // bits of the control register

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
