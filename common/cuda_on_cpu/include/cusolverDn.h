/// \file
/// Replaces the header of cuSOLVER's dense routines: linear systems, orthogonal factorisations,
/// eigenvalues and singular values for all four element types. Each call becomes an operation in
/// its stream, in which the host's LAPACK performs the computation.
///
/// Matrices are column-major, as in cuSOLVER. Programs that include this header must be linked with
/// LAPACK. The functions are templates, so that a program compiles only the functions that it
/// calls.

#pragma once

#include <cstdio>

#include "cublas_v2.h"
#include "cuda_on_cpu/lapack.hpp"
#include "cusolver_common.h"

// --- Handles and parameters

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = new cusolverDnContext();
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
#define CUDA_ON_CPU_CUSOLVER_PROPERTY(name, Value, member)                               \
  inline cusolverStatus_t cusolverDnSet##name(cusolverDnHandle_t handle, Value value) {  \
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;                       \
    handle->member = value;                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }                                                                                      \
  inline cusolverStatus_t cusolverDnGet##name(cusolverDnHandle_t handle, Value* value) { \
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;                       \
    if (value == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                          \
    *value = handle->member;                                                             \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }
CUDA_ON_CPU_CUSOLVER_PROPERTY(Stream, cudaStream_t, stream)
CUDA_ON_CPU_CUSOLVER_PROPERTY(DeterministicMode, cusolverDeterministicMode_t, determinism)
CUDA_ON_CPU_CUSOLVER_PROPERTY(MathMode, cusolverMathMode_t, math)
CUDA_ON_CPU_CUSOLVER_PROPERTY(EmulationStrategy, cudaEmulationStrategy_t, strategy)
#undef CUDA_ON_CPU_CUSOLVER_PROPERTY

enum cusolverDnFunction_t {
  CUSOLVERDN_GETRF = 0,
  CUSOLVERDN_POTRF = 1,
  CUSOLVERDN_SYEVBATCHED = 2
};
struct cusolverDnParams {};
using cusolverDnParams_t = cusolverDnParams*;

inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *parameters = new cusolverDnParams();
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t parameters) {
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  delete parameters;
  return CUSOLVER_STATUS_SUCCESS;
}
/// Selects one of several algorithms. The CPU device has one algorithm for each function.
inline cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t parameters,
                                                cusolverDnFunction_t function,
                                                cusolverAlgMode_t algorithm) {
  return parameters == nullptr || function < CUSOLVERDN_GETRF ||
                 function > CUSOLVERDN_SYEVBATCHED || algorithm < CUSOLVER_ALG_0 ||
                 algorithm > CUSOLVER_ALG_2
             ? CUSOLVER_STATUS_INVALID_VALUE
             : CUSOLVER_STATUS_SUCCESS;
}

