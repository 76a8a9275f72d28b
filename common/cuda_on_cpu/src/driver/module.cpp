/// \file
/// Driver calls for modules.

#include "module.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>

#include "../indestructible.hpp"
#include "../runtime/contexts.hpp"
#include "../runtime/stream.hpp"
#include "../runtime/symbols.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"
#include "shared_segments.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

std::deque<CUmod_st>& modules() {
  static auto& modules = indestructible<std::deque<CUmod_st>>();
  return modules;
}

bool is_module(CUmodule module) {
  return std::any_of(modules().begin(), modules().end(),
                     [&](const CUmod_st& known) { return &known == module && known.lives; });
}

void unload(CUmod_st& module) {
  module.lives = false;
  free_segment(module.loaded.shared_offset);
}

void unload_all(int device, std::uint32_t context) {
  for (CUmod_st& module : modules())
    if (module.lives && module.device == device && module.context == context) unload(module);
}

/// Prints immediately why an image cannot be loaded, because programs usually print only the name
/// of the error.
CUresult refuse_image(const Loading& loading) {
  std::fprintf(stderr, "cuda-on-cpu: %s\n", loading.sentence.c_str());
  return fail_driver(loading.error, loading.sentence);
}

CUresult load(CUmodule* module, std::string_view bytes, const std::string& what) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  Loading loading = load_image(bytes, what);
  if (loading.error != CUDA_SUCCESS) return refuse_image(loading);
  at_end_of_context(unload_all);
  modules().push_back({current_device(), current_context_number(), std::move(loading)});
  *module = &modules().back();
  return CUDA_SUCCESS;
}

std::optional<std::string> content_of(const char* name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string quoted(const char* name) {
  std::string text = "'";
  text += name;
  text += '\'';
  return text;
}

CUresult no_file(const char* name) {
  return fail_driver(CUDA_ERROR_FILE_NOT_FOUND, "the file " + quoted(name) + " cannot be read");
}

const ImageEntry* entry_of(const CUmod_st& module, const std::string& name) {
  for (const ImageEntry* entry = module.loaded.head->entries; entry != nullptr; entry = entry->next)
    if (entry->launch != nullptr && linked_name_at(entry->address) == name) return entry;
  return nullptr;
}

std::string kernels_of(const CUmod_st& module) {
  std::string names;
  for (const ImageEntry* entry = module.loaded.head->entries; entry != nullptr; entry = entry->next)
    if (entry->launch != nullptr) names += ' ' + linked_name_at(entry->address);
  return names.empty() ? " no kernels" : names;
}

/// Sets the outputs of JIT options to zero time and empty logs, because the image was compiled
/// earlier.
void say_nothing(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_WALL_TIME) *static_cast<float*>(values[i]) = 0;
    if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER)
      *static_cast<char*>(values[i]) = '\0';
  }
}

}  // namespace

bool is_function(CUfunction function) {
  for (const CUmod_st& module : modules())
    for (const CUfunc_st& known : module.functions)
      if (&known == function) return module.lives;
  return false;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

/// The state of a link: the single image that was added, which the link returns unchanged.
struct CUlinkState_st {
  std::string image;
};

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  if (module == nullptr || file == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const auto bytes = content_of(file);
  return bytes ? load(module, *bytes, quoted(file)) : no_file(file);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (module == nullptr || image == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return load(module, image_at_address(image), "a module in memory");
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  say_nothing(count, options, values);
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}

CUresult cuModuleUnload(CUmodule module) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_module(module)) return fail_driver(CUDA_ERROR_INVALID_HANDLE);
  synchronise_device(module->device);
  unload(*module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_module(module)) return fail_driver(CUDA_ERROR_INVALID_HANDLE);
  if (function == nullptr || name == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const ImageEntry* entry = entry_of(*module, name);
  if (entry == nullptr)
    return fail_driver(CUDA_ERROR_NOT_FOUND, "the module has no kernel " + quoted(name) +
                                                 "; it has" + kernels_of(*module));
  module->functions.push_back({module, entry, name});
  *function = &module->functions.back();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (!is_module(module)) return fail_driver(CUDA_ERROR_INVALID_HANDLE);
  if (name == nullptr || (address == nullptr && bytes == nullptr))
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const Variable variable = variable_of(*module->loaded.image, name);
  if (variable.begin == nullptr)
    return fail_driver(CUDA_ERROR_NOT_FOUND, "the module has no variable " + quoted(name));
  if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(variable.begin);
  if (bytes != nullptr) *bytes = variable.bytes;
  return call.end(register_symbol_use(variable.begin, variable.bytes));
}

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  say_nothing(count, options, values);
  *state = std::make_unique<CUlinkState_st>().release();
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, std::size_t bytes,
                       const char*, unsigned, CUjit_option*, void**) {
  if (state == nullptr || data == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  if (!state->image.empty())
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED,
                       "the CPU device links only one image into a module");
  state->image.assign(static_cast<const char*>(data), bytes);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* file, unsigned count,
                       CUjit_option* options, void** values) {
  if (file == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  auto bytes = content_of(file);
  return bytes ? cuLinkAddData(state, type, bytes->data(), bytes->size(), file, count, options,
                               values)
               : no_file(file);
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  if (state == nullptr || image == nullptr || state->image.empty())
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  *image = state->image.data();
  if (bytes != nullptr) *bytes = state->image.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  const std::unique_ptr<CUlinkState_st> owned(state);
  return state != nullptr ? CUDA_SUCCESS : fail_driver(CUDA_ERROR_INVALID_VALUE);
}
