/// \file
/// Replaces the cuFFT header: Fourier transforms in one, two and three dimensions. FFTW computes
/// the transforms when the stream executes the call.
///
/// Transforms need no work areas. Each plan nevertheless reports the size of a work area, so that
/// programs can manage their work areas. Programs that include this header must be linked with FFTW
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
#include "library_types.h"

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VERSION (1000 * CUFFT_VER_MAJOR + 100 * CUFFT_VER_MINOR + CUFFT_VER_PATCH)
#define CUFFT_PLAN_NULL (-1)

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
enum cufftProperty {
  NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT = 1,
  NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS = 2
};
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = float2;
using cufftDoubleComplex = double2;

namespace cuda_on_cpu {

/// The counts or strides of the four dimensions of an array: the batch and three dimensions of a
/// transform, outermost first. For a transform of rank 1 or 2, the outer dimensions of the
/// transform have one element.
struct FftDimensions {
  long long of[4];
};

/// A plan, which a handle identifies. Strides are counted in elements of their array.
struct FftPlan {
  bool exists = false, is_made = false;
  bool is_basic = true;  ///< the strides describe contiguous arrays
  bool allocates_area = true, has_area = false;
  void* area = nullptr;  ///< the work area that the program has set
  std::size_t area_bytes = 0;
  cufftType type = CUFFT_C2C;
  FftDimensions counts = {}, from = {}, to = {};
  long long properties[2] = {0, 1};  ///< patient JIT, number of host threads
  cudaStream_t stream = nullptr;

  bool is_real(bool input) const {
    return type == (input ? CUFFT_R2C : CUFFT_C2R) || type == (input ? CUFFT_D2Z : CUFFT_Z2D);
  }
  /// The counts of complex values: the real transform of n values has n / 2 + 1 coefficients.
  FftDimensions complex_counts() const {
    FftDimensions result = counts;
    if (is_real(true) || is_real(false)) result.of[3] = counts.of[3] / 2 + 1;
    return result;
  }
  FftDimensions counts_of(bool input) const { return is_real(input) ? counts : complex_counts(); }
};

/// The plans of a process. The handle of a plan is its index.
struct FftPlans {
  List<FftPlan> all;
  int used = 0;

  static FftPlans& instance() {
    static FftPlans plans;
    return plans;
  }
  FftPlan* find(cufftHandle handle) {
    return handle < 0 || handle >= used || !all[handle].exists ? nullptr : &all[handle];
  }
};

/// Calls a function for the plan of a handle.
template <typename Call>
cufftResult with_plan(cufftHandle handle, Call call) {
  const LibraryLock lock(LibraryLock::of_plans);
  FftPlan* const plan = FftPlans::instance().find(handle);
  return plan == nullptr ? CUFFT_INVALID_PLAN : call(*plan);
}

/// The strides of a contiguous array.
/// \param row the distance between the beginnings of two rows
inline FftDimensions contiguous(const FftDimensions& counts, long long row) {
  FftDimensions strides = {{0, 0, row, 1}};
  for (int i = 1; i >= 0; --i) strides.of[i] = strides.of[i + 1] * counts.of[i + 1];
  return strides;
}

/// The layout that a program gives for one side of a plan. Its dimensions describe the storage.
template <typename Size>
struct FftLayout {
  const Size* storage;  ///< null for contiguous arrays; the first entry is ignored
  long long stride, distance;

  FftDimensions strides(int rank) const {
    FftDimensions result = {{distance, 0, 0, stride}};
    for (int i = 2; i > 3 - rank; --i)
      result.of[i] = result.of[i + 1] * storage[rank - 1 - (2 - i)];
    return result;
  }
  bool is_valid(int rank) const {
    for (int i = 1; i < rank; ++i)
      if (storage[i] < 1) return false;
    return stride >= 1 && distance >= 0;
  }
};

/// Sets the parameters of a plan. If one of the layouts is null, both arrays are contiguous.
template <typename Size>
cufftResult make_plan(FftPlan& plan, int rank, const Size* extents, const FftLayout<Size>& from,
                      const FftLayout<Size>& to, cufftType type, long long batch) {
  if (plan.is_made) return CUFFT_INVALID_PLAN;
  if (rank < 1 || rank > 3 || extents == nullptr) return CUFFT_INVALID_VALUE;
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
      break;
    default:
      return CUFFT_INVALID_TYPE;
  }
  FftPlan made = plan;
  made.type = type;
  made.counts = {{batch, 1, 1, 1}};
  for (int i = 0; i < rank; ++i) made.counts.of[4 - rank + i] = extents[i];
  long long elements = 1;
  for (const long long count : made.counts.of)
    if (count < 1 || __builtin_mul_overflow(elements, count, &elements)) return CUFFT_INVALID_SIZE;
  if (elements > (1LL << 56)) return CUFFT_INVALID_SIZE;
  made.is_basic = from.storage == nullptr || to.storage == nullptr;
  if (made.is_basic) {
    made.from = contiguous(made.counts, made.counts_of(true).of[3]);
    made.to = contiguous(made.counts, made.counts_of(false).of[3]);
  } else {
    if (!from.is_valid(rank) || !to.is_valid(rank)) return CUFFT_INVALID_VALUE;
    made.from = from.strides(rank);
    made.to = to.strides(rank);
  }
  made.area_bytes = type & 0x40 ? sizeof(double2) : sizeof(float2);
  for (const long long count : made.complex_counts().of) made.area_bytes *= count;
  made.is_made = true;
  made.has_area = made.has_area || made.allocates_area;
  plan = made;
  return CUFFT_SUCCESS;
}

