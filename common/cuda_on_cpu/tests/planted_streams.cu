/// \file
/// Seeded bugs: a host or stream that does not wait for work in other streams.

#include <cuda_runtime.h>

#include <cstdio>
#include <future>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int count = 256;
constexpr std::size_t size = count * sizeof(int);
constexpr cudaMemcpyKind to_host = cudaMemcpyDeviceToHost;
constexpr cudaMemcpyKind to_device = cudaMemcpyHostToDevice;
constexpr cudaMemcpyKind on_device = cudaMemcpyDeviceToDevice;

__global__ void fill(int* out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add_one(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;  // planted: stream race
}

/// Prints a result if it differs from the expected one.
void expect(int value, int expected) {
  if (value != expected) std::printf("%d instead of %d\n", value, expected);
}

namespace read_before_the_copy_is_done {

/// An asynchronous copy to pinned memory has only begun when the call returns.
template <bool bug>
void run() {
  const Stream stream;
  const Buffer<int> device(count);
  const Pinned<int> host(count, -1);
  check(cudaDeviceSynchronize());
  check(cudaMemcpyAsync(host.get(), device.get(), size, to_host, stream.get()));
  if (!bug) check(cudaStreamSynchronize(stream.get()));
  expect(host[7], 0);  // planted: host race
  finish();
}

}  // namespace read_before_the_copy_is_done

namespace function_of_the_stream_not_awaited {

/// A host function in the stream signals the end of the copy.
template <bool bug>
void run() {
  const Stream stream;
  const Buffer<int> device(count);
  const Pinned<int> host(count, -1);
  check(cudaDeviceSynchronize());
  check(cudaMemcpyAsync(host.get(), device.get(), size, to_host, stream.get()));
  std::promise<void> copied;
  const auto tell = [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); };
  check(cudaLaunchHostFunc(stream.get(), tell, &copied));
  if (!bug) copied.get_future().wait();
  expect(host[7], 0);  // planted: host race
  finish();
}

}  // namespace function_of_the_stream_not_awaited

namespace source_overwritten_too_early {

/// With the bug, the host overwrites its input while an asynchronous copy may still read it.
template <bool bug>
void run() {
  const Stream stream;
  const Buffer<int> device(count);
  const Pinned<int> host(count, 1);
  check(cudaDeviceSynchronize());
  check(cudaMemcpyAsync(device.get(), host.get(), size, to_device, stream.get()));
  if (!bug) check(cudaStreamSynchronize(stream.get()));
  host[3] = 2;  // planted: host race
  finish();
}

}  // namespace source_overwritten_too_early

namespace wrong_staging_buffer_awaited {

/// Two staging buffers are used alternately, each with its own stream. A buffer may be refilled
/// only after its own last copy.
template <bool bug>
void run() {
  const Stream streams[2];
  const Event copied[2];
  const Buffer<int> device(4 * count);
  const Pinned<int> first(count), second(count);
  const Pinned<int>* const staging[] = {&first, &second};
  check(cudaDeviceSynchronize());
  for (int chunk = 0; chunk < 4; ++chunk) {
    const int now = chunk % 2;
    if (chunk >= 2) check(cudaEventSynchronize(copied[bug ? 1 - now : now].get()));
    const Pinned<int>& host = *staging[now];
    for (int i = 0; i < count; ++i) host[i] = chunk;  // planted: host race
    int* const to = device.get() + chunk * count;
    check(cudaMemcpyAsync(to, host.get(), size, to_device, streams[now].get()));
    check(cudaEventRecord(copied[now].get(), streams[now].get()));
  }
  finish();
}

}  // namespace wrong_staging_buffer_awaited

namespace managed_memory_read_at_once {

/// A launch returns before the kernel has run, even if the kernel uses managed memory.
template <bool bug>
void run() {
  int* values = nullptr;
  check(cudaMallocManaged(&values, size));
  fill<<<1, count>>>(values, 5);
  if (!bug) check(cudaDeviceSynchronize());
  expect(values[9], 5);  // planted: host race
  finish();
  check(cudaFree(values));
}

}  // namespace managed_memory_read_at_once

namespace pinned_result_read_at_once {

/// The kernel writes directly to host memory, at an unspecified time.
template <bool bug>
void run() {
  const Pinned<int> result(count, -1);
  fill<<<1, count>>>(result.get(), 5);
  if (!bug) check(cudaStreamSynchronize(nullptr));
  expect(result[9], 5);  // planted: host race
  finish();
}

}  // namespace pinned_result_read_at_once

