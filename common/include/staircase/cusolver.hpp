/// \file
/// Helpers for cuSOLVER calls in baselines: a check of the returned status, and owners of handles.

#pragma once

#include <cusolverDn.h>

#include <string>

#include "error.hpp"

namespace staircase {

/// Throws if a cuSOLVER call failed.
/// \throws Failure with Exit::exhausted ("the device failed")
inline void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw Failure(Exit::exhausted,
                  "the device failed: cuSOLVER's error " + std::to_string(status) +
                      (status == CUSOLVER_STATUS_ALLOC_FAILED ? ", not enough memory" : ""));
}

/// Owns a cuSOLVER handle, which contains the state that cuSOLVER calls share.
class CusolverHandle {
 public:
  CusolverHandle() { check(cusolverDnCreate(&handle_)); }
  ~CusolverHandle() { cusolverDnDestroy(handle_); }
  CusolverHandle(const CusolverHandle&) = delete;
  CusolverHandle& operator=(const CusolverHandle&) = delete;
  operator cusolverDnHandle_t() const { return handle_; }

 private:
  cusolverDnHandle_t handle_{};
};

/// Owns a parameter object for cuSOLVER's 64-bit functions, with default values.
class CusolverParameters {
 public:
  CusolverParameters() { check(cusolverDnCreateParams(&parameters_)); }
  ~CusolverParameters() { cusolverDnDestroyParams(parameters_); }
  CusolverParameters(const CusolverParameters&) = delete;
  CusolverParameters& operator=(const CusolverParameters&) = delete;
  operator cusolverDnParams_t() const { return parameters_; }

 private:
  cusolverDnParams_t parameters_{};
};

}  // namespace staircase
