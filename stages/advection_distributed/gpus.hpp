/// \file
/// A field whose rows are dealt to the GPUs of one process, and its ways there and back.

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

// [deal]
/// Which rows of the field a GPU has.
struct Own {
  unsigned number;  // of the GPU, from the top
  int device;
  std::size_t first;
  unsigned rows;
};

/// The GPUs that so many rows are dealt to: those that are asked for, but no more than rows.
inline std::vector<int> devices_for(const Problem& problem, std::size_t rows) {
  std::vector<int> devices = staircase::devices(problem.gpus);
  devices.resize(std::min(devices.size(), rows));
  return devices;
}

/// What each of these GPUs has, which is told its rows and whatever else: made while calls are
/// meant for that GPU.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> deal(const std::vector<int>& devices, std::size_t rows,
                     const Arguments&... arguments) {
  std::deque<Gpu> gpus;
  const std::size_t count = devices.size();
  for (unsigned g = 0; g < count; ++g) {
    const OnDevice here(devices[g]);
    const std::size_t first = rows * g / count, end = rows * (g + 1) / count;
    gpus.emplace_back(Own{g, devices[g], first, static_cast<unsigned>(end - first)}, arguments...);
  }
  return gpus;
}
// [deal]

// [ways]
/// Copies the rows of the field at first to where `place(gpu)` says that those of a GPU begin, and
/// waits.
template <typename T, typename Gpus, typename Place>
void copy_in(const Problem& problem, const Gpus& gpus, Place place) {
  const auto rounded = advection::rounded<T>(problem);
  const std::size_t cols = problem.field_at_first().extent(1);
  for (const auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    staircase::check(cudaMemcpy(place(gpu), &rounded[gpu.first * cols], gpu.rows * cols * sizeof(T),
                                cudaMemcpyHostToDevice));
  }
  synchronise(gpus);
}

/// Copies the rows of GPUs back from there.
template <typename T, typename Gpus, typename Place>
void copy_out(const Gpus& gpus, Field<T>& field, Place place) {
  for (const auto& gpu : gpus)
    staircase::check(cudaMemcpy(&field(gpu.first, 0), place(gpu),
                                gpu.rows * field.extent(1) * sizeof(T), cudaMemcpyDeviceToHost));
}
// [ways]

}  // namespace advection_distributed
