/// \file
/// Helpers for cusolverMg calls in baselines. cusolverMg solves linear systems on several GPUs.

#pragma once

/// \cond
#define DISABLE_CUSOLVERMG_DEPRECATED
/// \endcond
#include <cusolverMg.h>

#include <cstdint>
#include <vector>

#include "cusolver.hpp"

namespace staircase {

/// Owns a cusolverMg handle for the given GPUs.
class CusolverMgHandle {
 public:
  explicit CusolverMgHandle(std::vector<int> devices) {
    check(cusolverMgCreate(&handle_));
    check(cusolverMgDeviceSelect(handle_, devices.size(), devices.data()));
  }
  ~CusolverMgHandle() { cusolverMgDestroy(handle_); }
  CusolverMgHandle(const CusolverMgHandle&) = delete;
  CusolverMgHandle& operator=(const CusolverMgHandle&) = delete;
  operator cusolverMgHandle_t() const { return handle_; }

 private:
  cusolverMgHandle_t handle_{};
};

/// Describes an n × n matrix in column-major order that is distributed over GPUs: column blocks of
/// width `block` are assigned to the GPUs cyclically.
class CusolverMgMatrix {
 public:
  CusolverMgMatrix(std::int64_t n, std::int64_t block, cudaDataType type,
                   const std::vector<int>& devices) {
    check(cusolverMgCreateDeviceGrid(&grid_, 1, devices.size(), devices.data(),
                                     CUDALIBMG_GRID_MAPPING_COL_MAJOR));
    check(cusolverMgCreateMatrixDesc(&matrix_, n, n, n, block, type, grid_));
  }
  ~CusolverMgMatrix() {
    cusolverMgDestroyMatrixDesc(matrix_);
    cusolverMgDestroyGrid(grid_);
  }
  CusolverMgMatrix(const CusolverMgMatrix&) = delete;
  CusolverMgMatrix& operator=(const CusolverMgMatrix&) = delete;
  operator cudaLibMgMatrixDesc_t() const { return matrix_; }

 private:
  cudaLibMgGrid_t grid_{};
  cudaLibMgMatrixDesc_t matrix_{};
};

}  // namespace staircase
