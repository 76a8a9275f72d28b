/// \file
/// Replaces the CUB header of the same name: inclusive and exclusive scans.

#pragma once

#include <cuda/std/__functional/invoke.h>
#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/device/dispatch/dispatch_common.cuh>
#include <cub/thread/thread_operators.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

/// Whether a scan with an initial value is inclusive: each result then includes its own item.
enum class ForceInclusive { Yes, No };

template <typename In, typename Out, typename Operation, typename Init, typename Offset,
          typename Accum = ::cuda::std::__accumulator_t<
              Operation, detail::it_value_t<In>,
              ::cuda::std::_If<!cuda_on_cpu::is_there<Init>, detail::it_value_t<In>,
                               typename Init::value_type>>,
          ForceInclusive inclusive = ForceInclusive::No, typename...>
struct DispatchScan {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Out out,
                              Operation operation, Init init, Offset count, cudaStream_t stream) {
    return cuda_on_cpu::in_order("cub::DeviceScan", storage, bytes, static_cast<std::size_t>(count),
                                 stream, [=]() mutable { scan(in, out, operation, init, count); });
  }

 private:
  /// Scans the items in order. The results may overwrite the items.
  static void scan(In in, Out out, Operation operation, Init init, Offset count) {
    if (count == 0) return;
    if constexpr (cuda_on_cpu::is_there<Init>) {
      Accum sum = static_cast<typename Init::value_type>(init);
      for (Offset i = 0; i < count; ++i) {
        const Accum next = operation(sum, detail::it_value_t<In>(in[i]));
        out[i] = inclusive == ForceInclusive::Yes ? next : sum;
        sum = next;
      }
    } else {
      Accum sum = detail::it_value_t<In>(in[0]);
      out[0] = sum;
      for (Offset i = 1; i < count; ++i) {
        sum = operation(sum, detail::it_value_t<In>(in[i]));
        out[i] = sum;
      }
    }
  }
};

CUB_NAMESPACE_END