// The CPU device logs nothing.
using cusolverDnLoggerCallback_t = void (*)(int level, const char* function, const char* message);
inline cusolverStatus_t cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnLoggerSetFile(std::FILE*) { return CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnLoggerOpenFile(const char*) { return CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnLoggerSetLevel(int) { return CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnLoggerSetMask(int) { return CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnLoggerForceDisable() { return CUSOLVER_STATUS_SUCCESS; }

// The parameters of the routines with Jacobi's method, and the reports of these routines.
#define CUDA_ON_CPU_CUSOLVER_JACOBI(Name, name)                                                  \
  struct name##Info : cuda_on_cpu::lapack::Jacobi {};                                            \
  using name##Info_t = name##Info*;                                                              \
  inline cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t* info) {                     \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    *info = new name##Info();                                                                    \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info) {                     \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    delete info;                                                                                 \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info, double tolerance) { \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    info->tolerance = tolerance;                                                                 \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info, int sweeps) {       \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    info->most_sweeps = sweeps;                                                                  \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info, int sorts) {          \
    if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    info->sorts = sorts != 0;                                                                    \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnX##name##GetResidual(cusolverDnHandle_t handle,              \
                                                         name##Info_t info, double* residual) {  \
    return cuda_on_cpu::lapack::report(handle, info, residual,                                   \
                                       &cuda_on_cpu::lapack::Outcome::residual);                 \
  }                                                                                              \
  inline cusolverStatus_t cusolverDnX##name##GetSweeps(cusolverDnHandle_t handle,                \
                                                       name##Info_t info, int* sweeps) {         \
    return cuda_on_cpu::lapack::report(handle, info, sweeps,                                     \
                                       &cuda_on_cpu::lapack::Outcome::sweeps);                   \
  }
CUDA_ON_CPU_CUSOLVER_JACOBI(Syevj, syevj)
CUDA_ON_CPU_CUSOLVER_JACOBI(Gesvdj, gesvdj)
#undef CUDA_ON_CPU_CUSOLVER_JACOBI

// --- Functions of each type. P is the letter of the type. `sy`, `org` and `orm` are the beginnings
// of names that differ between real and complex types

#define CUDA_ON_CPU_CUSOLVER(P, Value, Real, sy, org, orm)                                         \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potrf_bufferSize(                          \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value*, int lda, int* elements) {   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potrf(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda, Value* room,     \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return potrf(handle, part, n, a, lda, Room{room, elements}, info);                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potrs(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, int columns, const Value* a,        \
      int lda, Value* b, int ldb, int* info) {                                                     \
    using namespace cuda_on_cpu::lapack;                                                           \
    return potrs(handle, part, n, columns, a, lda, b, ldb, info);                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potrfBatched(                              \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* as[], int lda, int* infos,   \
      int batches) {                                                                               \
    using namespace cuda_on_cpu::lapack;                                                           \
    return potrf_batched<Value>(handle, part, n, as, lda, infos, batches);                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potrsBatched(                              \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, int columns, Value* as[], int lda,  \
      Value* bs[], int ldb, int* info, int batches) {                                              \
    using namespace cuda_on_cpu::lapack;                                                           \
    return potrs_batched<Value>(handle, part, n, columns, as, lda, bs, ldb, info, batches);        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potri_bufferSize(                          \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value*, int lda, int* elements) {   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##potri(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda, Value* room,     \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return potri(handle, part, n, a, lda, Room{room, elements}, info);                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##lauum_bufferSize(                          \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value*, int lda, int* elements) {   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##lauum(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda, Value* room,     \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return lauum(handle, part, n, a, lda, Room{room, elements}, info);                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##getrf_bufferSize(                          \
      cusolverDnHandle_t handle, int m, int n, Value*, int lda, int* elements) {                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_matrix(m, n, lda), elements);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##getrf(                                     \
      cusolverDnHandle_t handle, int m, int n, Value* a, int lda, Value* room, int* pivots,        \
      int* info) {                                                                                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return getrf(handle, m, n, a, lda, Room{room, room_elements}, pivots, info);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##getrs(                                     \
      cusolverDnHandle_t handle, cublasOperation_t op, int n, int columns, const Value* a,         \
      int lda, const int* pivots, Value* b, int ldb, int* info) {                                  \
    using namespace cuda_on_cpu::lapack;                                                           \
    return getrs(handle, op, n, columns, a, lda, pivots, b, ldb, info);                            \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##laswp(                                     \
      cusolverDnHandle_t handle, int n, Value* a, int lda, int first, int last, const int* pivots, \
      int stride) {                                                                                \
    using namespace cuda_on_cpu::lapack;                                                           \
    return laswp(handle, n, a, lda, first, last, pivots, stride);                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##geqrf_bufferSize(                          \
      cusolverDnHandle_t handle, int m, int n, Value*, int lda, int* elements) {                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_matrix(m, n, lda), elements);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##geqrf(                                     \
      cusolverDnHandle_t handle, int m, int n, Value* a, int lda, Value* tau, Value* room,         \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return geqrf(handle, m, n, a, lda, tau, Room{room, elements}, info);                           \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##orm##qr_bufferSize(                        \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, \
      const Value*, int lda, const Value*, const Value*, int ldc, int* elements) {                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_operation<Value>(op) && is_matrix(m, n, ldc) &&                          \
                           is_matrix(side == CUBLAS_SIDE_LEFT ? m : n, k, lda),                    \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##orm##qr(                                   \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, \
      const Value* a, int lda, const Value* tau, Value* c, int ldc, Value* room, int elements,     \
      int* info) {                                                                                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return ormqr(handle, side, op, m, n, k, a, lda, tau, c, ldc, Room{room, elements}, info);      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##qr_bufferSize(                        \
      cusolverDnHandle_t handle, int m, int n, int k, const Value*, int lda, const Value*,         \
      int* elements) {                                                                             \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_matrix(m, n, lda) && n <= m && k >= 0 && k <= n, elements);      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##qr(                                   \
      cusolverDnHandle_t handle, int m, int n, int k, Value* a, int lda, const Value* tau,         \
      Value* room, int elements, int* info) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return orgqr(handle, m, n, k, a, lda, tau, Room{room, elements}, info);                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sytrf_bufferSize(                          \
      cusolverDnHandle_t handle, int n, Value*, int lda, int* elements) {                          \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_matrix(n, n, lda), elements);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sytrf(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda, int* pivots,     \
      Value* room, int elements, int* info) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return sytrf(handle, part, n, a, lda, pivots, Room{room, elements}, info);                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sytri_bufferSize(                          \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value*, int lda, const int*,        \
      int* elements) {                                                                             \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sytri(                                     \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda,                  \
      const int* pivots, Value* room, int elements, int* info) {                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return sytri(handle, part, n, a, lda, pivots, Room{room, elements}, info);                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gebrd_bufferSize(                          \
      cusolverDnHandle_t handle, int m, int n, int* elements) {                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, n >= 0 && m >= n, elements);                                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gebrd(                                     \
      cusolverDnHandle_t handle, int m, int n, Value* a, int lda, Real* d, Real* e, Value* tau_q,  \
      Value* tau_p, Value* room, int elements, int* info) {                                        \
    using namespace cuda_on_cpu::lapack;                                                           \
    return gebrd(handle, m, n, a, lda, d, e, tau_q, tau_p, Room{room, elements}, info);            \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##br_bufferSize(                        \
      cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, const Value*,         \
      int lda, const Value*, int* elements) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_orgbr(side, m, n, k) && is_matrix(m, n, lda), elements);         \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##br(                                   \
      cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, Value* a, int lda,    \
      const Value* tau, Value* room, int elements, int* info) {                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return orgbr(handle, side, m, n, k, a, lda, tau, Room{room, elements}, info);                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##trd_bufferSize(                        \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, const Value*, int lda, const Real*, \
      const Real*, const Value*, int* elements) {                                                  \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##trd(                                   \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda, Real* d,         \
      Real* e, Value* tau, Value* room, int elements, int* info) {                                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return sytrd(handle, part, n, a, lda, d, e, tau, Room{room, elements}, info);                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##tr_bufferSize(                        \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, const Value*, int lda,              \
      const Value*, int* elements) {                                                               \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_part(part) && is_matrix(n, n, lda), elements);                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##org##tr(                                   \
      cusolverDnHandle_t handle, cublasFillMode_t part, int n, Value* a, int lda,                  \
      const Value* tau, Value* room, int elements, int* info) {                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return orgtr(handle, part, n, a, lda, tau, Room{room, elements}, info);                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##orm##tr_bufferSize(                        \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,                     \
      cublasOperation_t op, int m, int n, const Value*, int lda, const Value*, const Value*,       \
      int ldc, int* elements) {                                                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_part(part) && is_operation<Value>(op) && is_matrix(m, n, ldc) &&         \
                           is_matrix(side == CUBLAS_SIDE_LEFT ? m : n, 0, lda),                    \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##orm##tr(                                   \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,                     \
      cublasOperation_t op, int m, int n, Value* a, int lda, Value* tau, Value* c, int ldc,        \
      Value* room, int elements, int* info) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return ormtr<Value>(handle, side, part, op, m, n, a, lda, tau, c, ldc, Room{room, elements},   \
                        info);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evd_bufferSize(                        \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,             \
      const Value*, int lda, const Real*, int* elements) {                                         \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, is_mode(mode) && is_part(part) && is_matrix(n, n, lda), elements);  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evd(                                   \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, Value* a,   \
      int lda, Real* w, Value* room, int elements, int* info) {                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return eigen(handle, Eigen<Value>{mode, part, n, a, lda, w}, false, Room{room, elements},      \
                 info);                                                                            \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evdx_bufferSize(                       \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cusolverEigRange_t range,                 \
      cublasFillMode_t part, int n, const Value*, int lda, Real low, Real high, int first,         \
      int last, int*, const Real*, int* elements) {                                                \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_mode(mode) && is_part(part) && is_matrix(n, n, lda) &&                   \
                           Selection<Value>{range, low, high, first, last}.is_valid(n),            \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evdx(                                  \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cusolverEigRange_t range,                 \
      cublasFillMode_t part, int n, Value* a, int lda, Real low, Real high, int first, int last,   \
      int* found, Real* w, Value* room, int elements, int* info) {                                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return selected_eigen(handle, Eigen<Value>{mode, part, n, a, lda, w}, false,                   \
                          Selection<Value>{range, low, high, first, last}, found,                  \
                          Room{room, elements}, info);                                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvd_bufferSize(                        \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cublasFillMode_t part, int n, const Value*, int lda, const Value*, int ldb, const Real*,     \
      int* elements) {                                                                             \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_mode(mode) && is_part(part) && is_matrix(n, n, lda) &&                   \
                           is_matrix(n, n, ldb) && is_type(type),                                  \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvd(                                   \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cublasFillMode_t part, int n, Value* a, int lda, Value* b, int ldb, Real* w, Value* room,    \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return eigen(handle, Eigen<Value>{mode, part, n, a, lda, w, b, ldb, type}, true,               \
                 Room{room, elements}, info);                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvdx_bufferSize(                       \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cusolverEigRange_t range, cublasFillMode_t part, int n, const Value*, int lda, const Value*, \
      int ldb, Real low, Real high, int first, int last, int*, const Real*, int* elements) {       \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_mode(mode) && is_part(part) && is_matrix(n, n, lda) &&                   \
                           is_matrix(n, n, ldb) && is_type(type) &&                                \
                           Selection<Value>{range, low, high, first, last}.is_valid(n),            \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvdx(                                  \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cusolverEigRange_t range, cublasFillMode_t part, int n, Value* a, int lda, Value* b,         \
      int ldb, Real low, Real high, int first, int last, int* found, Real* w, Value* room,         \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return selected_eigen(handle, Eigen<Value>{mode, part, n, a, lda, w, b, ldb, type}, true,      \
                          Selection<Value>{range, low, high, first, last}, found,                  \
                          Room{room, elements}, info);                                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evj_bufferSize(                        \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,             \
      const Value*, int lda, const Real*, int* elements, syevjInfo_t parameters) {                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(                                                                            \
        handle, is_mode(mode) && is_part(part) && is_matrix(n, n, lda) && parameters != nullptr,   \
        elements);                                                                                 \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evj(                                   \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, Value* a,   \
      int lda, Real* w, Value* room, int elements, int* info, syevjInfo_t parameters) {            \
    using namespace cuda_on_cpu::lapack;                                                           \
    return jacobi_eigen(handle, Eigen<Value>{mode, part, n, a, lda, w}, false,                     \
                        Room{room, elements}, info, parameters, 1, false);                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evjBatched_bufferSize(                 \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,             \
      const Value*, int lda, const Real*, int* elements, syevjInfo_t parameters, int batches) {    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_mode(mode) && is_part(part) && is_matrix(n, n, lda) &&                   \
                           parameters != nullptr && batches >= 0,                                  \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##evjBatched(                            \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, Value* a,   \
      int lda, Real* w, Value* room, int elements, int* info, syevjInfo_t parameters,              \
      int batches) {                                                                               \
    using namespace cuda_on_cpu::lapack;                                                           \
    return jacobi_eigen(handle, Eigen<Value>{mode, part, n, a, lda, w}, false,                     \
                        Room{room, elements}, info, parameters, batches, true);                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvj_bufferSize(                        \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cublasFillMode_t part, int n, const Value*, int lda, const Value*, int ldb, const Real*,     \
      int* elements, syevjInfo_t parameters) {                                                     \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       is_mode(mode) && is_part(part) && is_matrix(n, n, lda) &&                   \
                           is_matrix(n, n, ldb) && is_type(type) && parameters != nullptr,         \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##sy##gvj(                                   \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode,                   \
      cublasFillMode_t part, int n, Value* a, int lda, Value* b, int ldb, Real* w, Value* room,    \
      int elements, int* info, syevjInfo_t parameters) {                                           \
    using namespace cuda_on_cpu::lapack;                                                           \
    return jacobi_eigen(handle, Eigen<Value>{mode, part, n, a, lda, w, b, ldb, type}, true,        \
                        Room{room, elements}, info, parameters, 1, false);                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvd_bufferSize(                          \
      cusolverDnHandle_t handle, int m, int n, int* elements) {                                    \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle, n >= 0 && m >= n, elements);                                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvd(                                     \
      cusolverDnHandle_t handle, signed char of_u, signed char of_v, int m, int n, Value* a,       \
      int lda, Real* s, Value* u, int ldu, Value* v, int ldv, Value* room, int elements,           \
      Real* unconverged, int* info) {                                                              \
    using namespace cuda_on_cpu::lapack;                                                           \
    return gesvd(handle, of_u, of_v, m, n, a, lda, s, u, ldu, v, ldv, Room{room, elements},        \
                 unconverged, info);                                                               \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdj_bufferSize(                         \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int economic, int m, int n, const Value*, \
      int lda, const Real*, const Value*, int ldu, const Value*, int ldv, int* elements,           \
      gesvdjInfo_t parameters) {                                                                   \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(                                                                            \
        handle,                                                                                    \
        Svd<Value>{mode, economic != 0, m, n, nullptr, lda, nullptr, nullptr, ldu, nullptr, ldv}   \
                .has_shape() &&                                                                    \
            parameters != nullptr,                                                                 \
        elements);                                                                                 \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdj(                                    \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int economic, int m, int n, Value* a,     \
      int lda, Real* s, Value* u, int ldu, Value* v, int ldv, Value* room, int elements,           \
      int* info, gesvdjInfo_t parameters) {                                                        \
    using namespace cuda_on_cpu::lapack;                                                           \
    return jacobi_svd(handle, Svd<Value>{mode, economic != 0, m, n, a, lda, s, u, ldu, v, ldv},    \
                      Room{room, elements}, info, parameters, 1, false);                           \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdjBatched_bufferSize(                  \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, const Value*, int lda,      \
      const Real*, const Value*, int ldu, const Value*, int ldv, int* elements,                    \
      gesvdjInfo_t parameters, int batches) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(                                                                            \
        handle,                                                                                    \
        Svd<Value>{mode, false, m, n, nullptr, lda, nullptr, nullptr, ldu, nullptr, ldv}           \
                .has_shape() &&                                                                    \
            parameters != nullptr && batches >= 0 && m <= most_batched && n <= most_batched,       \
        elements);                                                                                 \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdjBatched(                             \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, Value* a, int lda, Real* s, \
      Value* u, int ldu, Value* v, int ldv, Value* room, int elements, int* info,                  \
      gesvdjInfo_t parameters, int batches) {                                                      \
    using namespace cuda_on_cpu::lapack;                                                           \
    return jacobi_svd(handle, Svd<Value>{mode, false, m, n, a, lda, s, u, ldu, v, ldv},            \
                      Room{room, elements}, info, parameters, batches, true);                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdaStridedBatched_bufferSize(           \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const Value*,     \
      int lda, long long stride_a, const Real*, long long stride_s, const Value*, int ldu,         \
      long long stride_u, const Value*, int ldv, long long stride_v, int* elements, int batches) { \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_room(handle,                                                                     \
                       SvdBatch<Value>{mode, rank, m, n, nullptr, lda, stride_a, nullptr,          \
                                       stride_s, nullptr, ldu, stride_u, nullptr, ldv, stride_v}   \
                               .has_shape() &&                                                     \
                           batches >= 0,                                                           \
                       elements);                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##P##gesvdaStridedBatched(                      \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const Value* a,   \
      int lda, long long stride_a, Real* s, long long stride_s, Value* u, int ldu,                 \
      long long stride_u, Value* v, int ldv, long long stride_v, Value* room, int elements,        \
      int* info, double* residuals, int batches) {                                                 \
    using namespace cuda_on_cpu::lapack;                                                           \
    return gesvda(handle,                                                                          \
                  SvdBatch<Value>{mode, rank, m, n, a, lda, stride_a, s, stride_s, u, ldu,         \
                                  stride_u, v, ldv, stride_v},                                     \
                  Room{room, elements}, info, residuals, batches);                                 \
  }
CUDA_ON_CPU_CUSOLVER(S, float, float, sy, org, orm)
CUDA_ON_CPU_CUSOLVER(D, double, double, sy, org, orm)
CUDA_ON_CPU_CUSOLVER(C, cuComplex, float, he, ung, unm)
CUDA_ON_CPU_CUSOLVER(Z, cuDoubleComplex, double, he, ung, unm)
#undef CUDA_ON_CPU_CUSOLVER

// --- Functions that may compute in a lower precision, to which the second letter of the name
// refers. The CPU device computes in the precision of the operands: the number of iterations is -1,
// which means in cuSOLVER that a lower precision is not worthwhile

#define CUDA_ON_CPU_CUSOLVER_MIXED(PP, Value)                                                      \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##PP##gesv_bufferSize(                          \
      cusolverDnHandle_t handle, int n, int columns, Value*, int lda, int*, Value*, int ldb,       \
      Value*, int ldx, void*, std::size_t* bytes) {                                                \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_bytes(                                                                           \
        handle, is_matrix(n, n, lda) && is_matrix(n, columns, ldb) && is_matrix(n, columns, ldx),  \
        bytes);                                                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##PP##gesv(                                     \
      cusolverDnHandle_t handle, int n, int columns, Value* a, int lda, int* pivots, Value* b,     \
      int ldb, Value* x, int ldx, void* room, std::size_t bytes, int* iterations, int* info) {     \
    using namespace cuda_on_cpu::lapack;                                                           \
    return gesv<Value>(handle, n, columns, a, lda, pivots, b, ldb, x, ldx,                         \
                       room_of<Value>(room, bytes), iterations, info);                             \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##PP##gels_bufferSize(                          \
      cusolverDnHandle_t handle, int m, int n, int columns, Value*, int lda, Value*, int ldb,      \
      Value*, int ldx, void*, std::size_t* bytes) {                                                \
    using namespace cuda_on_cpu::lapack;                                                           \
    return report_bytes(handle,                                                                    \
                        is_matrix(m, n, lda) && m >= n && is_matrix(m, columns, ldb) &&            \
                            is_matrix(n, columns, ldx),                                            \
                        bytes);                                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDn##PP##gels(                                     \
      cusolverDnHandle_t handle, int m, int n, int columns, Value* a, int lda, Value* b, int ldb,  \
      Value* x, int ldx, void* room, std::size_t bytes, int* iterations, int* info) {              \
    using namespace cuda_on_cpu::lapack;                                                           \
    return gels<Value>(handle, m, n, columns, a, lda, b, ldb, x, ldx, room_of<Value>(room, bytes), \
                       iterations, info);                                                          \
  }
CUDA_ON_CPU_CUSOLVER_MIXED(ZZ, cuDoubleComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(ZC, cuDoubleComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(ZK, cuDoubleComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(ZE, cuDoubleComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(ZY, cuDoubleComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(CC, cuComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(CK, cuComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(CE, cuComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(CY, cuComplex)
CUDA_ON_CPU_CUSOLVER_MIXED(DD, double)
CUDA_ON_CPU_CUSOLVER_MIXED(DS, double)
CUDA_ON_CPU_CUSOLVER_MIXED(DH, double)
CUDA_ON_CPU_CUSOLVER_MIXED(DB, double)
CUDA_ON_CPU_CUSOLVER_MIXED(DX, double)
CUDA_ON_CPU_CUSOLVER_MIXED(SS, float)
CUDA_ON_CPU_CUSOLVER_MIXED(SH, float)
CUDA_ON_CPU_CUSOLVER_MIXED(SB, float)
CUDA_ON_CPU_CUSOLVER_MIXED(SX, float)
#undef CUDA_ON_CPU_CUSOLVER_MIXED

// --- Functions with 64-bit sizes, whose element types are arguments

template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXpotrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cublasFillMode_t part, std::int64_t n,
    cudaDataType, const void*, std::int64_t lda, cudaDataType, std::size_t* device_bytes,
    std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_part(part) && is_matrix(n, n, lda) && parameters != nullptr,
                      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cublasFillMode_t part,
                 std::int64_t n, cudaDataType type, void* a, std::int64_t lda, cudaDataType compute,
                 void* room, std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return potrf(handle, part, int(n), static_cast<Value*>(a), int(lda),
                 room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cublasFillMode_t part,
                 std::int64_t n, std::int64_t columns, cudaDataType type, const void* a,
                 std::int64_t lda, cudaDataType type_b, void* b, std::int64_t ldb, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != type_b) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, columns, lda, ldb}, [&](auto zero) {
    using Value = decltype(zero);
    return potrs(handle, part, int(n), int(columns), static_cast<const Value*>(a), int(lda),
                 static_cast<Value*>(b), int(ldb), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgetrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m, std::int64_t n,
    cudaDataType, const void*, std::int64_t lda, cudaDataType, std::size_t* device_bytes,
    std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_matrix(m, n, lda) && parameters != nullptr, device_bytes,
                      host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgetrf(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m, std::int64_t n,
    cudaDataType type, void* a, std::int64_t lda, std::int64_t* pivots, cudaDataType compute,
    void* room, std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {m, n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return getrf(handle, int(m), int(n), static_cast<Value*>(a), int(lda),
                 room_of<Value>(room, room_bytes), pivots, info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgetrs(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cublasOperation_t op, std::int64_t n,
    std::int64_t columns, cudaDataType type, const void* a, std::int64_t lda,
    const std::int64_t* pivots, cudaDataType type_b, void* b, std::int64_t ldb, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != type_b) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, columns, lda, ldb}, [&](auto zero) {
    using Value = decltype(zero);
    return getrs(handle, op, int(n), int(columns), static_cast<const Value*>(a), int(lda), pivots,
                 static_cast<Value*>(b), int(ldb), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgeqrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m, std::int64_t n,
    cudaDataType, const void*, std::int64_t lda, cudaDataType, const void*, cudaDataType,
    std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_matrix(m, n, lda) && parameters != nullptr, device_bytes,
                      host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgeqrf(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m, std::int64_t n,
    cudaDataType type, void* a, std::int64_t lda, cudaDataType type_tau, void* tau,
    cudaDataType compute, void* room, std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != type_tau || type != compute) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {m, n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return geqrf(handle, int(m), int(n), static_cast<Value*>(a), int(lda), static_cast<Value*>(tau),
                 room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXtrtri_bufferSize(
    cusolverDnHandle_t handle, cublasFillMode_t part, cublasDiagType_t, std::int64_t n,
    cudaDataType, void*, std::int64_t lda, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_part(part) && is_matrix(n, n, lda), device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t part, cublasDiagType_t diagonal,
                 std::int64_t n, cudaDataType type, void* a, std::int64_t lda, void* room,
                 std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  return with_type(type, {n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return trtri(handle, part, diagonal, int(n), static_cast<Value*>(a), int(lda),
                 room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsytrs_bufferSize(
    cusolverDnHandle_t handle, cublasFillMode_t part, std::int64_t n, std::int64_t columns,
    cudaDataType, const void*, std::int64_t lda, const std::int64_t*, cudaDataType, void*,
    std::int64_t ldb, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_part(part) && is_matrix(n, n, lda) && is_matrix(n, columns, ldb),
                      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t part, std::int64_t n,
                 std::int64_t columns, cudaDataType type, const void* a, std::int64_t lda,
                 const std::int64_t* pivots, cudaDataType type_b, void* b, std::int64_t ldb,
                 void* room, std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (type != type_b) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, columns, lda, ldb}, [&](auto zero) {
    using Value = decltype(zero);
    return sytrs(handle, part, int(n), int(columns), static_cast<const Value*>(a), int(lda), pivots,
                 static_cast<Value*>(b), int(ldb), room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
    cublasFillMode_t part, std::int64_t n, cudaDataType, const void*, std::int64_t lda,
    cudaDataType, const void*, cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(
      handle, is_mode(mode) && is_part(part) && is_matrix(n, n, lda) && parameters != nullptr,
      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
                 cublasFillMode_t part, std::int64_t n, cudaDataType type, void* a,
                 std::int64_t lda, cudaDataType type_w, void* w, cudaDataType compute, void* room,
                 std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute || type_w != part_of(type)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return eigen(handle,
                 Eigen<Value>{mode, part, int(n), static_cast<Value*>(a), int(lda),
                              static_cast<Real<Value>*>(w)},
                 false, room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsyevdx_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
    cusolverEigRange_t, cublasFillMode_t part, std::int64_t n, cudaDataType, const void*,
    std::int64_t lda, void*, void*, std::int64_t, std::int64_t, std::int64_t*, cudaDataType,
    const void*, cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(
      handle, is_mode(mode) && is_part(part) && is_matrix(n, n, lda) && parameters != nullptr,
      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsyevdx(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
    cusolverEigRange_t range, cublasFillMode_t part, std::int64_t n, cudaDataType type, void* a,
    std::int64_t lda, void* low, void* high, std::int64_t first, std::int64_t last,
    std::int64_t* found, cudaDataType type_w, void* w, cudaDataType compute, void* room,
    std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute || type_w != part_of(type)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, lda}, [&](auto zero) {
    using Value = decltype(zero);
    return selected_eigen(
        handle,
        Eigen<Value>{mode, part, int(n), static_cast<Value*>(a), int(lda),
                     static_cast<Real<Value>*>(w)},
        false,
        Selection<Value>{range, bound<Value>(range, low), bound<Value>(range, high), first, last},
        found, room_of<Value>(room, room_bytes), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
    cublasFillMode_t part, std::int64_t n, cudaDataType, const void*, std::int64_t lda,
    cudaDataType, const void*, cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes,
    std::int64_t batches) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle,
                      is_mode(mode) && is_part(part) && is_matrix(n, n, lda) && batches >= 0 &&
                          parameters != nullptr,
                      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXsyevBatched(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
    cublasFillMode_t part, std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
    cudaDataType type_w, void* w, cudaDataType compute, void* room, std::size_t room_bytes, void*,
    std::size_t, int* info, std::int64_t batches) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute || type_w != part_of(type)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {n, lda, batches}, [&](auto zero) {
    using Value = decltype(zero);
    return jacobi_eigen(handle,
                        Eigen<Value>{mode, part, int(n), static_cast<Value*>(a), int(lda),
                                     static_cast<Real<Value>*>(w)},
                        false, room_of<Value>(room, room_bytes), info, &of_batches(), int(batches),
                        true);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, signed char, signed char,
    std::int64_t m, std::int64_t n, cudaDataType, const void*, std::int64_t lda, cudaDataType,
    const void*, cudaDataType, const void*, std::int64_t, cudaDataType, const void*, std::int64_t,
    cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_matrix(m, n, lda) && m >= n && parameters != nullptr, device_bytes,
                      host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgesvd(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, signed char of_u, signed char of_v,
    std::int64_t m, std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
    cudaDataType type_s, void* s, cudaDataType type_u, void* u, std::int64_t ldu,
    cudaDataType type_v, void* v, std::int64_t ldv, cudaDataType compute, void* room,
    std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute || type != type_u || type != type_v || type_s != part_of(type))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {m, n, lda, ldu, ldv}, [&](auto zero) {
    using Value = decltype(zero);
    return gesvd(handle, of_u, of_v, int(m), int(n), static_cast<Value*>(a), int(lda),
                 static_cast<Real<Value>*>(s), static_cast<Value*>(u), int(ldu),
                 static_cast<Value*>(v), int(ldv), room_of<Value>(room, room_bytes),
                 static_cast<Real<Value>*>(nullptr), info);
  });
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgesvdp_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode, int,
    std::int64_t m, std::int64_t n, cudaDataType, const void*, std::int64_t lda, cudaDataType,
    const void*, cudaDataType, const void*, std::int64_t, cudaDataType, const void*, std::int64_t,
    cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(handle, is_mode(mode) && is_matrix(m, n, lda) && parameters != nullptr,
                      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgesvdp(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode, int economic,
    std::int64_t m, std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
    cudaDataType type_s, void* s, cudaDataType type_u, void* u, std::int64_t ldu,
    cudaDataType type_v, void* v, std::int64_t ldv, cudaDataType compute, void* room,
    std::size_t room_bytes, void*, std::size_t, int* info, double* perturbation) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (type != compute || type != type_u || type != type_v || type_s != part_of(type))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return with_type(type, {m, n, lda, ldu, ldv}, [&](auto zero) {
    using Value = decltype(zero);
    return gesvdp(handle,
                  Svd<Value>{mode, economic != 0, int(m), int(n), static_cast<Value*>(a), int(lda),
                             static_cast<Real<Value>*>(s), static_cast<Value*>(u), int(ldu),
                             static_cast<Value*>(v), int(ldv)},
                  room_of<Value>(room, room_bytes), info, perturbation);
  });
}
// Only right eigenvectors are covered.
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t left,
    cusolverEigMode_t right, std::int64_t n, cudaDataType, const void*, std::int64_t lda,
    cudaDataType, const void*, cudaDataType, const void*, std::int64_t, cudaDataType, const void*,
    std::int64_t, cudaDataType, std::size_t* device_bytes, std::size_t* host_bytes) {
  using namespace cuda_on_cpu::lapack;
  return report_bytes(
      handle, is_mode(left) && is_mode(right) && is_matrix(n, n, lda) && parameters != nullptr,
      device_bytes, host_bytes);
}
template <typename = void>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t
cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t left,
                cusolverEigMode_t right, std::int64_t n, cudaDataType type, void* a,
                std::int64_t lda, cudaDataType type_w, void* w, cudaDataType, void*, std::int64_t,
                cudaDataType type_v, void* v, std::int64_t ldv, cudaDataType compute, void* room,
                std::size_t room_bytes, void*, std::size_t, int* info) {
  using namespace cuda_on_cpu::lapack;
  if (parameters == nullptr || type != compute || type != type_v || !fits_eigenvalues(type, type_w))
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (left != CUSOLVER_EIG_MODE_NOVECTOR) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return with_type(type, {n, lda, ldv}, [&](auto zero) {
    using Value = decltype(zero);
    return geev(handle, right, int(n), static_cast<Value*>(a), int(lda),
                static_cast<Real<Value>*>(w), type_w != type, static_cast<Value*>(v), int(ldv),
                room_of<Value>(room, room_bytes), info);
  });
}
