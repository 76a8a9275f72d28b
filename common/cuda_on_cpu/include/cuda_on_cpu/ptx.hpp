/// \file
/// Functions that implement the instructions of inline PTX. The rewriter replaces inline PTX by
/// calls of these functions.

#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "atomics.hpp"
#include "copies.hpp"
#include "math.hpp"
#include "matrix_instructions.hpp"
#include "standard.hpp"
#include "threads.hpp"

/// The 32-bit address of a variable in the shared memory window. On the CPU device, this address is
/// the offset of the variable from the thread pointer.
__forceinline__ std::size_t __cvta_generic_to_shared(const void* address) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) -
                               reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
}
__forceinline__ void* __cvta_shared_to_generic(std::size_t address) {
  return static_cast<char*>(__builtin_thread_pointer()) +
         static_cast<int>(static_cast<unsigned>(address));
}
__forceinline__ std::size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}

namespace cuda_on_cpu {
namespace ptx {

/// Reinterprets the bits of a register as another type, or converts an integer to another size.
template <typename Type, typename First>
__forceinline__ Type as(const First& value) {
  if constexpr (sizeof(First) == sizeof(Type) && std::is_trivially_copyable<First>::value) {
    Type result;
    std::memcpy(&result, &value, sizeof result);
    return result;
  } else {
    return static_cast<Type>(value);
  }
}
template <typename Type, typename Result>
__forceinline__ void put(Result& to, Type value) {
  to = as<Result>(value);
}

// Operands.
template <typename Type>
__forceinline__ std::uintptr_t wide(Type* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
template <typename Type>
__forceinline__ std::uint64_t wide(Type value) {
  return static_cast<std::uint64_t>(value);
}
template <typename Type>
__forceinline__ char* at(Type address, std::ptrdiff_t offset) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address)) + offset;
}
template <typename Type>
__forceinline__ char* in_shared(Type address, std::ptrdiff_t offset) {
  return static_cast<char*>(__cvta_shared_to_generic(address)) + offset;
}
inline float single(std::uint32_t bits) { return bit_cast<float>(bits); }

// Special registers.
inline unsigned laneid() { return lane(); }
inline unsigned warpid() { return thread_rank() / 32; }
inline unsigned nwarpid() { return 32; }
inline unsigned smid() { return blockIdx.x % 16; }
inline unsigned nsmid() { return 16; }
inline unsigned clock() { return static_cast<unsigned>(::clock64()); }
inline unsigned clock_hi() { return static_cast<unsigned>(::clock64() >> 32); }
inline unsigned long clock64() { return static_cast<unsigned long>(::clock64()); }
inline unsigned long globaltimer() { return static_cast<unsigned long>(global_timer()); }
inline unsigned globaltimer_lo() { return static_cast<unsigned>(global_timer()); }
inline unsigned lanemask_eq() { return 1u << lane(); }
inline unsigned lanemask_lt() { return lanemask_eq() - 1; }
inline unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
inline unsigned lanemask_gt() { return ~lanemask_le(); }
inline unsigned lanemask_ge() { return ~lanemask_lt(); }

