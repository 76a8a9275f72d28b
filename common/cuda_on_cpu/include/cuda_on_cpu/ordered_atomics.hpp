/// \file
/// The atomic functions of CUDA 13 whose arguments include a memory order and a scope, for example
/// `__nv_atomic_fetch_add`.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "atomics.hpp"
#include "core.hpp"
#include "standard.hpp"
#include "threads.hpp"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};

enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace cuda_on_cpu {

/// \param order one of the constants `__NV_ATOMIC_…`
inline Order order_of_constant(int order) {
  switch (order) {
    case __NV_ATOMIC_RELAXED:
      return Order::relaxed;
    case __NV_ATOMIC_CONSUME:
    case __NV_ATOMIC_ACQUIRE:
      return Order::acquire;
    case __NV_ATOMIC_RELEASE:
      return Order::release;
    default:
      return Order::both;
  }
}

/// \param scope one of the constants `__NV_THREAD_SCOPE_…`
inline Scope scope_of_constant(int scope) {
  switch (scope) {
    case __NV_THREAD_SCOPE_THREAD:
    case __NV_THREAD_SCOPE_BLOCK:
      return Scope::block;
    case __NV_THREAD_SCOPE_SYSTEM:
      return Scope::system;
    default:
      return Scope::device;
  }
}

/// An unsigned integer with the size of `Value`. Atomic accesses to values of other types, such as
/// structures, access memory through this type.
template <typename Value>
using WordOf = std::conditional_t<
    sizeof(Value) == 1, std::uint8_t,
    std::conditional_t<sizeof(Value) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>>>;

template <typename Value>
void load_ordered(const Value* address, Value* value, int order, int scope) {
  if constexpr (sizeof(Value) == 16) {
    atomic_load_sixteen(value, address, order_of_constant(order));
  } else {
    static_assert(sizeof(Value) == sizeof(WordOf<Value>),
                  "the value must have 1, 2, 4, 8 or 16 bytes");
    const auto word = atomic_load(reinterpret_cast<const WordOf<Value>*>(address),
                                  order_of_constant(order), scope_of_constant(scope));
    std::memcpy(value, &word, sizeof word);
  }
}

template <typename Value>
void store_ordered(Value* address, const Value* value, int order, int scope) {
  if constexpr (sizeof(Value) == 16) {
    atomic_store_sixteen(address, value, order_of_constant(order));
  } else {
    static_assert(sizeof(Value) == sizeof(WordOf<Value>),
                  "the value must have 1, 2, 4, 8 or 16 bytes");
    WordOf<Value> word;
    std::memcpy(&word, value, sizeof word);
    atomic_store(reinterpret_cast<WordOf<Value>*>(address), word, order_of_constant(order),
                 scope_of_constant(scope));
  }
}

template <typename Value>
void exchange_ordered(Value* address, const Value* value, Value* old, int order, int scope) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8, "the value must have 4 or 8 bytes");
  WordOf<Value> word;
  std::memcpy(&word, value, sizeof word);
  word = atomic<Atomic::exchange>(reinterpret_cast<WordOf<Value>*>(address), word,
                                  order_of_constant(order), scope_of_constant(scope));
  std::memcpy(old, &word, sizeof word);
}

/// Replaces the value if it equals `*expected`. Otherwise, copies the value to `*expected`.
template <typename Value>
bool compare_exchange_ordered(Value* address, Value* expected, const Value* desired, int order,
                              int scope) {
  static_assert(sizeof(Value) == sizeof(WordOf<Value>), "the value must have 1, 2, 4 or 8 bytes");
  WordOf<Value> old, wanted;
  std::memcpy(&old, expected, sizeof old);
  std::memcpy(&wanted, desired, sizeof wanted);
  const auto found = atomic_compare(reinterpret_cast<WordOf<Value>*>(address), old, wanted,
                                    order_of_constant(order), scope_of_constant(scope));
  std::memcpy(expected, &found, sizeof found);
  return found == old;
}

}  // namespace cuda_on_cpu

// In all functions, the type of the address determines `Value`.
#define CUDA_ON_CPU_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM

