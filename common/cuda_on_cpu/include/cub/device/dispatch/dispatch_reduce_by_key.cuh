/// \file
/// Replaces the CUB header of the same name: one reduction for each run of equal keys.

#pragma once

#include <cub/device/dispatch/dispatch_reduce.cuh>

CUB_NAMESPACE_BEGIN

template <typename KeysIn, typename UniqueOut, typename ValuesIn, typename SumsOut,
          typename RunsOut, typename Equality, typename Operation, typename Offset,
          typename Accum = ::cuda::std::__accumulator_t<Operation, detail::it_value_t<ValuesIn>,
                                                        detail::it_value_t<ValuesIn>>,
          typename...>
struct DispatchReduceByKey {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, KeysIn keys, UniqueOut unique,
                              ValuesIn values, SumsOut sums, RunsOut runs, Equality equal,
                              Operation operation, Offset count, cudaStream_t stream) {
    using Key = detail::it_value_t<KeysIn>;
    using Value = detail::it_value_t<ValuesIn>;
    return cuda_on_cpu::in_order("cub::DeviceReduce::ReduceByKey", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   Offset run = 0;
                                   for (Offset i = 0; i < count; ++run) {
                                     Key key = keys[i];
                                     const Key first = key;
                                     Accum sum = Value(values[i]);
                                     for (++i; i < count; ++i) {
                                       const Key next = keys[i];
                                       if (!equal(key, next)) break;
                                       key = next;
                                       sum = operation(sum, Value(values[i]));
                                     }
                                     unique[run] = first;
                                     sums[run] = sum;
                                   }
                                   *runs = run;
                                 });
  }
};

CUB_NAMESPACE_END
