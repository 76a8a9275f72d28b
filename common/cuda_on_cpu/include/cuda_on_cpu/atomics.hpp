/// \file
/// Atomic operations of device code. These operations are also atomic with respect to host threads.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core.hpp"
#include "standard.hpp"

namespace cuda_on_cpu {

enum class Atomic {
  add,
  minimum,
  maximum,
  exchange,
  increment,
  decrement,
  bit_and,
  bit_or,
  bit_xor
};

/// The memory order of an atomic operation. The race detector derives happens-before relations from
/// this order.
enum class Order { relaxed, acquire, release, both };

/// The scope of an atomic operation.
enum class Scope { block, device, system };

/// Performs an atomic operation in device memory or in shared memory. `Value` is int, unsigned,
/// long long, unsigned long long, float or double.
/// \returns the old value
template <Atomic operation, typename Value>
Value atomic(Value* address, Value operand, Order order = Order::relaxed,
             Scope scope = Scope::device);

/// Replaces the value by `desired` if the value equals `expected`.
/// \returns the old value
template <typename Value>
Value atomic_compare(Value* address, Value expected, Value desired, Order order = Order::relaxed,
                     Scope scope = Scope::device);

template <typename Value>
Value atomic_load(const Value* address, Order order, Scope scope = Scope::device);
template <typename Value>
void atomic_store(Value* address, Value value, Order order, Scope scope = Scope::device);

/// Loads and stores of 16 bytes, which are atomic with respect to each other.
void atomic_load_sixteen(void* value, const void* address, Order order);
void atomic_store_sixteen(void* address, const void* value, Order order);

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ATOMIC(name, operation, Value)                                 \
  inline Value name(Value* address, Value operand) {                               \
    return cuda_on_cpu::atomic<cuda_on_cpu::Atomic::operation>(address, operand);  \
  }                                                                                \
  inline Value name##_block(Value* address, Value operand) {                       \
    return cuda_on_cpu::atomic<cuda_on_cpu::Atomic::operation>(                    \
        address, operand, cuda_on_cpu::Order::relaxed, cuda_on_cpu::Scope::block); \
  }                                                                                \
  inline Value name##_system(Value* address, Value operand) { return name(address, operand); }

#define CUDA_ON_CPU_ATOMIC_OF_INTEGERS(name, operation) \
  CUDA_ON_CPU_ATOMIC(name, operation, int)              \
  CUDA_ON_CPU_ATOMIC(name, operation, unsigned)         \
  CUDA_ON_CPU_ATOMIC(name, operation, unsigned long long)

CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicAdd, add)
CUDA_ON_CPU_ATOMIC(atomicAdd, add, float)
CUDA_ON_CPU_ATOMIC(atomicAdd, add, double)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicMin, minimum)
CUDA_ON_CPU_ATOMIC(atomicMin, minimum, long long)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicMax, maximum)
CUDA_ON_CPU_ATOMIC(atomicMax, maximum, long long)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicExch, exchange)
CUDA_ON_CPU_ATOMIC(atomicExch, exchange, float)
CUDA_ON_CPU_ATOMIC(atomicInc, increment, unsigned)
CUDA_ON_CPU_ATOMIC(atomicDec, decrement, unsigned)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicAnd, bit_and)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicOr, bit_or)
CUDA_ON_CPU_ATOMIC_OF_INTEGERS(atomicXor, bit_xor)

#undef CUDA_ON_CPU_ATOMIC_OF_INTEGERS
#undef CUDA_ON_CPU_ATOMIC

template <typename Value>
Value atomicSub(Value* address, cuda_on_cpu::given<Value> operand) {
  static_assert(std::is_same_v<Value, int> || std::is_same_v<Value, unsigned>,
                "CUDA subtracts int and unsigned");
  return atomicAdd(address, static_cast<Value>(-static_cast<unsigned>(operand)));
}
template <typename Value>
Value atomicSub_block(Value* address, cuda_on_cpu::given<Value> operand) {
  return atomicAdd_block(address, static_cast<Value>(-static_cast<unsigned>(operand)));
}
template <typename Value>
Value atomicSub_system(Value* address, cuda_on_cpu::given<Value> operand) {
  return atomicSub(address, operand);
}

// The type of the address determines `Value`. As in the programming guide, the arguments may be
// signed while the memory is unsigned.
template <typename Value>
Value atomicCAS(Value* address, cuda_on_cpu::given<Value> expected,
                cuda_on_cpu::given<Value> desired) {
  return cuda_on_cpu::atomic_compare(address, expected, desired);
}
template <typename Value>
Value atomicCAS_block(Value* address, cuda_on_cpu::given<Value> expected,
                      cuda_on_cpu::given<Value> desired) {
  return cuda_on_cpu::atomic_compare(address, expected, desired, cuda_on_cpu::Order::relaxed,
                                     cuda_on_cpu::Scope::block);
}
template <typename Value>
Value atomicCAS_system(Value* address, cuda_on_cpu::given<Value> expected,
                       cuda_on_cpu::given<Value> desired) {
  return cuda_on_cpu::atomic_compare(address, expected, desired);
}