template <typename Value>
Value __nv_atomic_load_n(const Value* address, int order, CUDA_ON_CPU_SCOPE) {
  std::remove_cv_t<Value> value;
  cuda_on_cpu::load_ordered(address, &value, order, scope);
  return value;
}
template <typename Value>
void __nv_atomic_load(const Value* address, cuda_on_cpu::given<Value>* value, int order,
                      CUDA_ON_CPU_SCOPE) {
  cuda_on_cpu::load_ordered(address, value, order, scope);
}
template <typename Value>
void __nv_atomic_store_n(Value* address, cuda_on_cpu::given<Value> value, int order,
                         CUDA_ON_CPU_SCOPE) {
  cuda_on_cpu::store_ordered(address, &value, order, scope);
}
template <typename Value>
void __nv_atomic_store(Value* address, const cuda_on_cpu::given<Value>* value, int order,
                       CUDA_ON_CPU_SCOPE) {
  cuda_on_cpu::store_ordered(address, value, order, scope);
}
template <typename Value>
Value __nv_atomic_exchange_n(Value* address, cuda_on_cpu::given<Value> value, int order,
                             CUDA_ON_CPU_SCOPE) {
  Value old;
  cuda_on_cpu::exchange_ordered(address, &value, &old, order, scope);
  return old;
}
template <typename Value>
void __nv_atomic_exchange(Value* address, const cuda_on_cpu::given<Value>* value,
                          cuda_on_cpu::given<Value>* old, int order, CUDA_ON_CPU_SCOPE) {
  cuda_on_cpu::exchange_ordered(address, value, old, order, scope);
}
template <typename Value>
bool __nv_atomic_compare_exchange_n(Value* address, cuda_on_cpu::given<Value>* expected,
                                    cuda_on_cpu::given<Value> desired, bool /*weak*/, int success,
                                    int /*failure*/, CUDA_ON_CPU_SCOPE) {
  return cuda_on_cpu::compare_exchange_ordered(address, expected, &desired, success, scope);
}
template <typename Value>
bool __nv_atomic_compare_exchange(Value* address, cuda_on_cpu::given<Value>* expected,
                                  const cuda_on_cpu::given<Value>* desired, bool /*weak*/,
                                  int success, int /*failure*/, CUDA_ON_CPU_SCOPE) {
  return cuda_on_cpu::compare_exchange_ordered(address, expected, desired, success, scope);
}

/// Defines the function that returns the old value and the function that returns nothing.
#define CUDA_ON_CPU_ORDERED(name, operation, operand)                                        \
  template <typename Value>                                                                  \
  Value __nv_atomic_fetch_##name(Value* address, cuda_on_cpu::given<Value> value, int order, \
                                 CUDA_ON_CPU_SCOPE) {                                        \
    return cuda_on_cpu::atomic<cuda_on_cpu::Atomic::operation>(                              \
        address, static_cast<Value>(operand), cuda_on_cpu::order_of_constant(order),         \
        cuda_on_cpu::scope_of_constant(scope));                                              \
  }                                                                                          \
  template <typename Value>                                                                  \
  void __nv_atomic_##name(Value* address, cuda_on_cpu::given<Value> value, int order,        \
                          CUDA_ON_CPU_SCOPE) {                                               \
    __nv_atomic_fetch_##name(address, value, order, scope);                                  \
  }

CUDA_ON_CPU_ORDERED(add, add, value)
CUDA_ON_CPU_ORDERED(sub, add, Value{} - value)
CUDA_ON_CPU_ORDERED(min, minimum, value)
CUDA_ON_CPU_ORDERED(max, maximum, value)
CUDA_ON_CPU_ORDERED(and, bit_and, value)
CUDA_ON_CPU_ORDERED(or, bit_or, value)
CUDA_ON_CPU_ORDERED(xor, bit_xor, value)

#undef CUDA_ON_CPU_ORDERED

/// Every atomic load acquires, so only a fence that releases has an effect.
inline void __nv_atomic_thread_fence(int order, CUDA_ON_CPU_SCOPE) {
  if (order < __NV_ATOMIC_RELEASE || scope == __NV_THREAD_SCOPE_THREAD) return;
  if (scope == __NV_THREAD_SCOPE_BLOCK)
    __threadfence_block();
  else if (scope == __NV_THREAD_SCOPE_SYSTEM)
    __threadfence_system();
  else
    __threadfence();
}
inline void __nv_atomic_signal_fence(int /*order*/) {}

#undef CUDA_ON_CPU_SCOPE