// Memory.
template <typename Type, typename Result, typename First>
__forceinline__ void mov(Result& d, const First& a) {
  put<Type>(d, as<Type>(a));
}
template <typename Type, typename Result>
__forceinline__ void ld(Result& d, const char* from) {
  put<Type>(d, *reinterpret_cast<const Type*>(from));
}
template <typename Type, typename Result>
__forceinline__ void ld_v2(Result& a, Result& b, const char* from) {
  struct alignas(2 * sizeof(Type)) {
    Type x, y;
  } both;
  both = *reinterpret_cast<const decltype(both)*>(from);
  put<Type>(a, both.x);
  put<Type>(b, both.y);
}
template <typename Type, typename Result>
__forceinline__ void ld_v4(Result& a, Result& b, Result& c, Result& d, const char* from) {
  struct alignas(4 * sizeof(Type)) {
    Type x, y, z, w;
  } all;
  all = *reinterpret_cast<const decltype(all)*>(from);
  put<Type>(a, all.x);
  put<Type>(b, all.y);
  put<Type>(c, all.z);
  put<Type>(d, all.w);
}
template <typename Type, typename First>
__forceinline__ void st(char* to, const First& a) {
  *reinterpret_cast<Type*>(to) = as<Type>(a);
}
template <typename Type, typename First>
__forceinline__ void st_v2(char* to, const First& a, const First& b) {
  struct alignas(2 * sizeof(Type)) {
    Type x, y;
  } both = {as<Type>(a), as<Type>(b)};
  *reinterpret_cast<decltype(both)*>(to) = both;
}
template <typename Type, typename First>
__forceinline__ void st_v4(char* to, const First& a, const First& b, const First& c,
                           const First& d) {
  struct alignas(4 * sizeof(Type)) {
    Type x, y, z, w;
  } all = {as<Type>(a), as<Type>(b), as<Type>(c), as<Type>(d)};
  *reinterpret_cast<decltype(all)*>(to) = all;
}

// Atomic loads and stores of system scope: relaxed, acquire and release. A vector is loaded or
// stored in one access.
template <std::size_t bytes>
using Word = std::conditional_t<
    bytes == 8, unsigned long,
    std::conditional_t<bytes == 4, unsigned,
                       std::conditional_t<bytes == 2, unsigned short, unsigned char>>>;
template <typename Type, int count>
struct alignas(count * sizeof(Type)) Together {
  Type values[count];

  __forceinline__ void load(const char* from, Order order) {
    if constexpr (sizeof(Together) == 16) {
      atomic_load_sixteen(this, from, order);
    } else {
      const auto word =
          atomic_load(reinterpret_cast<const Word<sizeof(Together)>*>(from), order, Scope::system);
      std::memcpy(this, &word, sizeof word);
    }
  }
  __forceinline__ void store(char* to, Order order) const {
    if constexpr (sizeof(Together) == 16) {
      atomic_store_sixteen(to, this, order);
    } else {
      Word<sizeof(Together)> word;
      std::memcpy(&word, this, sizeof word);
      atomic_store(reinterpret_cast<Word<sizeof(Together)>*>(to), word, order, Scope::system);
    }
  }
};
#define CUDA_ON_CPU_ORDERED(load_name, load_order, store_name, store_order)                      \
  template <typename Type, typename Result>                                                      \
  __forceinline__ void load_name(Result& d, const char* from) {                                  \
    Together<Type, 1> all;                                                                       \
    all.load(from, load_order);                                                                  \
    put<Type>(d, all.values[0]);                                                                 \
  }                                                                                              \
  template <typename Type, typename Result>                                                      \
  __forceinline__ void load_name##_v2(Result& a, Result& b, const char* from) {                  \
    Together<Type, 2> all;                                                                       \
    all.load(from, load_order);                                                                  \
    put<Type>(a, all.values[0]);                                                                 \
    put<Type>(b, all.values[1]);                                                                 \
  }                                                                                              \
  template <typename Type, typename Result>                                                      \
  __forceinline__ void load_name##_v4(Result& a, Result& b, Result& c, Result& d,                \
                                      const char* from) {                                        \
    Together<Type, 4> all;                                                                       \
    all.load(from, load_order);                                                                  \
    put<Type>(a, all.values[0]);                                                                 \
    put<Type>(b, all.values[1]);                                                                 \
    put<Type>(c, all.values[2]);                                                                 \
    put<Type>(d, all.values[3]);                                                                 \
  }                                                                                              \
  template <typename Type, typename First>                                                       \
  __forceinline__ void store_name(char* to, const First& a) {                                    \
    Together<Type, 1>{{as<Type>(a)}}.store(to, store_order);                                     \
  }                                                                                              \
  template <typename Type, typename First>                                                       \
  __forceinline__ void store_name##_v2(char* to, const First& a, const First& b) {               \
    Together<Type, 2>{{as<Type>(a), as<Type>(b)}}.store(to, store_order);                        \
  }                                                                                              \
  template <typename Type, typename First>                                                       \
  __forceinline__ void store_name##_v4(char* to, const First& a, const First& b, const First& c, \
                                       const First& d) {                                         \
    const Together<Type, 4> all{{as<Type>(a), as<Type>(b), as<Type>(c), as<Type>(d)}};           \
    all.store(to, store_order);                                                                  \
  }
