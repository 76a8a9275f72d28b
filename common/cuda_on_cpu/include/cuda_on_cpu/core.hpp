/// \file
/// The language extensions of CUDA C++: qualifiers, built-in variables and kernel launches.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "owned.hpp"

// The rewriter replaces __shared__, __cluster_dims__, __launch_bounds__, __device__ and
// __noinline__. __host__, __grid_constant__ and __maxnreg__ have no effect on the CPU device.
#define __host__
#define __grid_constant__
#define __maxnreg__(...)
#ifdef __CUDA__  // libclang reads the source before it is rewritten
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// In an analysed program, the attribute `flatten` inlines all functions into the kernel.
// Instruction addresses then have the order of the source, and a warp reconverges at the lowest
// address.
#ifdef __clang__
#define CUDA_ON_CPU_KERNEL noinline, noinline  // the repetition marks kernels for the rewriter
#else
#define CUDA_ON_CPU_KERNEL noipa  // prevents optimisations that use the arguments of a launch
#endif
// The rewriter removes these marks. The first mark denotes device functions and variables. A
// variable without a mark belongs to the host.
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
// The thread-local storage model of program variables that the image of a module uses.
#ifdef CUDA_ON_CPU_IMAGE
#define CUDA_ON_CPU_OF_PROGRAM __attribute__((tls_model("initial-exec")))
#else
#define CUDA_ON_CPU_OF_PROGRAM
#endif

struct uint3 {
  unsigned x, y, z;
};

/// The size of a thread block or of a grid in three dimensions. Omitted components are 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// These variables are constant within a CUDA thread, so that compilers may keep their values in
// registers across a switch between threads. The values change only in builtins.cpp, which declares
// the variables without const.
extern __thread const uint3 threadIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const uint3 blockIdx CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 blockDim CUDA_ON_CPU_OF_PROGRAM;
extern __thread const dim3 gridDim CUDA_ON_CPU_OF_PROGRAM;
inline constexpr int warpSize = 32;

// The dynamic shared memory of the block. Kernels declare this memory as an `extern __shared__`
// array.
extern "C" __thread char cuda_on_cpu_dynamic_shared[] CUDA_ON_CPU_OF_PROGRAM;

using cudaStream_t = struct CUstream_st*;
enum cudaError : unsigned;

namespace cuda_on_cpu {

/// Whether the caller is a thread of a kernel rather than a host thread.
bool is_on_device();

/// The execution configuration of a launch (the arguments between <<< and >>>), and the attributes
/// of the launch.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;  ///< bytes per block
  cudaStream_t stream = nullptr;
  dim3 cluster = {};  ///< size of a cluster in blocks
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

/// A kernel together with its arguments. Each thread of the launch calls the kernel once.
struct Invocation {
  Owned closure;
  std::size_t bytes;
  void (*call)(void* closure);
  Owned callers = {};  ///< the result of callers(), if a library launches the kernel
};

/// Appends a kernel launch to its stream. The kernel runs as soon as another operation depends on
/// it.
/// \returns the error if the launch is refused; cudaGetLastError returns the same error, as in CUDA
cudaError submit(const char* kernel, const Configuration& configuration, Invocation invocation);

/// Logs an error code that a statement of the program discards. The analysis reports the error,
/// unless the program calls cudaGetLastError later.
void drop(cudaError error);

/// Receives the result of each launch, and of each runtime call that is a statement of its own.
struct Dropped {
  __forceinline__ void operator=(cudaError error) {
    if (error != cudaError{}) drop(error);
  }
};

// The rewriter inserts the following calls, except note_bounds(), only into analysed programs.

/// Marks the beginning of a function that only the host may call. If a kernel calls the function,
/// the analysis reports an error.
void enters_host_function(const char* name);

/// Ends the speculative execution of the current block, if any. The block then restarts when no
/// other block runs. A thread must call this function before an operation that is visible outside
/// the program, that the analysis cannot observe, or whose result may depend on the order of
/// blocks.
void end_trial();

/// Marks the beginning of a device function that contains operations for which end_trial() is
/// required.
constexpr void leaves_analysis() {
  if (!__builtin_is_constant_evaluated()) end_trial();
}

/// Marks the beginning of a kernel. A function that the thread enters later has not been inlined
/// into the kernel.
void enters_kernel();

/// The return addresses of the active calls, innermost first, as a `std::vector<const void*>`.
Owned callers();

/// Allocates memory from the device heap for a call in a kernel, and from the host heap for a call
/// on the host.
void* heap_malloc(std::size_t bytes);
void heap_free(void* pointer);
struct Heap {};

/// Registers the maximum number of threads per block that a kernel declares with __launch_bounds__.
bool note_bounds(const char* kernel, unsigned threads);

/// The type to which a launch converts an argument before it copies the argument. If the argument's
/// class has a member type `KernelArgument`, the copy has that type. nvcc would convert the
/// argument to the type of the parameter, but this type is unknown here.
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
  // The pointer is not const, because the type of the kernel's parameter is unknown here.
  if constexpr (std::is_array_v<Value>)
    return const_cast<std::remove_extent_t<Value>*>(&argument[0]);
  else
    return static_cast<typename Copied<Value>::Type>(argument);
}

/// The kernel argument with index `number`.
template <std::size_t number, typename Value>
struct Copy {
  Value value;
};

/// A kernel with copies of its arguments. A tuple and a shared pointer for each launch would take
/// longer to compile, and some sources contain dozens of launches.
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

/// These functions allocate memory for a closure, and create an owner that destroys the closure and
/// frees the memory.
void* room_for(std::size_t bytes, std::size_t alignment);
Owned owned(void* closure, void (*destroy)(void*));

