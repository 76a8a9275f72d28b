/// \file
/// Helpers for cuBLAS calls in baselines: a check of the returned status, and an owner of a handle.

#pragma once

#include <cublas_v2.h>

#include <string>

#include "error.hpp"

namespace staircase {

/// Throws if a cuBLAS call failed.
/// \throws Failure with Exit::exhausted ("the device failed")
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Failure(Exit::exhausted,
                  std::string("the device failed: ") + cublasGetStatusString(status) + " (cuBLAS)");
}

/// Owns a cuBLAS handle, which contains the state that cuBLAS calls share.
class CublasHandle {
 public:
  CublasHandle() { check(cublasCreate(&handle_)); }
  ~CublasHandle() { cublasDestroy(handle_); }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  operator cublasHandle_t() const { return handle_; }

 private:
  cublasHandle_t handle_{};
};

}  // namespace staircase
