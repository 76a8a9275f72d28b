/// \file
/// Graph nodes that allocate and free memory, conditional nodes that select graphs or repeat one,
/// and queries for the graph that a stream captures.

#include <cuda_runtime.h>

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "graph.hpp"

using tap::check;
using tap::Device;
using tap::Event;
using tap::expect;
using tap::expect_equal;
using tap::expect_refusal;
using tap::Graph;
using tap::Instance;
using tap::Stream;
using tap::table;

constexpr int count = 300;
constexpr std::size_t bytes = count * sizeof(int);

__global__ void number_all(int* x, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = first + i;
}
__global__ void add_to(const int* x, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] += x[i];
}

using Nodes = std::vector<cudaGraphNode_t>;

cudaMemAllocNodeParams allocation_of(std::size_t size) {
  cudaMemAllocNodeParams parameters = {};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  parameters.poolProps.location.id = 0;
  parameters.bytesize = size;
  return parameters;
}

cudaGraphNode_t add_alloc(const Graph& graph, int** pointer, const Nodes& after = {},
                          std::size_t size = bytes) {
  cudaMemAllocNodeParams parameters = allocation_of(size);
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddMemAllocNode(&node, graph.get(), after.data(), after.size(), &parameters));
  *pointer = static_cast<int*>(parameters.dptr);
  return node;
}
cudaGraphNode_t add_free(const Graph& graph, int* pointer, const Nodes& after) {
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddMemFreeNode(&node, graph.get(), after.data(), after.size(), pointer));
  return node;
}
cudaGraphNode_t add_numbers(const Graph& graph, int* x, int first, const Nodes& after) {
  void* arguments[] = {&x, &first};
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)number_all;
  parameters.kernel.gridDim = dim3(3);
  parameters.kernel.blockDim = dim3(128);
  parameters.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph.get(), after.data(), nullptr, after.size(), &parameters));
  return node;
}
cudaGraphNode_t add_sum(const Graph& graph, const int* x, int* sum, const Nodes& after) {
  void* arguments[] = {&x, &sum};
  cudaKernelNodeParams parameters = {(void*)add_to, dim3(3), dim3(128), 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph.get(), after.data(), after.size(), &parameters));
  return node;
}

std::vector<int> numbers(int first, int factor = 1) {
  return table<int>(count, [=](int i) { return factor * (first + i); });
}