CUDA_ON_CPU_ORDERED(ld_relaxed, Order::relaxed, st_relaxed, Order::relaxed)
CUDA_ON_CPU_ORDERED(ld_acquire, Order::acquire, st_release, Order::release)
#undef CUDA_ON_CPU_ORDERED

template <typename Type, typename Result, typename First>
__forceinline__ void cvta_to(Result& d, const First& a) {
  put<Type>(d, as<Type>(a));
}
template <typename Type, typename Result, typename First>
__forceinline__ void cvta_to_shared(Result& d, const First& a) {
  put<Type>(d, static_cast<Type>(__cvta_generic_to_shared(at(a, 0))));
}
__forceinline__ void prefetch(const char*) {}
/// The instruction createpolicy. A policy for the L2 cache has no effect on the CPU device.
template <typename Type, typename Result, typename... Fraction>
__forceinline__ void createpolicy_fractional(Result& d, const Fraction&...) {
  put<Type>(d, Type(0));
}

/// These functions combine halves or quarters into a wide register, the lowest first, and split a
/// wide register into halves.
template <typename Type, typename Result, typename... Parts>
__forceinline__ void mov_together(Result& d, const Parts&... parts) {
  constexpr std::size_t bytes = sizeof(Type) / sizeof...(Parts);
  char all[sizeof(Type)], *to = all;
  (..., (std::memcpy(to, &parts, bytes), to += bytes));
  Type whole;
  std::memcpy(&whole, all, sizeof whole);
  put<Type>(d, whole);
}
template <typename Type, typename Result, typename First>
__forceinline__ void mov_apart(Result& low, Result& high, const First& a) {
  const Type whole = as<Type>(a);
  std::memcpy(&low, &whole, sizeof(Type) / 2);
  std::memcpy(&high, reinterpret_cast<const char*>(&whole) + sizeof(Type) / 2, sizeof(Type) / 2);
}
template <typename To, typename From, typename Result, typename First>
__forceinline__ void cvt(Result& d, const First& a) {
  put<To>(d, static_cast<To>(as<From>(a)));
}
// Rounding of a floating-point value to an integral value, as an integer or a floating-point value.
#define CUDA_ON_CPU_PTX_ROUNDING(modifier, function)                     \
  template <typename To, typename From, typename Result, typename First> \
  __forceinline__ void cvt_##modifier(Result& d, const First& a) {       \
    const From rounded = std::function(as<From>(a));                     \
    if constexpr (std::is_integral_v<To>)                                \
      put<To>(d, cuda_on_cpu::to_integer<To>(rounded));                  \
    else                                                                 \
      put<To>(d, static_cast<To>(rounded));                              \
  }
CUDA_ON_CPU_PTX_ROUNDING(rni, nearbyint)
CUDA_ON_CPU_PTX_ROUNDING(rzi, trunc)
CUDA_ON_CPU_PTX_ROUNDING(rmi, floor)
CUDA_ON_CPU_PTX_ROUNDING(rpi, ceil)
#undef CUDA_ON_CPU_PTX_ROUNDING

// Predicates.
#define CUDA_ON_CPU_PTX_COMPARISON(name, sign)                                 \
  template <typename Type, typename First, typename Second>                    \
  __forceinline__ void setp_##name(bool& p, const First& a, const Second& b) { \
    p = as<Type>(a) sign as<Type>(b);                                          \
  }
