/// \file
/// What is the host's and gets to the device: functions that kernels call, addresses that they are
/// given.

#include <map>
#include <string>

#include "../indestructible.hpp"
#include "../machine/block.hpp"
#include "../machine/thread_area.hpp"
#include "../runtime/symbols.hpp"
#include "callbacks.hpp"
#include "device_names.hpp"
#include "findings.hpp"

namespace cuda_on_cpu {

bool is_known_address(const void* address);

using namespace analysis;

namespace {

using Variables = std::map<const char*, Variable>;

/// The device's variables that only kernels may use by name, by their first byte.
Variables read_device_variables() {
  const auto names = names_of_device();
  Variables variables;
  for (const Variable& variable : variables_in_namespaces()) {
    const auto scope = variable.name.rfind("::");
    const std::string base =
        scope == std::string::npos ? variable.name : variable.name.substr(scope + 2);
    if (names.contains(base) && !names.contains('!' + base))
      variables.emplace(variable.begin, variable);
  }
  return variables;
}

/// The variable of the device that an address lies in, or null.
const Variable* device_variable_at(const char* address) {
  static const auto& variables = indestructible_from(read_device_variables);
  const auto behind = variables.upper_bound(address);
  if (behind == variables.begin()) return nullptr;
  const Variable& variable = std::prev(behind)->second;
  return address < variable.begin + variable.bytes ? &variable : nullptr;
}

}  // namespace

void enters_host_function(const char* name) {
  if (!is_on_device()) return;
  const Thread* thread = block->current;
  const DeviceAtWork at_work;
  add_finding("host function", place_of(__builtin_return_address(0)), 0, thread,
              "the kernel calls '" + std::string(name) +
                  "', a function of the host: it has neither __device__ nor __global__");
}

/// Tells of the host's address of a variable of the device that a kernel is given.
static void check_given(const volatile void* pointer, const void* place) {
  const auto* address = static_cast<const char*>(const_cast<const void*>(pointer));
  const Variable* variable = device_variable_at(address);
  if (variable == nullptr || is_known_address(address)) return;
  add_finding("illegal device access", place_of(place), 0, nullptr,
              "a kernel receives the host's address of '" + variable->name +
                  "', a variable of the device: cudaGetSymbolAddress returns the right one");
}

void is_given(const volatile void* pointer) { check_given(pointer, __builtin_return_address(0)); }

void is_passed_on(const volatile void* pointer) {
  if (!is_on_device()) return check_given(pointer, __builtin_return_address(0));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto area = reinterpret_cast<std::uintptr_t>(thread_area_end());
  const bool is_local = on_a_stack(address);
  if (!is_local && area - address - 1 >= thread_area_bytes()) return;
  const Thread* thread = block->current;
  const DeviceAtWork at_work;
  add_finding("illegal device access", place_of(__builtin_return_address(0)), 0, thread,
              std::string("a kernel receives a pointer to ") +
                  (is_local ? "local memory of the thread" : "shared memory of the block") +
                  " that launches it, which it cannot access");
}

}  // namespace cuda_on_cpu
