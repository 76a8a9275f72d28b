/// \file
/// Instructions of PTX that sources hold in line, as functions: the rewriter calls them.

#pragma once

#include <cmath>
#include <cstring>

#include "atomics.hpp"
#include "copies.hpp"
#include "math.hpp"
#include "standard.hpp"
#include "threads.hpp"

/// Where a variable lies in shared memory: as far from the thread pointer, in 32 bits.
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

/// A register's bits as a type, or a number in another size.
template <typename T, typename A>
__forceinline__ T as(const A& value) {
  if constexpr (sizeof(A) == sizeof(T) && std::is_trivially_copyable<A>::value) {
    T result;
    std::memcpy(&result, &value, sizeof result);
    return result;
  } else {
    return static_cast<T>(value);
  }
}
template <typename T, typename D>
__forceinline__ void put(D& to, T value) {
  to = as<D>(value);
}

// Operands.
template <typename T>
__forceinline__ std::uintptr_t wide(T* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
template <typename T>
__forceinline__ std::uint64_t wide(T value) {
  return static_cast<std::uint64_t>(value);
}
template <typename T>
__forceinline__ char* at(T address, std::ptrdiff_t offset) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address)) + offset;
}
template <typename T>
__forceinline__ char* in_shared(T address, std::ptrdiff_t offset) {
  return static_cast<char*>(__cvta_shared_to_generic(address)) + offset;
}
inline float single(std::uint32_t bits) { return bit_cast<float>(bits); }

// Registers of its own.
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
template <typename T, typename D, typename A>
__forceinline__ void mov(D& d, const A& a) {
  put<T>(d, as<T>(a));
}
template <typename T, typename D>
__forceinline__ void ld(D& d, const char* from) {
  put<T>(d, *reinterpret_cast<const T*>(from));
}
template <typename T, typename D>
__forceinline__ void ld_v2(D& a, D& b, const char* from) {
  struct alignas(2 * sizeof(T)) {
    T x, y;
  } both;
  both = *reinterpret_cast<const decltype(both)*>(from);
  put<T>(a, both.x);
  put<T>(b, both.y);
}
template <typename T, typename D>
__forceinline__ void ld_v4(D& a, D& b, D& c, D& d, const char* from) {
  struct alignas(4 * sizeof(T)) {
    T x, y, z, w;
  } all;
  all = *reinterpret_cast<const decltype(all)*>(from);
  put<T>(a, all.x);
  put<T>(b, all.y);
  put<T>(c, all.z);
  put<T>(d, all.w);
}
template <typename T, typename A>
__forceinline__ void st(char* to, const A& a) {
  *reinterpret_cast<T*>(to) = as<T>(a);
}
template <typename T, typename A>
__forceinline__ void st_v2(char* to, const A& a, const A& b) {
  struct alignas(2 * sizeof(T)) {
    T x, y;
  } both = {as<T>(a), as<T>(b)};
  *reinterpret_cast<decltype(both)*>(to) = both;
}
template <typename T, typename A>
__forceinline__ void st_v4(char* to, const A& a, const A& b, const A& c, const A& d) {
  struct alignas(4 * sizeof(T)) {
    T x, y, z, w;
  } all = {as<T>(a), as<T>(b), as<T>(c), as<T>(d)};
  *reinterpret_cast<decltype(all)*>(to) = all;
}

// Memory that several threads use without a barrier: relaxed, acquired or released, among all. A
// vector is loaded and stored as a whole.
template <std::size_t bytes>
using Word = std::conditional_t<
    bytes == 8, unsigned long,
    std::conditional_t<bytes == 4, unsigned,
                       std::conditional_t<bytes == 2, unsigned short, unsigned char>>>;
