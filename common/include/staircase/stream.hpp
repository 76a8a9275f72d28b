/// \file
/// What stages share that let copies and kernels overlap: streams, events, pinned memory, and the
/// times of what streams do.

#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "cuda.hpp"
#include "timeline.hpp"

namespace staircase {

/// A point in a stream. One that was never recorded has been reached.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Moves the point behind all that a stream has to do so far.
  void record(cudaStream_t stream = nullptr) { check(cudaEventRecord(event_, stream)); }

  /// Waits until the stream has come to it.
  void wait() const { check(cudaEventSynchronize(event_)); }

  /// Whether the stream has come to it.
  bool reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    check(state);
    return true;
  }

  /// Seconds from another point to this one; both have been reached.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  friend class Stream;
  cudaEvent_t event_ = nullptr;
};

/// Which of two streams goes first where blocks of both wait for a place on the GPU.
enum class Priority { low, high };

/// Work for the GPU that is done in order, beside that of other streams, but behind what the
/// default stream was given before.
class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_)); }
  explicit Stream(Priority priority) {
    int low = 0, high = 0;
    check(cudaDeviceGetStreamPriorityRange(&low, &high));
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamDefault,
                                       priority == Priority::high ? high : low));
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }

  /// What comes next in this stream begins when another one has come to a point.
  void wait(const Event& event) const { check(cudaStreamWaitEvent(stream_, event.event_, 0)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Copies as many numbers as `from` has between the host's memory and the device's, in a stream.
template <typename T>
void copy(View<T, 1> from, View<T, 1> to, const Stream& stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), from.extent(0) * sizeof(T), cudaMemcpyDefault,
                        stream));
}

/// A dense row-major array in memory of the host that the system will not move, so that the GPU's
/// copy engines reach it by themselves. All threads touch its pages first, then they are pinned.
template <std::floating_point T, std::size_t rank>
class PinnedArray : public Array<T, rank> {
 public:
  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) explicit PinnedArray(Extent... extent)
      : Array<T, rank>(extent...) {
    check(cudaHostRegister(this->data(), this->values().size_bytes(), cudaHostRegisterPortable));
  }
  ~PinnedArray() { cudaHostUnregister(this->data()); }
};

/// Keeps memory of the host, which somebody else owns, where it is while it lives: the GPU's copy
/// engines reach it by themselves.
class Pinned {
 public:
  template <typename T, std::size_t rank>
  explicit Pinned(View<T, rank> array, std::size_t size = 1)
      : memory_(const_cast<std::remove_const_t<T>*>(array.data())) {  // CUDA does not write it
    for (std::size_t d = 0; d < rank; ++d) size *= array.extent(d);
    check(cudaHostRegister(memory_, size * sizeof(T), cudaHostRegisterPortable));
  }
  ~Pinned() { cudaHostUnregister(memory_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  void* memory_;
};

namespace detail {

/// A span of a stream, between two events.
struct TimedSpan {
  explicit TimedSpan(const char* of) : name(of) {}
  const char* name;
  Event begin, end;
};

/// A span of a thread of the host, in seconds since the timeline was made.
struct HostSpan {
  const char* name;
  double begin, end;
};

}  // namespace detail

/// Takes the times of what streams do, and a thread of the host beside them, for a timeline.
class StreamTimes {
 public:
  /// The GPU has nothing to do when it is made. Names of spans get an ending that tells of several
  /// GPUs which one it was: ", GPU 1".
  explicit StreamTimes(Timeline& timeline) : timeline_(timeline) {
    Stream stream;
    start_.record(stream);
    start_.wait();
    zero_ = timeline.now();
  }
  template <typename String>
  StreamTimes(Timeline& timeline, const String& ending) : StreamTimes(timeline) {
    ending_.assign(ending.begin(), ending.end());
  }

  /// What comes next in a stream is a span of this name; it must outlive the times.
  std::size_t begin(const char* name, const Stream& stream) {
    spans_.emplace_back(name).begin.record(stream);
    return spans_.size() - 1;
  }

  /// What came last in the stream ends that span.
  void end(std::size_t span, const Stream& stream) { spans_[span].end.record(stream); }

  /// Times what `work` gives a stream to do.
  template <typename Work>
  void of(const char* name, const Stream& stream, Work work) {
    const std::size_t span = begin(name, stream);
    work();
    end(span, stream);
  }

  /// Times what `work` does itself.
  template <typename Work>
  void of(const char* name, Work work) {
    const double start = timeline_.now();
    work();
    of_host_.push_back({name, start, timeline_.now()});
  }

  /// Hands the spans over to the timeline, when they are over.
  void hand_over();

 private:
  Timeline& timeline_;
  std::vector<char> ending_;
  Event start_;
  double zero_ = 0;
  std::deque<detail::TimedSpan> spans_;  // whose events stay where they are
  std::vector<detail::HostSpan> of_host_;
};

}  // namespace staircase