namespace other_stream_awaited {

/// With the bug, the host waits for a stream other than the one that does the work.
template <bool bug>
void run() {
  const Stream worker, other;
  const Pinned<int> result(count, -1);
  fill<<<1, count, 0, worker.get()>>>(result.get(), 5);
  check(cudaStreamSynchronize(bug ? other.get() : worker.get()));
  expect(result[9], 5);  // planted: host race
  finish();
}

}  // namespace other_stream_awaited

namespace no_event_between_streams {

/// With the bug, the second stream does not wait for the kernel of the first one.
template <bool bug>
void run() {
  const Stream first, second;
  const Event filled;
  const Buffer<int> values(count), out(count);
  check(cudaDeviceSynchronize());
  fill<<<1, count, 0, first.get()>>>(values.get(), 5);
  check(cudaEventRecord(filled.get(), first.get()));
  if (!bug) check(cudaStreamWaitEvent(second.get(), filled.get()));
  add_one<<<1, count, 0, second.get()>>>(values.get(), out.get());  // planted: stream race
  finish();
}

}  // namespace no_event_between_streams

namespace event_recorded_too_early {

/// An event covers only earlier work of its stream; with the bug, there was no earlier work.
template <bool bug>
void run() {
  const Stream first, second;
  const Event filled;
  const Buffer<int> values(count), out(count);
  check(cudaDeviceSynchronize());
  if (bug) check(cudaEventRecord(filled.get(), first.get()));
  fill<<<1, count, 0, first.get()>>>(values.get(), 5);
  if (!bug) check(cudaEventRecord(filled.get(), first.get()));
  check(cudaStreamWaitEvent(second.get(), filled.get()));
  add_one<<<1, count, 0, second.get()>>>(values.get(), out.get());  // planted: stream race
  finish();
}

}  // namespace event_recorded_too_early

namespace event_awaited_before_its_record {

/// With the bug, a stream waits for an event that was not recorded yet, which has no effect.
template <bool bug>
void run() {
  const Stream first, second;
  const Event filled;
  const Buffer<int> values(count), out(count);
  check(cudaDeviceSynchronize());
  if (bug) check(cudaStreamWaitEvent(second.get(), filled.get()));
  fill<<<1, count, 0, first.get()>>>(values.get(), 5);
  check(cudaEventRecord(filled.get(), first.get()));
  if (!bug) check(cudaStreamWaitEvent(second.get(), filled.get()));
  add_one<<<1, count, 0, second.get()>>>(values.get(), out.get());  // planted: stream race
  finish();
}

}  // namespace event_awaited_before_its_record

namespace copy_in_another_stream {

/// With the bug, the host copies the result in a stream that does not wait for the kernel.
template <bool bug>
void run() {
  const Stream worker, other;
  const Buffer<int> values(count);
  const Pinned<int> host(count);
  check(cudaDeviceSynchronize());
  fill<<<1, count, 0, worker.get()>>>(values.get(), 5);
  const cudaStream_t stream = bug ? other.get() : worker.get();
  check(cudaMemcpyAsync(host.get(), values.get(), size, to_host, stream));  // planted: stream race
  check(cudaStreamSynchronize(stream));
  expect(host[9], 5);
  finish();
}

}  // namespace copy_in_another_stream

namespace stream_that_does_not_block {

/// The default stream does not wait for non-blocking streams.
template <bool bug>
void run() {
  const Stream stream(bug ? cudaStreamNonBlocking : cudaStreamDefault);
  const Buffer<int> values(count);
  int value = 0;
  check(cudaDeviceSynchronize());
  fill<<<1, count, 0, stream.get()>>>(values.get(), 5);
  check(cudaMemcpy(&value, values.get(), sizeof value, to_host));  // planted: stream race
  expect(value, 5);
  finish();
}

}  // namespace stream_that_does_not_block

namespace two_streams_write_one_buffer {

/// With the bug, chunks are processed concurrently in one scratch buffer.
template <bool bug>
void run() {
  const Stream first, second;
  const Buffer<int> scratch(2 * count), out(2 * count);
  check(cudaDeviceSynchronize());
  const Stream* const streams[] = {&first, &second};
  for (int chunk = 0; chunk < 2; ++chunk) {
    const cudaStream_t stream = streams[chunk]->get();
    int* const own = scratch.get() + (bug ? 0 : chunk * count);
    check(cudaMemsetAsync(own, chunk, size, stream));  // planted: stream race
    int* const to = out.get() + chunk * count;
    check(cudaMemcpyAsync(to, own, size, on_device, stream));  // planted: stream race
  }
  finish();
}

}  // namespace two_streams_write_one_buffer

