/// \file
/// Distributes the rows of a field among the GPUs of one process, and copies rows to and from them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <staircase/devices.hpp>
#include <vector>

#include "advection_distributed.hpp"

namespace advection_distributed {

using staircase::OnDevice;
using staircase::synchronise;
using staircase::View;

// [distribute]
/// The rows of the field that a GPU owns.
struct OwnRows {
  unsigned number;  // index of the GPU, from the top
  int device;
  std::size_t first;
  unsigned rows;
};

/// Returns the GPUs that the problem requests, but at most as many as there are rows.
inline std::vector<int> devices_for(const Problem& problem, std::size_t rows) {
  std::vector<int> devices = staircase::devices(problem.gpus);
  devices.resize(std::min(devices.size(), rows));
  return devices;
}

/// Makes one `Gpu` per device from its rows and the given arguments. Each `Gpu` is made while its
/// device is current, because memory, streams and events belong to the current device.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> distribute_rows(const std::vector<int>& devices, std::size_t rows,
                                const Arguments&... arguments) {
  std::deque<Gpu> gpus;
  const std::size_t count = devices.size();
  for (unsigned g = 0; g < count; ++g) {
    const OnDevice here(devices[g]);
    const std::size_t first = rows * g / count, end = rows * (g + 1) / count;
    gpus.emplace_back(OwnRows{g, devices[g], first, static_cast<unsigned>(end - first)},
                      arguments...);
  }
  return gpus;
}
// [distribute]

// [ways]
/// Copies the rows of the initial field to the GPUs and waits for the copies. `address(gpu)`
/// returns the address of the first row on a GPU.
template <typename T, typename Gpus, typename Address>
void copy_in(const Problem& problem, const Gpus& gpus, Address address) {
  const auto rounded = advection::rounded<T>(problem);
  const std::size_t cols = problem.field_at_first().extent(1);
  for (const auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    staircase::check(cudaMemcpy(address(gpu), &rounded[gpu.first * cols],
                                gpu.rows * cols * sizeof(T), cudaMemcpyHostToDevice));
  }
  synchronise(gpus);
}

/// Copies the rows from the GPUs into a field. `address(gpu)` is the same as in `copy_in`.
template <typename T, typename Gpus, typename Address>
void copy_out(const Gpus& gpus, Field<T>& field, Address address) {
  for (const auto& gpu : gpus)
    staircase::check(cudaMemcpy(&field(gpu.first, 0), address(gpu),
                                gpu.rows * field.extent(1) * sizeof(T), cudaMemcpyDeviceToHost));
}
// [ways]

}  // namespace advection_distributed
