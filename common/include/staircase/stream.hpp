/// \file
/// Overlap of copies and kernels: streams, events, pinned memory, and timing of the work in
/// streams.

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

/// A CUDA event: a point in the sequence of a stream's work. An event that was never recorded
/// counts as reached.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Records the event after all work that the stream has received so far.
  void record(cudaStream_t stream = nullptr) { check(cudaEventRecord(event_, stream)); }

  /// Blocks the host thread until the stream has reached the event.
  void wait() const { check(cudaEventSynchronize(event_)); }

  /// Whether the stream has reached the event.
  bool reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    check(state);
    return true;
  }

  /// The seconds that elapsed from the event `start` to this event. The streams must have reached
  /// both events.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  friend class Stream;
  cudaEvent_t event_ = nullptr;
};

/// The priority of a stream: thread blocks of a stream with high priority are started first.
enum class Priority { low, high };

/// A CUDA stream. The work of a stream runs in order, and may overlap with the work of other
/// streams. Work that was submitted earlier to the default stream runs first.
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

  /// Makes later work in this stream wait until another stream has reached the event.
  void wait(const Event& event) const { check(cudaStreamWaitEvent(stream_, event.event_, 0)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Copies all elements of `from` to `to`, asynchronously in a stream. Each view may be in host or
/// device memory.
template <typename T>
void copy(View<T, 1> from, View<T, 1> to, const Stream& stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), from.extent(0) * sizeof(T), cudaMemcpyDefault,
                        stream));
}

/// A dense row-major array in pinned (page-locked) host memory, which the copy engines of the GPU
/// access directly. All threads first write the pages; then the pages are pinned.
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

/// Pins existing host memory during the lifetime of the object. The pinned range begins at the
/// first element of the view, and is `size` times as long as the view.
class Pinned {
 public:
  template <typename T, std::size_t rank>
  explicit Pinned(View<T, rank> array, std::size_t size = 1)
      : memory_(const_cast<std::remove_const_t<T>*>(
            array.data())) {  // cudaHostRegister() does not write to the memory
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

/// An interval of a stream's work between two events.
struct TimedSpan {
  explicit TimedSpan(const char* of) : name(of) {}
  const char* name;
  Event begin, end;
};

/// An interval of work on a host thread, in seconds since the creation of the timeline.
struct HostSpan {
  const char* name;
  double begin, end;
};

}  // namespace detail

/// Measures, for a timeline, intervals of work in streams and of concurrent work on a host thread.
class StreamTimes {
 public:
  /// The GPU must be idle. `ending` is appended to the names of all intervals, for example ", GPU
  /// 1".
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

  /// Begins an interval after all work that the stream has received so far. `name` must outlive
  /// this object.
  /// \returns the index of the interval, for end()
  std::size_t begin(const char* name, const Stream& stream) {
    spans_.emplace_back(name).begin.record(stream);
    return spans_.size() - 1;
  }

  /// Ends an interval after all work that the stream has received so far.
  void end(std::size_t span, const Stream& stream) { spans_[span].end.record(stream); }

  /// Calls work(), which enqueues operations in `stream`, and measures the interval of these
  /// operations.
  template <typename Work>
  void of(const char* name, const Stream& stream, Work work) {
    const std::size_t span = begin(name, stream);
    work();
    end(span, stream);
  }

  /// Calls work() and measures its duration on the host.
  template <typename Work>
  void of(const char* name, Work work) {
    const double start = timeline_.now();
    work();
    of_host_.push_back({name, start, timeline_.now()});
  }

  /// Waits for the end of all intervals and adds them to the timeline.
  void add_to_timeline();

 private:
  Timeline& timeline_;
  std::vector<char> ending_;
  Event start_;
  double zero_ = 0;
  std::deque<detail::TimedSpan> spans_;  // a deque never moves its elements
  std::vector<detail::HostSpan> of_host_;
};

}  // namespace staircase