CUDA_ON_CPU_PTX_COMPARISON(eq, ==)
CUDA_ON_CPU_PTX_COMPARISON(ne, !=)
CUDA_ON_CPU_PTX_COMPARISON(lt, <)
CUDA_ON_CPU_PTX_COMPARISON(le, <=)
CUDA_ON_CPU_PTX_COMPARISON(gt, >)
CUDA_ON_CPU_PTX_COMPARISON(ge, >=)
CUDA_ON_CPU_PTX_COMPARISON(lo, <)
CUDA_ON_CPU_PTX_COMPARISON(ls, <=)
CUDA_ON_CPU_PTX_COMPARISON(hi, >)
CUDA_ON_CPU_PTX_COMPARISON(hs, >=)
#undef CUDA_ON_CPU_PTX_COMPARISON
template <typename Type, typename Result, typename First, typename Second>
__forceinline__ void selp(Result& d, const First& a, const Second& b, bool p) {
  put<Type>(d, p ? as<Type>(a) : as<Type>(b));
}

// Operations of a warp.
/// The segment of lanes to which a shuffle is limited; operand `c` of the instruction encodes the
/// segment.
struct Segment {
  int fixed, first, last;  ///< mask of the fixed bits of the lane index; first and last lane of
                           ///< the segment

  explicit Segment(unsigned c) : fixed(static_cast<int>(c >> 8 & 31)) {
    first = static_cast<int>(lane()) & fixed;
    last = first | (static_cast<int>(c & 31) & ~fixed);
  }
};
#define CUDA_ON_CPU_PTX_SHUFFLE(name, from, is_there, asks)                                 \
  template <typename Type, typename Result, typename First>                                 \
  __forceinline__ void shfl_sync_##name(Result& d, bool& p, const First& a, unsigned b,     \
                                        unsigned c, unsigned mask) {                        \
    const Segment in(c);                                                                    \
    const int me = static_cast<int>(lane()), by = static_cast<int>(b & 31), source = from;  \
    p = is_there;                                                                           \
    put<Type>(d, shuffle(mask, as<Type>(a), static_cast<unsigned>(p ? source : me), asks)); \
  }                                                                                         \
  template <typename Type, typename Result, typename First>                                 \
  __forceinline__ void shfl_sync_##name(Result& d, const First& a, unsigned b, unsigned c,  \
                                        unsigned mask) {                                    \
    bool p;                                                                                 \
    shfl_sync_##name<Type>(d, p, a, b, c, mask);                                            \
  }
// For `up`, `in.last` is the lowest source lane.
CUDA_ON_CPU_PTX_SHUFFLE(up, me - by, source >= in.last, Asks::by_shift)
CUDA_ON_CPU_PTX_SHUFFLE(down, me + by, source <= in.last, Asks::by_shift)
CUDA_ON_CPU_PTX_SHUFFLE(bfly, me ^ by, source <= in.last, Asks::by_number)
CUDA_ON_CPU_PTX_SHUFFLE(idx, in.first | (by & ~in.fixed), source <= in.last, Asks::by_number)
#undef CUDA_ON_CPU_PTX_SHUFFLE
template <typename Type>
__forceinline__ void vote_sync_all(bool& d, bool p, unsigned mask) {
  d = __all_sync(mask, p) != 0;
}
template <typename Type>
__forceinline__ void vote_sync_any(bool& d, bool p, unsigned mask) {
  d = __any_sync(mask, p) != 0;
}
template <typename Type, typename Result>
__forceinline__ void vote_sync_ballot(Result& d, bool p, unsigned mask) {
  put<Type>(d, __ballot_sync(mask, p));
}
template <typename Type, typename Result>
__forceinline__ void vote_ballot_sync(Result& d, bool p, unsigned mask) {
  put<Type>(d, __ballot_sync(mask, p));
}
template <typename Type, typename Result>
__forceinline__ void activemask(Result& d) {
  put<Type>(d, __activemask());
}

// Arithmetic.
#define CUDA_ON_CPU_PTX_1(name, expression)                 \
  template <typename Type, typename Result, typename First> \
  __forceinline__ void name(Result& d, const First& in_a) { \
    const Type a = as<Type>(in_a);                          \
    put(d, expression);                                     \
  }