std::size_t memory_of_graphs() {
  std::size_t used = 0;
  check(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  return used;
}

// --- Memory

TEST(a_graph_has_memory_of_its_own) {
  const Device<int> sum(std::vector<int>(count, 0));
  const Graph graph;
  int* x = nullptr;
  const auto alloc = add_alloc(graph, &x);
  const auto fill = add_numbers(graph, x, 5, {alloc});
  const auto add = add_sum(graph, x, sum.get(), {fill});
  const auto free = add_free(graph, x, {add});
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  check(cudaGraphNodeGetType(alloc, &type));
  expect(type == cudaGraphNodeTypeMemAlloc, "the first node allocates");
  check(cudaGraphNodeGetType(free, &type));
  expect(type == cudaGraphNodeTypeMemFree, "the last one frees");
  cudaMemAllocNodeParams said{};
  check(cudaGraphMemAllocNodeGetParams(alloc, &said));
  expect(said.dptr == x && said.bytesize == bytes, "the node knows what it allocates");
  void* freed = nullptr;
  check(cudaGraphMemFreeNodeGetParams(free, &freed));
  expect(freed == x, "and the other one what it frees");
  const Instance instance(graph);
  for (int launch = 1; launch <= 3; ++launch) {
    instance.launch();
    expect_equal(sum.to_host(), numbers(5, launch));
  }
}

TEST(memory_that_a_graph_leaves_is_used_and_freed_behind_it) {
  const Stream stream;
  const Graph graph;
  int* x = nullptr;
  const auto alloc = add_alloc(graph, &x);
  add_numbers(graph, x, 7, {alloc});
  const Instance instance(graph);
  std::vector<int> out(count);
  const auto read = [&] {
    check(cudaMemcpyAsync(out.data(), x, bytes, cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
    expect_equal(out, numbers(7));
  };
  check(cudaGraphLaunch(instance.get(), stream.get()));
  read();
  expect_refusal(cudaGraphLaunch(instance.get(), stream.get()), cudaErrorInvalidValue);
  check(cudaFree(x));
  expect_refusal(cudaFree(x), cudaErrorInvalidValue);
  check(cudaGraphLaunch(instance.get(), stream.get()));
  read();
  check(cudaFreeAsync(x, stream.get()));
  expect_refusal(cudaFreeAsync(x, stream.get()), cudaErrorInvalidValue);
  const Graph other;
  add_free(other, x, {});
  const Instance freeing(other);
  expect_refusal(cudaGraphLaunch(freeing.get(), stream.get()), cudaErrorInvalidValue);
  check(cudaGraphLaunch(instance.get(), stream.get()));
  read();
  freeing.launch(stream.get());
  check(cudaDeviceGraphMemTrim(0));
  expect_equal(memory_of_graphs(), 0u);
}

TEST(what_a_graph_leaves_outlives_it) {
  int* x = nullptr;
  std::vector<int> out(count);
  {
    const Graph graph;
    const auto alloc = add_alloc(graph, &x);
    add_numbers(graph, x, 3, {alloc});
    Instance(graph).launch();
  }
  check(cudaMemcpy(out.data(), x, bytes, cudaMemcpyDeviceToHost));
  expect_equal(out, numbers(3));
  check(cudaFree(x));
}

TEST(instances_may_free_on_launch_what_they_left) {
  const Graph graph;
  int* x = nullptr;
  const auto alloc = add_alloc(graph, &x);
  add_numbers(graph, x, 4, {alloc});
  const Instance instance(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int launch = 0; launch < 3; ++launch) check(cudaGraphLaunch(instance.get(), nullptr));
  std::vector<int> out(count);
  check(cudaMemcpy(out.data(), x, bytes, cudaMemcpyDeviceToHost));
  expect_equal(out, numbers(4));
  check(cudaFree(x));
}

TEST(streams_record_allocations) {
  const Device<int> sum(std::vector<int>(count, 0));
  const Stream stream;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  int* x = nullptr;
  check(cudaMallocAsync(&x, bytes, stream.get()));
  number_all<<<3, 128, 0, stream.get()>>>(x, 1);
  add_to<<<3, 128, 0, stream.get()>>>(x, sum.get());
  check(cudaFreeAsync(x, stream.get()));
  cudaGraph_t recorded = nullptr;
  check(cudaStreamEndCapture(stream.get(), &recorded));
  const Graph graph(recorded);
  const Instance instance(graph);
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(graph.get(), nullptr, &nodes));
  expect_equal(nodes, 4u);
  instance.launch(stream.get());
  instance.launch(stream.get());
  check(cudaDeviceSynchronize());
  expect_equal(sum.to_host(), numbers(1, 2));
}

TEST(streams_may_end_while_they_record) {
  const Device<int> sum(std::vector<int>(count, 0));
  const Stream stream;
  cudaStream_t other = nullptr;
  cudaEvent_t filled = nullptr, added = nullptr;
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  check(cudaEventCreate(&filled));
  check(cudaEventCreate(&added));
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  int* x = nullptr;
  check(cudaMallocAsync(&x, bytes, stream.get()));
  number_all<<<3, 128, 0, stream.get()>>>(x, 2);
  check(cudaEventRecord(filled, stream.get()));
  check(cudaStreamWaitEvent(other, filled, 0));
  add_to<<<3, 128, 0, other>>>(x, sum.get());
  check(cudaFreeAsync(x, other));
  check(cudaEventRecord(added, other));
  check(cudaStreamWaitEvent(stream.get(), added, 0));
  check(cudaStreamDestroy(other));
  check(cudaEventDestroy(filled));
  check(cudaEventDestroy(added));
  cudaGraph_t recorded = nullptr;
  check(cudaStreamEndCapture(stream.get(), &recorded));
  const Graph graph(recorded);
  const Instance instance(graph);
  check(cudaDeviceSynchronize());  // nothing is pending yet
  expect_equal(sum.to_host(), std::vector<int>(count, 0));
  instance.launch(stream.get());
  check(cudaDeviceSynchronize());
  expect_equal(sum.to_host(), numbers(2));
}

TEST(memory_of_graphs_is_counted) {
  check(cudaDeviceGraphMemTrim(0));
  const Stream one, other;
  const Graph graphs[2];
  int *x = nullptr, *y = nullptr;
  constexpr std::size_t size = 1 << 20;
  const auto alloc_x = add_alloc(graphs[0], &x, {}, size);
  add_free(graphs[0], x, {alloc_x});
  const auto alloc_y = add_alloc(graphs[1], &y, {}, size);
  add_free(graphs[1], y, {alloc_y});
  const Instance a(graphs[0]), b(graphs[1]);
  expect_equal(memory_of_graphs(), 0u);
  check(cudaGraphLaunch(a.get(), one.get()));
  const std::size_t of_one = memory_of_graphs();  // rounded up to the device's own granularity
  expect(of_one >= size, "it is there");
  check(cudaGraphLaunch(b.get(), one.get()));  // after the first graph, in the same memory
  expect_equal(memory_of_graphs(), of_one);
  check(cudaGraphLaunch(a.get(), other.get()));
  check(cudaDeviceSynchronize());
  std::size_t free = 0, total = 0, most = 0;
  check(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
  expect(most >= size, "the most is known");
  most = 0;
  check(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
  expect_refusal(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &most),
                 cudaErrorInvalidValue);
  check(cudaMemGetInfo(&free, &total));
  const std::size_t before = free, held = memory_of_graphs();
  check(cudaDeviceGraphMemTrim(0));
  expect_equal(memory_of_graphs(), 0u);
  check(cudaMemGetInfo(&free, &total));
  expect_equal(free, before + held);
  expect_refusal(cudaDeviceGraphMemTrim(99), cudaErrorInvalidDevice);
}

TEST(memory_of_others_makes_no_room_in_a_graph) {
  check(cudaDeviceGraphMemTrim(0));
  constexpr std::size_t size = 64 << 20;  // a multiple of the granularity of a GPU
  int *x = nullptr, *y = nullptr, *z = nullptr;
  const Graph before, graph;
  add_alloc(before, &y, {}, size);
  const auto alloc = add_alloc(graph, &x, {}, size);
  const auto free = add_free(graph, y, {alloc});
  add_alloc(graph, &z, {free}, size);
  const Instance first(before), instance(graph);
  first.launch();
  instance.launch();
  expect(memory_of_graphs() >= 2 * size, "two are there");
  check(cudaFree(x));
  expect_refusal(cudaFree(y), cudaErrorInvalidValue);
  check(cudaFree(z));
  check(cudaDeviceGraphMemTrim(0));
}

TEST(graphs_free_no_memory_of_others) {
  const Graph graph;
  int* x = nullptr;
  cudaGraphNode_t node = nullptr;
  check(cudaMallocAsync(&x, 4, nullptr));
  expect_refusal(cudaGraphAddMemFreeNode(&node, graph.get(), nullptr, 0, x), cudaErrorInvalidValue);
  check(cudaFree(x));
}

TEST(graphs_with_memory_are_refused_what_they_cannot_have) {
  const Graph graph, other;
  int* x = nullptr;
  const auto alloc = add_alloc(graph, &x);
  const auto free = add_free(graph, x, {alloc});
  cudaGraphNode_t node = nullptr;
  expect_refusal(cudaGraphAddMemFreeNode(&node, graph.get(), nullptr, 0, x), cudaErrorInvalidValue);
  int of_host = 0;
  expect_refusal(cudaGraphAddMemFreeNode(&node, graph.get(), nullptr, 0, &of_host),
                 cudaErrorInvalidValue);
  cudaMemAllocNodeParams wrong = allocation_of(0);
  expect_refusal(cudaGraphAddMemAllocNode(&node, graph.get(), nullptr, 0, &wrong),
                 cudaErrorInvalidValue);
  wrong = allocation_of(4);
  wrong.poolProps.location.id = 99;
  expect_refusal(cudaGraphAddMemAllocNode(&node, graph.get(), nullptr, 0, &wrong),
                 cudaErrorInvalidValue);
  wrong = allocation_of(4);
  wrong.poolProps.allocType = cudaMemAllocationTypeInvalid;
  expect_refusal(cudaGraphAddMemAllocNode(&node, graph.get(), nullptr, 0, &wrong),
                 cudaErrorInvalidValue);
  cudaGraph_t clone = nullptr;
  expect_refusal(cudaGraphClone(&clone, graph.get()), cudaErrorNotSupported);
  expect_refusal(cudaGraphAddChildGraphNode(&node, other.get(), nullptr, 0, graph.get()),
                 cudaErrorNotSupported);
  expect_refusal(cudaGraphDestroyNode(free), cudaErrorNotSupported);
  expect_refusal(cudaGraphRemoveDependencies(graph.get(), &alloc, &free, nullptr, 1),
                 cudaErrorNotSupported);
  const Instance instance(graph);
  cudaGraphExec_t second = nullptr;
  expect_refusal(cudaGraphInstantiate(&second, graph.get(), 0), cudaErrorNotSupported);
  instance.launch();
}

TEST(an_instance_takes_the_memory_of_another_graph) {
  const Device<int> sum(std::vector<int>(count, 0));
  const Graph one, other, longer;
  const auto fill_with = [&](const Graph& graph, int first, std::size_t size) {
    int* x = nullptr;
    const auto alloc = add_alloc(graph, &x, {}, size);
    const auto add = add_sum(graph, x, sum.get(), {add_numbers(graph, x, first, {alloc})});
    return add_free(graph, x, {add});
  };
  fill_with(one, 1, bytes);
  fill_with(other, 1000, 2 * bytes);
  add_sum(longer, sum.get(), sum.get(), {fill_with(longer, 0, bytes)});
  const Instance instance(one);
  cudaGraphExecUpdateResultInfo result = {};
  const auto updates = [&](const Graph& graph) {
    return cudaGraphExecUpdate(instance.get(), graph.get(), &result);
  };
  check(updates(one));
  instance.launch();
  check(updates(other));
  instance.launch();
  expect_equal(sum.to_host(), table<int>(count, [](int i) { return 1001 + 2 * i; }));
  expect_refusal(updates(longer), cudaErrorGraphExecUpdateFailure);
  expect(result.result == cudaGraphExecUpdateErrorTopologyChanged, "the graph has another shape");
  const Instance again(one);  // the memory of the first instance is free again
  again.launch();
  instance.launch();
  expect_equal(sum.to_host(), table<int>(count, [](int i) { return 2002 + 4 * i; }));
}

// --- Conditions

__global__ void ask(const int* value, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void note(int* log, int what) {
  const int n = log[0] + 1;
  log[0] = n;
  log[n] = what;
}
__global__ void count_down(int* value, cudaGraphConditionalHandle handle) {
  *value -= 1;
  cudaGraphSetConditional(handle, *value > 0);
}
__global__ void do_nothing() {}

cudaGraphNode_t add_note(cudaGraph_t graph, int* log, int what, const Nodes& after = {}) {
  void* arguments[] = {&log, &what};
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)note;
  parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1);
  parameters.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &parameters));
  return node;
}

