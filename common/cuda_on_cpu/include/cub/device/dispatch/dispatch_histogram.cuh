/// \file
/// Replaces the CUB header of the same name: histograms.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>
#include <cuda/std/array>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::histogram {

/// Bins of equal width. The call operator returns the index of the bin of a sample, or -1 if the
/// sample is out of range.
template <typename Level, typename Sample>
struct EvenBins {
  using Common = ::cuda::std::common_type_t<Level, Sample>;

  int bins;
  Level lower, upper;

  int operator()(Sample sample) const {
    const auto x = static_cast<Common>(sample), first = static_cast<Common>(lower),
               end = static_cast<Common>(upper);
    if (!(x >= first && x < end)) return -1;
    if constexpr (::cuda::std::is_integral_v<Common>)
      return static_cast<int>(static_cast<std::uint64_t>(x - first) *
                              static_cast<std::uint64_t>(bins) /
                              static_cast<std::uint64_t>(end - first));
    else
      return static_cast<int>((x - first) * (static_cast<Common>(bins) / (end - first)));
  }
};

/// Bins between given levels, which are stored in device memory. The call operator returns the
/// index of the bin of a sample, or -1 if the sample is out of range.
template <typename Level, typename Sample>
struct RangeBins {
  int bins;
  const Level* levels;

  int operator()(Sample sample) const {
    int bin = -1;
    while (bin < bins && !(sample < levels[bin + 1])) ++bin;
    return bin < bins ? bin : -1;
  }
};

}  // namespace detail::histogram

template <int channels, int active, typename Samples, typename Counter, typename Level,
          typename Offset, typename...>
struct DispatchHistogram {
  template <typename Value>
  using Each = ::cuda::std::array<Value, active>;
  using Sample = detail::it_value_t<Samples>;

  template <typename IsByte>
  static cudaError_t DispatchEven(void* storage, std::size_t& bytes, Samples samples,
                                  Each<Counter*> counters, Each<int> levels, Each<Level> lower,
                                  Each<Level> upper, Offset width, Offset height, Offset stride,
                                  cudaStream_t stream, IsByte) {
    using Bins = detail::histogram::EvenBins<Level, Sample>;
    Each<Bins> bins;
    for (int c = 0; c < active; ++c) bins[c] = Bins{levels[c] - 1, lower[c], upper[c]};
    return count(storage, bytes, samples, counters, bins, width, height, stride, stream);
  }

  template <typename IsByte>
  static cudaError_t DispatchRange(void* storage, std::size_t& bytes, Samples samples,
                                   Each<Counter*> counters, Each<int> levels,
                                   Each<const Level*> edges, Offset width, Offset height,
                                   Offset stride, cudaStream_t stream, IsByte) {
    using Bins = detail::histogram::RangeBins<Level, Sample>;
    Each<Bins> bins;
    for (int c = 0; c < active; ++c) bins[c] = Bins{levels[c] - 1, edges[c]};
    return count(storage, bytes, samples, counters, bins, width, height, stride, stream);
  }

 private:
  template <typename Bins>
  static cudaError_t count(void* storage, std::size_t& bytes, Samples samples,
                           Each<Counter*> counters, Each<Bins> bins, Offset width, Offset height,
                           Offset stride, cudaStream_t stream) {
    return cuda_on_cpu::in_order("cub::DeviceHistogram", storage, bytes, 0, stream, [=]() mutable {
      for (int c = 0; c < active; ++c)
        for (int bin = 0; bin < bins[c].bins; ++bin) counters[c][bin] = 0;
      for (Offset row = 0; row < height; ++row)
        for (Offset pixel = 0; pixel < width; ++pixel)
          for (int c = 0; c < active; ++c) {
            const int bin = bins[c](samples[row * stride + pixel * channels + c]);
            if (bin >= 0) ++counters[c][bin];
          }
    });
  }
};

CUB_NAMESPACE_END
