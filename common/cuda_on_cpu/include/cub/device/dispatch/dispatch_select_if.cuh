/// \file
/// Replaces the CUB header of the same name: selections and partitions.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::select {

/// Decides whether an item is selected: by its flag, by a predicate of the item or of the flag, or
/// as the first of a run of equal items.
template <typename In, typename Flags, typename Choose, typename Equality>
struct Choice {
  using Item = it_value_t<In>;

  In in;
  Flags flags;
  Choose choose;
  Equality equal;
  Item last{};

  bool operator()(std::int64_t i, const Item& item) {
    static_cast<void>(item);
    if constexpr (has_flags && cuda_on_cpu::is_there<Choose>) {
      return static_cast<bool>(choose(it_value_t<Flags>(flags[i])));
    } else if constexpr (has_flags) {
      return static_cast<bool>(it_value_t<Flags>(flags[i]));
    } else if constexpr (cuda_on_cpu::is_there<Choose>) {
      return static_cast<bool>(choose(item));
    } else {
      const bool is_new = i == 0 || !equal(last, item);
      last = item;
      return is_new;
    }
  }

 private:
  static constexpr bool has_flags = cuda_on_cpu::is_there<it_value_t<Flags>>;
};

}  // namespace detail::select

template <typename In, typename Flags, typename Out, typename CountOut, typename Choose,
          typename Equality, typename Offset, SelectImpl how, typename...>
struct DispatchSelectIf {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Flags flags, Out out,
                              CountOut chosen, Choose choose, Equality equal, Offset count,
                              cudaStream_t stream) {
    return cuda_on_cpu::in_order(
        how == SelectImpl::Partition ? "cub::DevicePartition" : "cub::DeviceSelect", storage, bytes,
        static_cast<std::size_t>(count), stream,
        [=, is_chosen = detail::select::Choice<In, Flags, Choose, Equality>{in, flags, choose,
                                                                            equal}]() mutable {
          Offset taken = 0;
          for (Offset i = 0; i < count; ++i) {
            const detail::it_value_t<In> item = in[i];
            if (is_chosen(i, item))
              out[taken++] = item;
            else if constexpr (how == SelectImpl::Partition)
              out[count - 1 - (i - taken)] = item;
          }
          *chosen = taken;
        });
  }
};

CUB_NAMESPACE_END
