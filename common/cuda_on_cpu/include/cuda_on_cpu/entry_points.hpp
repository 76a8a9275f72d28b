/// \file
/// The addresses of functions of the driver API for programs that use the runtime.

#pragma once

#include "runtime_api.hpp"

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2  // as CUDA spells it
};
inline constexpr unsigned long long cudaEnableDefault = 0, cudaEnableLegacyStream = 1,
                                    cudaEnablePerThreadDefaultStream = 2;

/// Returns the address of a function of the driver API, or null and the reason.
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status = nullptr);
