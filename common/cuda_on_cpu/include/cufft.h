/// \file
/// Replaces the cuFFT header: Fourier transforms in one, two and three dimensions. FFTW computes
/// the transforms when the stream executes the call.
///
/// Only contiguous arrays are supported. Programs that include this header must be linked with FFTW
/// in both precisions.

#pragma once

#define _CUFFT_H_  // headers of other projects test this macro

#include "cuda_on_cpu/hidden_names.hpp"

#include <fftw3.h>

#include "cuda_on_cpu/shown_names.hpp"

#include <cstddef>
#include <type_traits>

#include "cuda_on_cpu/library_call.hpp"
#include "cuda_runtime.h"

enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 0xB,
  CUFFT_NO_WORKSPACE = 0xD,
  CUFFT_NOT_IMPLEMENTED = 0xE,
  CUFFT_NOT_SUPPORTED = 0x10,
  CUFFT_MISSING_DEPENDENCY = 0x11,
  CUFFT_NVRTC_FAILURE = 0x12,
  CUFFT_NVJITLINK_FAILURE = 0x13,
  CUFFT_NVSHMEM_FAILURE = 0x14
};
enum cufftType {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
};
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = float2;
using cufftDoubleComplex = double2;

namespace cuda_on_cpu {

/// The parameters of a plan, which a handle identifies.
struct FftPlan {
  List<int> extents;  ///< outermost first; empty if the plan was destroyed
  int batch;
  cufftType type;
  cudaStream_t stream;

  /// The number of elements of all transforms: values in space, or, if `of_half`, the complex
  /// coefficients that a real transform stores.
  std::size_t elements(bool of_half) const {
    std::size_t product = batch;
    for (const int extent : extents) product *= extent;
    const int last = extents[extents.size() - 1];
    return of_half ? product / last * (last / 2 + 1) : product;
  }
};

/// The plans of a process. The handle of a plan is its index.
struct FftPlans {
  List<FftPlan> all;

  static FftPlans& instance() {
    static FftPlans plans;
    return plans;
  }
};

inline cufftResult make_plan(cufftHandle* handle, List<int> extents, cufftType type, int batch) {
  for (const int extent : extents)
    if (extent < 1) return CUFFT_INVALID_SIZE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  FftPlans& plans = FftPlans::instance();
  const LibraryLock lock(LibraryLock::of_plans);
  *handle = static_cast<int>(plans.all.size());
  List<FftPlan> more(plans.all.size() + 1);
  for (std::size_t i = 0; i < plans.all.size(); ++i) more[i] = std::move(plans.all[i]);
  more[plans.all.size()] = {std::move(extents), batch, type, nullptr};
  plans.all = std::move(more);
  return CUFFT_SUCCESS;
}

/// Returns a copy of a plan. The copy is empty if there is no plan with this handle.
inline FftPlan plan_of(cufftHandle handle) {
  FftPlans& plans = FftPlans::instance();
  const LibraryLock lock(LibraryLock::of_plans);
  if (handle < 0 || handle >= static_cast<int>(plans.all.size())) return {};
  return plans.all[handle];
}

/// Creates an FFTW plan, executes it and destroys it. FFTW permits concurrent calls only of its
/// execution functions.
template <typename Make, typename Execute, typename Destroy>
void transform(Make make, Execute execute, Destroy destroy) {
  const auto plan = [&] {
    const LibraryLock lock(LibraryLock::of_planner);
    return make();
  }();
  execute(plan);
  const LibraryLock lock(LibraryLock::of_planner);
  destroy(plan);
}

template <typename From, typename To, typename Work>
cufftResult execute(cufftHandle handle, cufftType type, From* from, To* to, Work work) {
  const FftPlan plan = plan_of(handle);
  if (plan.extents.empty()) return CUFFT_INVALID_PLAN;
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (from == nullptr || to == nullptr) return CUFFT_INVALID_VALUE;
  constexpr bool of_real = std::is_floating_point_v<From>, to_real = std::is_floating_point_v<To>;
  const std::size_t read = plan.elements(to_real) * sizeof(From);
  const std::size_t written = plan.elements(of_real) * sizeof(To);
  // A transform to real values may overwrite its input.
  const auto error = library_call(plan.stream, {{from, read, to_real}, {to, written, true, false}},
                                  [plan, work = std::move(work)] { work(plan); });
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace cuda_on_cpu

inline cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return cuda_on_cpu::make_plan(plan, {nx}, type, batch);
}
inline cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return cuda_on_cpu::make_plan(plan, {nx, ny}, type, 1);
}
inline cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return cuda_on_cpu::make_plan(plan, {nx, ny, nz}, type, 1);
}
inline cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  auto& plans = cuda_on_cpu::FftPlans::instance();
  const cuda_on_cpu::LibraryLock lock(cuda_on_cpu::LibraryLock::of_plans);
  if (handle < 0 || handle >= static_cast<int>(plans.all.size())) return CUFFT_INVALID_PLAN;
  plans.all[handle].stream = stream;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftDestroy(cufftHandle handle) {
  auto& plans = cuda_on_cpu::FftPlans::instance();
  const cuda_on_cpu::LibraryLock lock(cuda_on_cpu::LibraryLock::of_plans);
  if (handle < 0 || handle >= static_cast<int>(plans.all.size())) return CUFFT_INVALID_PLAN;
  plans.all[handle].extents = {};
  return CUFFT_SUCCESS;
}

