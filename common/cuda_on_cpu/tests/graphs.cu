/// \file
/// Graphs that are built node by node: the effect of each node, their order, and changes of nodes.

#include <cuda_runtime.h>

#include <vector>

#include "device.hpp"
#include "graph.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_refusal;
using tap::Instance;
using tap::table;

constexpr int count = 77;

__global__ void affine(int* x, int n, int factor, int addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = factor * x[i] + addend;
}

template <typename T>
__global__ void sum_pairs(const T* x, T* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = x[i] + x[(i + 1) % n];
}

class Graph : public tap::Graph {
 public:
  using tap::Graph::Graph;

  cudaGraphNode_t add_affine(int* x, int factor, int addend,
                             const std::vector<cudaGraphNode_t>& after = {}) const {
    int n = count;
    void* arguments[] = {&x, &n, &factor, &addend};
    cudaKernelNodeParams parameters = {0};
    parameters.func = (void*)affine;
    parameters.gridDim = dim3(3, 1, 1);
    parameters.blockDim = dim3(32);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddKernelNode(&node, get(), after.data(), after.size(), &parameters));
    return node;
  }
  cudaGraphNode_t add_copy(void* to, const void* from, cudaMemcpyKind kind,
                           const std::vector<cudaGraphNode_t>& after = {}) const {
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddMemcpyNode1D(&node, get(), after.data(), after.size(), to, from,
                                   count * sizeof(int), kind));
    return node;
  }
};

std::vector<int> numbers() {
  return table<int>(count, [](int i) { return 3 * i - 40; });
}
std::vector<int> affine_of(const std::vector<int>& x, int factor, int addend) {
  return table<int>(count, [&](int i) { return factor * x[i] + addend; });
}

TEST(a_chain_of_nodes_runs_in_its_order) {
  const Device<int> x(count);
  std::vector<int> in = numbers(), out(count);
  const Graph graph;
  const auto first = graph.add_copy(x.get(), in.data(), cudaMemcpyHostToDevice);
  const auto second = graph.add_affine(x.get(), 2, 1, {first});
  const auto third = graph.add_affine(x.get(), 5, -3, {second});
  graph.add_copy(out.data(), x.get(), cudaMemcpyDeviceToHost, {third});
  const Instance instance(graph);
  expect_equal(out, std::vector<int>(count));  // nothing has run yet
  for (int launch = 0; launch < 3; ++launch) {
    in[5] += 1;  // copies read host memory at each launch
    instance.launch();
    expect_equal(out, affine_of(affine_of(in, 2, 1), 5, -3));
  }
}

TEST(dependencies_may_be_said_later_and_taken_back) {
  const Device<int> x(numbers());
  const Graph graph;
  const auto last = graph.add_affine(x.get(), 1, 7), first = graph.add_affine(x.get(), 3, 0);
  cudaGraphNode_t middle = nullptr;
  check(cudaGraphAddEmptyNode(&middle, graph.get(), nullptr, 0));
  const cudaGraphNode_t from[] = {first, middle}, to[] = {middle, last};
  check(cudaGraphAddDependencies(graph.get(), from, to, nullptr, 2));
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(numbers(), 3, 7));
  expect_refusal(cudaGraphAddDependencies(graph.get(), from, to, nullptr, 1),
                 cudaErrorInvalidValue);
  check(cudaGraphAddDependencies(graph.get(), &last, &first, nullptr, 1));
  cudaGraphExec_t circle = nullptr;
  expect_refusal(cudaGraphInstantiate(&circle, graph.get(), 0), cudaErrorInvalidValue);
  check(cudaGraphRemoveDependencies(graph.get(), &last, &first, nullptr, 1));
  expect_refusal(cudaGraphRemoveDependencies(graph.get(), &last, &first, nullptr, 1),
                 cudaErrorInvalidValue);
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(affine_of(numbers(), 3, 7), 3, 7));
}

TEST(fills_have_elements_of_one_two_and_four_bytes) {
  const Device<unsigned char> bytes(3 * 16);
  for (const unsigned element : {1u, 2u, 4u}) {
    const Graph graph;
    cudaMemsetParams fill = {};
    fill.dst = bytes.get();
    fill.pitch = 16;
    fill.value = element == 1 ? 0x01u : element == 2 ? 0x0201u : 0x04030201u;
    fill.elementSize = element;
    fill.width = 8 / element;
    fill.height = 3;
    cudaGraphNode_t node = nullptr;
    check(cudaMemset(bytes.get(), 9, bytes.bytes()));
    check(cudaGraphAddMemsetNode(&node, graph.get(), nullptr, 0, &fill));
    Instance(graph).launch();
    expect_equal(bytes.to_host(), table<unsigned char>(3 * 16, [&](int i) {
                   return static_cast<unsigned char>(i % 16 < 8 ? i % element + 1 : 9);
                 }));
    fill.height = 4;
    expect_refusal(cudaGraphAddMemsetNode(&node, graph.get(), nullptr, 0, &fill),
                   cudaErrorInvalidValue);
    fill.elementSize = 3;
    expect_refusal(cudaGraphAddMemsetNode(&node, graph.get(), nullptr, 0, &fill),
                   cudaErrorInvalidValue);
  }
}

