/// \file
/// Detects host functions that kernels call, and host addresses that kernels receive.

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "../indestructible.hpp"
#include "../machine/block.hpp"
#include "../machine/thread_area.hpp"
#include "../runtime/images.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "../runtime/symbols.hpp"
#include "callbacks.hpp"
#include "findings.hpp"

namespace cuda_on_cpu {

bool is_known_address(const void* address);

using namespace analysis;

namespace {

using Variables = std::map<const char*, Variable>;

/// The device variables that only kernels may use by name, sorted by address.
Variables read_device_variables() {
  const auto& names = names_of_device();
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

/// The device variable that contains an address, or null.
const Variable* device_variable_at(const char* address) {
  static const auto& variables = indestructible_from(read_device_variables);
  const auto behind = variables.upper_bound(address);
  if (behind == variables.begin()) return nullptr;
  const Variable& variable = std::prev(behind)->second;
  return address < variable.begin + variable.bytes ? &variable : nullptr;
}

/// The device variables whose names no other variable of the program has. Constants of the compiler
/// are not included, because the host may use them as well.
struct UniqueVariables {
  Variables all = {};
  const char *first = nullptr, *end = nullptr;  ///< range that contains all these variables
};

UniqueVariables read_unique_variables() {
  std::map<std::string, unsigned> counts;
  const auto base_of = [](const std::string& name) {
    const auto scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
  };
  for (const Variable& variable : variables_in_namespaces()) ++counts[base_of(variable.name)];
  UniqueVariables unique;
  for (const auto& [begin, variable] : read_device_variables()) {
    if (counts[base_of(variable.name)] != 1 || !program().data.contains(begin, variable.bytes))
      continue;
    unique.all.emplace(begin, variable);
    unique.end = begin + variable.bytes;
  }
  if (!unique.all.empty()) unique.first = unique.all.begin()->first;
  return unique;
}

/// Function addresses that the host has read from device memory. Such an address belongs to the
/// device, so a kernel may receive the address as an argument.
struct FunctionsOfDevice {
  std::mutex mutex;
  std::set<std::uintptr_t> all;

  bool contains(std::uintptr_t address) {
    const std::scoped_lock lock(mutex);
    return all.contains(address);
  }
  void add(std::uintptr_t address) {
    const std::scoped_lock lock(mutex);
    all.insert(address);
  }
};

FunctionsOfDevice& functions_of_device() {
  static auto& functions = indestructible<FunctionsOfDevice>();
  return functions;
}

const CodeNames& code_names() {
  static const auto& names = indestructible_from(read_code_names);
  return names;
}

bool is_in_program(std::uintptr_t address) {
  return program().contains(reinterpret_cast<const void*>(address));
}

/// Calls `visit` for each aligned word that is an address in the program.
template <typename Visit>
void visit_addresses(const void* bytes, std::size_t count, const Visit& visit) {
  constexpr std::size_t word = sizeof(std::uintptr_t);
  const auto* first = static_cast<const char*>(bytes);
  const std::size_t skipped = (word - reinterpret_cast<std::uintptr_t>(first) % word) % word;
  for (std::size_t i = skipped; i + word <= count; i += word) {
    std::uintptr_t address = 0;
    std::memcpy(&address, first + i, word);
    if (is_in_program(address)) visit(address);
  }
}

constexpr const char* virtual_functions =
    "an object with virtual functions that the host has constructed: its table contains host "
    "functions, which a kernel must not call; construct the object in a kernel";

}  // namespace

void enters_host_function(const char* name) {
  if (!is_on_device()) return;
  const Thread* thread = block->current;
  const DeviceAtWork at_work;
  add_finding("host function", place_of(__builtin_return_address(0)), 0, thread,
              "the kernel calls '" + std::string(name) +
                  "', a function of the host: it has neither __device__ nor __global__");
}

/// Reports a kernel argument that is the host's address of a device variable.
static void check_given(const volatile void* pointer, const void* place) {
  const auto* address = static_cast<const char*>(const_cast<const void*>(pointer));
  const Variable* variable = device_variable_at(address);
  if (variable == nullptr || is_known_address(address)) return;
  add_finding(
      "illegal device access", place_of(place), 0, nullptr,
      "a kernel receives the host's address of '" + variable->name +
          "', a variable of the device; pass the address that cudaGetSymbolAddress returns");
}

void is_given_function(const void* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (!is_in_program(address) || functions_of_device().contains(address)) return;
  if (is_in_memory_of_both(address)) return;  // a kernel may have stored the address
  add_finding("illegal device access", place_of(__builtin_return_address(0)), 0, nullptr,
              "a kernel receives the host's address of the function '" + function_at(function) +
                  "'; store its device address in a __device__ variable, and copy this address "
                  "with cudaMemcpyFromSymbol");
}

void is_given_virtual_functions() {
  add_finding("illegal device access", place_of(__builtin_return_address(0)), 0, nullptr,
              std::string("a kernel receives ") + virtual_functions);
}

namespace analysis {

const std::string* device_variable_name(const char* address) {
  // Reading the symbol table causes accesses whose checks call this function again.
  thread_local bool is_reading = false;
  if (is_reading) return nullptr;
  is_reading = true;
  static const auto& variables = indestructible_from(read_unique_variables);
  is_reading = false;
  if (address < variables.first || address >= variables.end) return nullptr;
  const Variable& variable = std::prev(variables.all.upper_bound(address))->second;
  return address < variable.begin + variable.bytes ? &variable.name : nullptr;
}

void copied_to_host(const void* bytes, std::size_t count) {
  visit_addresses(bytes, count, [](std::uintptr_t address) {
    if (code_names().functions.contains(address)) functions_of_device().add(address);
  });
}

void copied_to_device(const void* bytes, std::size_t count, const Operation& operation) {
  visit_addresses(bytes, count, [&](std::uintptr_t address) {
    const auto function = code_names().functions.find(address);
    if (code_names().is_in_virtual_table(address))
      add_note("host code address", place_of(operation.place), 0, nullptr,
               std::string("a copy to the device contains ") + virtual_functions);
    else if (function != code_names().functions.end() && !functions_of_device().contains(address))
      add_note("host code address", place_of(operation.place), 0, nullptr,
               "a copy to the device contains the host's address of the function '" +
                   function_at(reinterpret_cast<const void*>(address)) +
                   "', which a kernel must not call");
  });
}

void virtual_table_set(const void* object, const void* place) {
  const Allocation* allocation = find_allocation(object);
  if (allocation == nullptr || allocation->space != MemorySpace::managed) return;
  add_note("host code address", place_of(place), 0, nullptr,
           std::string("managed memory contains ") + virtual_functions);
}

}  // namespace analysis

void is_given(const volatile void* pointer) { check_given(pointer, __builtin_return_address(0)); }

void is_passed_on(const volatile void* pointer) {
  if (!is_on_device()) return check_given(pointer, __builtin_return_address(0));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto area = reinterpret_cast<std::uintptr_t>(thread_area_end());
  const bool is_local = on_a_stack(address);
  if (!is_local && area - address - 1 >= thread_area_bytes()) return;
  const Thread* thread = block->current;
  const DeviceAtWork at_work;
  add_finding(
      "illegal device access", place_of(__builtin_return_address(0)), 0, thread,
      std::string("a child kernel receives a pointer to ") +
          (is_local ? "local memory of the thread" : "shared memory of the block") +
          " that launches it, but it cannot access this memory; pass a pointer to global memory");
}

}  // namespace cuda_on_cpu