template <typename Kernel>
cudaGraphNode_t add_asking(cudaGraph_t graph, Kernel kernel, int* value,
                           cudaGraphConditionalHandle handle, const Nodes& after = {}) {
  void* arguments[] = {&value, &handle};
  cudaKernelNodeParams parameters = {};
  parameters.func = (void*)kernel;
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
  return node;
}

struct Choice {
  cudaGraphNode_t node = nullptr;
  std::vector<cudaGraph_t> bodies;
};

Choice add_choice(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                  cudaGraphConditionalNodeType type, unsigned size, const Nodes& after = {}) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  Choice choice;
  check(cudaGraphAddNode(&choice.node, graph, after.data(), nullptr, after.size(), &parameters));
  choice.bodies.assign(parameters.conditional.phGraph_out,
                       parameters.conditional.phGraph_out + size);
  return choice;
}

cudaGraphConditionalHandle handle_of(cudaGraph_t graph, unsigned first = 0, unsigned flags = 0) {
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph, first, flags));
  return handle;
}

/// Returns the logged values in order, and clears the log.
std::vector<int> noted(const Device<int>& log) {
  const std::vector<int> all = log.to_host();
  check(cudaMemset(log.get(), 0, log.bytes()));
  return {all.begin() + 1, all.begin() + 1 + all[0]};
}