/// The host memory is pinned, because a GPU may read pageable memory too early.
TEST(functions_of_the_host_are_nodes) {
  const Device<int> x(numbers());
  int* out = nullptr;
  check(cudaMallocHost(&out, count * sizeof(int)));
  const Graph graph;
  const auto copy = graph.add_copy(out, x.get(), cudaMemcpyDeviceToHost);
  cudaHostNodeParams host = {};
  host.fn = [](void* data) {
    for (int i = 0; i < count; ++i) static_cast<int*>(data)[i] *= -1;
  };
  host.userData = out;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddHostNode(&node, graph.get(), &copy, 1, &host));
  graph.add_copy(x.get(), out, cudaMemcpyHostToDevice, {node});
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(numbers(), -1, 0));
  check(cudaFreeHost(out));
}

TEST(kernels_of_templates_keep_their_types) {
  const Device<float> x(std::vector<float>{1, 2, 4}), y(3);
  const float* from = x.get();
  float* to = y.get();
  int n = 3;
  void* arguments[] = {&from, &to, &n};
  const cudaKernelNodeParams parameters = {
      (void*)sum_pairs<float>, dim3(1), dim3(32), 0, arguments, nullptr};
  const Graph graph;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph.get(), nullptr, 0, &parameters));
  Instance(graph).launch();
  expect_equal(y.to_host(), std::vector<float>{3, 6, 5});
}

TEST(an_instance_and_a_graph_change_apart) {
  const Device<int> x(numbers());
  const Graph graph;
  const auto node = graph.add_affine(x.get(), 2, 0);
  const Instance instance(graph);
  cudaKernelNodeParams parameters;
  check(cudaGraphKernelNodeGetParams(node, &parameters));
  int factor = 7;
  void* arguments[] = {parameters.kernelParams[0], parameters.kernelParams[1], &factor,
                       parameters.kernelParams[3]};
  parameters.kernelParams = arguments;
  check(cudaGraphExecKernelNodeSetParams(instance.get(), node, &parameters));
  instance.launch();
  expect_equal(x.to_host(), affine_of(numbers(), 7, 0));
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(numbers(), 14, 0));
  check(cudaGraphKernelNodeSetParams(node, &parameters));
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(numbers(), 98, 0));
}

TEST(an_instance_copies_and_fills_elsewhere) {
  const Device<int> x(numbers()), y(std::vector<int>(count, 5));
  std::vector<int> out(count);
  const Graph graph;
  const auto copy = graph.add_copy(out.data(), x.get(), cudaMemcpyDeviceToHost);
  const Instance instance(graph);
  check(cudaGraphExecMemcpyNodeSetParams1D(instance.get(), copy, out.data(), y.get(), y.bytes(),
                                           cudaMemcpyDeviceToHost));
  instance.launch();
  expect_equal(out, std::vector<int>(count, 5));
  cudaMemsetParams fill = {};
  expect_refusal(cudaGraphExecMemsetNodeSetParams(instance.get(), copy, &fill),
                 cudaErrorInvalidValue);
}

TEST(clones_live_on_their_own) {
  const Device<int> x(numbers());
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t second_of_clone = nullptr;
  {
    const Graph graph;
    const auto first = graph.add_affine(x.get(), 2, 0),
               second = graph.add_affine(x.get(), 1, 1, {first});
    check(cudaGraphClone(&clone, graph.get()));
    check(cudaGraphNodeFindInClone(&second_of_clone, second, clone));
    check(cudaGraphDestroyNode(second));
    Instance(graph).launch();
    expect_equal(x.to_host(), affine_of(numbers(), 2, 0));
  }
  const Graph owner(clone);
  Instance(owner).launch();
  expect_equal(x.to_host(), affine_of(numbers(), 4, 1));
  std::size_t nodes = 0;
  check(cudaGraphNodeGetDependencies(second_of_clone, nullptr, nullptr, &nodes));
  expect_equal(nodes, 1u);
}