/// Sets the parameters of a plan for contiguous arrays.
inline cufftResult make_plan(FftPlan& plan, std::initializer_list<int> extents, cufftType type,
                             int batch) {
  return make_plan<int>(plan, static_cast<int>(extents.size()), extents.begin(), {}, {}, type,
                        batch);
}

/// Computes the size of the work area of a plan with the given parameters.
/// \param make sets the parameters of a plan
template <typename Make>
cufftResult estimate(std::size_t* bytes, Make make) {
  if (bytes == nullptr) return CUFFT_INVALID_VALUE;
  FftPlan plan;
  const cufftResult result = make(plan);
  if (result == CUFFT_SUCCESS) *bytes = plan.area_bytes;
  return result;
}
/// Does the same for a handle, whose plan is not changed.
template <typename Make>
cufftResult estimate_for(cufftHandle handle, std::size_t* bytes, Make make) {
  return with_plan(handle, [&](const FftPlan&) { return estimate(bytes, make); });
}
/// Sets the parameters of the plan of a handle.
template <typename Make>
cufftResult make_plan_of(cufftHandle handle, std::size_t* bytes, Make make) {
  if (bytes == nullptr) return CUFFT_INVALID_VALUE;
  return with_plan(handle, [&](FftPlan& plan) {
    const cufftResult result = make(plan);
    if (result == CUFFT_SUCCESS) *bytes = plan.area_bytes;
    return result;
  });
}

/// Creates a plan and sets its parameters.
template <typename Make>
cufftResult create_plan(cufftHandle* handle, Make make) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  FftPlan made;
  made.exists = true;
  const cufftResult result = make(made);
  if (result != CUFFT_SUCCESS) return result;
  FftPlans& plans = FftPlans::instance();
  const LibraryLock lock(LibraryLock::of_plans);
  if (static_cast<std::size_t>(plans.used) == plans.all.size()) {
    List<FftPlan> more(2 * plans.all.size() + 8);
    for (int i = 0; i < plans.used; ++i) more[i] = plans.all[i];
    plans.all = std::move(more);
  }
  plans.all[plans.used] = made;
  *handle = plans.used++;
  return CUFFT_SUCCESS;
}