void set(const Device<int>& value, int to) {
  check(cudaMemcpy(value.get(), &to, sizeof to, cudaMemcpyHostToDevice));
}

TEST(a_graph_runs_if_a_kernel_says_so) {
  const Device<int> log(std::vector<int>(50, 0)), value(1);
  const Graph graph;
  const auto handle = handle_of(graph.get());
  const auto asking = add_asking(graph.get(), ask, value.get(), handle);
  const auto choice = add_choice(graph.get(), handle, cudaGraphCondTypeIf, 1, {asking});
  const auto first = add_note(choice.bodies[0], log.get(), 1);
  add_note(choice.bodies[0], log.get(), 2, {first});
  add_note(graph.get(), log.get(), 3, {choice.node});
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  check(cudaGraphNodeGetType(choice.node, &type));
  expect(type == cudaGraphNodeTypeConditional, "the node chooses");
  const Instance instance(graph);
  for (const int said : {0, 1, 0, 17}) {
    set(value, said);
    instance.launch();
    expect_equal(noted(log), said != 0 ? std::vector<int>{1, 2, 3} : std::vector<int>{3});
  }
}

TEST(graphs_take_the_place_of_each_other) {
  const Device<int> log(std::vector<int>(50, 0)), value(1);
  const Graph graph;
  const auto if_handle = handle_of(graph.get()), switch_handle = handle_of(graph.get());
  const auto asking = add_asking(graph.get(), ask, value.get(), if_handle);
  const auto other = add_asking(graph.get(), ask, value.get(), switch_handle);
  const auto either = add_choice(graph.get(), if_handle, cudaGraphCondTypeIf, 2, {asking});
  const auto one_of =
      add_choice(graph.get(), switch_handle, cudaGraphCondTypeSwitch, 3, {other, either.node});
  for (int i = 0; i < 2; ++i) add_note(either.bodies[i], log.get(), 10 + i);
  for (int i = 0; i < 3; ++i) add_note(one_of.bodies[i], log.get(), 20 + i);
  const Instance instance(graph);
  const std::vector<int> expected[] = {{11, 20}, {10, 21}, {10, 22}, {10}};
  for (int said = 0; said < 4; ++said) {
    set(value, said);
    instance.launch();
    expect_equal(noted(log), expected[said]);
  }
}

