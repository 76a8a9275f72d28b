/// \file
/// Replaces the header of cusolverMg in the slicer. This file declares only the functions and types
/// that the project uses, so the slicer needs no toolkit to read a source.

#pragma once

#include <cusolverDn.h>
#include <library_types.h>

#include <cstdint>

enum cusolverMgGridMapping_t {
  CUDALIBMG_GRID_MAPPING_COL_MAJOR = 0,
  CUDALIBMG_GRID_MAPPING_ROW_MAJOR = 1
};
struct cusolverMgContext;
using cusolverMgHandle_t = cusolverMgContext*;
using cudaLibMgGrid_t = void*;
using cudaLibMgMatrixDesc_t = void*;

cusolverStatus_t cusolverMgCreate(cusolverMgHandle_t* handle);
cusolverStatus_t cusolverMgDestroy(cusolverMgHandle_t handle);
cusolverStatus_t cusolverMgDeviceSelect(cusolverMgHandle_t handle, int count, int devices[]);
cusolverStatus_t cusolverMgCreateDeviceGrid(cudaLibMgGrid_t* grid, std::int32_t rows,
                                            std::int32_t columns, const std::int32_t devices[],
                                            cusolverMgGridMapping_t mapping);
cusolverStatus_t cusolverMgDestroyGrid(cudaLibMgGrid_t grid);
cusolverStatus_t cusolverMgCreateMatrixDesc(cudaLibMgMatrixDesc_t* matrix, std::int64_t rows,
                                            std::int64_t columns, std::int64_t rows_of_block,
                                            std::int64_t columns_of_block, cudaDataType type,
                                            cudaLibMgGrid_t grid);
cusolverStatus_t cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t matrix);
cusolverStatus_t cusolverMgPotrf_bufferSize(cusolverMgHandle_t handle, cublasFillMode_t triangle,
                                            int n, void* a[], int row, int column,
                                            cudaLibMgMatrixDesc_t matrix, cudaDataType type,
                                            std::int64_t* elements);
cusolverStatus_t cusolverMgPotrf(cusolverMgHandle_t handle, cublasFillMode_t triangle, int n,
                                 void* a[], int row, int column, cudaLibMgMatrixDesc_t matrix,
                                 cudaDataType type, void* work[], std::int64_t elements, int* info);