/// The memory ranges of the elements of an array, without the gaps between them.
inline List<Touched> ranges_of(const void* first, std::size_t element, const FftDimensions& counts,
                               const FftDimensions& strides, bool is_read, bool is_written) {
  int order[4], dimensions = 0;  // from the smallest stride to the largest
  for (int i = 0; i < 4; ++i) {
    if (counts.of[i] == 1) continue;
    int at = dimensions++;
    for (; at > 0 && strides.of[order[at - 1]] > strides.of[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  long long run = 1, ranges = 1;
  int gapless = 0;  // the number of dimensions without gaps
  while (gapless < dimensions && strides.of[order[gapless]] == run)
    run *= counts.of[order[gapless++]];
  for (int i = gapless; i < dimensions; ++i) ranges *= counts.of[order[i]];
  List<Touched> result(ranges);
  for (long long range = 0; range < ranges; ++range) {
    long long rest = range, offset = 0;
    for (int i = gapless; i < dimensions; ++i) {
      offset += rest % counts.of[order[i]] * strides.of[order[i]];
      rest /= counts.of[order[i]];
    }
    result[range] = {static_cast<const char*>(first) + offset * element, run * element, is_written,
                     is_read};
  }
  return result;
}

/// FFTW's functions for one precision.
template <typename Real>
struct Fftw;
#define CUDA_ON_CPU_FFTW(fftw, Real, Complex)                                               \
  template <>                                                                               \
  struct Fftw<Real> {                                                                       \
    using Plan = fftw##_plan;                                                               \
    using Dimension = fftw##_iodim64;                                                       \
    static fftw##_complex* cast(Complex* values) {                                          \
      return reinterpret_cast<fftw##_complex*>(values);                                     \
    }                                                                                       \
    static Plan plan(const Dimension* all, Complex* from, Complex* to, int sign) {          \
      return fftw##_plan_guru64_dft(3, all + 1, 1, all, cast(from), cast(to), sign,         \
                                    FFTW_ESTIMATE);                                         \
    }                                                                                       \
    static Plan plan(const Dimension* all, Real* from, Complex* to, int) {                  \
      return fftw##_plan_guru64_dft_r2c(3, all + 1, 1, all, from, cast(to), FFTW_ESTIMATE); \
    }                                                                                       \
    static Plan plan(const Dimension* all, Complex* from, Real* to, int) {                  \
      return fftw##_plan_guru64_dft_c2r(3, all + 1, 1, all, cast(from), to, FFTW_ESTIMATE); \
    }                                                                                       \
    static void execute(Plan plan) { fftw##_execute(plan); }                                \
    static void destroy(Plan plan) { fftw##_destroy_plan(plan); }                           \
  };
CUDA_ON_CPU_FFTW(fftwf, float, float2)
CUDA_ON_CPU_FFTW(fftw, double, double2)
#undef CUDA_ON_CPU_FFTW

/// Creates an FFTW plan, executes it and destroys it. FFTW permits concurrent calls only of its
/// execution functions.
template <typename Real, typename From, typename To>
void transform(const FftPlan& plan, From* from, To* to, int sign) {
  typename Fftw<Real>::Dimension dimensions[4];
  for (int i = 0; i < 4; ++i) dimensions[i] = {plan.counts.of[i], plan.from.of[i], plan.to.of[i]};
  const auto planned = [&] {
    const LibraryLock lock(LibraryLock::of_planner);
    return Fftw<Real>::plan(dimensions, from, to, sign);
  }();
  Fftw<Real>::execute(planned);
  const LibraryLock lock(LibraryLock::of_planner);
  Fftw<Real>::destroy(planned);
}

/// Transforms an array in place. FFTW does so only if each row of the result has the place of a row
/// of the input. For other layouts, the result is computed in another array and then copied.
template <typename Real, typename From, typename To>
void transform_in_place(const FftPlan& plan, From* from, To* to, int sign) {
  bool same =
      plan.from.of[3] == plan.to.of[3] && (sizeof(From) == sizeof(To) || plan.to.of[3] == 1);
  for (int i = 0; i < 3; ++i)
    same =
        same && (plan.counts.of[i] == 1 || plan.from.of[i] * static_cast<long long>(sizeof(From)) ==
                                               plan.to.of[i] * static_cast<long long>(sizeof(To)));
  if (same) return transform<Real>(plan, from, to, sign);
  FftPlan other = plan;
  const FftDimensions counts = plan.counts_of(false);
  other.to = contiguous(counts, counts.of[3]);
  List<To> result(other.to.of[0] * counts.of[0]);
  transform<Real>(other, from, result.data(), sign);
  const To* next = result.data();
  for (long long b = 0; b < counts.of[0]; ++b)
    for (long long x = 0; x < counts.of[1]; ++x)
      for (long long y = 0; y < counts.of[2]; ++y)
        for (long long z = 0; z < counts.of[3]; ++z)
          to[b * plan.to.of[0] + x * plan.to.of[1] + y * plan.to.of[2] + z * plan.to.of[3]] =
              *next++;
}

/// Appends a transform to the stream of a plan.
template <typename Real, typename From, typename To>
cufftResult execute(cufftHandle handle, cufftType type, From* from, To* to, int sign) {
  FftPlan plan;
  if (with_plan(handle,
                [&](const FftPlan& found) {
                  plan = found;
                  return CUFFT_SUCCESS;
                }) != CUFFT_SUCCESS ||
      !plan.is_made)
    return CUFFT_INVALID_PLAN;
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (from == nullptr || to == nullptr || (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE))
    return CUFFT_INVALID_VALUE;
  if (!plan.has_area) return CUFFT_NO_WORKSPACE;
  const bool in_place = static_cast<void*>(from) == static_cast<void*>(to);
  if (in_place && plan.is_basic) {  // two real values have the place of a coefficient
    const long long row = 2 * plan.complex_counts().of[3];
    if (plan.is_real(true)) plan.from = contiguous(plan.counts, row);
    if (plan.is_real(false)) plan.to = contiguous(plan.counts, row);
  }
  // A transform to real values may overwrite its input.
  const auto read =
      ranges_of(from, sizeof(From), plan.counts_of(true), plan.from, true, plan.is_real(false));
  const auto written = ranges_of(to, sizeof(To), plan.counts_of(false), plan.to, false, true);
  List<Touched> all(read.size() + written.size() + (plan.area == nullptr ? 0 : 1));
  std::size_t next = 0;
  for (const Touched& range : read) all[next++] = range;
  for (const Touched& range : written) all[next++] = range;
  if (plan.area != nullptr) all[next] = {plan.area, plan.area_bytes, true, false};
  const auto error = library_call(plan.stream, all, [=] {
    if (in_place)
      transform_in_place<Real>(plan, from, to, sign);
    else
      transform<Real>(plan, from, to, sign);
  });
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace cuda_on_cpu

inline cufftResult cufftCreate(cufftHandle* handle) {
  return cuda_on_cpu::create_plan(handle, [](auto&) { return CUFFT_SUCCESS; });
}

/// The functions for transforms of one shape: they create a plan, set the parameters of a created
/// plan, or compute the size of its work area.
#define CUDA_ON_CPU_FFT_SHAPE(shape, parameters, ...)                                            \
  inline cufftResult cufftPlan##shape(cufftHandle* handle, CUDA_ON_CPU_FFT_LIST parameters) {    \
    return cuda_on_cpu::create_plan(                                                             \
        handle, [&](auto& plan) { return cuda_on_cpu::make_plan(plan, __VA_ARGS__); });          \
  }                                                                                              \
  inline cufftResult cufftEstimate##shape(CUDA_ON_CPU_FFT_LIST parameters, std::size_t* bytes) { \
    return cuda_on_cpu::estimate(                                                                \
        bytes, [&](auto& plan) { return cuda_on_cpu::make_plan(plan, __VA_ARGS__); });           \
  }                                                                                              \
  CUDA_ON_CPU_FFT_HANDLE(shape, parameters, __VA_ARGS__)
#define CUDA_ON_CPU_FFT_HANDLE(shape, parameters, ...)                                         \
  inline cufftResult cufftMakePlan##shape(cufftHandle handle, CUDA_ON_CPU_FFT_LIST parameters, \
                                          std::size_t* bytes) {                                \
    return cuda_on_cpu::make_plan_of(                                                          \
        handle, bytes, [&](auto& plan) { return cuda_on_cpu::make_plan(plan, __VA_ARGS__); }); \
  }                                                                                            \
  inline cufftResult cufftGetSize##shape(cufftHandle handle, CUDA_ON_CPU_FFT_LIST parameters,  \
                                         std::size_t* bytes) {                                 \
    return cuda_on_cpu::estimate_for(                                                          \
        handle, bytes, [&](auto& plan) { return cuda_on_cpu::make_plan(plan, __VA_ARGS__); }); \
  }