#define CUDA_ON_CPU_PTX_2(name, expression)                                     \
  template <typename Type, typename Result, typename First, typename Second>    \
  __forceinline__ void name(Result& d, const First& in_a, const Second& in_b) { \
    const Type a = as<Type>(in_a), b = as<Type>(in_b);                          \
    put(d, expression);                                                         \
  }
#define CUDA_ON_CPU_PTX_3(name, expression)                                                        \
  template <typename Type, typename Result, typename First, typename Second, typename Third>       \
  __forceinline__ void name(Result& d, const First& in_a, const Second& in_b, const Third& in_c) { \
    const Type a = as<Type>(in_a), b = as<Type>(in_b), c = as<Type>(in_c);                         \
    put(d, expression);                                                                            \
  }
/// Wider integer types: `Wide` has 128 bits, and `Twice` has twice as many bits as `Type`.
template <typename Type>
using Wide = std::conditional_t<std::is_signed<Type>::value, __int128, unsigned __int128>;
template <typename Type>
using Twice =
    std::conditional_t<sizeof(Type) == 2,
                       std::conditional_t<std::is_signed<Type>::value, int, unsigned>,
                       std::conditional_t<std::is_signed<Type>::value, long, unsigned long>>;

/// These functions shift a value left or right. If the distance is at least the width of the value,
/// the result is 0, or -1 for the right shift of a negative value.
template <typename Type>
__forceinline__ Type shifted_left(Type a, unsigned by) {
  return by >= 8 * sizeof(Type) ? Type(0) : static_cast<Type>(a << by);
}
template <typename Type>
__forceinline__ Type shifted_right(Type a, unsigned by) {
  return static_cast<Type>(a >> (by < 8 * sizeof(Type) ? by : 8 * sizeof(Type) - 1) >>
                           (by >= 8 * sizeof(Type)));
}

CUDA_ON_CPU_PTX_1(not_, static_cast<Type>(a ^ static_cast<Type>(-1)))  // also for predicates
CUDA_ON_CPU_PTX_1(abs, static_cast<Type>(a < 0 ? -a : a))
CUDA_ON_CPU_PTX_1(neg, static_cast<Type>(-a))
CUDA_ON_CPU_PTX_1(popc,
                  static_cast<unsigned>(cuda_on_cpu::popcount(static_cast<unsigned long long>(a))))
CUDA_ON_CPU_PTX_1(clz, static_cast<unsigned>(cuda_on_cpu::countl_zero(a)))
CUDA_ON_CPU_PTX_1(brev, static_cast<Type>(sizeof(Type) == 8 ? __brevll(a) : __brev(a)))
CUDA_ON_CPU_PTX_1(ex2, std::exp2(a))
CUDA_ON_CPU_PTX_1(lg2, std::log2(a))
CUDA_ON_CPU_PTX_1(rcp, 1 / a)
CUDA_ON_CPU_PTX_1(rsqrt, 1 / std::sqrt(a))
CUDA_ON_CPU_PTX_1(sqrt, std::sqrt(a))
CUDA_ON_CPU_PTX_1(sin, std::sin(a))
CUDA_ON_CPU_PTX_1(cos, std::cos(a))
CUDA_ON_CPU_PTX_1(tanh, std::tanh(a))
CUDA_ON_CPU_PTX_2(add, static_cast<Type>(a + b))
CUDA_ON_CPU_PTX_2(sub, static_cast<Type>(a - b))
CUDA_ON_CPU_PTX_2(mul, static_cast<Type>(a* b))
CUDA_ON_CPU_PTX_2(mul_lo, static_cast<Type>(static_cast<unsigned __int128>(a) * b))
CUDA_ON_CPU_PTX_2(mul_hi, static_cast<Type>(static_cast<Wide<Type>>(a) * b >> 8 * sizeof(Type)))
CUDA_ON_CPU_PTX_2(mul_wide, static_cast<Twice<Type>>(a) * static_cast<Twice<Type>>(b))
CUDA_ON_CPU_PTX_2(and_, static_cast<Type>(a& b))
CUDA_ON_CPU_PTX_2(or_, static_cast<Type>(a | b))
CUDA_ON_CPU_PTX_2(xor_, static_cast<Type>(a ^ b))
CUDA_ON_CPU_PTX_2(min, b < a ? b : a)
CUDA_ON_CPU_PTX_2(max, a < b ? b : a)
CUDA_ON_CPU_PTX_3(fma, std::fma(a, b, c))
CUDA_ON_CPU_PTX_3(mad_lo, static_cast<Type>(static_cast<unsigned __int128>(a) * b + c))
CUDA_ON_CPU_PTX_3(prmt, __byte_perm(a, b, c))
#undef CUDA_ON_CPU_PTX_1
#undef CUDA_ON_CPU_PTX_2
#undef CUDA_ON_CPU_PTX_3

