/// \file
/// Seeded bugs: missing dependencies between graph nodes, and misuse of their memory or conditions.

#include <cuda_runtime.h>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int count = 256;
constexpr std::size_t size = count * sizeof(int);

__global__ void fill(int* out, int first) {
  out[threadIdx.x] = first + static_cast<int>(threadIdx.x);  // planted: stream race
}

__global__ void twice(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  // planted: use after free or uninitialised read
}

__global__ void ask(const int* value, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, value[blockIdx.x]);
}

/// Builds, launches and awaits a graph.
class Graph {
 public:
  Graph() { check(cudaGraphCreate(&graph_, 0)); }
  ~Graph() {
    cudaGraphExecDestroy(instance_);
    cudaGraphDestroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t get() const { return graph_; }
  void launch() {
    check(cudaGraphInstantiate(&instance_, graph_, 0));
    check(cudaGraphLaunch(instance_, nullptr));
  }

  cudaGraphNode_t allocate(int** pointer) const {
    cudaMemAllocNodeParams parameters = {};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location.type = cudaMemLocationTypeDevice;
    parameters.bytesize = size;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddMemAllocNode(&node, graph_, nullptr, 0, &parameters));
    *pointer = static_cast<int*>(parameters.dptr);
    return node;
  }
  template <typename... Arguments>
  cudaGraphNode_t add(void (*kernel)(Arguments...), cudaGraphNode_t after, Arguments... arguments) {
    void* addresses[] = {&arguments...};
    cudaKernelNodeParams parameters = {(void*)kernel, dim3(1), dim3(count), 0, addresses, nullptr};
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddKernelNode(&node, graph_, &after, after == nullptr ? 0 : 1, &parameters));
    return node;
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
};

namespace used_behind_the_node_that_frees {

/// With the bug, the free node depends on the kernel that writes, but not on the one that reads.
template <bool bug>
void run() {
  const Buffer<int> out(count);
  Graph graph;
  int* x = nullptr;
  const auto alloc = graph.allocate(&x);
  const auto filled = graph.add(fill, alloc, x, 1);
  cudaGraphNode_t freed = nullptr, read = nullptr;
  if (!bug) read = graph.add<const int*, int*>(twice, filled, x, out.get());
  check(cudaGraphAddMemFreeNode(&freed, graph.get(), bug ? &filled : &read, 1, x));
  if (bug) graph.add<const int*, int*>(twice, freed, x, out.get());
  graph.launch();
  finish();
}

}  // namespace used_behind_the_node_that_frees

namespace used_beside_the_node_that_allocates {

/// With the bug, the kernel does not depend on the allocation of its memory.
template <bool bug>
void run() {
  Graph graph;
  int* x = nullptr;
  const auto alloc = graph.allocate(&x);
  graph.add(fill, bug ? nullptr : alloc, x, 1);
  graph.launch();
  finish();
  check(cudaFree(x));
}

}  // namespace used_beside_the_node_that_allocates

namespace read_before_it_is_written {

/// With the bug, a kernel reads memory that the graph has allocated but not written yet.
template <bool bug>
void run() {
  const Buffer<int> out(count);
  Graph graph;
  int* x = nullptr;
  auto last = graph.allocate(&x);
  if (!bug) last = graph.add(fill, last, x, 1);
  last = graph.add<const int*, int*>(twice, last, x, out.get());
  if (bug) last = graph.add(fill, last, x, 1);
  cudaGraphNode_t freed = nullptr;
  check(cudaGraphAddMemFreeNode(&freed, graph.get(), &last, 1, x));
  graph.launch();
  finish();
}

}  // namespace read_before_it_is_written

namespace freed_beside_its_reader {

/// With the bug, the free node and the reading kernel both depend only on the writing kernel.
template <bool bug>
void run() {
  const Buffer<int> out(count);
  Graph graph;
  int* x = nullptr;
  const auto alloc = graph.allocate(&x);
  const auto filled = graph.add(fill, alloc, x, 1);
  const auto read = graph.add<const int*, int*>(twice, filled, x, out.get());
  cudaGraphNode_t freed = nullptr;
  check(cudaGraphAddMemFreeNode(&freed, graph.get(),  // planted: stream race
                                bug ? &filled : &read, 1, x));
  graph.launch();
  finish();
}

}  // namespace freed_beside_its_reader