#define CUDA_ON_CPU_FFT_LIST(...) __VA_ARGS__

CUDA_ON_CPU_FFT_SHAPE(1d, (int x, cufftType type, int batch), {x}, type, batch)
CUDA_ON_CPU_FFT_SHAPE(2d, (int x, int y, cufftType type), {x, y}, type, 1)
CUDA_ON_CPU_FFT_SHAPE(3d, (int x, int y, int z, cufftType type), {x, y, z}, type, 1)
CUDA_ON_CPU_FFT_SHAPE(Many,
                      (int rank, int* extents, int* in_storage, int in_stride, int in_distance,
                       int* out_storage, int out_stride, int out_distance, cufftType type,
                       int batch),
                      rank, extents,
                      cuda_on_cpu::FftLayout<int>{in_storage, in_stride, in_distance},
                      cuda_on_cpu::FftLayout<int>{out_storage, out_stride, out_distance}, type,
                      batch)
CUDA_ON_CPU_FFT_HANDLE(Many64,
                       (int rank, long long* extents, long long* in_storage, long long in_stride,
                        long long in_distance, long long* out_storage, long long out_stride,
                        long long out_distance, cufftType type, long long batch),
                       rank, extents,
                       cuda_on_cpu::FftLayout<long long>{in_storage, in_stride, in_distance},
                       cuda_on_cpu::FftLayout<long long>{out_storage, out_stride, out_distance},
                       type, batch)
#undef CUDA_ON_CPU_FFT_LIST
#undef CUDA_ON_CPU_FFT_HANDLE
#undef CUDA_ON_CPU_FFT_SHAPE

