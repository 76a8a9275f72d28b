/// \file
/// The part of CUDA C++ that is language: qualifiers, built-in variables, launches.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

// The rewriter replaces __shared__, __cluster_dims__, __device__ and __noinline__; the other
// qualifiers mean nothing here.
#define __host__
#define __grid_constant__
#define __maxnreg__(...)
#ifdef __CUDA__  // libclang, without the rewriter
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// In a program that is analysed, a kernel takes its functions in, so that the order of addresses is
// the order of the source: warps reconverge at the lowest.
#ifdef __clang__
#define CUDA_ON_CPU_KERNEL noinline
#else
#define CUDA_ON_CPU_KERNEL noipa  // what a launch passes is not known to the kernel's compiler
#endif
// The rewriter takes this away. The functions that it marks are the device's, and in a program that
// is analysed, all variables that it does not mark are the host's.
#ifdef __CUDACC__
#define __device__ __attribute__(())
#else
#define __device__
#endif
#ifdef CUDA_ON_CPU_ANALYSE
#define __global__ __device__ __attribute__((CUDA_ON_CPU_KERNEL, flatten))
#define __constant__ __attribute__((section("cuda_constant")))
#define __managed__ __attribute__((, ))
#else
#define __managed__
#define __global__ __device__ __attribute__((CUDA_ON_CPU_KERNEL))
#define __constant__
#endif
#define CUDA_ON_CPU_NOT_ANALYSED __attribute__((no_sanitize("thread"), no_instrument_function))
// What is the program's and thread-local, seen from an image of a module.
#ifdef CUDA_ON_CPU_IMAGE
#define CUDA_ON_CPU_OF_PROGRAM __attribute__((tls_model("initial-exec")))
#else
#define CUDA_ON_CPU_OF_PROGRAM
#endif

struct uint3 {
  unsigned x, y, z;
};

/// The extent of a block or of a grid; what is left out is 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Constant here, for they are constant to a CUDA thread: compilers may keep them in registers over
// a switch between threads. They change in builtins.cpp, where they are not constant.
extern __thread const uint3 threadIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const uint3 blockIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 blockDim CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 gridDim CUDA_ON_CPU_OF_PROGRAM;
inline constexpr int warpSize = 32;

// The dynamic shared memory of the block: arrays that kernels declare `extern __shared__`.
extern "C" __thread char cuda_on_cpu_dynamic_shared[] CUDA_ON_CPU_OF_PROGRAM;

using cudaStream_t = struct CUstream_st*;
enum cudaError : unsigned;

namespace cuda_on_cpu {

/// Whether a thread of a kernel asks, and not the host.
bool is_on_device();

/// What stands between <<< and >>>, and the attributes of a launch.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;  ///< bytes per block
  cudaStream_t stream = nullptr;
  dim3 cluster = {};  ///< blocks of a cluster
  bool cooperative = false;
  cudaError refusal = {};  ///< why it cannot be, where its attributes say so

  Configuration with_cluster(dim3 extent) const {
    Configuration with = *this;
    with.cluster = extent;
    return with;
  }
};

inline Configuration configuration(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                                   cudaStream_t stream = nullptr) {
  return {grid, block, dynamic_shared, stream};
}

/// A kernel with its arguments, to be called once per thread.
struct Invocation {
  std::shared_ptr<void> closure;
  std::size_t bytes;
  void (*call)(void* closure);
  std::vector<const void*> callers = {};  ///< of a library that launches it, innermost first
};

/// Puts a kernel into its stream; it runs when something depends on it.
/// \returns why it is refused, which shows in cudaGetLastError, too, as CUDA has it
cudaError submit(const char* kernel, const Configuration& configuration, Invocation invocation);

/// Notes an error that the source drops where a call returned it: unless the program asks for it
/// later, it is a finding of the analysis.
void drop(cudaError error);

/// Takes what a call returned that stands as a statement of its own, and every launch.
struct Dropped {
  __forceinline__ void operator=(cudaError error) {
    if (error != cudaError{}) drop(error);
  }
};

// What the rewriter puts into programs that are analysed, and only their runtime has.

/// A function that only the host may call begins; that a kernel does it is a finding.
void enters_host_function(const char* name);

/// What a thread is about to do can be seen from outside, or escapes the analysis, or may depend on
/// the order of blocks: if its block runs on trial, beside others, that ends here, and begins anew
/// when no other one runs.
void end_trial();

/// A function of the device begins that does such things.
constexpr void leaves_analysis() {
  if (!__builtin_is_constant_evaluated()) end_trial();
}

/// A kernel begins: from now on, its thread calls what was not taken into the kernel.
void enters_kernel();

/// The functions that are being called, by where they go on, innermost first.
std::vector<const void*> callers();

/// Memory for whoever asks: a kernel gets it on the device, the host where it always does.
void* heap_malloc(std::size_t bytes);
void heap_free(void* pointer);
struct Heap {};

