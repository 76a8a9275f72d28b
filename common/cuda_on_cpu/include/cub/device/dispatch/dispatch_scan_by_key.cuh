/// \file
/// Replaces the CUB header of the same name: one scan for each run of equal keys.

#pragma once

#include <cub/device/dispatch/dispatch_scan.cuh>

CUB_NAMESPACE_BEGIN

template <typename Keys, typename In, typename Out, typename Equality, typename Operation,
          typename Init, typename Offset,
          typename Accum = ::cuda::std::__accumulator_t<
              Operation, detail::it_value_t<In>,
              ::cuda::std::_If<!cuda_on_cpu::is_there<Init>, detail::it_value_t<In>, Init>>,
          typename...>
struct DispatchScanByKey {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, Keys keys, In in, Out out,
                              Equality equal, Operation operation, Init init, Offset count,
                              cudaStream_t stream) {
    return cuda_on_cpu::in_order(
        "cub::DeviceScan", storage, bytes, static_cast<std::size_t>(count), stream,
        [=]() mutable { scan(keys, in, out, equal, operation, init, count); });
  }

 private:
  static void scan(Keys keys, In in, Out out, Equality equal, Operation operation, Init init,
                   Offset count) {
    using Key = detail::it_value_t<Keys>;
    using Item = detail::it_value_t<In>;
    for (Offset i = 0; i < count;) {
      Key key = keys[i];
      Accum sum = first(init, Item(in[i]));
      for (bool begins = true;; begins = false) {
        const Item item = in[i];
        const Accum next =
            begins && !cuda_on_cpu::is_there<Init> ? sum : added(operation, sum, item);
        out[i] = cuda_on_cpu::is_there<Init> ? sum : next;
        sum = next;
        if (++i == count) break;
        const Key other = keys[i];
        if (!equal(key, other)) break;
        key = other;
      }
    }
  }
  template <typename Item>
  static Accum first(Init init, const Item& item) {
    if constexpr (cuda_on_cpu::is_there<Init>)
      return init;
    else
      return item;
  }
  template <typename Item>
  static Accum added(Operation& operation, const Accum& sum, const Item& item) {
    return operation(sum, item);
  }
};

CUB_NAMESPACE_END