/// Creates an invocation with copies of a kernel's arguments, as a launch does.
template <typename Kernel, typename... Arguments>
Invocation invocation(Kernel kernel, const Arguments&... arguments) {
  using Copies = ClosureOf<Kernel, decltype(copied(arguments))...>;
  void* const closure = new (room_for(sizeof(Copies), alignof(Copies)))
      Copies{{copied(arguments)}..., std::move(kernel)};
  return {owned(closure, Copies::destroy), sizeof(Copies), Copies::call};
}

/// Suspends the kernel that the calling thread executes. Until `return_to_kernel`, the work of the
/// thread counts as work of the runtime.
/// \returns a handle of the thread for `return_to_kernel`, or null if a host thread calls the
/// function
void* leave_kernel();
void return_to_kernel(void* thread);

/// Whether values of a type are passed as bytes, because neither their copy constructor nor their
/// destructor calls a function. A value of any other type is passed by the address of a copy, which
/// the caller constructs and destroys (Itanium C++ ABI, section 3.1.2.3).
template <typename Value>
inline constexpr bool is_passed_as_bytes = std::is_trivially_copy_constructible_v<Value>&&
    std::is_trivially_move_constructible_v<Value>&& std::is_trivially_destructible_v<Value>;

/// The bytes of the kernel parameter with index `number`.
template <std::size_t number, typename Value>
struct Bytes {
  alignas(Value) unsigned char bytes[sizeof(Value)];

  /// The parameter in the form in which a call passes it.
  decltype(auto) passed() {
    if constexpr (is_passed_as_bytes<Value>)
      return static_cast<Value&>(*std::launder(reinterpret_cast<Value*>(bytes)));
    else
      return static_cast<void*>(bytes);
  }
};

/// A kernel with the bytes of its arguments. As in CUDA, the threads of the kernel neither
/// construct nor destroy arguments of class type.
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
    BytesClosure own = *static_cast<const BytesClosure*>(self);  // a thread may change its copy
    using Called =
        void (*)(std::conditional_t<is_passed_as_bytes<Parameters>, Parameters, void*>...);
    reinterpret_cast<Called>(own.kernel)(static_cast<Bytes<number, Parameters>&>(own).passed()...);
  }
  static void destroy(void*) {}
};

/// Creates a kernel invocation with copies of the bytes at the addresses of its arguments.
template <typename... Parameters>
Invocation invocation_of_bytes(void (*kernel)(Parameters...), const void* const* arguments) {
  using Made = BytesClosure<std::index_sequence_for<Parameters...>, Parameters...>;
  void* const closure = new (room_for(sizeof(Made), alignof(Made))) Made(kernel, arguments);
  return {owned(closure, Made::destroy), sizeof(Made), Made::call};
}

/// Copies of the arguments with the types of the kernel's parameters. The caller of the launch
/// creates the copies, and destroys them after the launch.
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

/// Tags by which a launch selects the kernel that the source names: the only kernel of this name
/// (`Sole`), or the overload with a given type (`Exactly`). `Unknown` denotes a kernel that cannot
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

/// Whether a name denotes exactly one kernel, and this kernel has `count` parameters.
template <typename Choose, std::size_t count>
constexpr bool is_sole() {
  if constexpr (std::is_invocable_v<const Choose&, Sole>)
    return count_of_parameters<std::invoke_result_t<const Choose&, Sole>> == int(count);
  else
    return false;
}

/// Launches the kernel that a source names. The types of the kernel's parameters are known if the
/// kernel has no overloads, or if an overload has exactly the types of the arguments. The caller of
/// the launch then copies the arguments. Otherwise, or if all arguments are passed as bytes, each
/// thread copies them.
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

/// These functions check an argument of a kernel. It is an error to pass the host address of a
/// device variable or of a function, or an object with virtual functions.
void is_given(const volatile void* pointer);
void is_given_function(const void* function);
void is_given_virtual_functions();
/// Checks an argument that device code passes to a child kernel. In a kernel, a pointer to local or
/// shared memory is an error. On the host, the function performs the checks of `is_given`.
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

/// Performs a launch with <<<...>>>. The function is inline, so that the analysis reports an error
/// at the source line of the launch.
/// \param choose returns the kernel that the source names, given one of the tags above
template <typename Kernel, typename Choose, typename... Arguments>
__forceinline__ void launch(const char* name, const Configuration& configuration, Kernel kernel,
                            const Choose& choose, const Arguments&... arguments) {
#ifdef CUDA_ON_CPU_ANALYSE
  (check_given(arguments), ...);
#endif
  Dropped{} = submit_named(name, configuration, std::move(kernel), choose, arguments...);
}

/// One overload of a kernel, as a base class of the set of all overloads.
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

/// Launches one kernel of an overload set. As in a call, the arguments select the overload and are
/// converted to its parameter types. The caller of the launch creates copies of the arguments, and
/// destroys them after the launch.
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

/// Performs a launch by a thread of a kernel. Copying the arguments does not count as an access.
template <typename Kernel, typename... Copies>
__attribute__((noinline)) CUDA_ON_CPU_NOT_ANALYSED cudaError submit_child(
    const char* name, const Configuration& configuration, Kernel kernel, Copies... arguments) {
  void* const thread = leave_kernel();
  Invocation made = invocation(std::move(kernel), arguments...);
  return_to_kernel(thread);
  return submit(name, configuration, std::move(made));
}

/// Performs a launch with <<<...>>> in device code that the host may call as well.
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
