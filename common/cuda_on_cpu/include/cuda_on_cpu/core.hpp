/// \file
/// The language extensions of CUDA C++: qualifiers, built-in variables and launches.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "owned.hpp"

// The rewriter replaces __shared__, __cluster_dims__, __device__ and __noinline__. The other
// qualifiers have no effect on the CPU device.
#define __host__
#define __grid_constant__
#define __maxnreg__(...)
#ifdef __CUDA__  // libclang reads the source without the rewriter
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// In an analysed program, all functions are inlined into the kernel. Instruction addresses then
// have the order of the source, and a warp reconverges at the lowest address.
#ifdef __clang__
#define CUDA_ON_CPU_KERNEL noinline, noinline  // the repetition marks kernels for the rewriter
#else
#define CUDA_ON_CPU_KERNEL noipa  // prevents optimisations that use the arguments of a launch
#endif
// The rewriter removes these marks. The first mark denotes device functions. All variables without
// a mark belong to the host.
#ifdef __CUDACC__
#define __device__ __attribute__(())
#define __managed__ __attribute__((, ))
#else
#define __device__
#define __managed__
#endif
#ifdef CUDA_ON_CPU_ANALYSE
#define __global__ __device__ __attribute__((CUDA_ON_CPU_KERNEL, flatten))
#define __constant__ __attribute__((section("cuda_constant")))
#else
#define __global__ __device__ __attribute__((CUDA_ON_CPU_KERNEL))
#ifdef __CUDACC__
#define __constant__ __attribute__((, , ))
#else
#define __constant__
#endif
#endif
#define CUDA_ON_CPU_NOT_ANALYSED __attribute__((no_sanitize("thread"), no_instrument_function))
// The thread-local storage model for variables of the program that the image of a module uses.
#ifdef CUDA_ON_CPU_IMAGE
#define CUDA_ON_CPU_OF_PROGRAM __attribute__((tls_model("initial-exec")))
#else
#define CUDA_ON_CPU_OF_PROGRAM
#endif

struct uint3 {
  unsigned x, y, z;
};

/// The extent of a block or of a grid. Omitted components are 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// These variables are constant for a CUDA thread, so compilers may keep them in registers across a
// switch between threads. They change only in builtins.cpp, which declares them without const.
extern __thread const uint3 threadIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const uint3 blockIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 blockDim CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 gridDim CUDA_ON_CPU_OF_PROGRAM;
inline constexpr int warpSize = 32;

// The dynamic shared memory of the block, which kernels declare as `extern __shared__` arrays.
extern "C" __thread char cuda_on_cpu_dynamic_shared[] CUDA_ON_CPU_OF_PROGRAM;

using cudaStream_t = struct CUstream_st*;
enum cudaError : unsigned;

namespace cuda_on_cpu {

/// Whether the caller is a thread of a kernel, and not the host.
bool is_on_device();

/// The execution configuration of a launch (the arguments between <<< and >>>), and its attributes.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;  ///< bytes per block
  cudaStream_t stream = nullptr;
  dim3 cluster = {};  ///< blocks of a cluster
  bool cooperative = false;
  cudaError refusal = {};  ///< the error of an invalid attribute, or cudaSuccess

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

/// A kernel with its arguments, which is called once per thread.
struct Invocation {
  Owned closure;
  std::size_t bytes;
  void (*call)(void* closure);
  Owned callers = {};  ///< result of callers() in a library that launches the kernel
};

/// Appends a kernel to its stream. The kernel runs when something depends on it.
/// \returns the error if the launch is refused; cudaGetLastError returns the same error, as in CUDA
cudaError submit(const char* kernel, const Configuration& configuration, Invocation invocation);

/// Logs an error code that a statement of the source discards. The analysis reports it, unless the
/// program requests the last error later.
void drop(cudaError error);

/// Receives the result of each launch, and of each call that is a statement of its own.
struct Dropped {
  __forceinline__ void operator=(cudaError error) {
    if (error != cudaError{}) drop(error);
  }
};

// The rewriter inserts the following calls into analysed programs, and only their runtime has them.

/// Begins a function that only the host may call. A call by a kernel is reported.
void enters_host_function(const char* name);

/// Ends the speculative execution of the current block, if any. The block starts again when no
/// other block runs. A thread calls this function before an operation that is visible from outside,
/// that the analysis does not see, or that may depend on the order of blocks.
void end_trial();

/// Begins a device function that contains such operations.
constexpr void leaves_analysis() {
  if (!__builtin_is_constant_evaluated()) end_trial();
}

/// Begins a kernel. From now on, its thread calls only functions that were not inlined into the
/// kernel.
void enters_kernel();

/// The return addresses of the active calls, innermost first, as a `std::vector<const void*>`.
Owned callers();

/// Allocates device memory for a kernel, and memory of the heap for the host.
void* heap_malloc(std::size_t bytes);
void heap_free(void* pointer);
struct Heap {};

/// Registers the maximum number of threads per block that a kernel declares with __launch_bounds__.
bool note_bounds(const char* kernel, unsigned threads);

/// The type as which an argument of a launch is copied. If the class of the argument has a member
/// type `KernelArgument`, it is this type. (nvcc would convert the argument to the type of the
/// parameter, which is not known here.)
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
  // It is not known here whether the kernel takes a pointer to constant elements.
  if constexpr (std::is_array_v<Value>)
    return const_cast<std::remove_extent_t<Value>*>(&argument[0]);
  else
    return static_cast<typename Copied<Value>::Type>(argument);
}