/// Notes the most threads of a block that a kernel promises by __launch_bounds__.
bool note_bounds(const char* kernel, unsigned threads);

/// What an argument of a launch is copied as: where its type names a `KernelArgument` that it turns
/// into, as that. (A kernel's parameters, which say so to nvcc, are not known here.)
template <typename Value, typename = void>
struct Copied {
  using Type = std::decay_t<const Value>;
};
template <typename Value>
struct Copied<Value, std::void_t<typename Value::KernelArgument>> {
  using Type = typename Value::KernelArgument;
};
template <typename Value>
auto copied(const Value& argument) {
  // Of an array, whether it is constant is not known here.
  if constexpr (std::is_array_v<Value>)
    return const_cast<std::remove_extent_t<Value>*>(&argument[0]);
  else
    return static_cast<typename Copied<Value>::Type>(argument);
}

/// An argument of a kernel, by its number.
template <std::size_t number, typename Value>
struct Copy {
  Value value;
};

/// A kernel with copies of its arguments. Sources have dozens of launches, and compilers take
/// longer over a tuple and a shared pointer for each.
template <typename Numbers, typename Kernel, typename... Arguments>
struct Closure;
template <std::size_t... number, typename Kernel, typename... Arguments>
struct Closure<std::index_sequence<number...>, Kernel, Arguments...> : Copy<number, Arguments>... {
  Kernel kernel;

  CUDA_ON_CPU_NOT_ANALYSED static void call(void* self) {
    auto& closure = *static_cast<Closure*>(self);
    closure.kernel(static_cast<Copy<number, Arguments>&>(closure).value...);
  }
  static void destroy(void* self) { static_cast<Closure*>(self)->~Closure(); }
};
template <typename Kernel, typename... Arguments>
using ClosureOf = Closure<std::index_sequence_for<Arguments...>, Kernel, Arguments...>;

/// Memory for a closure; and what owns it with the closure in it, which it destroys.
void* room_for(std::size_t bytes, std::size_t alignment);
std::shared_ptr<void> owned(void* closure, void (*destroy)(void*));

/// Copies a kernel's arguments, as a launch does.
template <typename Kernel, typename... Arguments>
Invocation invocation(Kernel kernel, const Arguments&... arguments) {
  using Copies = ClosureOf<Kernel, decltype(copied(arguments))...>;
  void* const closure = new (room_for(sizeof(Copies), alignof(Copies)))
      Copies{{copied(arguments)}..., std::move(kernel)};
  return {owned(closure, Copies::destroy), sizeof(Copies), Copies::call};
}

/// What a kernel is given is looked at: that a pointer is the host's address of a variable of the
/// device is a finding.
void is_given(const volatile void* pointer);

template <auto check, typename Value>
__forceinline__ void check_argument(const Value& argument) {
  using Plain = std::decay_t<const Value>;
  if constexpr (std::is_pointer_v<Plain>)
    if constexpr (!std::is_function_v<std::remove_pointer_t<Plain>>) check(argument);
}

/// A launch by <<<...>>>, in line, so that what is found in it has the line of the source.
template <typename Kernel, typename... Arguments>
__forceinline__ void launch(const char* name, const Configuration& configuration, Kernel kernel,
                            const Arguments&... arguments) {
#ifdef CUDA_ON_CPU_ANALYSE
  (check_argument<is_given>(arguments), ...);
#endif
  Dropped{} = submit(name, configuration, invocation(std::move(kernel), arguments...));
}

/// The thread of a kernel that calls works for the device, and is a thread of the kernel again.
void* leave_kernel();
void return_to_kernel(void* thread);

/// The same of what a kernel gives to one that it launches: memory of its own is a finding, too.
void is_passed_on(const volatile void* pointer);

/// A launch by a thread of a kernel, of which the copies are no accesses.
template <typename Kernel, typename... Copies>
__attribute__((noinline)) CUDA_ON_CPU_NOT_ANALYSED cudaError submit_child(
    const char* name, const Configuration& configuration, Kernel kernel, Copies... arguments) {
  void* const thread = leave_kernel();
  Invocation made = invocation(std::move(kernel), arguments...);
  return_to_kernel(thread);
  return submit(name, configuration, std::move(made));
}

/// A launch by <<<...>>> in code of the device, which the host may call, too.
template <typename Kernel, typename... Arguments>
__forceinline__ void launch_child(const char* name, const Configuration& configuration,
                                  Kernel kernel, const Arguments&... arguments) {
#ifdef CUDA_ON_CPU_ANALYSE
  (check_argument<is_passed_on>(arguments), ...);
#endif
  Dropped{} = submit_child(name, configuration, std::move(kernel), copied(arguments)...);
}

}  // namespace cuda_on_cpu

void* operator new(std::size_t bytes, cuda_on_cpu::Heap);
void* operator new[](std::size_t bytes, cuda_on_cpu::Heap);
void operator delete(void* pointer, cuda_on_cpu::Heap);
void operator delete[](void* pointer, cuda_on_cpu::Heap);
