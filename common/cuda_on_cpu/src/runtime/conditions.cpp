#include "conditions.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../indestructible.hpp"
#include "../machine/block.hpp"
#include "graphs.hpp"

namespace cuda_on_cpu {
namespace {

struct Known {
  std::mutex mutex;
  std::set<cudaGraphConditionalHandle> handles;
};

Known& known() {
  static auto& known = indestructible<Known>();
  return known;
}

bool is_known(cudaGraphConditionalHandle handle) {
  const std::scoped_lock lock(known().mutex);
  return known().handles.contains(handle);
}

/// The index of the graph to run.
std::size_t chosen(cudaGraphConditionalNodeType type, unsigned value) {
  return type == cudaGraphCondTypeSwitch ? value : value != 0 ? 0 : 1;
}

}  // namespace

Condition::Condition(unsigned f, bool assigned)
    : memory(allocate(sizeof(unsigned), MemorySpace::device, current_device())),
      first(f),
      is_assigned(assigned) {
  const std::scoped_lock lock(known().mutex);
  known().handles.insert(handle());
}

Condition::~Condition() {
  {
    const std::scoped_lock lock(known().mutex);
    known().handles.erase(handle());
  }
  if (memory != nullptr) release(memory);
}

unsigned Condition::read(const Operation& by) const {
  analysis::copy_access(memory->base, sizeof(unsigned), analysis::read, by);
  return *reinterpret_cast<const unsigned*>(memory->base);
}

void Condition::write(unsigned value, const Operation& by) const {
  analysis::copy_access(memory->base, sizeof(unsigned), analysis::write, by);
  *reinterpret_cast<unsigned*>(memory->base) = value;
}

bool is_choice(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case cudaGraphCondTypeIf:
      return size == 1 || size == 2;
    case cudaGraphCondTypeWhile:
      return size == 1;
    case cudaGraphCondTypeSwitch:
      return size > 0;
  }
  return false;
}

void assign_first_values(const Conditions& conditions, const Operation& by) {
  for (const auto& condition : conditions)
    if (condition->is_assigned) condition->write(condition->first, by);
}

bool choose(const Choice& choice, const Operation& node) {
  for (;;) {
    const std::size_t body = chosen(choice.type, choice.condition->read(node));
    if (body >= choice.bodies.size()) return true;
    run_within(*choice.bodies[body], node);
    if (lasting_error() != cudaSuccess) return false;
    if (choice.type != cudaGraphCondTypeWhile) return true;
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned first_value, unsigned flags) {
  const std::scoped_lock guard(runtime_mutex());
  if (handle == nullptr || graph == nullptr || flags > cudaGraphCondAssignDefault)
    return fail(cudaErrorInvalidValue);
  auto made = std::make_shared<Condition>(first_value, flags == cudaGraphCondAssignDefault);
  if (made->memory == nullptr) return fail(cudaErrorMemoryAllocation);
  *handle = made->handle();
  graph->conditions.push_back(std::move(made));
  return lasting_error();
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  end_trial();
  catch_up();
  const void* place = __builtin_return_address(0);
  if (!is_known(handle)) {
    const Thread* thread = block->current;
    {
      const DeviceAtWork at_work;
      report_diagnostic(
          {.kind = "illegal device access",
           .place = place,
           .thread = thread,
           .sentence =
               "a kernel sets a condition with a handle that does not belong to any graph"});
    }
    fail_launch(cudaErrorIllegalAddress);
  }
  char* const there = reinterpret_cast<const Condition*>(handle)->memory->base;
  analysis::access(there, sizeof value, analysis::write, place, __builtin_frame_address(0));
  *reinterpret_cast<unsigned*>(there) = value;
}