/// An argument of a kernel with its index.
template <std::size_t number, typename Value>
struct Copy {
  Value value;
};

/// A kernel with copies of its arguments. A tuple and a shared pointer per launch would take longer
/// to compile, and sources contain dozens of launches.
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

/// Memory for a closure, and an owner that destroys the closure and frees the memory.
void* room_for(std::size_t bytes, std::size_t alignment);
Owned owned(void* closure, void (*destroy)(void*));

/// Copies a kernel's arguments, as a launch does.
template <typename Kernel, typename... Arguments>
Invocation invocation(Kernel kernel, const Arguments&... arguments) {
  using Copies = ClosureOf<Kernel, decltype(copied(arguments))...>;
  void* const closure = new (room_for(sizeof(Copies), alignof(Copies)))
      Copies{{copied(arguments)}..., std::move(kernel)};
  return {owned(closure, Copies::destroy), sizeof(Copies), Copies::call};
}

/// Interrupts the calling thread of a kernel: until `return_to_kernel`, its work counts as work of
/// the runtime and not of the kernel.
/// \returns the thread for `return_to_kernel`, or null if the host calls
void* leave_kernel();
void return_to_kernel(void* thread);

/// Whether values of a type are passed as bytes, because their copy and their destruction call no
/// function. For any other type, the caller makes and destroys a copy, and passes its address
/// (Itanium C++ ABI, section 3.1.2.3).
template <typename Value>
inline constexpr bool is_passed_as_bytes = std::is_trivially_copy_constructible_v<Value>&&
    std::is_trivially_move_constructible_v<Value>&& std::is_trivially_destructible_v<Value>;

/// The bytes of a kernel parameter, by the index of the parameter.
template <std::size_t number, typename Value>
struct Bytes {
  alignas(Value) unsigned char bytes[sizeof(Value)];

  /// The parameter in the form that a call passes.
  decltype(auto) passed() {
    if constexpr (is_passed_as_bytes<Value>)
      return static_cast<Value&>(*std::launder(reinterpret_cast<Value*>(bytes)));
    else
      return static_cast<void*>(bytes);
  }
};

/// A kernel with the bytes of its arguments. As in CUDA, the threads of the kernel do not construct
/// or destroy arguments of any class.
template <typename Numbers, typename... Parameters>
struct BytesClosure;
template <std::size_t... number, typename... Parameters>
struct BytesClosure<std::index_sequence<number...>, Parameters...> : Bytes<number, Parameters>... {
  void (*kernel)(Parameters...);

  BytesClosure(void (*kernel)(Parameters...), [[maybe_unused]] const void* const* arguments)
      : kernel(kernel) {
    (std::memcpy(Bytes<number, Parameters>::bytes, arguments[number], sizeof(Parameters)), ...);
  }

  CUDA_ON_CPU_NOT_ANALYSED static void call(void* self) {
    BytesClosure own = *static_cast<const BytesClosure*>(self);  // a thread may change them
    using Called =
        void (*)(std::conditional_t<is_passed_as_bytes<Parameters>, Parameters, void*>...);
    reinterpret_cast<Called>(own.kernel)(static_cast<Bytes<number, Parameters>&>(own).passed()...);
  }
  static void destroy(void*) {}
};