template <typename Type, typename Result, typename First, typename Second, typename Third>
__forceinline__ void mad_wide(Result& d, const First& a, const Second& b, const Third& c) {
  put(d, static_cast<Twice<Type>>(as<Type>(a)) * static_cast<Twice<Type>>(as<Type>(b)) +
             as<Twice<Type>>(c));
}
template <typename Type, typename Result, typename First, typename Second>
__forceinline__ void shl(Result& d, const First& a, const Second& by) {
  put(d, shifted_left(as<Type>(a), static_cast<unsigned>(by)));
}
template <typename Type, typename Result, typename First, typename Second>
__forceinline__ void shr(Result& d, const First& a, const Second& by) {
  put(d, shifted_right(as<Type>(a), static_cast<unsigned>(by)));
}
/// Extracts `length` bits, starting at bit `first`. For a signed type, the highest of these bits is
/// the sign.
template <typename Type, typename Result, typename First>
__forceinline__ void bfe(Result& d, const First& a, unsigned first, unsigned length) {
  const unsigned bits = 8 * sizeof(Type), from = first & 0xff, count = length & 0xff;
  const Type low = shifted_right(as<Type>(a), from);
  if (count == 0) return put(d, Type(0));
  const unsigned up = count < bits ? bits - count : 0;
  put(d, static_cast<Type>(shifted_left(low, up) >> up));
}
/// Finds the position of the highest set bit, or of the highest clear bit if the value is negative.
/// The result has all bits set if there is no such bit. `shiftamt` returns the shift distance that
/// moves this bit to the highest position.
template <typename Type, typename Result, typename First>
__forceinline__ void bfind(Result& d, const First& in_a) {
  const Type a = as<Type>(in_a);
  const auto bits = static_cast<unsigned long long>(
      static_cast<std::make_unsigned_t<Type>>(std::is_signed<Type>::value && a < Type(0) ? ~a : a));
  put(d, static_cast<unsigned>(63 - countl_zero(bits)));
}
template <typename Type, typename Result, typename First>
__forceinline__ void bfind_shiftamt(Result& d, const First& a) {
  unsigned place = 0;
  bfind<Type>(place, a);
  put(d, place == ~0u ? place : static_cast<unsigned>(8 * sizeof(Type) - 1 - place));
}
/// Inserts the lowest `length` bits of `a` into `b`, starting at bit `first`.
template <typename Type, typename Result, typename First, typename Second>
__forceinline__ void bfi(Result& d, const First& a, const Second& b, unsigned first,
                         unsigned length) {
  const unsigned count = length & 0xff;
  const Type ones = static_cast<Type>(shifted_left<Type>(1, count) - 1);
  const Type mask = shifted_left(ones, first & 0xff);
  put(d,
      static_cast<Type>((as<Type>(b) & ~mask) | (shifted_left(as<Type>(a), first & 0xff) & mask)));
}
/// Computes each bit of the result from the bits of the three operands at the same position,
/// according to a truth table.
template <typename Type, typename Result, typename First, typename Second, typename Third>
__forceinline__ void lop3(Result& d, const First& in_a, const Second& in_b, const Third& in_c,
                          unsigned table) {
  const Type a = as<Type>(in_a), b = as<Type>(in_b), c = as<Type>(in_c);
  Type result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  put(d, result);
}
#define CUDA_ON_CPU_PTX_FUNNEL(name, function)                                              \
  template <typename Type, typename Result, typename First, typename Second>                \
  __forceinline__ void name(Result& d, const First& low, const Second& high, unsigned by) { \
    put(d, function(as<Type>(low), as<Type>(high), by));                                    \
  }