TEST(a_graph_is_repeated_while_a_kernel_says_so) {
  const Device<int> log(std::vector<int>(50, 0)), value(1);
  const Graph graph;
  const auto handle = handle_of(graph.get(), 1, cudaGraphCondAssignDefault);
  const auto loop = add_choice(graph.get(), handle, cudaGraphCondTypeWhile, 1);
  const Stream stream;
  check(cudaStreamBeginCaptureToGraph(stream.get(), loop.bodies[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  note<<<1, 1, 0, stream.get()>>>(log.get(), 5);
  count_down<<<1, 1, 0, stream.get()>>>(value.get(), handle);
  cudaGraph_t ended = nullptr;
  check(cudaStreamEndCapture(stream.get(), &ended));
  expect(ended == loop.bodies[0], "it is the body that was told");
  const Instance instance(graph);
  for (const int times : {4, 1, 2}) {
    set(value, times);
    instance.launch(stream.get());
    expect_equal(noted(log), std::vector<int>(times, 5));
    expect_equal(value.to_host(), std::vector<int>{0});
  }
}

/// The initial value of the inner condition is assigned once, at the launch of the graph.
TEST(loops_have_loops_in_them) {
  const Device<int> log(std::vector<int>(50, 0)), outer(1), inner(1);
  const Graph graph;
  const auto handle = handle_of(graph.get(), 1, cudaGraphCondAssignDefault);
  const auto loop = add_choice(graph.get(), handle, cudaGraphCondTypeWhile, 1);
  const cudaGraph_t body = loop.bodies[0];
  const auto inner_handle = handle_of(body, 1, cudaGraphCondAssignDefault);
  cudaMemsetParams fill = {inner.get(), 0, 2, 4, 1, 1};
  cudaGraphNode_t filled = nullptr;
  check(cudaGraphAddMemsetNode(&filled, body, nullptr, 0, &fill));
  const auto inside = add_choice(body, inner_handle, cudaGraphCondTypeWhile, 1, {filled});
  add_asking(inside.bodies[0], count_down, inner.get(), inner_handle,
             {add_note(inside.bodies[0], log.get(), 1)});
  add_asking(body, count_down, outer.get(), handle, {add_note(body, log.get(), 2, {inside.node})});
  const Instance instance(graph);
  set(outer, 3);
  instance.launch();
  expect_equal(noted(log), std::vector<int>{1, 1, 2, 2, 2});
}

TEST(a_stream_goes_on_behind_a_node_that_was_added) {
  const Device<int> log(std::vector<int>(50, 0)), value(1);
  const Stream stream;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t recorded = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t latest = 7;
  check(cudaStreamGetCaptureInfo(stream.get(), &status, nullptr, &recorded, &after, nullptr,
                                 &latest));
  expect(status == cudaStreamCaptureStatusActive, "the stream records");
  expect_equal(latest, 0u);
  const auto handle = handle_of(recorded);
  ask<<<1, 1, 0, stream.get()>>>(value.get(), handle);
  check(cudaStreamGetCaptureInfo(stream.get(), &status, nullptr, &recorded, &after, nullptr,
                                 &latest));
  expect_equal(latest, 1u);
  Choice choice = add_choice(recorded, handle, cudaGraphCondTypeIf, 1, {after, after + latest});
  add_note(choice.bodies[0], log.get(), 1);
  check(cudaStreamUpdateCaptureDependencies(stream.get(), &choice.node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies));
  note<<<1, 1, 0, stream.get()>>>(log.get(), 2);
  cudaGraph_t ended = nullptr;
  check(cudaStreamEndCapture(stream.get(), &ended));
  expect(ended == recorded, "it is the graph that was told");
  const Graph graph(ended);
  const Instance instance(graph);
  set(value, 1);
  instance.launch(stream.get());
  expect_equal(noted(log), std::vector<int>{1, 2});
  set(value, 0);
  instance.launch(stream.get());
  expect_equal(noted(log), std::vector<int>{2});
  check(cudaStreamGetCaptureInfo(stream.get(), &status));
  expect(status == cudaStreamCaptureStatusNone, "it records no more");
  expect_refusal(cudaStreamUpdateCaptureDependencies(stream.get(), &choice.node, nullptr, 1),
                 cudaErrorIllegalState);
}

TEST(choices_that_cannot_be_are_refused) {
  const Graph graph, without;
  const auto handle = handle_of(graph.get());
  const auto refused = [&](cudaGraphConditionalHandle with, cudaGraphConditionalNodeType type,
                           unsigned size, const Graph* in = nullptr) {
    cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
    parameters.conditional.handle = with;
    parameters.conditional.type = type;
    parameters.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    expect_refusal(cudaGraphAddNode(&node, (in == nullptr ? graph : *in).get(), nullptr, nullptr, 0,
                                    &parameters),
                   cudaErrorInvalidValue);
  };
  refused(handle, cudaGraphCondTypeIf, 1, &without);  // the handle belongs to another graph
  refused(handle, cudaGraphCondTypeIf, 0);
  refused(handle, cudaGraphCondTypeIf, 3);
  refused(handle, cudaGraphCondTypeWhile, 2);
  refused(handle, cudaGraphCondTypeSwitch, 0);
  const auto choice = add_choice(graph.get(), handle, cudaGraphCondTypeIf, 1);
  refused(handle, cudaGraphCondTypeIf, 1);  // another node already uses the handle
  cudaGraph_t clone = nullptr;
  expect_refusal(cudaGraphClone(&clone, graph.get()), cudaErrorNotSupported);
  cudaHostNodeParams host = {[](void*) {}, nullptr};
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddHostNode(&node, choice.bodies[0], nullptr, 0, &host));
  cudaGraphExec_t instance = nullptr;
  expect_refusal(cudaGraphInstantiate(&instance, graph.get(), 0), cudaErrorInvalidValue);
  cudaGraphConditionalHandle none = 0;
  expect_refusal(cudaGraphConditionalHandleCreate(&none, nullptr), cudaErrorInvalidValue);
}

TEST(an_instance_chooses_as_another_graph_does) {
  const Device<int> log(std::vector<int>(50, 0)), value(std::vector<int>{1});
  const Graph one, other, longer, repeated, empty;
  const auto choice = [&](const Graph& graph, cudaGraphConditionalNodeType type, int what) {
    const auto handle = handle_of(graph.get());
    const auto asking = add_asking(graph.get(), ask, value.get(), handle);
    const cudaGraph_t body = add_choice(graph.get(), handle, type, 1, {asking}).bodies[0];
    return std::pair(body, add_note(body, log.get(), what));
  };
  choice(one, cudaGraphCondTypeIf, 1);
  choice(other, cudaGraphCondTypeIf, 2);
  const auto [body, first] = choice(longer, cudaGraphCondTypeIf, 3);
  add_note(body, log.get(), 4, {first});
  choice(repeated, cudaGraphCondTypeWhile, 5);
  const auto asking =
      add_asking(empty.get(), ask, value.get(), handle_of(empty.get()));  // no node uses it
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddEmptyNode(&node, empty.get(), &asking, 1));
  const Instance instance(one);
  cudaGraphExecUpdateResultInfo result = {};
  check(cudaGraphExecUpdate(instance.get(), other.get(), &result));
  instance.launch();
  expect_equal(noted(log), std::vector<int>{2});
  for (const Graph* refused : {&longer, &repeated, &empty})
    expect_refusal(cudaGraphExecUpdate(instance.get(), refused->get(), &result),
                   cudaErrorGraphExecUpdateFailure);
  instance.launch();
  expect_equal(noted(log), std::vector<int>{2});
}

// --- Events

/// One stream writes values, and another stream adds them; only events order the two streams.
TEST(graphs_record_events_and_wait_for_them) {
  const Device<int> x(count), sum(std::vector<int>(count, 0));
  const Stream first, second;
  const Event written, added;
  const Graph writing, adding;
  cudaGraphNode_t record = nullptr, wait = nullptr, last = nullptr;
  const auto filled = add_numbers(writing, x.get(), 6, {});
  check(cudaGraphAddEventRecordNode(&record, writing.get(), &filled, 1, written.get()));
  check(cudaGraphAddEventWaitNode(&wait, adding.get(), nullptr, 0, written.get()));
  const auto sums = add_sum(adding, x.get(), sum.get(), {wait});
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeEventRecord};
  parameters.eventRecord.event = added.get();
  check(cudaGraphAddNode(&last, adding.get(), &sums, nullptr, 1, &parameters));
  const Instance writes(writing), adds(adding);
  check(cudaEventQuery(written.get()));  // not recorded by any graph yet
  for (int launch = 1; launch <= 3; ++launch) {
    check(cudaStreamWaitEvent(first.get(), added.get(), 0));
    check(cudaGraphLaunch(writes.get(), first.get()));
    check(cudaGraphLaunch(adds.get(), second.get()));
  }
  check(cudaEventSynchronize(added.get()));
  expect_equal(sum.to_host(), numbers(6, 3));
  float time = -1;
  check(cudaEventElapsedTime(&time, written.get(), added.get()));
  expect(time >= 0, "one comes behind the other");
}

