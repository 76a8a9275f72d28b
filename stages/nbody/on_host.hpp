/// \file
/// Bodies that lie in the memory of the host, which predicts and corrects them, and room for slices
/// of them on a GPU.

#pragma once

#include <staircase/stream.hpp>
#include <string>

#include "nbody.hpp"

namespace nbody {

using staircase::View;

// [predict]
/// Where bodies will be, and how fast, if the jerk stays.
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
/// Moves bodies on, by the forces at the beginning and those at the predicted end of the step.
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
/// Room for a slice of bodies, for the forces on them, and for a slice of others.
template <typename T>
struct Buffers {
  explicit Buffers(std::size_t size) : bodies(size), others(size), forces(size) {}
  staircase::DeviceArray<Body<T>, 1> bodies, others;
  staircase::DeviceArray<Force<T>, 1> forces;
};

/// What a GPU needs to let slices come and go while it computes: buffers that take turns, streams,
/// and events that let no buffer be written before it was read.
template <typename T>
struct Room {
  Room(std::size_t size, staircase::Timeline& timeline, const std::string& of_whom = "")
      : buffers{Buffers<T>(size), Buffers<T>(size)}, times(timeline, of_whom) {}
  static constexpr std::size_t bytes_of_body = 2 * (2 * sizeof(Body<T>) + sizeof(Force<T>));
  Buffers<T> buffers[2];
  staircase::Stream in, kernels, out;
  staircase::Event sent[2], used[2], fetched[2];
  staircase::StreamTimes times;
};
// [buffers]

}  // namespace nbody
