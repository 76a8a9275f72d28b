/// \file
/// Predictor and corrector on the host, and the buffers, streams and events that a GPU needs for
/// slices of bodies that stay in host memory.

#pragma once

#include <staircase/stream.hpp>
#include <string>

#include "nbody.hpp"

namespace nbody {

using staircase::View;

// [predict]
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
template <typename T>
void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 1> forces, T dt,
             View<Body<T>, 1> predicted) {
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    predicted(i) = {x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0};
  }
}
// [predict]

// [correct]
/// Corrects positions and velocities from the forces at both ends of the step.
template <typename T>
void correct(View<const Force<T>, 1> forces, View<const Force<T>, 1> next, T dt,
             View<Body<T>, 1> bodies) {
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
    auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    const auto& [a1, j1] = next(i);
    x = x + dt * (v + dt / 20 * (T{7} * a + T{3} * a1 + dt / 3 * (T{3} * j - T{2} * j1)));
    v = v + dt / 2 * (a + a1 + dt / 6 * (j - j1));
  }
}
// [correct]

// [buffers]
/// Device memory for a slice of bodies, the forces on them, and a slice of source bodies.
template <typename T>
struct Buffers {
  explicit Buffers(std::size_t size) : bodies(size), sources(size), forces(size) {}
  staircase::DeviceArray<Body<T>, 1> bodies, sources;
  staircase::DeviceArray<Force<T>, 1> forces;
};

/// Resources to transfer slices while a GPU computes: two sets of buffers used alternately, three
/// streams, and events that prevent a buffer from being overwritten before it has been read.
template <typename T>
struct Room {
  Room(std::size_t size, staircase::Timeline& timeline, const std::string& name_suffix = "")
      : buffers{Buffers<T>(size), Buffers<T>(size)}, times(timeline, name_suffix) {}
  static constexpr std::size_t bytes_of_body = 2 * (2 * sizeof(Body<T>) + sizeof(Force<T>));
  Buffers<T> buffers[2];
  staircase::Stream in, kernels, out;
  staircase::Event sent[2], used[2], fetched[2];
  staircase::StreamTimes times;
};
// [buffers]

}  // namespace nbody
