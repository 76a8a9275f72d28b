#include "nvtx_recorder.hpp"

#include <nvtx3/nvToolsExt.h>

namespace {

int on_push(const char* name) {
  nvtx_events().push_back(std::string("push ") + name);
  return 0;
}

int on_pop() {
  nvtx_events().push_back("pop");
  return 0;
}

}  // namespace

std::vector<std::string>& nvtx_events() {
  static std::vector<std::string> events;
  return events;
}

/// NVTX calls this function once. The function makes NVTX call on_push() and on_pop().
extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(on_push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(on_pop);
  return 1;
}