CUDA_ON_CPU_PTX_FUNNEL(shf_l_wrap, __funnelshift_l)
CUDA_ON_CPU_PTX_FUNNEL(shf_r_wrap, __funnelshift_r)
CUDA_ON_CPU_PTX_FUNNEL(shf_l_clamp, __funnelshift_lc)
CUDA_ON_CPU_PTX_FUNNEL(shf_r_clamp, __funnelshift_rc)
#undef CUDA_ON_CPU_PTX_FUNNEL

// Atomics.
template <Atomic operation, typename Type, typename Result, typename First>
__forceinline__ void updated(Result& d, char* address, const First& a) {
  put<Type>(d, atomic<operation>(reinterpret_cast<Type*>(address), as<Type>(a)));
}
#define CUDA_ON_CPU_PTX_ATOMIC(name, operation)                                \
  template <typename Type, typename Result, typename First>                    \
  __forceinline__ void atom_##name(Result& d, char* address, const First& a) { \
    updated<Atomic::operation, Type>(d, address, a);                           \
  }                                                                            \
  template <typename Type, typename First>                                     \
  __forceinline__ void red_##name(char* address, const First& a) {             \
    atomic<Atomic::operation>(reinterpret_cast<Type*>(address), as<Type>(a));  \
  }
CUDA_ON_CPU_PTX_ATOMIC(add, add)
CUDA_ON_CPU_PTX_ATOMIC(min, minimum)
CUDA_ON_CPU_PTX_ATOMIC(max, maximum)
CUDA_ON_CPU_PTX_ATOMIC(exch, exchange)
#undef CUDA_ON_CPU_PTX_ATOMIC
template <typename Type, typename Result, typename First, typename Second>
__forceinline__ void atom_cas(Result& d, char* address, const First& expected,
                              const Second& desired) {
  put<Type>(
      d, atomic_compare(reinterpret_cast<Type*>(address), as<Type>(expected), as<Type>(desired)));
}

// Fences, barriers, and asynchronous copies.
__forceinline__ void membar_gl() { __threadfence(); }
__forceinline__ void membar() { __threadfence_system(); }
__forceinline__ void fence_acq_rel() { __threadfence_system(); }
__forceinline__ void fence_sc() { __threadfence_system(); }
__forceinline__ void bar_sync(unsigned) { __syncthreads(); }
__forceinline__ void barrier_sync(unsigned) { __syncthreads(); }
__forceinline__ void bar_warp_sync(unsigned mask) { __syncwarp(mask); }
template <typename Type>
__forceinline__ void nanosleep(unsigned nanoseconds) {
  __nanosleep(nanoseconds);
}
__forceinline__ void trap() { __trap(); }
__forceinline__ void cp_async(char* to, const char* from, unsigned bytes) {
  start_copy(to, from, bytes);
}
/// \param read the number of bytes to copy, or a predicate that disables the copy; the remaining
/// bytes become zero
template <typename Read>
__forceinline__ void cp_async(char* to, const char* from, unsigned bytes, Read read) {
  const unsigned copied = std::is_same_v<Read, bool> ? (read ? 0 : bytes) : unsigned(read);
  start_copy(to, from, copied, bytes - copied);
}
__forceinline__ void cp_async_commit_group() { commit_copies(); }
__forceinline__ void cp_async_wait_group(unsigned pending) { wait_for_copies(pending); }
__forceinline__ void cp_async_wait_all() {
  commit_copies();
  wait_for_copies(0);
}

}  // namespace ptx
}  // namespace cuda_on_cpu
