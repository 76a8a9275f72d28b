/// \file
/// Replaces the header of cuSPARSE in the slicer. This file declares only the functions and types
/// that the project uses, so the slicer needs no toolkit to read a source.

#pragma once

#include <cuda_runtime.h>

enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS = 0 };
struct cusparseContext;
using cusparseHandle_t = cusparseContext*;

const char* cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);

cusparseStatus_t cusparseDgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm,
                                                             int rows, const double* lower,
                                                             const double* diagonal,
                                                             const double* upper, const double* x,
                                                             int systems, std::size_t* bytes);
cusparseStatus_t cusparseSgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm,
                                                             int rows, const float* lower,
                                                             const float* diagonal,
                                                             const float* upper, const float* x,
                                                             int systems, std::size_t* bytes);
cusparseStatus_t cusparseDgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int rows,
                                               double* lower, double* diagonal, double* upper,
                                               double* x, int systems, void* buffer);
cusparseStatus_t cusparseSgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int rows,
                                               float* lower, float* diagonal, float* upper,
                                               float* x, int systems, void* buffer);
