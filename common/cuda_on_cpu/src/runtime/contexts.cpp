#include "contexts.hpp"

#include <mutex>

#include "../analysis.hpp"
#include "../settings.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {
namespace {

struct InContext {
  int device = 0;
  std::uint32_t number = 0;
};

InContext& told() {
  thread_local InContext told;
  return told;
}

EndsWithContext& told_at_end() {
  static EndsWithContext end = nullptr;
  return end;
}

}  // namespace

std::uint32_t current_context_number() {
  return told().device == current_device() ? told().number : 0;
}

void work_in_context(int device, std::uint32_t number) { told() = {device, number}; }

void at_end_of_context(EndsWithContext end) { told_at_end() = end; }

void end_context(int device, std::uint32_t number, const void* place) {
  const std::scoped_lock guard(runtime_mutex());
  for (int each = 0; each < settings().devices; ++each) synchronise_device(each);
  end_streams_and_events(device, number);
  if (told_at_end() != nullptr) told_at_end()(device, number);
  for (Allocation* allocation : allocations_of(device, number)) {
    if (allocation->space != MemorySpace::registered)
      analysis::freed(allocation->base, allocation->bytes, place);
    release(allocation);
  }
}

}  // namespace cuda_on_cpu