/// Returns the size of the work area of a plan whose parameters are set.
inline cufftResult cufftGetSize(cufftHandle handle, std::size_t* bytes) {
  if (bytes == nullptr) return CUFFT_INVALID_VALUE;
  return cuda_on_cpu::with_plan(handle, [&](const auto& plan) {
    if (!plan.is_made) return CUFFT_INVALID_PLAN;
    *bytes = plan.area_bytes;
    return CUFFT_SUCCESS;
  });
}
/// Selects whether a plan allocates its work area when its parameters are set. If not, it can be
/// executed only after cufftSetWorkArea.
inline cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocate) {
  return cuda_on_cpu::with_plan(handle, [&](auto& plan) {
    plan.allocates_area = allocate != 0;
    return CUFFT_SUCCESS;
  });
}
/// Sets the work area of a plan. No transform uses the area, but the analysis treats each transform
/// as a write to the entire area.
inline cufftResult cufftSetWorkArea(cufftHandle handle, void* area) {
  return cuda_on_cpu::with_plan(handle, [&](auto& plan) {
    plan.area = area;
    plan.has_area = area != nullptr;
    return CUFFT_SUCCESS;
  });
}
inline cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return cuda_on_cpu::with_plan(handle, [&](auto& plan) {
    plan.stream = stream;
    return CUFFT_SUCCESS;
  });
}
inline cufftResult cufftDestroy(cufftHandle handle) {
  return cuda_on_cpu::with_plan(handle, [&](auto& plan) {
    plan.exists = false;
    return CUFFT_SUCCESS;
  });
}

inline cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  const int parts[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  *value = parts[type];
  return CUFFT_SUCCESS;
}

namespace cuda_on_cpu {

/// Calls `call` with a plan and the value of one of its properties. Fails if the property is not
/// supported.
template <typename Call>
cufftResult with_property(cufftHandle handle, cufftProperty property, Call call) {
  return with_plan(handle, [&](FftPlan& plan) {
    if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT &&
        property != NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS)
      return CUFFT_NOT_SUPPORTED;
    return call(plan, plan.properties[property - 1]);
  });
}

}  // namespace cuda_on_cpu

/// Sets a property, which has no effect here. The parameters of the plan must not be set yet.
inline cufftResult cufftSetPlanPropertyInt64(cufftHandle handle, cufftProperty property,
                                             long long value) {
  return cuda_on_cpu::with_property(handle, property, [&](const auto& plan, long long& stored) {
    if (plan.is_made) return CUFFT_NOT_SUPPORTED;
    const bool is_switch = property == NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT;
    if (is_switch ? value != 0 && value != 1 : value < 1) return CUFFT_INVALID_VALUE;
    stored = value;
    return CUFFT_SUCCESS;
  });
}
inline cufftResult cufftGetPlanPropertyInt64(cufftHandle handle, cufftProperty property,
                                             long long* value) {
  if (value == nullptr) return CUFFT_INVALID_VALUE;
  return cuda_on_cpu::with_property(handle, property, [&](const auto&, long long stored) {
    *value = stored;
    return CUFFT_SUCCESS;
  });
}
inline cufftResult cufftResetPlanProperty(cufftHandle handle, cufftProperty property) {
  return cuda_on_cpu::with_property(handle, property, [&](const auto& plan, long long& stored) {
    if (plan.is_made) return CUFFT_NOT_SUPPORTED;
    stored = cuda_on_cpu::FftPlan().properties[property - 1];
    return CUFFT_SUCCESS;
  });
}

/// The transforms of one precision: complex to complex, real to complex, and complex to real.
#define CUDA_ON_CPU_FFT(Real, Complex, C2C, R2C, C2R)                                           \
  inline cufftResult cufftExec##C2C(cufftHandle handle, Complex* from, Complex* to, int sign) { \
    return cuda_on_cpu::execute<Real>(handle, CUFFT_##C2C, from, to, sign);                     \
  }                                                                                             \
  inline cufftResult cufftExec##R2C(cufftHandle handle, Real* from, Complex* to) {              \
    return cuda_on_cpu::execute<Real>(handle, CUFFT_##R2C, from, to, CUFFT_FORWARD);            \
  }                                                                                             \
  inline cufftResult cufftExec##C2R(cufftHandle handle, Complex* from, Real* to) {              \
    return cuda_on_cpu::execute<Real>(handle, CUFFT_##C2R, from, to, CUFFT_INVERSE);            \
  }

CUDA_ON_CPU_FFT(cufftReal, cufftComplex, C2C, R2C, C2R)
CUDA_ON_CPU_FFT(cufftDoubleReal, cufftDoubleComplex, Z2Z, D2Z, Z2D)
#undef CUDA_ON_CPU_FFT