TEST(events_of_nodes_are_told_and_changed) {
  const Event one, other, third;
  const Graph graph;
  cudaGraphNode_t record = nullptr, wait = nullptr;
  check(cudaGraphAddEventRecordNode(&record, graph.get(), nullptr, 0, one.get()));
  check(cudaGraphAddEventWaitNode(&wait, graph.get(), &record, 1, one.get()));
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  check(cudaGraphNodeGetType(record, &type));
  expect(type == cudaGraphNodeTypeEventRecord, "one node records");
  check(cudaGraphNodeGetType(wait, &type));
  expect(type == cudaGraphNodeTypeWaitEvent, "and one waits");
  cudaEvent_t told = nullptr;
  check(cudaGraphEventRecordNodeGetEvent(record, &told));
  expect(told == one.get(), "the first event is recorded");
  check(cudaGraphEventRecordNodeSetEvent(record, other.get()));
  check(cudaGraphEventWaitNodeSetEvent(wait, other.get()));
  check(cudaGraphEventWaitNodeGetEvent(wait, &told));
  expect(told == other.get(), "the second one is waited for");
  const Instance instance(graph);
  check(cudaGraphExecEventRecordNodeSetEvent(instance.get(), record, third.get()));
  check(cudaGraphExecEventWaitNodeSetEvent(instance.get(), wait, third.get()));
  instance.launch();
  float time = 0;
  expect_refusal(cudaEventElapsedTime(&time, other.get(), other.get()),
                 cudaErrorInvalidResourceHandle);  // never recorded
  check(cudaEventElapsedTime(&time, third.get(), third.get()));
  expect_refusal(cudaGraphEventWaitNodeGetEvent(record, &told), cudaErrorInvalidValue);
  cudaGraphNode_t node = nullptr;
  expect_refusal(cudaGraphAddEventRecordNode(&node, graph.get(), nullptr, 0, nullptr),
                 cudaErrorInvalidValue);
}

TEST(streams_record_nodes_for_events) {
  const Device<int> x(count), sum(std::vector<int>(count, 0));
  const Stream stream, other;
  const Event written, added;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  check(cudaStreamWaitEvent(stream.get(), written.get(), cudaEventWaitExternal));
  add_to<<<3, 128, 0, stream.get()>>>(x.get(), sum.get());
  check(cudaEventRecordWithFlags(added.get(), stream.get(), cudaEventRecordExternal));
  cudaGraph_t recorded = nullptr;
  check(cudaStreamEndCapture(stream.get(), &recorded));
  const Graph graph(recorded);
  std::size_t nodes = 3;
  cudaGraphNode_t all[3];
  check(cudaGraphGetNodes(graph.get(), all, &nodes));
  expect_equal(nodes, 3u);
  const Instance instance(graph);
  number_all<<<3, 128, 0, other.get()>>>(x.get(), 2);
  check(cudaEventRecordWithFlags(written.get(), other.get(), cudaEventRecordDefault));
  check(cudaGraphLaunch(instance.get(), stream.get()));
  check(cudaEventSynchronize(added.get()));
  expect_equal(sum.to_host(), numbers(2));
}

TEST(nodes_of_every_type_are_added_alike) {
  const Device<int> x(numbers(1)), y(count);
  std::vector<int> out(count);
  const Graph graph, child;
  cudaGraphNode_t fill = nullptr, copy = nullptr, empty = nullptr, inner = nullptr, idle = nullptr;
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeMemset};
  parameters.memset = {y.get(), 0, 0, 1, y.bytes(), 1};
  check(cudaGraphAddNode(&fill, graph.get(), nullptr, nullptr, 0, &parameters));
  parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)do_nothing;  // the kernel has no parameters
  parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1);
  check(cudaGraphAddNode(&idle, graph.get(), &fill, nullptr, 1, &parameters));
  parameters = {cudaGraphNodeTypeEmpty};
  check(cudaGraphAddNode(&empty, graph.get(), &idle, nullptr, 1, &parameters));
  add_sum(child, x.get(), y.get(), {});
  parameters = {cudaGraphNodeTypeGraph};
  parameters.graph.graph = child.get();
  check(cudaGraphAddNode(&inner, graph.get(), &empty, nullptr, 1, &parameters));
  parameters = {cudaGraphNodeTypeMemcpy};
  parameters.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(y.get(), bytes, bytes, 1);
  parameters.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(out.data(), bytes, bytes, 1);
  parameters.memcpy.copyParams.extent = make_cudaExtent(bytes, 1, 1);
  parameters.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  check(cudaGraphAddNode(&copy, graph.get(), &inner, nullptr, 1, &parameters));
  parameters = {cudaGraphNodeTypeHost};
  parameters.host.fn = [](void* data) { static_cast<int*>(data)[0] = -1; };
  parameters.host.userData = out.data();
  cudaGraphNode_t host = nullptr;
  check(cudaGraphAddNode(&host, graph.get(), &copy, nullptr, 1, &parameters));
  Instance(graph).launch();
  std::vector<int> expected = numbers(1);
  expected[0] = -1;
  expect_equal(out, expected);
}