template <typename T, int count>
struct alignas(count * sizeof(T)) Together {
  T values[count];

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
#define CUDA_ON_CPU_ORDERED(load_name, load_order, store_name, store_order)                        \
  template <typename T, typename D>                                                                \
  __forceinline__ void load_name(D& d, const char* from) {                                         \
    Together<T, 1> all;                                                                            \
    all.load(from, load_order);                                                                    \
    put<T>(d, all.values[0]);                                                                      \
  }                                                                                                \
  template <typename T, typename D>                                                                \
  __forceinline__ void load_name##_v2(D& a, D& b, const char* from) {                              \
    Together<T, 2> all;                                                                            \
    all.load(from, load_order);                                                                    \
    put<T>(a, all.values[0]);                                                                      \
    put<T>(b, all.values[1]);                                                                      \
  }                                                                                                \
  template <typename T, typename D>                                                                \
  __forceinline__ void load_name##_v4(D& a, D& b, D& c, D& d, const char* from) {                  \
    Together<T, 4> all;                                                                            \
    all.load(from, load_order);                                                                    \
    put<T>(a, all.values[0]);                                                                      \
    put<T>(b, all.values[1]);                                                                      \
    put<T>(c, all.values[2]);                                                                      \
    put<T>(d, all.values[3]);                                                                      \
  }                                                                                                \
  template <typename T, typename A>                                                                \
  __forceinline__ void store_name(char* to, const A& a) {                                          \
    Together<T, 1>{{as<T>(a)}}.store(to, store_order);                                             \
  }                                                                                                \
  template <typename T, typename A>                                                                \
  __forceinline__ void store_name##_v2(char* to, const A& a, const A& b) {                         \
    Together<T, 2>{{as<T>(a), as<T>(b)}}.store(to, store_order);                                   \
  }                                                                                                \
  template <typename T, typename A>                                                                \
  __forceinline__ void store_name##_v4(char* to, const A& a, const A& b, const A& c, const A& d) { \
    Together<T, 4>{{as<T>(a), as<T>(b), as<T>(c), as<T>(d)}}.store(to, store_order);               \
  }
CUDA_ON_CPU_ORDERED(ld_relaxed, Order::relaxed, st_relaxed, Order::relaxed)
CUDA_ON_CPU_ORDERED(ld_acquire, Order::acquire, st_release, Order::release)
#undef CUDA_ON_CPU_ORDERED

template <typename T, typename D, typename A>
__forceinline__ void cvta_to(D& d, const A& a) {
  put<T>(d, as<T>(a));
}
template <typename T, typename D, typename A>
__forceinline__ void cvta_to_shared(D& d, const A& a) {
  put<T>(d, static_cast<T>(__cvta_generic_to_shared(at(a, 0))));
}
__forceinline__ void prefetch(const char*) {}

/// A wide register from the registers of its halves or quarters, the lowest first, and apart.
template <typename T, typename D, typename... Parts>
__forceinline__ void mov_together(D& d, const Parts&... parts) {
  constexpr std::size_t bytes = sizeof(T) / sizeof...(Parts);
  char all[sizeof(T)], *to = all;
  (..., (std::memcpy(to, &parts, bytes), to += bytes));
  T whole;
  std::memcpy(&whole, all, sizeof whole);
  put<T>(d, whole);
}
template <typename T, typename D, typename A>
__forceinline__ void mov_apart(D& low, D& high, const A& a) {
  const T whole = as<T>(a);
  std::memcpy(&low, &whole, sizeof(T) / 2);
  std::memcpy(&high, reinterpret_cast<const char*>(&whole) + sizeof(T) / 2, sizeof(T) / 2);
}
template <typename To, typename From, typename D, typename A>
__forceinline__ void cvt(D& d, const A& a) {
  put<To>(d, static_cast<To>(as<From>(a)));
}

// Predicates.
#define CUDA_ON_CPU_PTX_COMPARISON(name, sign)                        \
  template <typename T, typename A, typename B>                       \
  __forceinline__ void setp_##name(bool& p, const A& a, const B& b) { \
    p = as<T>(a) sign as<T>(b);                                       \
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
template <typename T, typename D, typename A, typename B>
__forceinline__ void selp(D& d, const A& a, const B& b, bool p) {
  put<T>(d, p ? as<T>(a) : as<T>(b));
}

// Operations of a warp.
/// The lanes that a shuffle stays among, from what its operand `c` says of them.
struct Segment {
  int fixed, first, last;  ///< the bits of a lane's number that stay as they are

