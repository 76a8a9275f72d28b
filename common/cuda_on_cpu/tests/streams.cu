/// \file
/// Streams, events, host functions, graphs and several devices: guaranteed order, and
/// independence.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using tap::expect_refusal;
using tap::random_value;
using tap::random_values;
using tap::table;

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamDefault) {
    check(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void synchronise() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event : public tap::Event {
 public:
  using tap::Event::Event;

  void record(const Stream& stream) const { check(cudaEventRecord(get(), stream.get())); }
  /// Makes a stream wait for the last record of the event.
  void hold(const Stream& stream) const { check(cudaStreamWaitEvent(stream.get(), get(), 0)); }
};

/// Page-locked memory, for copies that run while the host continues.
template <typename T>
class Pinned {
 public:
  explicit Pinned(std::size_t size) : size_(size) {
    check(cudaMallocHost(&data_, size * sizeof(T)));
  }
  explicit Pinned(const std::vector<T>& values) : Pinned(values.size()) {
    std::copy(values.begin(), values.end(), data_);
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Blocks a stream until the host opens the gate. The gate opens after some seconds in any case, so
/// that a failing test ends.
class Gate {
 public:
  Gate() = default;
  ~Gate() {
    open();
    cudaDeviceSynchronize();
    if (gave_up_) tap::complain("a gate gave up", tap::Location::current());
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void stop(cudaStream_t stream) { check(cudaLaunchHostFunc(stream, &Gate::wait, this)); }
  void stop(const Stream& stream) { stop(stream.get()); }
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    std::unique_lock lock(self.mutex_);
    self.gave_up_ =
        !self.opened_.wait_for(lock, std::chrono::seconds(5), [&] { return self.is_open_; });
  }

  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false, gave_up_ = false;
};

/// Opens a gate from another thread, while this thread waits for work after the gate.
class LateOpener {
 public:
  explicit LateOpener(Gate& gate)
      : thread_([&gate] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          gate.open();
        }) {}
  ~LateOpener() { thread_.join(); }
  LateOpener(const LateOpener&) = delete;
  LateOpener& operator=(const LateOpener&) = delete;

 private:
  std::thread thread_;
};

/// Applies an affine map. Such maps do not commute, so the result depends on the launch order.
__global__ void affine(unsigned* values, int n, unsigned factor, unsigned addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = factor * values[i] + addend;
}
void launch_affine(const Device<unsigned>& values, unsigned factor, unsigned addend,
                   cudaStream_t stream) {
  const int n = static_cast<int>(values.size());
  affine<<<(n + 127) / 128, 128, 0, stream>>>(values.get(), n, factor, addend);
}

/// The values of a device array, copied in a stream that is synchronised.
std::vector<unsigned> read_in(const Stream& stream, const Device<unsigned>& values) {
  std::vector<unsigned> copy(values.size());
  check(cudaMemcpyAsync(copy.data(), values.get(), values.bytes(), cudaMemcpyDeviceToHost,
                        stream.get()));
  stream.synchronise();
  return copy;
}

std::vector<unsigned> random_numbers(std::size_t n) { return random_values(n, 0u, ~0u); }

// --- Order

TEST(work_in_a_stream_is_done_in_order) {
  const std::size_t n = random_value(1, 3000);
  std::vector<unsigned> values = random_numbers(n);
  const Stream stream;
  Pinned<unsigned> pinned(values);
  Device<unsigned> a(n), b(n);
  check(cudaMemcpyAsync(a.get(), pinned.get(), a.bytes(), cudaMemcpyHostToDevice, stream.get()));
  for (unsigned k = 1; k <= 40; ++k) {
    launch_affine(a, 2 * k + 1, k, stream.get());
    check(cudaMemcpyAsync(b.get(), a.get(), a.bytes(), cudaMemcpyDeviceToDevice, stream.get()));
    launch_affine(b, 3, k, stream.get());
    check(cudaMemcpyAsync(a.get(), b.get(), a.bytes(), cudaMemcpyDeviceToDevice, stream.get()));
    for (unsigned& value : values) value = 3 * ((2 * k + 1) * value + k) + k;
  }
  check(cudaMemcpyAsync(pinned.get(), a.get(), a.bytes(), cudaMemcpyDeviceToHost, stream.get()));
  check(cudaMemsetAsync(a.get(), 0, a.bytes(), stream.get()));
  launch_affine(a, 1, 9, stream.get());
  stream.synchronise();
  expect_equal(pinned.values(), values);
  expect_equal(read_in(stream, a), std::vector<unsigned>(n, 9));
}

TEST(events_order_streams) {
  const std::size_t n = 1000;
  std::vector<unsigned> values = random_numbers(n);
  const Stream one(cudaStreamNonBlocking), two(cudaStreamNonBlocking);
  const Event from_one(cudaEventDisableTiming), from_two;
  Device<unsigned> device(values);
  for (unsigned k = 1; k <= 30; ++k) {
    launch_affine(device, 2 * k + 1, k, one.get());
    from_one.record(one);
    from_one.hold(two);
    launch_affine(device, 5, k, two.get());
    from_two.record(two);
    from_two.hold(one);
    for (unsigned& value : values) value = 5 * ((2 * k + 1) * value + k) + k;
  }
  expect_equal(read_in(one, device), values);
}

TEST(streams_work_side_by_side) {
  constexpr unsigned count = 8, n = 500;
  const Pinned<unsigned> values(random_numbers(n)), results(count * n);
  const std::vector<Stream> streams(count);
  for (unsigned k = 0; k < count; ++k) {
    const cudaStream_t stream = streams[k].get();
    unsigned* memory = nullptr;
    check(cudaMallocAsync(&memory, values.bytes(), stream));
    check(cudaMemcpyAsync(memory, values.get(), values.bytes(), cudaMemcpyHostToDevice, stream));
    affine<<<4, 128, 0, stream>>>(memory, n, 2 * k + 1, k);
    check(cudaMemcpyAsync(&results[k * n], memory, values.bytes(), cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(memory, stream));
  }
  check(cudaDeviceSynchronize());
  expect_equal(results.values(), table<unsigned>(count * n, [&](unsigned i) {
                 return (2 * (i / n) + 1) * values[i % n] + i / n;
               }));
}

/// For adjacent chunks, copies to the device, kernels and copies back overlap. Slots are reused.
TEST(pieces_flow_through_slots) {
  constexpr std::size_t slots = 3, pieces = 20, size = 256;
  const std::vector<unsigned> values = random_numbers(pieces * size);
  std::vector<unsigned> results(values.size());
  const std::vector<Stream> streams(slots);
  const Pinned<unsigned> in(slots * size), out(slots * size);
  const Device<unsigned> memory(slots * size);
  constexpr std::size_t bytes = size * sizeof(unsigned);
  for (std::size_t piece = 0; piece < pieces + slots; ++piece) {
    const std::size_t slot = piece % slots, offset = slot * size;
    const cudaStream_t stream = streams[slot].get();
    if (piece >= slots) {
      streams[slot].synchronise();
      std::copy_n(&out[offset], size, &results[(piece - slots) * size]);
    }
    if (piece >= pieces) continue;
    std::copy_n(&values[piece * size], size, &in[offset]);
    unsigned* const here = memory.get() + offset;
    check(cudaMemcpyAsync(here, &in[offset], bytes, cudaMemcpyHostToDevice, stream));
    affine<<<2, 128, 0, stream>>>(here, size, 7, static_cast<unsigned>(piece));
    check(cudaMemcpyAsync(&out[offset], here, bytes, cudaMemcpyDeviceToHost, stream));
  }
  expect_equal(results, table<unsigned>(values.size(),
                                        [&](std::size_t i) { return 7 * values[i] + i / size; }));
}

TEST(a_destroyed_stream_finishes_its_work) {
  const std::vector<unsigned> values = random_numbers(1000);
  Device<unsigned> device(values);
  {
    const Stream stream;
    const Event event;
    for (int k = 0; k < 10; ++k) launch_affine(device, 3, 1, stream.get());
    event.record(stream);
  }
  check(cudaDeviceSynchronize());
  std::vector<unsigned> expected = values;
  for (int k = 0; k < 10; ++k)
    for (unsigned& value : expected) value = 3 * value + 1;
  expect_equal(device.to_host(), expected);
}

TEST(threads_of_the_host_have_streams_of_their_own) {
  const std::vector<unsigned> values = random_numbers(700);
  std::vector<std::vector<unsigned>> results(4);
  const auto work = [&](unsigned k) {
    const Stream stream(cudaStreamNonBlocking);
    Device<unsigned> device(values);
    for (int repeat = 0; repeat < 5; ++repeat) launch_affine(device, 2 * k + 1, k, stream.get());
    results[k] = read_in(stream, device);
  };
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < 4; ++k) threads.emplace_back(work, k);
  for (std::thread& thread : threads) thread.join();
  for (unsigned k = 0; k < 4; ++k) {
    std::vector<unsigned> expected = values;
    for (int repeat = 0; repeat < 5; ++repeat)
      for (unsigned& value : expected) value = (2 * k + 1) * value + k;
    expect_equal(results[k], expected);
  }
}

// --- Waiting and querying

TEST(a_stopped_stream_is_not_ready) {
  const Stream stream;
  const Event before, behind;
  Device<unsigned> device(random_numbers(10));
  check(cudaStreamQuery(stream.get()));
  check(cudaEventQuery(behind.get()));  // never recorded, so there is nothing to wait for
  Gate gate;
  before.record(stream);
  gate.stop(stream);
  launch_affine(device, 3, 1, stream.get());
  behind.record(stream);
  check(cudaEventSynchronize(before.get()));
  check(cudaEventQuery(before.get()));
  expect_error(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  expect_error(cudaEventQuery(behind.get()), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  stream.synchronise();
  check(cudaStreamQuery(stream.get()));
  check(cudaEventQuery(behind.get()));
}

TEST(asking_again_and_again_sees_the_end) {
  const Stream stream;
  const Event event;
  Device<unsigned> device(random_numbers(10));
  for (int k = 0; k < 20; ++k) launch_affine(device, 3, 1, stream.get());
  event.record(stream);
  while (cudaEventQuery(event.get()) == cudaErrorNotReady) std::this_thread::yield();
  for (int k = 0; k < 20; ++k) launch_affine(device, 3, 1, stream.get());
  while (cudaStreamQuery(stream.get()) == cudaErrorNotReady) std::this_thread::yield();
  cudaGetLastError();
  check(cudaStreamQuery(stream.get()));
}

TEST(a_stream_passes_a_stopped_one) {
  const Stream stopped(cudaStreamNonBlocking), free(cudaStreamNonBlocking);
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> one(values), two(values);
  Gate gate;
  gate.stop(stopped);
  launch_affine(one, 3, 1, stopped.get());
  launch_affine(two, 3, 1, free.get());
  free.synchronise();
  expect_error(cudaStreamQuery(stopped.get()), cudaErrorNotReady);
  cudaGetLastError();
  expect_equal(read_in(free, two), table<unsigned>(100, [&](int i) { return 3 * values[i] + 1; }));
  gate.open();
  expect_equal(read_in(stopped, one),
               table<unsigned>(100, [&](int i) { return 3 * values[i] + 1; }));
}

TEST(a_stream_waits_for_an_event_behind_a_gate) {
  const Stream stopped(cudaStreamNonBlocking), waiting(cudaStreamNonBlocking);
  const Event event;
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> device(values);
  Gate gate;
  gate.stop(stopped);
  launch_affine(device, 3, 1, stopped.get());
  event.record(stopped);
  event.hold(waiting);
  launch_affine(device, 5, 2, waiting.get());
  expect_error(cudaStreamQuery(waiting.get()), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  expect_equal(read_in(waiting, device),
               table<unsigned>(100, [&](int i) { return 5 * (3 * values[i] + 1) + 2; }));
}

TEST(a_wait_is_for_what_was_recorded_before_it) {
  const Stream recording(cudaStreamNonBlocking), waiting(cudaStreamNonBlocking);
  const Event event, never_recorded;
  Device<unsigned> device(random_numbers(10));
  Gate gate;
  event.record(recording);
  event.hold(waiting);
  never_recorded.hold(waiting);
  gate.stop(recording);
  event.record(recording);  // recorded again, after the gate
  launch_affine(device, 3, 1, waiting.get());
  waiting.synchronise();
  expect_error(cudaEventQuery(event.get()), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  recording.synchronise();
  check(cudaEventQuery(event.get()));
}

enum class Wait { stream, event, device, copy };

/// Expects that the host's wait returns only after all work, which is blocked when the wait begins.
void expect_done_after(Wait wait) {
  const Stream stream;
  const Event event;
  const std::vector<unsigned> values = random_numbers(100);
  const Pinned<unsigned> result(std::vector<unsigned>(100, 7));
  Device<unsigned> device(values);
  unsigned other = 0;
  Gate gate;
  gate.stop(stream);
  launch_affine(device, 3, 1, stream.get());
  check(cudaMemcpyAsync(result.get(), device.get(), device.bytes(), cudaMemcpyDeviceToHost,
                        stream.get()));
  event.record(stream);
  expect_equal(result[50], 7u);
  const LateOpener opener(gate);
  if (wait == Wait::stream) check(cudaStreamSynchronize(stream.get()));
  if (wait == Wait::event) check(cudaEventSynchronize(event.get()));
  if (wait == Wait::device) check(cudaDeviceSynchronize());
  if (wait == Wait::copy)  // in the default stream, which waits for blocking streams
    check(cudaMemcpy(&other, device.get(), sizeof other, cudaMemcpyDeviceToHost));
  expect_equal(result.values(), table<unsigned>(100, [&](int i) { return 3 * values[i] + 1; }));
}

TEST(cudaStreamSynchronize_waits) { expect_done_after(Wait::stream); }
TEST(cudaEventSynchronize_waits) { expect_done_after(Wait::event); }
TEST(cudaDeviceSynchronize_waits) { expect_done_after(Wait::device); }
TEST(cudaMemcpy_waits_for_other_streams) { expect_done_after(Wait::copy); }

// --- The default stream

TEST(the_default_stream_waits_for_blocking_streams_and_they_for_it) {
  const Stream first, second;
  const Event event;
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> device(values);
  Gate gate;
  gate.stop(first);
  launch_affine(device, 3, 1, first.get());
  launch_affine(device, 5, 2, nullptr);
  launch_affine(device, 7, 3, second.get());
  event.record(second);
  expect_error(cudaEventQuery(event.get()), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  expect_equal(read_in(second, device),
               table<unsigned>(100, [&](int i) { return 7 * (5 * (3 * values[i] + 1) + 2) + 3; }));
}

TEST(the_default_stream_and_non_blocking_streams_are_independent) {
  const Stream stopped(cudaStreamNonBlocking);
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> device(values);
  Gate gate;
  gate.stop(stopped);
  launch_affine(device, 3, 1, nullptr);
  check(cudaStreamSynchronize(nullptr));
  expect_error(cudaStreamQuery(stopped.get()), cudaErrorNotReady);
  cudaGetLastError();
  expect_equal(device.to_host(), table<unsigned>(100, [&](int i) { return 3 * values[i] + 1; }));
  gate.open();
  stopped.synchronise();

  // Conversely, the default stream does not block non-blocking streams.
  Gate other;
  other.stop(cudaStreamLegacy);
  launch_affine(device, 5, 2, stopped.get());
  stopped.synchronise();
  expect_error(cudaStreamQuery(nullptr), cudaErrorNotReady);
  cudaGetLastError();
  other.open();
  check(cudaStreamSynchronize(cudaStreamLegacy));
}

TEST(special_handles_name_streams) {
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> device(values);
  launch_affine(device, 3, 1, cudaStreamLegacy);
  launch_affine(device, 5, 2, cudaStreamPerThread);
  launch_affine(device, 7, 3, nullptr);
  check(cudaStreamSynchronize(cudaStreamPerThread));
  expect_equal(device.to_host(),
               table<unsigned>(100, [&](int i) { return 7 * (5 * (3 * values[i] + 1) + 2) + 3; }));
}

// --- Time, priorities, flags

TEST(time_passes_between_events) {
  const Stream stream;
  const Event first, second(cudaEventBlockingSync), third;
  Device<unsigned> device(random_numbers(100000));
  first.record(stream);
  launch_affine(device, 3, 1, stream.get());
  second.record(stream);
  for (int k = 0; k < 20; ++k) launch_affine(device, 3, 1, stream.get());
  third.record(stream);
  check(cudaEventSynchronize(third.get()));
  float one = -1, rest = -1, all = -1;
  check(cudaEventElapsedTime(&one, first.get(), second.get()));
  check(cudaEventElapsedTime(&rest, second.get(), third.get()));
  check(cudaEventElapsedTime(&all, first.get(), third.get()));
  expect(one > 0 && rest > 0, "time passes while kernels run");
  expect(std::abs(all - (one + rest)) < 0.01f + 1e-3f * all, "times add up");
  check(cudaEventRecord(third.get()));
  check(cudaEventSynchronize(third.get()));
  float later = -1;
  check(cudaEventElapsedTime(&later, first.get(), third.get()));
  expect(later > all, "an event that is recorded again has a new time");
}

TEST(streams_have_priorities_and_flags) {
  int least = -1000, greatest = -1000;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  expect(greatest <= least, "a lower number is a greater priority");
  Device<unsigned> device(std::vector<unsigned>{1});
  for (int priority = greatest; priority <= least; ++priority) {
    cudaStream_t stream = nullptr;
    int actual = -1000;
    unsigned flags = 1000;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    check(cudaStreamGetPriority(stream, &actual));
    check(cudaStreamGetFlags(stream, &flags));
    expect_equal(actual, priority);
    expect_equal(flags, unsigned(cudaStreamNonBlocking));
    launch_affine(device, 2, 0, stream);
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
  }
  expect_equal(device.to_host(), {1u << (least - greatest + 1)});
  const Stream blocking;
  unsigned flags = 1000;
  check(cudaStreamGetFlags(blocking.get(), &flags));
  expect_equal(flags, unsigned(cudaStreamDefault));
}

// --- Host functions

struct Summary {
  const Pinned<unsigned>* values;
  std::vector<unsigned> sums;
};

void add_sum(void* data) {
  auto& summary = *static_cast<Summary*>(data);
  unsigned sum = 0;
  for (const unsigned value : summary.values->values()) sum += value;
  summary.sums.push_back(sum);
}

TEST(the_host_is_called_in_order) {
  const Stream stream;
  std::vector<unsigned> values = random_numbers(300);
  const Pinned<unsigned> pinned(values);
  Summary summary{&pinned, {}};
  Device<unsigned> device(values);
  std::vector<unsigned> expected;
  for (unsigned k = 0; k < 10; ++k) {
    launch_affine(device, 3, k, stream.get());
    check(cudaMemcpyAsync(pinned.get(), device.get(), device.bytes(), cudaMemcpyDeviceToHost,
                          stream.get()));
    check(cudaLaunchHostFunc(stream.get(), add_sum, &summary));
    unsigned sum = 0;
    for (unsigned& value : values) sum += value = 3 * value + k;
    expected.push_back(sum);
  }
  stream.synchronise();
  expect_equal(summary.sums, expected);
}

TEST(the_host_prepares_what_is_copied) {
  const Stream stream;
  const Pinned<unsigned> pinned(std::vector<unsigned>(100, 1));
  Device<unsigned> device(std::vector<unsigned>(100, 2));
  const auto prepare = [](void* data) { std::fill_n(static_cast<unsigned*>(data), 100, 30u); };
  check(cudaLaunchHostFunc(stream.get(), prepare, pinned.get()));
  check(cudaMemcpyAsync(device.get(), pinned.get(), device.bytes(), cudaMemcpyHostToDevice,
                        stream.get()));
  launch_affine(device, 2, 1, stream.get());
  expect_equal(read_in(stream, device), std::vector<unsigned>(100, 61));
}

TEST(callbacks_learn_the_status) {
  const Stream stream;
  struct Call {
    cudaStream_t stream;
    cudaError_t status;
  } call{nullptr, cudaErrorUnknown};
  const auto callback = [](cudaStream_t stream, cudaError_t status, void* data) {
    *static_cast<Call*>(data) = {stream, status};
  };
  check(cudaStreamAddCallback(stream.get(), callback, &call, 0));
  stream.synchronise();
  expect_error(call.status, cudaSuccess);
  expect(call.stream == stream.get(), "the callback learns its stream");
}

/// Sets a flag, as a host function in a stream.
void set(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

/// Work in a stream, followed by a host function.
struct Called {
  Stream stream;
  Device<unsigned> device{std::vector<unsigned>(300, 7)};
  Pinned<unsigned> pinned{std::vector<unsigned>(300, 0)};

  void begin(void (*function)(void*), void* data) {
    launch_affine(device, 3, 1, stream.get());
    check(cudaMemcpyAsync(pinned.get(), device.get(), device.bytes(), cudaMemcpyDeviceToHost,
                          stream.get()));
    check(cudaLaunchHostFunc(stream.get(), function, data));
  }
  void expect_result() const { expect_equal(pinned.values(), std::vector<unsigned>(300, 22)); }
};

TEST(a_function_is_called_while_the_host_sleeps_until_it_was) {
  Called work;
  std::promise<void> promise;
  work.begin([](void* data) { static_cast<std::promise<void>*>(data)->set_value(); }, &promise);
  promise.get_future().wait();
  work.expect_result();
}

TEST(a_function_is_called_while_the_host_looks_again_and_again_whether_it_was) {
  Called work;
  std::atomic<bool> called = false;
  work.begin(set, &called);
  while (!called) {
  }
  work.expect_result();
}

TEST(a_function_of_a_graph_is_called_while_the_host_sleeps) {
  Called work;
  std::promise<void> promise;
  check(cudaStreamBeginCapture(work.stream.get(), cudaStreamCaptureModeGlobal));
  work.begin([](void* data) { static_cast<std::promise<void>*>(data)->set_value(); }, &promise);
  cudaGraph_t graph;
  check(cudaStreamEndCapture(work.stream.get(), &graph));
  cudaGraphExec_t executable;
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, work.stream.get()));
  promise.get_future().wait();
  work.expect_result();
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}

TEST(no_function_is_called_while_the_host_goes_on) {
  Called work;
  std::atomic<bool> called = false;
  work.begin(set, &called);
  expect(!called, "nobody has waited");
  work.stream.synchronise();
  expect(called, "the stream was waited for");
}

// --- Graphs

class Graph {
 public:
  Graph(const Stream& stream, cudaGraph_t captured) : stream_(stream), graph_(captured) {
    check(cudaGraphInstantiate(&executable_, graph_, 0));
  }
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::size_t nodes() const {
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &nodes));
    return nodes;
  }
  void launch() const { launch(stream_); }
  void launch(const Stream& stream) const { check(cudaGraphLaunch(executable_, stream.get())); }

 private:
  const Stream& stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

void begin_capture(const Stream& stream,
                   cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
  check(cudaStreamBeginCapture(stream.get(), mode));
}
cudaGraph_t end_capture(const Stream& stream) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream.get(), &graph));
  return graph;
}

TEST(a_captured_loop_is_replayed) {
  const Stream stream;
  std::vector<unsigned> values = random_numbers(1000);
  Device<unsigned> device(values);
  begin_capture(stream);
  for (unsigned k = 0; k < 25; ++k) launch_affine(device, 2 * k + 1, k, stream.get());
  const Graph graph(stream, end_capture(stream));
  expect_equal(graph.nodes(), 25u);
  expect_equal(read_in(stream, device), values);  // nothing has run yet
  for (int launch = 0; launch < 3; ++launch) {
    graph.launch();
    for (unsigned k = 0; k < 25; ++k)
      for (unsigned& value : values) value = (2 * k + 1) * value + k;
  }
  expect_equal(read_in(stream, device), values);
}

TEST(arguments_are_frozen_at_the_capture) {
  const Stream stream;
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> one(values), two(values);
  unsigned factor = 3, addend = 1;
  unsigned* target = one.get();
  begin_capture(stream);
  affine<<<1, 128, 0, stream.get()>>>(target, 100, factor, addend);
  const Graph graph(stream, end_capture(stream));
  factor = addend = 1000;
  target = two.get();
  graph.launch();
  graph.launch();
  expect_equal(read_in(stream, one),
               table<unsigned>(100, [&](int i) { return 3 * (3 * values[i] + 1) + 1; }));
  expect_equal(read_in(stream, two), values);
}

TEST(events_fork_and_join_a_capture) {
  const Stream stream, other, third;
  const Event fork, join, second_join;
  const std::vector<unsigned> values = random_numbers(500);
  Device<unsigned> one(values), two(values), sum(std::vector<unsigned>(500, 7));
  begin_capture(stream);
  launch_affine(one, 3, 1, stream.get());
  fork.record(stream);
  fork.hold(other);
  fork.hold(third);
  launch_affine(two, 5, 2, other.get());
  launch_affine(one, 7, 3, stream.get());
  check(cudaMemsetAsync(sum.get(), 0, sum.bytes(), third.get()));
  join.record(other);
  join.hold(stream);
  second_join.record(third);
  second_join.hold(stream);
  check(cudaMemcpyAsync(sum.get(), two.get(), two.bytes() / 2, cudaMemcpyDeviceToDevice,
                        stream.get()));
  const Graph graph(stream, end_capture(stream));
  expect_equal(graph.nodes(), 5u);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  check(cudaStreamIsCapturing(other.get(), &status));
  expect_equal(status, cudaStreamCaptureStatusNone);
  graph.launch();
  expect_equal(read_in(stream, one),
               table<unsigned>(500, [&](int i) { return 7 * (3 * values[i] + 1) + 3; }));
  expect_equal(read_in(stream, sum),
               table<unsigned>(500, [&](int i) { return i < 250 ? 5 * values[i] + 2 : 0; }));
}

TEST(a_graph_copies_what_is_there_when_it_runs) {
  const Stream stream;
  const Pinned<unsigned> in(100), out(100);
  Device<unsigned> device(100);
  Summary summary{&out, {}};
  begin_capture(stream);
  check(cudaMemcpyAsync(device.get(), in.get(), in.bytes(), cudaMemcpyHostToDevice, stream.get()));
  launch_affine(device, 3, 1, stream.get());
  check(
      cudaMemcpyAsync(out.get(), device.get(), out.bytes(), cudaMemcpyDeviceToHost, stream.get()));
  check(cudaLaunchHostFunc(stream.get(), add_sum, &summary));
  const Graph graph(stream, end_capture(stream));
  std::vector<unsigned> sums;
  for (int launch = 0; launch < 3; ++launch) {
    const std::vector<unsigned> values = random_numbers(100);
    std::copy(values.begin(), values.end(), in.get());
    graph.launch();
    stream.synchronise();
    expect_equal(out.values(), table<unsigned>(100, [&](int i) { return 3 * values[i] + 1; }));
    sums.push_back(0);
    for (const unsigned value : out.values()) sums.back() += value;
  }
  expect_equal(summary.sums, sums);
}

TEST(graphs_are_ordered_in_the_stream_that_launches_them) {
  const Stream stream, other;
  const std::vector<unsigned> values = random_numbers(100);
  Device<unsigned> device(values);
  begin_capture(stream);
  launch_affine(device, 5, 2, stream.get());
  const Graph graph(stream, end_capture(stream));
  launch_affine(device, 3, 1, other.get());
  graph.launch(other);
  launch_affine(device, 7, 3, other.get());
  graph.launch(other);
  expect_equal(read_in(other, device), table<unsigned>(100, [&](int i) {
                 return 5 * (7 * (5 * (3 * values[i] + 1) + 2) + 3) + 2;
               }));
}

TEST(launches_of_a_graph_follow_each_other_across_streams) {
  const Stream stream, other;
  Device<unsigned> device(std::vector<unsigned>{1});
  begin_capture(stream);
  launch_affine(device, 10, 2, stream.get());
  const Graph graph(stream, end_capture(stream));
  launch_affine(device, 3, 1, stream.get());
  graph.launch();
  graph.launch(other);
  expect_equal(read_in(other, device), {422});
}

TEST(no_graph_is_instantiated_while_its_thread_captures) {
  const Stream stream, other;
  Device<unsigned> device(std::vector<unsigned>{1});
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    begin_capture(stream);
    launch_affine(device, 10, 2, stream.get());
    begin_capture(other, mode);
    cudaGraph_t graph = end_capture(stream);
    cudaGraphExec_t executable = nullptr;
    const bool allowed = mode == cudaStreamCaptureModeRelaxed;
    expect_equal(cudaGraphInstantiate(&executable, graph, 0),
                 allowed ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    cudaGraph_t captured = nullptr;  // null if the instantiation invalidated the other capture
    expect_equal(cudaStreamEndCapture(other.get(), &captured),
                 allowed ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    if (captured != nullptr) check(cudaGraphDestroy(captured));
    if (executable != nullptr) check(cudaGraphExecDestroy(executable));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
  }
}

TEST(an_executable_graph_outlives_its_graph) {
  const Stream stream;
  Device<unsigned> device(std::vector<unsigned>{1});
  begin_capture(stream, cudaStreamCaptureModeGlobal);
  launch_affine(device, 10, 2, stream.get());
  cudaGraph_t graph = end_capture(stream);
  cudaGraphExec_t first = nullptr, second = nullptr;
  check(cudaGraphInstantiate(&first, graph, 0));
  check(cudaGraphInstantiate(&second, graph, 0));
  check(cudaGraphDestroy(graph));
  check(cudaGraphUpload(first, stream.get()));
  check(cudaGraphLaunch(first, stream.get()));
  check(cudaGraphLaunch(second, stream.get()));
  expect_equal(read_in(stream, device), {122});
  check(cudaGraphExecDestroy(first));
  check(cudaGraphExecDestroy(second));
}

TEST(a_capture_takes_extended_launches) {
  const Stream stream;
  const std::vector<unsigned> values = random_numbers(256);
  Device<unsigned> device(values);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 128;
  config.stream = stream.get();
  config.attrs = &attribute;
  config.numAttrs = 1;
  begin_capture(stream);
  check(cudaLaunchKernelEx(&config, affine, device.get(), 256, 3u, 1u));
  const Graph graph(stream, end_capture(stream));
  graph.launch();
  expect_equal(read_in(stream, device),
               table<unsigned>(256, [&](int i) { return 3 * values[i] + 1; }));
}

TEST(a_capture_has_a_status) {
  const Stream stream;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  check(cudaStreamIsCapturing(stream.get(), &status));
  expect_equal(status, cudaStreamCaptureStatusNone);
  begin_capture(stream);
  check(cudaStreamIsCapturing(stream.get(), &status));
  expect_equal(status, cudaStreamCaptureStatusActive);
  check(cudaGraphDestroy(end_capture(stream)));
  check(cudaStreamIsCapturing(stream.get(), &status));
  expect_equal(status, cudaStreamCaptureStatusNone);
}

TEST(a_stream_that_captures_cannot_be_waited_for) {
  const Stream stream;
  Device<unsigned> device(std::vector<unsigned>{1});
  begin_capture(stream);
  launch_affine(device, 3, 1, stream.get());
  expect_refusal(cudaStreamSynchronize(stream.get()), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  check(cudaStreamIsCapturing(stream.get(), &status));
  expect_equal(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  expect_refusal(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
  expect(graph == nullptr, "an invalid capture gives no graph");
  launch_affine(device, 5, 2, stream.get());  // the stream can be used again
  expect_equal(read_in(stream, device), {7});
}

TEST(forked_work_must_be_joined) {
  const Stream stream, other;
  const Event fork;
  Device<unsigned> device(std::vector<unsigned>{1});
  begin_capture(stream);
  fork.record(stream);
  fork.hold(other);
  launch_affine(device, 3, 1, other.get());
  cudaGraph_t graph = nullptr;
  expect_refusal(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureUnjoined);
  expect_equal(read_in(stream, device), {1});
}

// --- Several devices

int devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  return count;
}

TEST(a_device_is_no_peer_of_its_own) {
  int can = -1;
  check(cudaDeviceCanAccessPeer(&can, 0, 0));
  expect_equal(can, 0);
  check(cudaSetDevice(0));
  int device = -1;
  check(cudaGetDevice(&device));
  expect_equal(device, 0);
}

/// Sets the current device in a scope.
class On {
 public:
  explicit On(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~On() { cudaSetDevice(before_); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  int before_ = 0;
};

void need_two_devices() {
  if (devices() < 2) tap::skip("this test needs two devices");
}

TEST(threads_of_the_host_choose_devices) {
  need_two_devices();
  check(cudaSetDevice(1));
  int here = -1, there = -1;
  std::thread([&] { cudaGetDevice(&there); }).join();
  check(cudaGetDevice(&here));
  check(cudaSetDevice(0));
  expect_equal(here, 1);
  expect_equal(there, 0);
}

TEST(devices_have_memory_of_their_own) {
  need_two_devices();
  const std::vector<unsigned> values = random_numbers(300);
  for (int device = 0; device < devices(); ++device) {
    const On on(device);
    Device<unsigned> memory(values);
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, memory.get()));
    expect_equal(attributes.device, device);
    launch_affine(memory, 3, 1, nullptr);
    expect_equal(memory.to_host(), table<unsigned>(300, [&](int i) { return 3 * values[i] + 1; }));
  }
}

#ifndef STAIRCASE_CUDA_ON_CPU  // on the CPU device, all devices share the program's variables
__device__ unsigned number_of_device = 10;
__global__ void add_to_number(unsigned addend) { number_of_device += addend; }

TEST(devices_have_variables_of_their_own) {
  need_two_devices();
  for (int device = 0; device < devices(); ++device) {
    const On on(device);
    add_to_number<<<1, 1>>>(device + 1);
  }
  for (int device = 0; device < devices(); ++device) {
    const On on(device);
    unsigned number = 0;
    check(cudaMemcpyFromSymbol(&number, number_of_device, sizeof number));
    expect_equal(number, 11u + device);
  }
}
#endif

TEST(copies_go_between_devices) {
  need_two_devices();
  const std::vector<unsigned> values = random_numbers(300);
  const Device<unsigned> one(values);
  const On on(1);
  const Device<unsigned> two(300), three(300);
  check(cudaMemcpyPeer(two.get(), 1, one.get(), 0, one.bytes()));
  launch_affine(two, 3, 1, nullptr);
  check(cudaMemcpy(three.get(), two.get(), two.bytes(), cudaMemcpyDefault));
  check(cudaMemcpy(one.get(), three.get(), one.bytes(), cudaMemcpyDefault));
  expect_equal(one.to_host(), table<unsigned>(300, [&](int i) { return 3 * values[i] + 1; }));
}

TEST(streams_belong_to_a_device) {
  need_two_devices();
  const std::vector<unsigned> values = random_numbers(300);
  const Stream here;
  const Device<unsigned> one(values);
  const On on(1);
  const Stream there(cudaStreamNonBlocking);
  const Event event;
  const Device<unsigned> two(values);
  affine<<<3, 128, 0, here.get()>>>(two.get(), 300, 3, 1);
  expect_error(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  check(cudaDeviceSynchronize());
  // A stream waits for an event of another device.
  launch_affine(two, 3, 1, there.get());
  event.record(there);
  check(cudaSetDevice(0));
  event.hold(here);
  check(cudaMemcpyPeerAsync(one.get(), 0, two.get(), 1, one.bytes(), here.get()));
  launch_affine(one, 5, 2, here.get());
  expect_equal(read_in(here, one),
               table<unsigned>(300, [&](int i) { return 5 * (3 * values[i] + 1) + 2; }));
  expect_refusal(cudaEventRecord(event.get(), here.get()), cudaErrorInvalidResourceHandle);
}

TEST(kernels_reach_the_memory_of_a_peer) {
  need_two_devices();
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, 0, 1));
  if (can == 0) tap::skip("the devices cannot access each other");
  const std::vector<unsigned> values = random_numbers(300);
  const Device<unsigned> here(values);
  check(cudaDeviceEnablePeerAccess(1, 0));
  expect_refusal(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  {
    const On on(1);
    const Device<unsigned> there(values);
    check(cudaSetDevice(0));
    launch_affine(there, 3, 1, nullptr);
    check(cudaDeviceSynchronize());
    expect_equal(there.to_host(), table<unsigned>(300, [&](int i) { return 3 * values[i] + 1; }));
  }
  check(cudaDeviceDisablePeerAccess(1));
  expect_refusal(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

// --- Access-policy windows of the L2 cache

TEST(streams_keep_windows_of_the_cache) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  expect_equal(most, device.accessPolicyMaxWindowSize);
  const Device<int> x(100);
  const Stream one, other;
  cudaStreamAttrValue said{}, told{};
  said.accessPolicyWindow = {x.get(), x.bytes(), 0.5F, cudaAccessPropertyPersisting,
                             cudaAccessPropertyStreaming};
  constexpr auto window = cudaStreamAttributeAccessPolicyWindow;
  check(cudaStreamSetAttribute(one.get(), window, &said));
  check(cudaStreamGetAttribute(other.get(), window, &told));
  expect_equal(told.accessPolicyWindow.num_bytes, 0u);
  check(cudaStreamCopyAttributes(other.get(), one.get()));
  check(cudaStreamGetAttribute(other.get(), window, &told));
  expect(told.accessPolicyWindow.base_ptr == x.get(), "the window is kept");
  expect_equal(told.accessPolicyWindow.num_bytes, x.bytes());
  expect_equal(told.accessPolicyWindow.hitRatio, 0.5F);
  expect(told.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting, "and so is what it says");
  check(cudaCtxResetPersistingL2Cache());
  check(cudaStreamSetAttribute(nullptr, window, &said));
}

TEST(windows_that_cannot_be_are_refused) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  const Stream stream;
  const auto expect_refused = [&](auto change) {
    cudaStreamAttrValue value{};
    value.accessPolicyWindow = {nullptr, 512, 1, cudaAccessPropertyNormal,
                                cudaAccessPropertyStreaming};
    change(value.accessPolicyWindow);
    expect_refusal(
        cudaStreamSetAttribute(stream.get(), cudaStreamAttributeAccessPolicyWindow, &value),
        cudaErrorInvalidValue);
  };
  expect_refused([&](auto& window) { window.num_bytes = device.accessPolicyMaxWindowSize + 1u; });
  expect_refused([](auto& window) { window.hitRatio = 1.5F; });
  expect_refused([](auto& window) { window.missProp = cudaAccessPropertyPersisting; });
#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU's runtime dereferences the pointer
  expect_refusal(
      cudaStreamSetAttribute(stream.get(), cudaStreamAttributeAccessPolicyWindow, nullptr),
      cudaErrorInvalidValue);
#endif
}

TEST(limits_are_kept) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  expect(device.persistingL2CacheMaxSize > 0, "a part of the cache may be kept");
  const std::size_t most = device.persistingL2CacheMaxSize;
  std::size_t told = 1;
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most));
  check(cudaDeviceGetLimit(&told, cudaLimitPersistingL2CacheSize));
  expect_equal(told, most);
  expect_refusal(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most + 1),
                 cudaErrorInvalidValue);
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
  check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  check(cudaDeviceGetLimit(&told, cudaLimitMallocHeapSize));
  expect_equal(told, std::size_t{16} << 20);
  expect_refusal(cudaDeviceGetLimit(&told, static_cast<cudaLimit>(77)), cudaErrorInvalidValue);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