// --- Changes of nodes

__device__ int variable[count];

/// An instance of a graph that fills `x` with numbers and then adds them to `sum`.
struct Steps {
  const Device<int> x{numbers(0)}, sum{std::vector<int>(count, 0)};
  const Graph graph;
  cudaGraphNode_t first = add_numbers(graph, x.get(), 5, {}),
                  second = add_sum(graph, x.get(), sum.get(), {first});
};

TEST(launches_skip_nodes_that_are_disabled) {
  const Steps steps;
  const Instance instance(steps.graph);
  unsigned enabled = 0;
  check(cudaGraphNodeGetEnabled(instance.get(), steps.first, &enabled));
  expect_equal(enabled, 1u);
  check(cudaGraphNodeSetEnabled(instance.get(), steps.first, 0));
  check(cudaGraphNodeGetEnabled(instance.get(), steps.first, &enabled));
  expect_equal(enabled, 0u);
  instance.launch();
  expect_equal(steps.sum.to_host(), numbers(0));
  check(cudaGraphNodeSetEnabled(instance.get(), steps.first, 1));
  check(cudaGraphNodeSetEnabled(instance.get(), steps.second, 0));
  instance.launch();
  expect_equal(steps.x.to_host(), numbers(5));
  expect_equal(steps.sum.to_host(), numbers(0));
  const Graph other;
  cudaGraphNode_t empty = nullptr;
  check(cudaGraphAddEmptyNode(&empty, other.get(), nullptr, 0));
  const Instance idle(other);
  expect_refusal(cudaGraphNodeSetEnabled(idle.get(), empty, 0), cudaErrorInvalidValue);
  expect_refusal(cudaGraphNodeGetEnabled(idle.get(), steps.first, &enabled), cudaErrorInvalidValue);
}

TEST(nodes_know_those_that_depend_on_them) {
  const Steps steps;
  cudaGraphNode_t third = add_sum(steps.graph, steps.x.get(), steps.sum.get(), {steps.second});
  std::size_t found = 0;
  check(cudaGraphNodeGetDependentNodes(steps.first, nullptr, nullptr, &found));
  expect_equal(found, 1u);
  cudaGraphNode_t nodes[2] = {};
  found = 2;
  check(cudaGraphNodeGetDependentNodes(steps.second, nodes, nullptr, &found));
  expect_equal(found, 1u);
  expect(nodes[0] == third, "the third node depends on the second one");
  check(cudaGraphNodeGetDependentNodes(third, nullptr, nullptr, &found));
  expect_equal(found, 0u);
}

TEST(child_graphs_are_returned_and_exchanged) {
  const Device<int> x(count), y(count);
  const Graph child, other, shorter, graph;
  add_numbers(child, x.get(), 1, {});
  add_numbers(child, y.get(), 2, {});
  add_numbers(other, x.get(), 30, {});
  add_numbers(other, y.get(), 40, {});
  add_numbers(shorter, x.get(), 50, {});
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddChildGraphNode(&node, graph.get(), nullptr, 0, child.get()));
  cudaGraph_t inner = nullptr;
  check(cudaGraphChildGraphNodeGetGraph(node, &inner));
  std::size_t found = 0;
  check(cudaGraphGetNodes(inner, nullptr, &found));
  expect_equal(found, 2u);
  const Instance instance(graph);
  check(cudaGraphExecChildGraphNodeSetParams(instance.get(), node, other.get()));
  instance.launch();
  expect_equal(x.to_host(), numbers(30));
  expect_equal(y.to_host(), numbers(40));
  expect_refusal(cudaGraphExecChildGraphNodeSetParams(instance.get(), node, shorter.get()),
                 cudaErrorGraphExecUpdateFailure);
}

TEST(parameters_of_nodes_of_every_type_are_set_alike) {
  const Steps steps;
  int* x = steps.x.get();
  int first = 100;
  void* arguments[] = {&x, &first};
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)number_all;
  parameters.kernel.gridDim = dim3(3);
  parameters.kernel.blockDim = dim3(128);
  parameters.kernel.kernelParams = arguments;
  check(cudaGraphNodeSetParams(steps.first, &parameters));
  const Instance instance(steps.graph);
  instance.launch();
  expect_equal(steps.sum.to_host(), numbers(100));
  first = 200;
  check(cudaGraphExecNodeSetParams(instance.get(), steps.first, &parameters));
  instance.launch();
  expect_equal(steps.x.to_host(), numbers(200));
  parameters = {cudaGraphNodeTypeMemset};
  parameters.memset = {steps.x.get(), 0, 0, 1, bytes, 1};
  expect_refusal(cudaGraphNodeSetParams(steps.first, &parameters), cudaErrorInvalidValue);
}

TEST(kernels_of_nodes_have_attributes) {
  const Steps steps;
  cudaKernelNodeAttrValue value{};
  value.cooperative = 1;
  check(cudaGraphKernelNodeSetAttribute(steps.first, cudaLaunchAttributeCooperative, &value));
  value.priority = 0;
  check(cudaGraphKernelNodeSetAttribute(steps.first, cudaLaunchAttributePriority, &value));
  check(cudaGraphKernelNodeCopyAttributes(steps.second, steps.first));
  value = {};
  check(cudaGraphKernelNodeGetAttribute(steps.second, cudaLaunchAttributeCooperative, &value));
  expect_equal(value.cooperative, 1);
  Instance(steps.graph).launch();
  expect_equal(steps.sum.to_host(), numbers(5));
  cudaGraphNode_t empty = nullptr;
  check(cudaGraphAddEmptyNode(&empty, steps.graph.get(), nullptr, 0));
  expect_refusal(cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributeCooperative, &value),
                 cudaErrorInvalidValue);
}