  explicit Segment(unsigned c) : fixed(static_cast<int>(c >> 8 & 31)) {
    first = static_cast<int>(lane()) & fixed;
    last = first | (static_cast<int>(c & 31) & ~fixed);
  }
};
#define CUDA_ON_CPU_PTX_SHUFFLE(name, from, is_there, asks)                                        \
  template <typename T, typename D, typename A>                                                    \
  __forceinline__ void shfl_sync_##name(D& d, bool& p, const A& a, unsigned b, unsigned c,         \
                                        unsigned mask) {                                           \
    const Segment in(c);                                                                           \
    const int me = static_cast<int>(lane()), by = static_cast<int>(b & 31), source = from;         \
    p = is_there;                                                                                  \
    put<T>(d, shuffle(mask, as<T>(a), static_cast<unsigned>(p ? source : me), asks));              \
  }                                                                                                \
  template <typename T, typename D, typename A>                                                    \
  __forceinline__ void shfl_sync_##name(D& d, const A& a, unsigned b, unsigned c, unsigned mask) { \
    bool p;                                                                                        \
    shfl_sync_##name<T>(d, p, a, b, c, mask);                                                      \
  }
// Upwards, the last lane is the first one that may ask.
CUDA_ON_CPU_PTX_SHUFFLE(up, me - by, source >= in.last, Asks::by_shift)
CUDA_ON_CPU_PTX_SHUFFLE(down, me + by, source <= in.last, Asks::by_shift)
CUDA_ON_CPU_PTX_SHUFFLE(bfly, me ^ by, source <= in.last, Asks::by_number)
CUDA_ON_CPU_PTX_SHUFFLE(idx, in.first | (by & ~in.fixed), source <= in.last, Asks::by_number)
#undef CUDA_ON_CPU_PTX_SHUFFLE
template <typename T>
__forceinline__ void vote_sync_all(bool& d, bool p, unsigned mask) {
  d = __all_sync(mask, p) != 0;
}
template <typename T>
__forceinline__ void vote_sync_any(bool& d, bool p, unsigned mask) {
  d = __any_sync(mask, p) != 0;
}
template <typename T, typename D>
__forceinline__ void vote_sync_ballot(D& d, bool p, unsigned mask) {
  put<T>(d, __ballot_sync(mask, p));
}
template <typename T, typename D>
__forceinline__ void vote_ballot_sync(D& d, bool p, unsigned mask) {
  put<T>(d, __ballot_sync(mask, p));
}
template <typename T, typename D>
__forceinline__ void activemask(D& d) {
  put<T>(d, __activemask());
}

// Arithmetic.
#define CUDA_ON_CPU_PTX_1(name, expression)        \
  template <typename T, typename D, typename A>    \
  __forceinline__ void name(D& d, const A& in_a) { \
    const T a = as<T>(in_a);                       \
    put(d, expression);                            \
  }
#define CUDA_ON_CPU_PTX_2(name, expression)                       \
  template <typename T, typename D, typename A, typename B>       \
  __forceinline__ void name(D& d, const A& in_a, const B& in_b) { \
    const T a = as<T>(in_a), b = as<T>(in_b);                     \
    put(d, expression);                                           \
  }
#define CUDA_ON_CPU_PTX_3(name, expression)                                      \
  template <typename T, typename D, typename A, typename B, typename C>          \
  __forceinline__ void name(D& d, const A& in_a, const B& in_b, const C& in_c) { \
    const T a = as<T>(in_a), b = as<T>(in_b), c = as<T>(in_c);                   \
    put(d, expression);                                                          \
  }
/// An integer of twice the size.
template <typename T>
using Wide = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
template <typename T>
using Twice =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed<T>::value, int, unsigned>,
                       std::conditional_t<std::is_signed<T>::value, long, unsigned long>>;

/// By as many bits as there are or more, nothing is left; of a negative number, its sign.
template <typename T>
__forceinline__ T shifted_left(T a, unsigned by) {
  return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << by);
}
template <typename T>
__forceinline__ T shifted_right(T a, unsigned by) {
  return static_cast<T>(a >> (by < 8 * sizeof(T) ? by : 8 * sizeof(T) - 1) >>
                        (by >= 8 * sizeof(T)));
}

CUDA_ON_CPU_PTX_1(not_, static_cast<T>(a ^ static_cast<T>(-1)))  // of a predicate, too
CUDA_ON_CPU_PTX_1(abs, static_cast<T>(a < 0 ? -a : a))
CUDA_ON_CPU_PTX_1(neg, static_cast<T>(-a))
CUDA_ON_CPU_PTX_1(popc,
                  static_cast<unsigned>(cuda_on_cpu::popcount(static_cast<unsigned long long>(a))))