/// A kernel with copies of the bytes at the addresses of its arguments.
template <typename... Parameters>
Invocation invocation_of_bytes(void (*kernel)(Parameters...), const void* const* arguments) {
  using Made = BytesClosure<std::index_sequence_for<Parameters...>, Parameters...>;
  void* const closure = new (room_for(sizeof(Made), alignof(Made))) Made(kernel, arguments);
  return {owned(closure, Made::destroy), sizeof(Made), Made::call};
}

/// Copies of the arguments with the types of the parameters. The caller of the launch makes them,
/// and destroys them after the launch.
template <typename Numbers, typename... Parameters>
struct CopiesOfCaller;
template <std::size_t... number, typename... Parameters>
struct CopiesOfCaller<std::index_sequence<number...>, Parameters...> : Copy<number, Parameters>... {
  CUDA_ON_CPU_NOT_ANALYSED Invocation invocation(void (*kernel)(Parameters...)) const {
    const void* const addresses[] = {
        nullptr, __builtin_addressof(static_cast<const Copy<number, Parameters>&>(*this).value)...};
    return invocation_of_bytes(kernel, addresses + 1);
  }
};

/// Launches a kernel with known parameter types, from the host or from a kernel.
template <typename... Parameters, typename... Arguments>
cudaError submit_kernel(const char* name, const Configuration& configuration,
                        void (*kernel)(Parameters...), const Arguments&... arguments) {
  using Copies = CopiesOfCaller<std::index_sequence_for<Parameters...>, Parameters...>;
  const Copies copies{{static_cast<Parameters>(copied(arguments))}...};
  void* const thread = leave_kernel();
  Invocation made = copies.invocation(kernel);
  return_to_kernel(thread);
  return submit(name, configuration, std::move(made));
}

/// Tags with which a launch selects the kernel that its source names: the only kernel of this name
/// (`Sole`), or the overload of a given type (`Exactly`). `Unknown` stands for a kernel that cannot
/// be selected in this way.
struct Unknown {};
struct Sole {};
template <typename Function>
struct Exactly {
  using Type = Function;
};
template <typename... Parameters>
constexpr auto chosen(void (*kernel)(Parameters...), Sole) {
  return kernel;
}
template <typename Function>
constexpr Function chosen(typename Exactly<Function>::Type kernel, Exactly<Function>) {
  return kernel;
}

template <typename Function>
inline constexpr int count_of_parameters = -1;
template <typename... Parameters>
inline constexpr int count_of_parameters<void (*)(Parameters...)> = sizeof...(Parameters);

/// Whether a name denotes only one kernel, and this kernel has `count` parameters.
template <typename Choose, std::size_t count>
constexpr bool is_sole() {
  if constexpr (std::is_invocable_v<const Choose&, Sole>)
    return count_of_parameters<std::invoke_result_t<const Choose&, Sole>> == int(count);
  else
    return false;
}

/// Launches the kernel that a source names. If all arguments are passed as bytes, the types of the
/// parameters are not required. Otherwise, an overloaded kernel or a template has to have exactly
/// the types of the arguments. If there is no such kernel, each thread copies the arguments.
template <typename Kernel, typename Choose, typename... Arguments>
__forceinline__ cudaError submit_named(const char* name, const Configuration& configuration,
                                       Kernel kernel, [[maybe_unused]] const Choose& choose,
                                       const Arguments&... arguments) {
  using Exact = Exactly<void (*)(decltype(copied(arguments))...)>;
  if constexpr ((is_passed_as_bytes<decltype(copied(arguments))> && ...))
    return submit(name, configuration, invocation(std::move(kernel), arguments...));
  else if constexpr (is_sole<Choose, sizeof...(Arguments)>())
    return submit_kernel(name, configuration, choose(Sole{}), arguments...);
  else if constexpr (std::is_invocable_v<const Choose&, Exact>)
    return submit_kernel(name, configuration, choose(Exact{}), arguments...);
  else
    return submit(name, configuration, invocation(std::move(kernel), arguments...));
}

/// Check an argument of a kernel. The host's address of a device variable or of a function is an
/// error, and so is an object with virtual functions.
void is_given(const volatile void* pointer);
void is_given_function(const void* function);
void is_given_virtual_functions();
/// Checks an argument that device code passes to a child kernel. In a kernel, a pointer to local or
/// shared memory is an error. On the host, the function checks the same as `is_given`.
void is_passed_on(const volatile void* pointer);