namespace left_memory_used_when_it_is_freed {

/// With the bug, the program frees memory of a graph before the last use of this memory.
template <bool bug>
void run() {
  const Buffer<int> out(count);
  Graph graph;
  int* x = nullptr;
  const auto alloc = graph.allocate(&x);
  graph.add(fill, alloc, x, 1);
  graph.launch();
  if (bug) check(cudaFreeAsync(x, nullptr));
  twice<<<1, count>>>(x, out.get());
  if (!bug) check(cudaFreeAsync(x, nullptr));
  finish();
}

}  // namespace left_memory_used_when_it_is_freed

namespace condition_asked_before_it_is_set {

/// With the bug, the conditional node does not depend on the kernel that sets its condition.
template <bool bug>
void run() {
  const Buffer<int> value(1), out(count);
  Graph graph;
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph.get(), 0, cudaGraphCondAssignDefault));
  const int* from = value.get();
  void* arguments[] = {&from, &handle};
  cudaKernelNodeParams asks = {(void*)ask, dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphNode_t asking = nullptr, choosing = nullptr;
  check(cudaGraphAddKernelNode(&asking, graph.get(), nullptr, 0, &asks));
  cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
  choice.conditional.handle = handle;
  choice.conditional.type = cudaGraphCondTypeIf;
  choice.conditional.size = 1;
  check(cudaGraphAddNode(&choosing, graph.get(), &asking, nullptr,  // planted: stream race
                         bug ? 0 : 1, &choice));
  graph.launch();
  finish();
}

}  // namespace condition_asked_before_it_is_set

namespace condition_of_two_minds {

__global__ void ask_in_all(const int* value, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, value[threadIdx.x]);  // planted: race
}

/// With the bug, the threads set the condition to different values.
template <bool bug>
void run() {
  const Buffer<int> value(count);
  fill<<<1, count>>>(value.get(), 1);
  Graph graph;
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph.get(), 0, cudaGraphCondAssignDefault));
  const int* from = value.get();
  void* arguments[] = {&from, &handle};
  cudaKernelNodeParams asks = {(void*)ask_in_all, dim3(1), dim3(bug ? 64 : 1), 0,
                               arguments,         nullptr};
  cudaGraphNode_t asking = nullptr;
  check(cudaGraphAddKernelNode(&asking, graph.get(), nullptr, 0, &asks));
  graph.launch();
  finish();
}

}  // namespace condition_of_two_minds

namespace body_that_nobody_waits_for {

/// With the bug, the kernel after a conditional node does not depend on that node.
template <bool bug>
void run() {
  const Buffer<int> value(1, 1), x(count), out(count);
  Graph graph;
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph.get(), 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
  choice.conditional.handle = handle;
  choice.conditional.type = cudaGraphCondTypeIf;
  choice.conditional.size = 1;
  cudaGraphNode_t choosing = nullptr, filled = nullptr;
  check(cudaGraphAddNode(&choosing, graph.get(), nullptr, nullptr, 0, &choice));
  int* to = x.get();
  int first = 1;
  void* arguments[] = {&to, &first};
  cudaKernelNodeParams fills = {(void*)fill, dim3(1), dim3(count), 0, arguments, nullptr};
  check(cudaGraphAddKernelNode(&filled, choice.conditional.phGraph_out[0], nullptr, 0, &fills));
  graph.add(fill, bug ? nullptr : choosing, x.get(), 2);
  graph.launch();
  finish();
}

}  // namespace body_that_nobody_waits_for

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"used_behind_the_node_that_frees", used_behind_the_node_that_frees::run<true>,
        used_behind_the_node_that_frees::run<false>},
       {"used_beside_the_node_that_allocates", used_beside_the_node_that_allocates::run<true>,
        used_beside_the_node_that_allocates::run<false>},
       {"read_before_it_is_written", read_before_it_is_written::run<true>,
        read_before_it_is_written::run<false>},
       {"freed_beside_its_reader", freed_beside_its_reader::run<true>,
        freed_beside_its_reader::run<false>},
       {"left_memory_used_when_it_is_freed", left_memory_used_when_it_is_freed::run<true>,
        left_memory_used_when_it_is_freed::run<false>},
       {"condition_asked_before_it_is_set", condition_asked_before_it_is_set::run<true>,
        condition_asked_before_it_is_set::run<false>},
       {"condition_of_two_minds", condition_of_two_minds::run<true>,
        condition_of_two_minds::run<false>},
       {"body_that_nobody_waits_for", body_that_nobody_waits_for::run<true>,
        body_that_nobody_waits_for::run<false>}});
}