CUDA_ON_CPU_PTX_1(clz, static_cast<unsigned>(cuda_on_cpu::countl_zero(a)))
CUDA_ON_CPU_PTX_1(brev, static_cast<T>(sizeof(T) == 8 ? __brevll(a) : __brev(a)))
CUDA_ON_CPU_PTX_1(ex2, std::exp2(a))
CUDA_ON_CPU_PTX_1(lg2, std::log2(a))
CUDA_ON_CPU_PTX_1(rcp, 1 / a)
CUDA_ON_CPU_PTX_1(rsqrt, 1 / std::sqrt(a))
CUDA_ON_CPU_PTX_1(sqrt, std::sqrt(a))
CUDA_ON_CPU_PTX_1(sin, std::sin(a))
CUDA_ON_CPU_PTX_1(cos, std::cos(a))
CUDA_ON_CPU_PTX_1(tanh, std::tanh(a))
CUDA_ON_CPU_PTX_2(add, static_cast<T>(a + b))
CUDA_ON_CPU_PTX_2(sub, static_cast<T>(a - b))
CUDA_ON_CPU_PTX_2(mul, static_cast<T>(a* b))
CUDA_ON_CPU_PTX_2(mul_lo, static_cast<T>(static_cast<unsigned __int128>(a) * b))
CUDA_ON_CPU_PTX_2(mul_hi, static_cast<T>(static_cast<Wide<T>>(a) * b >> 8 * sizeof(T)))
CUDA_ON_CPU_PTX_2(mul_wide, static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b))
CUDA_ON_CPU_PTX_2(and_, static_cast<T>(a& b))
CUDA_ON_CPU_PTX_2(or_, static_cast<T>(a | b))
CUDA_ON_CPU_PTX_2(xor_, static_cast<T>(a ^ b))
CUDA_ON_CPU_PTX_2(min, b < a ? b : a)
CUDA_ON_CPU_PTX_2(max, a < b ? b : a)
CUDA_ON_CPU_PTX_3(fma, std::fma(a, b, c))
CUDA_ON_CPU_PTX_3(mad_lo, static_cast<T>(static_cast<unsigned __int128>(a) * b + c))
CUDA_ON_CPU_PTX_3(prmt, __byte_perm(a, b, c))
#undef CUDA_ON_CPU_PTX_1
#undef CUDA_ON_CPU_PTX_2
#undef CUDA_ON_CPU_PTX_3

template <typename T, typename D, typename A, typename B, typename C>
__forceinline__ void mad_wide(D& d, const A& a, const B& b, const C& c) {
  put(d, static_cast<Twice<T>>(as<T>(a)) * static_cast<Twice<T>>(as<T>(b)) + as<Twice<T>>(c));
}
template <typename T, typename D, typename A, typename B>
__forceinline__ void shl(D& d, const A& a, const B& by) {
  put(d, shifted_left(as<T>(a), static_cast<unsigned>(by)));
}
template <typename T, typename D, typename A, typename B>
__forceinline__ void shr(D& d, const A& a, const B& by) {
  put(d, shifted_right(as<T>(a), static_cast<unsigned>(by)));
}
/// `length` bits from `first` on; of a signed number, the last of them fills up.
template <typename T, typename D, typename A>
__forceinline__ void bfe(D& d, const A& a, unsigned first, unsigned length) {
  const unsigned bits = 8 * sizeof(T), from = first & 0xff, count = length & 0xff;
  const T low = shifted_right(as<T>(a), from);
  if (count == 0) return put(d, T(0));
  const unsigned up = count < bits ? bits - count : 0;
  put(d, static_cast<T>(shifted_left(low, up) >> up));
}
/// The place of the highest bit that is set, of a negative number that is not; all ones if there is
/// none. By how much a shift would bring it to the top, is `shiftamt`.
template <typename T, typename D, typename A>
__forceinline__ void bfind(D& d, const A& in_a) {
  const T a = as<T>(in_a);
  const auto bits = static_cast<unsigned long long>(
      static_cast<std::make_unsigned_t<T>>(std::is_signed<T>::value && a < T(0) ? ~a : a));
  put(d, static_cast<unsigned>(63 - countl_zero(bits)));
}
template <typename T, typename D, typename A>
__forceinline__ void bfind_shiftamt(D& d, const A& a) {
  unsigned place = 0;
  bfind<T>(place, a);
  put(d, place == ~0u ? place : static_cast<unsigned>(8 * sizeof(T) - 1 - place));
}
/// `b` with bits of `a` from `first` on.
template <typename T, typename D, typename A, typename B>
__forceinline__ void bfi(D& d, const A& a, const B& b, unsigned first, unsigned length) {
  const unsigned count = length & 0xff;
  const T ones = static_cast<T>(shifted_left<T>(1, count) - 1);
  const T mask = shifted_left(ones, first & 0xff);
  put(d, static_cast<T>((as<T>(b) & ~mask) | (shifted_left(as<T>(a), first & 0xff) & mask)));
}
/// Each bit of the result by a table of the three bits above it.
template <typename T, typename D, typename A, typename B, typename C>
__forceinline__ void lop3(D& d, const A& in_a, const B& in_b, const C& in_c, unsigned table) {
  const T a = as<T>(in_a), b = as<T>(in_b), c = as<T>(in_c);
  T result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  put(d, result);
}
#define CUDA_ON_CPU_PTX_FUNNEL(name, function)                                \
  template <typename T, typename D, typename A, typename B>                   \
  __forceinline__ void name(D& d, const A& low, const B& high, unsigned by) { \
    put(d, function(as<T>(low), as<T>(high), by));                            \
  }