TEST(graphs_may_be_nodes) {
  const Device<int> x(numbers());
  const Graph child;
  const auto inner = child.add_affine(x.get(), 3, 0);
  child.add_affine(x.get(), 1, 2, {inner});
  const Graph graph;
  const auto first = graph.add_affine(x.get(), 1, 1);
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddChildGraphNode(&node, graph.get(), &first, 1, child.get()));
  graph.add_affine(x.get(), -1, 0, {node});
  Instance(graph).launch();
  expect_equal(x.to_host(), affine_of(numbers(), -3, -5));
}

TEST(nodes_and_edges_are_told) {
  const Device<int> x(numbers());
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  check(cudaMemsetAsync(x.get(), 0, x.bytes(), stream));
  affine<<<3, 32, 0, stream>>>(x.get(), count, 2, 1);
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream, &captured));
  check(cudaStreamDestroy(stream));
  const Graph graph(captured);
  std::size_t nodes = 5, roots = 5, edges = 0;
  cudaGraphNode_t all[5], root[5];
  check(cudaGraphGetNodes(graph.get(), all, &nodes));
  check(cudaGraphGetRootNodes(graph.get(), root, &roots));
  check(cudaGraphGetEdges(graph.get(), nullptr, nullptr, nullptr, &edges));
  expect_equal(nodes, 2u);
  expect_equal(roots, 1u);
  expect_equal(edges, 1u);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  check(cudaGraphNodeGetType(root[0], &type));
  expect(type == cudaGraphNodeTypeMemset, "the fill comes first");
  check(cudaGraphNodeGetType(all[1], &type));
  expect(type == cudaGraphNodeTypeKernel, "the kernel comes second");
  Instance(graph).launch();
  expect_equal(x.to_host(), std::vector<int>(count, 1));
}

TEST(an_instance_becomes_that_of_another_graph) {
  const Device<int> x(numbers());
  const Graph one, other, longer;
  one.add_affine(x.get(), 2, 0);
  other.add_affine(x.get(), 3, 0);
  longer.add_affine(x.get(), 1, 1, {longer.add_affine(x.get(), 1, 1)});
  const Instance instance(one);
  cudaGraphExecUpdateResultInfo result = {};
  check(cudaGraphExecUpdate(instance.get(), other.get(), &result));
  instance.launch();
  expect_equal(x.to_host(), affine_of(numbers(), 3, 0));
  expect_refusal(cudaGraphExecUpdate(instance.get(), longer.get(), &result),
                 cudaErrorGraphExecUpdateFailure);
  expect(result.result == cudaGraphExecUpdateErrorTopologyChanged, "the graph has another shape");
  instance.launch();
  expect_equal(x.to_host(), affine_of(numbers(), 9, 0));
}

TEST(nodes_that_cannot_be_are_refused) {
  const Device<int> x(numbers());
  const Graph graph, other;
  const auto foreign = other.add_affine(x.get(), 1, 0);
  cudaGraphNode_t node = nullptr;
  expect_refusal(cudaGraphAddEmptyNode(&node, graph.get(), &foreign, 1), cudaErrorInvalidValue);
  cudaKernelNodeParams parameters = {};
  expect_refusal(cudaGraphAddKernelNode(&node, graph.get(), nullptr, 0, &parameters),
                 cudaErrorInvalidDeviceFunction);
#ifdef STAIRCASE_CUDA_ON_CPU  // the driver of a GPU crashes
  void* no_kernel = x.get();
  parameters.func = no_kernel;
  expect_refusal(cudaGraphAddKernelNode(&node, graph.get(), nullptr, 0, &parameters),
                 cudaErrorNotSupported);
#endif
  expect_refusal(cudaGraphAddMemcpyNode1D(&node, graph.get(), nullptr, 0, x.get(), x.get(),
                                          x.bytes() + 1, cudaMemcpyDeviceToDevice),
                 cudaErrorInvalidValue);
  std::size_t nodes = 9;
  check(cudaGraphGetNodes(graph.get(), nullptr, &nodes));
  expect_equal(nodes, 0u);
}

TEST(a_thread_may_allow_itself_calls_that_captures_forbid) {
  const tap::Stream stream;
  const tap::Graph graph;
  cudaGraphExec_t instance = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  check(cudaThreadExchangeStreamCaptureMode(&mode));
  expect_equal(mode, cudaStreamCaptureModeGlobal);
  check(cudaGraphInstantiate(&instance, graph.get(), 0));
  check(cudaThreadExchangeStreamCaptureMode(&mode));
  expect_equal(mode, cudaStreamCaptureModeRelaxed);
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream.get(), &captured));
  check(cudaGraphDestroy(captured));
  check(cudaGraphExecDestroy(instance));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