template <typename Value>
__forceinline__ void check_given(const Value& argument) {
  using Plain = std::decay_t<const Value>;
  if constexpr (std::is_polymorphic_v<Plain>)
    is_given_virtual_functions();
  else if constexpr (std::is_function_v<std::remove_pointer_t<Plain>>)
    is_given_function(reinterpret_cast<const void*>(static_cast<Plain>(argument)));
  else if constexpr (std::is_pointer_v<Plain>)
    is_given(argument);
}
template <typename Value>
__forceinline__ void check_passed_on(const Value& argument) {
  using Plain = std::decay_t<const Value>;
  if constexpr (std::is_pointer_v<Plain> && !std::is_function_v<std::remove_pointer_t<Plain>>)
    is_passed_on(argument);
}

/// A launch with <<<...>>>. It is inline, so that an error in it is reported at the source line.
/// \param choose returns the kernel that the source names, for one of the tags above
template <typename Kernel, typename Choose, typename... Arguments>
__forceinline__ void launch(const char* name, const Configuration& configuration, Kernel kernel,
                            const Choose& choose, const Arguments&... arguments) {
#ifdef CUDA_ON_CPU_ANALYSE
  (check_given(arguments), ...);
#endif
  Dropped{} = submit_named(name, configuration, std::move(kernel), choose, arguments...);
}

/// All kernels of one name.
template <typename Function>
struct Overload {
  Function kernel;
};
template <typename... Functions>
struct Overloads : Overload<Functions>... {};
template <typename... Functions>
constexpr Overloads<Functions...> overloads(Functions... kernels) {
  return {{kernels}...};
}

/// A launch of one of them. As in a call, the arguments select the kernel and are converted to its
/// parameters. The caller of the launch makes the copies, and destroys them after the launch.
template <typename Function>
struct OverloadLaunch;
template <typename... Parameters>
struct OverloadLaunch<void (*)(Parameters...)> {
  const char* name;
  const Configuration* configuration;
  void (*kernel)(Parameters...);

  __forceinline__ void operator()(Parameters... arguments) const {
#ifdef CUDA_ON_CPU_ANALYSE
    (check_given(arguments), ...);
#endif
    const void* const addresses[] = {nullptr, __builtin_addressof(arguments)...};
    Dropped{} = submit(name, *configuration, invocation_of_bytes(kernel, addresses + 1));
  }
};
template <typename... Functions>
struct OverloadsLaunch : OverloadLaunch<Functions>... {
  using OverloadLaunch<Functions>::operator()...;
};
template <typename... Functions>
constexpr OverloadsLaunch<Functions...> launch_overload(const char* name,
                                                        const Configuration& configuration,
                                                        const Overloads<Functions...>& kernels) {
  return {{name, &configuration, static_cast<const Overload<Functions>&>(kernels).kernel}...};
}

/// A launch by a thread of a kernel. Copying the arguments does not count as an access.
template <typename Kernel, typename... Copies>
__attribute__((noinline)) CUDA_ON_CPU_NOT_ANALYSED cudaError submit_child(
    const char* name, const Configuration& configuration, Kernel kernel, Copies... arguments) {
  void* const thread = leave_kernel();
  Invocation made = invocation(std::move(kernel), arguments...);
  return_to_kernel(thread);
  return submit(name, configuration, std::move(made));
}

/// A launch with <<<...>>> in device code that the host may call, too.
template <typename Kernel, typename Choose, typename... Arguments>
__forceinline__ void launch_child(const char* name, const Configuration& configuration,
                                  Kernel kernel, [[maybe_unused]] const Choose& choose,
                                  const Arguments&... arguments) {
#ifdef CUDA_ON_CPU_ANALYSE
  (check_passed_on(arguments), ...);
#endif
  if constexpr ((is_passed_as_bytes<decltype(copied(arguments))> && ...))
    Dropped{} = submit_child(name, configuration, std::move(kernel), copied(arguments)...);
  else
    Dropped{} = submit_named(name, configuration, std::move(kernel), choose, arguments...);
}

}  // namespace cuda_on_cpu

void* operator new(std::size_t bytes, cuda_on_cpu::Heap);
void* operator new[](std::size_t bytes, cuda_on_cpu::Heap);
void operator delete(void* pointer, cuda_on_cpu::Heap);
void operator delete[](void* pointer, cuda_on_cpu::Heap);