CUDA_ON_CPU_PTX_FUNNEL(shf_l_wrap, __funnelshift_l)
CUDA_ON_CPU_PTX_FUNNEL(shf_r_wrap, __funnelshift_r)
CUDA_ON_CPU_PTX_FUNNEL(shf_l_clamp, __funnelshift_lc)
CUDA_ON_CPU_PTX_FUNNEL(shf_r_clamp, __funnelshift_rc)
#undef CUDA_ON_CPU_PTX_FUNNEL

// Atomics.
template <Atomic operation, typename T, typename D, typename A>
__forceinline__ void updated(D& d, char* address, const A& a) {
  put<T>(d, atomic<operation>(reinterpret_cast<T*>(address), as<T>(a)));
}
#define CUDA_ON_CPU_PTX_ATOMIC(name, operation)                         \
  template <typename T, typename D, typename A>                         \
  __forceinline__ void atom_##name(D& d, char* address, const A& a) {   \
    updated<Atomic::operation, T>(d, address, a);                       \
  }                                                                     \
  template <typename T, typename A>                                     \
  __forceinline__ void red_##name(char* address, const A& a) {          \
    atomic<Atomic::operation>(reinterpret_cast<T*>(address), as<T>(a)); \
  }
CUDA_ON_CPU_PTX_ATOMIC(add, add)
CUDA_ON_CPU_PTX_ATOMIC(min, minimum)
CUDA_ON_CPU_PTX_ATOMIC(max, maximum)
CUDA_ON_CPU_PTX_ATOMIC(exch, exchange)
#undef CUDA_ON_CPU_PTX_ATOMIC
template <typename T, typename D, typename A, typename B>
__forceinline__ void atom_cas(D& d, char* address, const A& expected, const B& desired) {
  put<T>(d, atomic_compare(reinterpret_cast<T*>(address), as<T>(expected), as<T>(desired)));
}

// Order.
__forceinline__ void membar_gl() { __threadfence(); }
__forceinline__ void membar() { __threadfence_system(); }
__forceinline__ void fence_acq_rel() { __threadfence_system(); }
__forceinline__ void fence_sc() { __threadfence_system(); }
__forceinline__ void bar_sync(unsigned) { __syncthreads(); }
__forceinline__ void barrier_sync(unsigned) { __syncthreads(); }
__forceinline__ void bar_warp_sync(unsigned mask) { __syncwarp(mask); }
template <typename T>
__forceinline__ void nanosleep(unsigned nanoseconds) {
  __nanosleep(nanoseconds);
}
__forceinline__ void trap() { __trap(); }
__forceinline__ void cp_async(char* to, const char* from, unsigned bytes) {
  start_copy(to, from, bytes);
}
__forceinline__ void cp_async(char* to, const char* from, unsigned bytes, unsigned read) {
  start_copy(to, from, read, bytes - read);
}
__forceinline__ void cp_async_commit_group() { commit_copies(); }
__forceinline__ void cp_async_wait_group(unsigned pending) { wait_for_copies(pending); }
__forceinline__ void cp_async_wait_all() {
  commit_copies();
  wait_for_copies(0);
}

}  // namespace ptx
}  // namespace cuda_on_cpu