/// The transforms of one precision: complex to complex, real to complex, and complex to real.
#define CUDA_ON_CPU_FFT(fftw, Real, Complex, C2C, R2C, C2R)                                        \
  inline cufftResult cufftExec##C2C(cufftHandle handle, Complex* from, Complex* to, int sign) {    \
    return cuda_on_cpu::execute(handle, CUFFT_##C2C, from, to, [=](const auto& plan) {             \
      const int dimensions = plan.extents.size(), size = plan.elements(false) / plan.batch;        \
      cuda_on_cpu::transform(                                                                      \
          [&] {                                                                                    \
            return fftw##_plan_many_dft(dimensions, plan.extents.data(), plan.batch,               \
                                        reinterpret_cast<fftw##_complex*>(from), nullptr, 1, size, \
                                        reinterpret_cast<fftw##_complex*>(to), nullptr, 1, size,   \
                                        sign, FFTW_ESTIMATE);                                      \
          },                                                                                       \
          fftw##_execute, fftw##_destroy_plan);                                                    \
    });                                                                                            \
  }                                                                                                \
  inline cufftResult cufftExec##R2C(cufftHandle handle, Real* from, Complex* to) {                 \
    return cuda_on_cpu::execute(handle, CUFFT_##R2C, from, to, [=](const auto& plan) {             \
      const int dimensions = plan.extents.size(), size = plan.elements(false) / plan.batch;        \
      const int half = plan.elements(true) / plan.batch;                                           \
      cuda_on_cpu::transform(                                                                      \
          [&] {                                                                                    \
            return fftw##_plan_many_dft_r2c(dimensions, plan.extents.data(), plan.batch, from,     \
                                            nullptr, 1, size,                                      \
                                            reinterpret_cast<fftw##_complex*>(to), nullptr, 1,     \
                                            half, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);            \
          },                                                                                       \
          fftw##_execute, fftw##_destroy_plan);                                                    \
    });                                                                                            \
  }                                                                                                \
  inline cufftResult cufftExec##C2R(cufftHandle handle, Complex* from, Real* to) {                 \
    return cuda_on_cpu::execute(handle, CUFFT_##C2R, from, to, [=](const auto& plan) {             \
      const int dimensions = plan.extents.size(), size = plan.elements(false) / plan.batch;        \
      const int half = plan.elements(true) / plan.batch;                                           \
      cuda_on_cpu::transform(                                                                      \
          [&] {                                                                                    \
            return fftw##_plan_many_dft_c2r(dimensions, plan.extents.data(), plan.batch,           \
                                            reinterpret_cast<fftw##_complex*>(from), nullptr, 1,   \
                                            half, to, nullptr, 1, size, FFTW_ESTIMATE);            \
          },                                                                                       \
          fftw##_execute, fftw##_destroy_plan);                                                    \
    });                                                                                            \
  }

CUDA_ON_CPU_FFT(fftwf, cufftReal, cufftComplex, C2C, R2C, C2R)
CUDA_ON_CPU_FFT(fftw, cufftDoubleReal, cufftDoubleComplex, Z2Z, D2Z, Z2D)
#undef CUDA_ON_CPU_FFT