TEST(nodes_copy_to_device_variables_and_from_them) {
  std::vector<int> in = numbers(1), later = numbers(50), out(count, 0);
  const Graph graph;
  cudaGraphNode_t write = nullptr, read = nullptr;
  check(cudaGraphAddMemcpyNodeToSymbol(&write, graph.get(), nullptr, 0, variable, in.data(), bytes,
                                       0, cudaMemcpyHostToDevice));
  check(cudaGraphAddMemcpyNodeFromSymbol(&read, graph.get(), &write, 1, out.data(), variable, bytes,
                                         0, cudaMemcpyDeviceToHost));
  const Instance instance(graph);
  instance.launch();
  expect_equal(out, in);
  check(cudaGraphExecMemcpyNodeSetParamsToSymbol(instance.get(), write, variable, later.data(),
                                                 bytes, 0, cudaMemcpyHostToDevice));
  check(cudaGraphExecMemcpyNodeSetParamsFromSymbol(instance.get(), read, out.data(), variable,
                                                   bytes - sizeof(int), sizeof(int),
                                                   cudaMemcpyDeviceToHost));
  instance.launch();
  std::vector<int> expected(later.begin() + 1, later.end());
  expected.push_back(in.back());
  expect_equal(out, expected);
  check(cudaGraphMemcpyNodeSetParamsToSymbol(write, variable, later.data(), bytes, 0,
                                             cudaMemcpyHostToDevice));
  check(cudaGraphMemcpyNodeSetParamsFromSymbol(read, out.data(), variable, bytes, 0,
                                               cudaMemcpyDeviceToHost));
  Instance(graph).launch();
  expect_equal(out, later);
  expect_refusal(cudaGraphAddMemcpyNodeToSymbol(&write, graph.get(), nullptr, 0, variable,
                                                in.data(), bytes, 4, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
}

TEST(instances_are_made_with_parameters) {
  const Steps steps;
  cudaGraphInstantiateParams parameters{};
  parameters.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload;
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiateWithParams(&made, steps.graph.get(), &parameters));
  expect_equal(parameters.result_out, cudaGraphInstantiateSuccess);
  unsigned long long flags = 0;
  check(cudaGraphExecGetFlags(made, &flags));
  expect_equal(flags & cudaGraphInstantiateFlagAutoFreeOnLaunch,
               static_cast<unsigned long long>(cudaGraphInstantiateFlagAutoFreeOnLaunch));
  check(cudaGraphExecDestroy(made));
}

#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU destroys objects later, on a thread of the driver
int destroyed = 0;

TEST(graphs_hold_objects_of_the_program) {
  destroyed = 0;
  cudaUserObject_t object = nullptr;
  const auto destroy = [](void* data) { ++*static_cast<int*>(data); };
  expect_refusal(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 0), cudaErrorInvalidValue);
  check(cudaUserObjectCreate(&object, &destroyed, destroy, 2, cudaUserObjectNoDestructorSync));
  const Stream stream;
  cudaGraphExec_t instance = nullptr;
  {
    const Graph graph, other;
    cudaGraphNode_t child = nullptr;
    check(cudaGraphRetainUserObject(graph.get(), object, 1, cudaGraphUserObjectMove));
    check(cudaUserObjectRelease(object));
    expect_equal(destroyed, 0);
    check(cudaGraphAddChildGraphNode(&child, other.get(), nullptr, 0, graph.get()));
    check(cudaGraphReleaseUserObject(graph.get(), object));
    expect_refusal(cudaGraphReleaseUserObject(graph.get(), object), cudaErrorInvalidValue);
    check(cudaGraphInstantiate(&instance, other.get(), 0));
  }
  expect_equal(destroyed, 0);
  check(cudaGraphLaunch(instance, stream.get()));
  check(cudaGraphExecDestroy(instance));
  expect_equal(destroyed, 1);
  check(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
  check(cudaUserObjectRetain(object, 2));
  check(cudaUserObjectRelease(object, 2));
  expect_equal(destroyed, 1);
  check(cudaUserObjectRelease(object));
  expect_equal(destroyed, 2);
}

TEST(graphs_are_drawn) {
  const Steps steps;
  const char* const path = "/dev/stdout/nothing";
  expect_refusal(cudaGraphDebugDotPrint(steps.graph.get(), path, 0), cudaErrorOperatingSystem);
  char name[] = "/tmp/graph_XXXXXX";
  close(mkstemp(name));
  check(cudaGraphDebugDotPrint(steps.graph.get(), name, cudaGraphDebugDotFlagsVerbose));
  std::ifstream file(name);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  expect(text.find("\"graph_0_node_0\" -> \"graph_0_node_1\"") != std::string::npos,
         "the edge is in " + text);
  expect(text.find("label=\"add_to\"") != std::string::npos, "the kernel is in " + text);
  std::remove(name);
}
#endif

/// The last test: after a graph that is too large, a GPU driver may lack memory for other graphs.
TEST(a_graph_that_needs_too_much_is_not_launched) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  const Graph graph;
  int *x = nullptr, *y = nullptr;
  const auto first = add_alloc(graph, &x, {}, total / 2 + 4096);
  add_alloc(graph, &y, {first}, total / 2 + 4096);
  const Instance instance(graph);
  expect_refusal(cudaGraphLaunch(instance.get(), nullptr), cudaErrorMemoryAllocation);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
