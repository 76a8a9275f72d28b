/// \file
/// Replaces the CUB header of the same name: reductions of arrays and of segments.

#pragma once

#include <cuda/std/__functional/invoke.h>
#include <cub/device/dispatch/dispatch_common.cuh>
#include <cub/iterator/arg_index_input_iterator.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cuda/std/functional>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::reduce {

/// The result of a reduction without items. Unlike an initial value, this value is not combined
/// with the items.
template <typename Value>
struct empty_problem_init_t {
  Value init;
  operator Value() const { return init; }
};

/// Reduces items in order with one thread.
template <typename Accum, typename Operation, typename Init, typename Transform>
struct Reduction {
  Operation operation;
  Init init;
  Transform transform;

  template <typename In, typename Out>
  void operator()(In in, std::int64_t count, Out out) {
    if (count == 0) return store(out, init);
    Accum sum = transform(it_value_t<In>(in[0]));
    for (std::int64_t i = 1; i < count; ++i) sum = operation(sum, transform(it_value_t<In>(in[i])));
    finish(out, sum, init);
  }

 private:
  template <typename Out, typename Value>
  void store(Out out, const Value& value) {
    *out = value;
  }
  template <typename Out, typename Value>
  void store(Out out, const empty_problem_init_t<Value>& value) {
    *out = value.init;
  }
  template <typename Out, typename Value>
  void finish(Out out, const Accum& sum, const Value& first) {
    *out = operation(first, sum);
  }
  template <typename Out, typename Value>
  void finish(Out out, const Accum& sum, const empty_problem_init_t<Value>&) {
    *out = sum;
  }
};

}  // namespace detail::reduce

template <typename In, typename Out, typename Offset, typename Operation,
          typename Init = detail::non_void_value_t<Out, detail::it_value_t<In>>,
          typename Accum = ::cuda::std::__accumulator_t<Operation, detail::it_value_t<In>, Init>,
          typename Transform = ::cuda::std::__identity, typename...>
struct DispatchReduce {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Out out, Offset count,
                              Operation operation, Init init, cudaStream_t stream,
                              Transform transform = {}) {
    return cuda_on_cpu::in_order(
        "cub::DeviceReduce", storage, bytes, static_cast<std::size_t>(count), stream,
        [=, reduce = detail::reduce::Reduction<Accum, Operation, Init, Transform>{
                operation, init, transform}]() mutable { reduce(in, count, out); });
  }
};

template <typename In, typename Out, typename Offset, typename Operation, typename Transform,
          typename Init,
          typename Accum = ::cuda::std::__accumulator_t<
              Operation, ::cuda::std::invoke_result_t<Transform, detail::it_value_t<In>>, Init>,
          typename...>
using DispatchTransformReduce = DispatchReduce<In, Out, Offset, Operation, Init, Accum, Transform>;

template <typename In, typename Out, typename Begins, typename Ends, typename Offset,
          typename Operation, typename Init = detail::non_void_value_t<Out, detail::it_value_t<In>>,
          typename Accum = ::cuda::std::__accumulator_t<Operation, detail::it_value_t<In>, Init>,
          typename...>
struct DispatchSegmentedReduce {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Out out,
                              std::int64_t segments, Begins begins, Ends ends, Operation operation,
                              Init init, cudaStream_t stream) {
    using Identity = ::cuda::std::__identity;
    return cuda_on_cpu::in_segments(
        "cub::DeviceSegmentedReduce", storage, bytes, static_cast<std::size_t>(segments), stream,
        [=, reduce = detail::reduce::Reduction<Accum, Operation, Init, Identity>{
                operation, init, {}}](std::size_t segment) mutable {
          const auto begin = static_cast<std::int64_t>(begins[segment]);
          const auto end = static_cast<std::int64_t>(ends[segment]);
          reduce(in + begin, end > begin ? end - begin : 0, out + segment);
        });
  }
};

CUB_NAMESPACE_END
