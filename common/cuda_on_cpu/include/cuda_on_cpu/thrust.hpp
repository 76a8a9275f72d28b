/// \file
/// The algorithms of Thrust as kernels. An algorithm that must process the elements in order runs
/// Thrust's sequential code in one thread. All other algorithms use one thread per element.

#pragma once

#include <thrust/detail/function.h>
#include <thrust/system/cuda/detail/util.h>
#include <thrust/system/detail/sequential/execution_policy.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "closures.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

/// The policy of Thrust's sequential code. Only unevaluated expressions use this function.
system::detail::sequential::tag& one_thread();

template <typename Closure>
void submit(const char* name, dim3 grid, dim3 block, cudaStream_t stream,
            std::shared_ptr<Closure> closure) {
  throw_on_error(cuda_on_cpu::launch_closure(name, grid, block, stream, std::move(closure)), name);
}

/// A task that one thread executes, and its result.
template <typename Work, typename Result>
struct Task {
  Work work;
  std::optional<Result> result;

  void operator()() { result.emplace(work()); }
};
template <typename Work>
struct Task<Work, void> {
  Work work;

  void operator()() { work(); }
};

/// A closure for a kernel with one thread per element.
template <typename Iterator, typename Function>
struct Elements {
  Iterator first;
  std::size_t count;
  Function function;

  void operator()() const {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const thrust::detail::wrapped_function<Function, void> called{function};
    called(*(first + static_cast<std::ptrdiff_t>(i)));
  }
};

/// Runs an algorithm in one thread. On the host, the function launches a kernel with a single
/// thread. In a kernel, the calling thread runs the algorithm.
template <typename Policy, typename Algorithm>
auto in_one_thread(const char* name, execution_policy<Policy>& policy, Algorithm algorithm) {
  auto work = [algorithm]() mutable {
    system::detail::sequential::tag one;
    return algorithm(one);
  };
  using Work = decltype(work);
  using Result = decltype(work());
  if (cuda_on_cpu::is_on_device()) return work();
  const auto task = std::make_shared<Task<Work, Result>>(Task<Work, Result>{std::move(work)});
  submit(name, 1, 1, stream(policy), task);
  if constexpr (std::is_void_v<Result>) {
    throw_on_error(synchronize_optional(policy), name);
  } else {
    throw_on_error(synchronize(policy), name);
    return *std::move(task->result);
  }
}

/// Calls a function for each element, with one thread per element.
template <typename Policy, typename Iterator, typename Function>
void in_many_threads(const char* name, execution_policy<Policy>& policy, Iterator first,
                     std::size_t count, Function function) {
  if (count == 0) return;
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  submit(name, blocks, threads, stream(policy),
         std::make_shared<Elements<Iterator, Function>>(
             Elements<Iterator, Function>{first, count, function}));
  throw_on_error(synchronize_optional(policy), name);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
