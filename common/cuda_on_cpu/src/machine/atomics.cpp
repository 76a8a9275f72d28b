#include "cuda_on_cpu/atomics.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "../analysis.hpp"
#include "block.hpp"
#include "cuda_on_cpu/threads.hpp"

namespace cuda_on_cpu {
namespace {

bool is_on_host() { return block == nullptr || block->current == nullptr; }

void after_atomic(bool changed) {
  if (!is_on_host())
    note_spin(!changed);
  else if (!changed && !analysis::enabled)  // the analysis calls host_looks itself
    host_looks();
}

template <Atomic operation, typename T>
T result(T old, T operand) {
  switch (operation) {
    case Atomic::add:
      if constexpr (std::is_integral_v<T>) {
        using Bits = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(operand));
      } else {
        return old + operand;
      }
    case Atomic::minimum:
      return std::min(old, operand);
    case Atomic::maximum:
      return std::max(old, operand);
    case Atomic::exchange:
      return operand;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case Atomic::increment:
        return old >= operand ? 0 : old + 1;
      case Atomic::decrement:
        return old == 0 || old > operand ? operand : old - 1;
      case Atomic::bit_and:
        return old & operand;
      case Atomic::bit_or:
        return old | operand;
      case Atomic::bit_xor:
        return old ^ operand;
      default:
        break;
    }
  }
  return old;
}

/// Reports an atomic operation to the analysis, with its memory order and scope, before it is
/// executed.
void before(const void* address, std::size_t bytes, analysis::Kind kind, Order order, Scope scope,
            const void* place, const void* frame) {
  const bool on_device = !is_on_host();
  if (on_device) block->current->place = place;
  const bool releases = order == Order::release || order == Order::both;
  if (on_device) block->narrow = scope == Scope::block;
  if (on_device && releases)
    block->releases = scope == Scope::block    ? analysis::Among::block
                      : scope == Scope::device ? analysis::Among::device
                                               : analysis::Among::system;
  analysis::access(address, bytes, kind, place, frame);
  if (!on_device) return;
  block->narrow = false;
  block->releases = analysis::Among::nobody;
}

}  // namespace

template <Atomic operation, typename T>
T atomic(T* address, T operand, Order order, Scope scope) {
  constexpr auto kind = operation == Atomic::exchange ? analysis::atomic_write : analysis::atomic;
  before(address, sizeof(T), kind, order, scope, __builtin_return_address(0),
         __builtin_frame_address(0));
  T old, fresh;
  __atomic_load(address, &old, __ATOMIC_SEQ_CST);
  do {
    fresh = result<operation>(old, operand);
  } while (
      !__atomic_compare_exchange(address, &old, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  after_atomic(std::memcmp(&old, &fresh, sizeof(T)) != 0);
  return old;
}

template <typename T>
T atomic_compare(T* address, T expected, T desired, Order order, Scope scope) {
  if (!is_on_host()) block->expected = &expected;
  before(address, sizeof(T), analysis::atomic_compare, order, scope, __builtin_return_address(0),
         __builtin_frame_address(0));
  if (!is_on_host()) block->expected = nullptr;
  T old = expected;
  const bool replaced =
      __atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  after_atomic(replaced);
  return old;
}

template <typename T>
T atomic_load(const T* address, Order order, Scope scope) {
  before(address, sizeof(T), is_on_host() ? analysis::volatile_read : analysis::atomic_read, order,
         scope, __builtin_return_address(0), __builtin_frame_address(0));
  T value;
  __atomic_load(const_cast<T*>(address), &value, __ATOMIC_SEQ_CST);
  after_atomic(false);
  return value;
}

template <typename T>
void atomic_store(T* address, T value, Order order, Scope scope) {
  before(address, sizeof(T), is_on_host() ? analysis::atomic_write : analysis::atomic_store, order,
         scope, __builtin_return_address(0), __builtin_frame_address(0));
  __atomic_store(address, &value, __ATOMIC_SEQ_CST);
  after_atomic(true);
}

/// The lock for the 16 bytes at an address. Several addresses may share a lock.
static std::mutex& mutex_of(const void* address) {
  static std::array<std::mutex, 64> mutexes;
  return mutexes[reinterpret_cast<std::uintptr_t>(address) / 16 % mutexes.size()];
}

void atomic_load_sixteen(void* value, const void* address, Order order) {
  before(address, 16, is_on_host() ? analysis::volatile_read : analysis::atomic_read, order, Scope::system, __builtin_return_address(0),
         __builtin_frame_address(0));
  {
    const std::scoped_lock lock(mutex_of(address));
    std::memcpy(value, address, 16);
  }
  after_atomic(false);
}

void atomic_store_sixteen(void* address, const void* value, Order order) {
  before(address, 16, is_on_host() ? analysis::atomic_write : analysis::atomic_store, order, Scope::system, __builtin_return_address(0),
         __builtin_frame_address(0));
  {
    const std::scoped_lock lock(mutex_of(address));
    std::memcpy(address, value, 16);
  }
  after_atomic(true);
}

#define INSTANTIATE(operation, T) template T atomic<Atomic::operation>(T*, T, Order, Scope);
#define INSTANTIATE_ORDERED(T) \
  INSTANTIATE(add, T)          \
  INSTANTIATE(minimum, T)      \
  INSTANTIATE(maximum, T)      \
  INSTANTIATE(exchange, T)
#define INSTANTIATE_BITS(T) \
  INSTANTIATE_ORDERED(T)    \
  INSTANTIATE(increment, T) \
  INSTANTIATE(decrement, T) \
  INSTANTIATE(bit_and, T)   \
  INSTANTIATE(bit_or, T)    \
  INSTANTIATE(bit_xor, T)
#define INSTANTIATE_ACCESS(T)                        \
  template T atomic_compare(T*, T, T, Order, Scope); \
  template T atomic_load(const T*, Order, Scope);    \
  template void atomic_store(T*, T, Order, Scope);

INSTANTIATE_BITS(int)
INSTANTIATE_BITS(unsigned)
INSTANTIATE_BITS(long)
INSTANTIATE_BITS(unsigned long)
INSTANTIATE_BITS(long long)
INSTANTIATE_BITS(unsigned long long)
INSTANTIATE_ORDERED(float)
INSTANTIATE_ORDERED(double)
INSTANTIATE_ACCESS(bool)
INSTANTIATE_ACCESS(char)
INSTANTIATE_ACCESS(signed char)
INSTANTIATE_ACCESS(unsigned char)
INSTANTIATE_ACCESS(short)
INSTANTIATE_ACCESS(unsigned short)
INSTANTIATE_ACCESS(int)
INSTANTIATE_ACCESS(unsigned)
INSTANTIATE_ACCESS(long)
INSTANTIATE_ACCESS(unsigned long)
INSTANTIATE_ACCESS(long long)
INSTANTIATE_ACCESS(unsigned long long)
INSTANTIATE_ACCESS(float)
INSTANTIATE_ACCESS(double)

}  // namespace cuda_on_cpu