namespace node_without_its_dependency {

/// Two kernels of a graph; the second one reads the results of the first one.
template <bool bug>
void run() {
  const Buffer<int> in(count), between(count), out(count);
  const int* from = in.get();
  int* scratch = between.get();
  int* to = out.get();
  void *first_arguments[] = {&from, &scratch}, *second_arguments[] = {&scratch, &to};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add_one;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(count);
  kernel.kernelParams = first_arguments;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  check(cudaGraphCreate(&graph, 0));
  check(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  kernel.kernelParams = second_arguments;
  check(cudaGraphAddKernelNode(&second, graph, &first, bug ? 0 : 1, &kernel));
  cudaGraphExec_t instance = nullptr;
  check(cudaGraphInstantiate(&instance, graph, 0));
  check(cudaGraphLaunch(instance, nullptr));
  finish();
  check(cudaGraphExecDestroy(instance));
  check(cudaGraphDestroy(graph));
}

}  // namespace node_without_its_dependency

namespace graph_without_its_event {

/// A graph waits for an event of another stream; with the bug, the event is recorded too early.
template <bool bug>
void run() {
  const Buffer<int> in(count), between(count), out(count);
  const Stream writing, reading;
  cudaEvent_t written = nullptr;
  check(cudaEventCreate(&written));
  check(cudaDeviceSynchronize());
  const int* from = between.get();
  int* to = out.get();
  void* arguments[] = {&from, &to};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add_one;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(count);
  kernel.kernelParams = arguments;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t wait = nullptr, node = nullptr;
  check(cudaGraphCreate(&graph, 0));
  check(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, written));
  check(cudaGraphAddKernelNode(&node, graph, &wait, 1, &kernel));
  cudaGraphExec_t instance = nullptr;
  check(cudaGraphInstantiate(&instance, graph, 0));
  if (bug) check(cudaEventRecord(written, writing.get()));
  add_one<<<1, count, 0, writing.get()>>>(in.get(), between.get());
  if (!bug) check(cudaEventRecord(written, writing.get()));
  check(cudaGraphLaunch(instance, reading.get()));
  finish();
  check(cudaGraphExecDestroy(instance));
  check(cudaGraphDestroy(graph));
  check(cudaEventDestroy(written));
}

}  // namespace graph_without_its_event

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"graph_without_its_event", graph_without_its_event::run<true>,
        graph_without_its_event::run<false>},
       {"read_before_the_copy_is_done", read_before_the_copy_is_done::run<true>,
        read_before_the_copy_is_done::run<false>},
       {"function_of_the_stream_not_awaited", function_of_the_stream_not_awaited::run<true>,
        function_of_the_stream_not_awaited::run<false>},
       {"source_overwritten_too_early", source_overwritten_too_early::run<true>,
        source_overwritten_too_early::run<false>},
       {"wrong_staging_buffer_awaited", wrong_staging_buffer_awaited::run<true>,
        wrong_staging_buffer_awaited::run<false>},
       {"managed_memory_read_at_once", managed_memory_read_at_once::run<true>,
        managed_memory_read_at_once::run<false>},
       {"pinned_result_read_at_once", pinned_result_read_at_once::run<true>,
        pinned_result_read_at_once::run<false>},
       {"other_stream_awaited", other_stream_awaited::run<true>, other_stream_awaited::run<false>},
       {"no_event_between_streams", no_event_between_streams::run<true>,
        no_event_between_streams::run<false>},
       {"event_recorded_too_early", event_recorded_too_early::run<true>,
        event_recorded_too_early::run<false>},
       {"event_awaited_before_its_record", event_awaited_before_its_record::run<true>,
        event_awaited_before_its_record::run<false>},
       {"copy_in_another_stream", copy_in_another_stream::run<true>,
        copy_in_another_stream::run<false>},
       {"stream_that_does_not_block", stream_that_does_not_block::run<true>,
        stream_that_does_not_block::run<false>},
       {"two_streams_write_one_buffer", two_streams_write_one_buffer::run<true>,
        two_streams_write_one_buffer::run<false>},
       {"node_without_its_dependency", node_without_its_dependency::run<true>,
        node_without_its_dependency::run<false>}});
}
