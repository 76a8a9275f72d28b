/// \file
/// The routines of cuSOLVER for the four element types, as operations in a stream. The host's
/// LAPACK performs the computations when the stream executes the call.

#pragma once

#include "hidden_names.hpp"

#include <lapack.h>

#include "shown_names.hpp"

#include "../cusolver_common.h"
#include "blas.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t determinism = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
  cudaEmulationStrategy_t strategy = CUDA_EMULATION_STRATEGY_DEFAULT;
};
using cusolverDnHandle_t = cusolverDnContext*;

namespace cuda_on_cpu {
namespace lapack {

using blas::get;
using blas::Index;
using blas::Real;
using blas::set;

// --- Calls of LAPACK

/// Passes an argument to LAPACK: a pointer as it is, and the address of any other value.
template <typename Argument>
auto given(Argument& argument) {
  if constexpr (!std::is_pointer_v<Argument>)
    return static_cast<const Argument*>(&argument);
  else if constexpr (std::is_same_v<Argument, cuComplex*>)
    return reinterpret_cast<lapack_complex_float*>(argument);
  else if constexpr (std::is_same_v<Argument, const cuComplex*>)
    return reinterpret_cast<const lapack_complex_float*>(argument);
  else if constexpr (std::is_same_v<Argument, cuDoubleComplex*>)
    return reinterpret_cast<lapack_complex_double*>(argument);
  else if constexpr (std::is_same_v<Argument, const cuDoubleComplex*>)
    return reinterpret_cast<const lapack_complex_double*>(argument);
  else
    return argument;
}
#define CUDA_ON_CPU_HOST_LAPACK(name, real, complex)     \
  template <typename Value, typename... Arguments>       \
  int host_##name(Arguments... arguments) {              \
    int info = 0;                                        \
    if constexpr (std::is_same_v<Value, float>)          \
      LAPACK_s##real(given(arguments)..., &info);        \
    else if constexpr (std::is_same_v<Value, double>)    \
      LAPACK_d##real(given(arguments)..., &info);        \
    else if constexpr (std::is_same_v<Value, cuComplex>) \
      LAPACK_c##complex(given(arguments)..., &info);     \
    else                                                 \
      LAPACK_z##complex(given(arguments)..., &info);     \
    return info;                                         \
  }
CUDA_ON_CPU_HOST_LAPACK(getrf, getrf, getrf)
CUDA_ON_CPU_HOST_LAPACK(geqrf, geqrf, geqrf)
CUDA_ON_CPU_HOST_LAPACK(ormqr, ormqr, unmqr)
CUDA_ON_CPU_HOST_LAPACK(orgqr, orgqr, ungqr)
CUDA_ON_CPU_HOST_LAPACK(potrf, potrf, potrf)
CUDA_ON_CPU_HOST_LAPACK(potrs, potrs, potrs)
CUDA_ON_CPU_HOST_LAPACK(potri, potri, potri)
CUDA_ON_CPU_HOST_LAPACK(lauum, lauum, lauum)
CUDA_ON_CPU_HOST_LAPACK(trtri, trtri, trtri)
CUDA_ON_CPU_HOST_LAPACK(sytrf, sytrf, sytrf)
CUDA_ON_CPU_HOST_LAPACK(sytri, sytri, sytri)
CUDA_ON_CPU_HOST_LAPACK(sytrs, sytrs, sytrs)
CUDA_ON_CPU_HOST_LAPACK(gebrd, gebrd, gebrd)
CUDA_ON_CPU_HOST_LAPACK(orgbr, orgbr, ungbr)
CUDA_ON_CPU_HOST_LAPACK(sytrd, sytrd, hetrd)
CUDA_ON_CPU_HOST_LAPACK(orgtr, orgtr, ungtr)
CUDA_ON_CPU_HOST_LAPACK(ormtr, ormtr, unmtr)
CUDA_ON_CPU_HOST_LAPACK(syevd, syevd, heevd)
CUDA_ON_CPU_HOST_LAPACK(sygvd, sygvd, hegvd)
CUDA_ON_CPU_HOST_LAPACK(gels, gels, gels)
CUDA_ON_CPU_HOST_LAPACK(geev, geev, geev)
CUDA_ON_CPU_HOST_LAPACK(gesvd, gesvd, gesvd)
#undef CUDA_ON_CPU_HOST_LAPACK

/// The size of a workspace that LAPACK reports in a floating-point value. In single precision, this
/// value may be rounded down.
template <typename Value>
int reported_size(Value reported) {
  return static_cast<int>(static_cast<double>(blas::real_of(reported)) * (1 + 2e-7)) + 1;
}
/// Calls `call(workspace, size)` with a workspace of the size that LAPACK recommends.
template <typename Value, typename Call>
int with_workspace(Call call) {
  Value reported{};
  if (const int info = call(&reported, -1); info != 0) return info;
  List<Value> room(static_cast<std::size_t>(reported_size(reported)));
  return call(room.data(), static_cast<int>(room.size()));
}
/// As `with_workspace`, for divide-and-conquer routines. These routines also require a workspace of
/// integers and, for complex matrices, a workspace of real values.
template <typename Value, typename Call>
int with_workspaces(Call call) {
  Value reported{};
  Real<Value> reported_real{};
  int integers = 0;
  const auto complete = [&](Value* room, int size, Real<Value>* real_room, int real_size,
                            int* integer_room, int integer_size) {
    if constexpr (blas::is_complex<Value>)
      return call(room, size, real_room, real_size, integer_room, integer_size);
    else
      return call(room, size, integer_room, integer_size);
  };
  if (const int info = complete(&reported, -1, &reported_real, -1, &integers, -1); info != 0)
    return info;
  List<Value> room(static_cast<std::size_t>(reported_size(reported)));
  List<Real<Value>> real_room(static_cast<std::size_t>(reported_size(reported_real)));
  List<int> integer_room(static_cast<std::size_t>(integers > 1 ? integers : 1));
  return complete(room.data(), static_cast<int>(room.size()), real_room.data(),
                  static_cast<int>(real_room.size()), integer_room.data(),
                  static_cast<int>(integer_room.size()));
}

// --- Memory that a call accesses

/// A list of the memory that a call accesses, for the analysis.
class Ranges {
 public:
  enum class Access { read, write, change };

  void add(Touched touched, Access access) {
    touched.read = access != Access::write;
    touched.written = access != Access::read;
    if (count_ == touched_.size()) {
      List<Touched> more(2 * count_ + 4);
      for (std::size_t i = 0; i < count_; ++i) more[i] = touched_[i];
      touched_ = std::move(more);
    }
    touched_[count_++] = touched;
  }
  template <typename Value>
  void array(Access access, Value* first, Index elements) {
    add(blas::matrix(first, 1, 1, first == nullptr ? 0 : elements), access);
  }
  template <typename Value>
  void matrix(Access access, Value* first, Index stride, Index rows, Index columns) {
    add(blas::matrix(first, stride, rows, columns), access);
  }
  template <typename Value>
  void triangle(Access access, cublasFillMode_t part, Value* first, Index stride, Index n) {
    add(blas::triangle(first, stride, n, part == CUBLAS_FILL_MODE_LOWER), access);
  }
  void result(int* info) { array(Access::write, info, 1); }
  /// All entries. Unused entries at the end of the list are empty.
  const List<Touched>& all() const { return touched_; }

 private:
  List<Touched> touched_;
  std::size_t count_ = 0;
};
using Access = Ranges::Access;

// --- Checks of arguments

constexpr int room_elements = 1;  ///< size of each workspace in elements; LAPACK needs none

inline bool is_matrix(Index rows, Index columns, Index stride) {
  return rows >= 0 && columns >= 0 && stride >= rows && stride >= 1;
}
inline bool is_matrix(Index rows, Index columns, Index stride, const void* first) {
  return is_matrix(rows, columns, stride) && (rows == 0 || columns == 0 || first != nullptr);
}
inline bool is_array(const void* first, Index elements) {
  return elements <= 0 || first != nullptr;
}
inline bool is_part(cublasFillMode_t part) {
  return part == CUBLAS_FILL_MODE_LOWER || part == CUBLAS_FILL_MODE_UPPER;
}
inline bool is_mode(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_NOVECTOR || mode == CUSOLVER_EIG_MODE_VECTOR;
}
/// A workspace in device memory.
struct Room {
  const void* first;
  Index elements;

  bool is_valid() const { return first != nullptr && elements >= room_elements; }
};
inline char letter_of(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U'; }
inline char letter_of(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? 'L' : 'R'; }
inline char letter_of(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}
/// Whether op(Q) exists. A real matrix has no conjugate, and a complex matrix is never merely
/// transposed.
template <typename Value>
bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_C || (op == CUBLAS_OP_T && !blas::is_complex<Value>);
}
template <typename Value>
char letter_of(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : blas::is_complex<Value> ? 'C' : 'T';
}

/// Reports the size of a workspace.
template <typename Size>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t report_room(cusolverDnHandle_t handle, bool is_valid,
                                                   Size* elements) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_valid || elements == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *elements = room_elements;
  return CUSOLVER_STATUS_SUCCESS;
}
/// Reports the size of a workspace in bytes, for any element type.
inline cusolverStatus_t report_bytes(cusolverDnHandle_t handle, bool is_valid, std::size_t* bytes) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_valid || bytes == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *bytes = room_elements * sizeof(cuDoubleComplex);
  return CUSOLVER_STATUS_SUCCESS;
}
/// As above, for functions that also have a workspace in host memory, whose reported size is 0.
inline cusolverStatus_t report_bytes(cusolverDnHandle_t handle, bool is_valid,
                                     std::size_t* device_bytes, std::size_t* host_bytes) {
  const auto status = report_bytes(handle, is_valid && host_bytes != nullptr, device_bytes);
  if (status == CUSOLVER_STATUS_SUCCESS) *host_bytes = 0;
  return status;
}
template <typename Value>
Room room_of(const void* first, std::size_t bytes) {
  return {first, static_cast<Index>(bytes / sizeof(Value))};
}
/// The real type that corresponds to a type.
inline cudaDataType part_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}
/// Whether a type of eigenvalues fits a type of matrices. Eigenvalues of real matrices are complex
/// values, or separate real and imaginary parts.
inline bool fits_eigenvalues(cudaDataType type, cudaDataType of_values) {
  return of_values == type || (type == CUDA_R_32F && of_values == CUDA_C_32F) ||
         (type == CUDA_R_64F && of_values == CUDA_C_64F);
}
/// Calls `call` with a value of the element type, if the sizes fit into 32 bits.
template <typename Call>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t with_type(cudaDataType type,
                                                 std::initializer_list<Index> sizes, Call call) {
  if (!blas::fits(sizes)) return CUSOLVER_STATUS_NOT_SUPPORTED;
  switch (type) {
    case CUDA_R_32F:
      return call(float{});
    case CUDA_R_64F:
      return call(double{});
    case CUDA_C_32F:
      return call(cuComplex{});
    case CUDA_C_64F:
      return call(cuDoubleComplex{});
    default:
      return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
}
inline bool is_type(cusolverEigType_t type) {
  return type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3;
}
CUDA_ON_CPU_AT_CALLER cusolverStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
template <typename Work>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t in_stream(cusolverDnHandle_t handle, const Ranges& memory,
                                                 Work work) {
  return status_of(library_call(handle->stream, memory.all(), std::move(work)));
}
/// Runs a routine that also returns a result in host memory: the host waits for the stream.
template <typename Work>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t awaited(cusolverDnHandle_t handle, const Ranges& memory,
                                               Work work) {
  const cusolverStatus_t status = in_stream(handle, memory, std::move(work));
  return status != CUSOLVER_STATUS_SUCCESS ? status
                                           : status_of(cudaStreamSynchronize(handle->stream));
}

// --- Copies of matrices, which the analysis does not observe

template <typename Value>
CUDA_ON_CPU_NOT_INLINED CUDA_ON_CPU_NOT_ANALYSED List<Value> packed(const Value* a, Index stride,
                                                                    Index rows, Index columns) {
  List<Value> values(static_cast<std::size_t>(rows * columns));
  Value* const to = values.data();
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) to[i + j * rows] = a[i + j * stride];
  return values;
}
/// Stores `columns` columns of a packed matrix.
template <typename Value>
CUDA_ON_CPU_NOT_INLINED CUDA_ON_CPU_NOT_ANALYSED void unpack(const Value* from, Index rows,
                                                             Index columns, Value* a,
                                                             Index stride) {
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) a[i + j * stride] = from[i + j * rows];
}
template <typename From, typename To>
CUDA_ON_CPU_NOT_INLINED CUDA_ON_CPU_NOT_ANALYSED void copy_values(const From* from, Index count,
                                                                  To* to) {
  for (Index i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

// --- Systems of linear equations

/// Computes the factorisation A = L U in place, without interchanges.
/// \returns 0, or i if U(i, i) is zero
template <typename Value>
int eliminate(Value* a, Index lda, Index m, Index n) {
  if (m == 0 || n == 0) return 0;
  if (n == 1) {
    const Value diagonal = get(a);
    if (blas::is_zero(diagonal)) return 1;
    for (Index i = 1; i < m; ++i) set(a + i, blas::divide(get(a + i), diagonal));
    return 0;
  }
  const Index left = (m < n ? (m + 1) / 2 : n / 2), right = n - left;
  const int info = eliminate(a, lda, m, left);
  Value *const top = a + left * lda, *const below = top + left;
  const Value one = blas::number<Value>(1), minus = blas::number<Value>(-1);
  blas::host_trsm(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, left,
                  right, one, a, lda, top, lda);
  if (m == left) return info;
  blas::host_gemm(CUBLAS_OP_N, CUBLAS_OP_N, m - left, right, left, minus, a + left, lda, top, lda,
                  one, below, lda);
  const int rest = eliminate(below, lda, m - left, right);
  return info != 0 ? info : rest != 0 ? static_cast<int>(left) + rest : 0;
}

template <typename Value, typename Pivot>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t getrf(cusolverDnHandle_t handle, int m, int n, Value* a,
                                             int lda, Room room, Pivot* pivots, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(m, n, lda, a) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  const int least = m < n ? m : n;
  Ranges memory;
  memory.matrix(Access::change, a, lda, m, n);
  memory.array(Access::write, pivots, least);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    if (pivots == nullptr) {
      set(info, eliminate(a, lda, m, n));
      return;
    }
    List<int> found(static_cast<std::size_t>(least));
    set(info, host_getrf<Value>(m, n, a, lda, found.data()));
    copy_values(found.data(), least, pivots);
  });
}
template <typename Value, typename Pivot>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n,
                                             int columns, const Value* a, int lda,
                                             const Pivot* pivots, Value* b, int ldb, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(n, n, lda, a) || !is_matrix(n, columns, ldb, b) || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::read, a, lda, n, n);
  memory.array(Access::read, pivots, n);
  memory.matrix(Access::change, b, ldb, n, columns);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    blas::solve_factorised(a, lda, n, pivots, op, b, ldb, columns);
    set(info, 0);
  });
}
/// Interchanges row i with row `pivots[i]`, for all i from `first` to `last`. All indices start
/// at 1.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t laswp(cusolverDnHandle_t handle, int n, Value* a, int lda,
                                             int first, int last, const int* pivots, int stride) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (n < 0 || lda < 1 || first < 1 || last < first || lda < last || stride == 0 ||
      !is_array(a, n) || pivots == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  const int step = stride < 0 ? -stride : stride, count = last - first + 1;
  const auto pivot_of = [=](int i) { return get(pivots + first - 1 + i * step); };
  const auto more = [=] {
    int rows = last;
    for (int i = 0; i < count; ++i)
      if (const int pivot = pivot_of(i); pivot > rows) rows = pivot;
    Ranges memory;
    memory.matrix(Access::change, a, lda, rows, n);
    return memory.all();
  };
  Ranges memory;
  memory.matrix(Access::read, pivots + first - 1, step, 1, count);
  return status_of(library_call(handle->stream, memory.all(), more, [=] {
    for (int k = 0; k < count; ++k) {
      const int i = stride > 0 ? k : count - 1 - k;
      Value *const row = a + first - 1 + i, *const other = a + pivot_of(i) - 1;
      for (Index j = 0; j < n && row != other; ++j) {
        const Value kept = get(row + j * lda);
        set(row + j * lda, get(other + j * lda));
        set(other + j * lda, kept);
      }
    }
  }));
}

template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::change, part, a, lda, n);
  memory.result(info);
  return in_stream(handle, memory,
                   [=] { set(info, host_potrf<Value>(letter_of(part), n, a, lda)); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t potrs(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, int columns, const Value* a, int lda, Value* b,
                                             int ldb, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !is_matrix(n, columns, ldb, b) ||
      info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::read, part, a, lda, n);
  memory.matrix(Access::change, b, ldb, n, columns);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, host_potrs<Value>(letter_of(part), n, columns, a, lda, b, ldb));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t potrf_batched(cusolverDnHandle_t handle,
                                                     cublasFillMode_t part, int n, Value* const* as,
                                                     int lda, int* infos, int count) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda) || count < 0 || !is_array(as, count) ||
      !is_array(infos, count))
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.array(Access::read, as, count);
  memory.array(Access::write, infos, count);
  const auto more = [=] {
    Ranges matrices;
    for (int i = 0; i < count; ++i) matrices.triangle(Access::change, part, get(as + i), lda, n);
    return matrices.all();
  };
  return status_of(library_call(handle->stream, memory.all(), more, [=] {
    for (int i = 0; i < count; ++i)
      set(infos + i, host_potrf<Value>(letter_of(part), n, get(as + i), lda));
  }));
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t potrs_batched(cusolverDnHandle_t handle,
                                                     cublasFillMode_t part, int n, int columns,
                                                     Value* const* as, int lda, Value* const* bs,
                                                     int ldb, int* info, int count) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda) || columns != 1 || !is_matrix(n, 1, ldb) ||
      count < 0 || !is_array(as, count) || !is_array(bs, count) || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.array(Access::read, as, count);
  memory.array(Access::read, bs, count);
  memory.result(info);
  const auto more = [=] {
    Ranges matrices;
    for (int i = 0; i < count; ++i) {
      matrices.triangle(Access::read, part, get(as + i), lda, n);
      matrices.array(Access::change, get(bs + i), n);
    }
    return matrices.all();
  };
  return status_of(library_call(handle->stream, memory.all(), more, [=] {
    set(info, 0);
    for (int i = 0; i < count; ++i)
      host_potrs<Value>(letter_of(part), n, 1, get(as + i), lda, get(bs + i), ldb);
  }));
}
/// Runs a routine that replaces a triangle of a matrix. `work` calls LAPACK.
template <typename Value, typename Work>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t on_triangle(cusolverDnHandle_t handle, cublasFillMode_t part,
                                                   int n, Value* a, int lda, Room room, int* info,
                                                   Work work) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::change, part, a, lda, n);
  memory.result(info);
  return in_stream(handle, memory, [=] { set(info, work(letter_of(part), n, a, lda)); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t potri(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, Room room, int* info) {
  return on_triangle(handle, part, n, a, lda, room, info,
                     [](auto... arguments) { return host_potri<Value>(arguments...); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t lauum(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, Room room, int* info) {
  return on_triangle(handle, part, n, a, lda, room, info,
                     [](auto... arguments) { return host_lauum<Value>(arguments...); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t trtri(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             cublasDiagType_t diagonal, int n, Value* a, int lda,
                                             Room room, int* info) {
  const char kind = diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N';
  return on_triangle(handle, part, n, a, lda, room, info, [kind](char letter, auto... arguments) {
    return host_trtri<Value>(letter, kind, arguments...);
  });
}

/// Computes the factorisation A = L D L' or A = U D U' of a symmetric matrix in place, without
/// interchanges: D is diagonal.
/// \returns 0, or i if D(i, i) is zero
template <typename Value>
int eliminate_symmetric(bool lower, Value* a, Index lda, Index n) {
  int info = 0;
  for (Index step = 0; step < n; ++step) {
    const Index k = lower ? step : n - 1 - step, begin = lower ? k + 1 : 0, end = lower ? n : k;
    Value* const column = a + k * lda;
    const Value diagonal = get(column + k);
    if (blas::is_zero(diagonal)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (Index j = begin; j < end; ++j) {
      const Value by = blas::divide(get(column + j), diagonal);
      for (Index i = lower ? j : begin; i < (lower ? end : j + 1); ++i)
        set(a + i + j * lda,
            blas::subtract(get(a + i + j * lda), blas::multiply(get(column + i), by)));
    }
    for (Index i = begin; i < end; ++i) set(column + i, blas::divide(get(column + i), diagonal));
  }
  return info;
}
/// The pivot indices of a symmetric factorisation. Without pivot indices, no row was interchanged.
template <typename Pivot>
List<int> pivots_of(const Pivot* pivots, int n) {
  List<int> found(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) found[static_cast<std::size_t>(i)] = i + 1;
  if (pivots != nullptr) copy_values(pivots, n, found.data());
  return found;
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t sytrf(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, int* pivots, Room room,
                                             int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::change, part, a, lda, n);
  memory.array(Access::write, pivots, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, pivots == nullptr
                  ? eliminate_symmetric(part == CUBLAS_FILL_MODE_LOWER, a, lda, n)
                  : with_workspace<Value>([&](Value* rooms, int size) {
                      return host_sytrf<Value>(letter_of(part), n, a, lda, pivots, rooms, size);
                    }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t sytri(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, const int* pivots, Room room,
                                             int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::change, part, a, lda, n);
  memory.array(Access::read, pivots, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    List<int> own = pivots_of(pivots, n);
    List<Value> rooms(static_cast<std::size_t>(2 * n + 1));
    set(info, host_sytri<Value>(letter_of(part), n, a, lda, own.data(), rooms.data()));
  });
}
template <typename Value, typename Pivot>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t sytrs(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, int columns, const Value* a, int lda,
                                             const Pivot* pivots, Value* b, int ldb, Room room,
                                             int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !is_matrix(n, columns, ldb, b) ||
      !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::read, part, a, lda, n);
  memory.array(Access::read, pivots, n);
  memory.matrix(Access::change, b, ldb, n, columns);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    List<int> own = pivots_of(pivots, n);
    set(info, host_sytrs<Value>(letter_of(part), n, columns, a, lda, own.data(), b, ldb));
  });
}

// --- Orthogonal factorisations

template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t geqrf(cusolverDnHandle_t handle, int m, int n, Value* a,
                                             int lda, Value* tau, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const int least = m < n ? m : n;
  if (!is_matrix(m, n, lda, a) || !is_array(tau, least) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, m, n);
  memory.array(Access::write, tau, least);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_geqrf<Value>(m, n, a, lda, tau, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t ormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t op, int m, int n, int k,
                                             const Value* a, int lda, const Value* tau, Value* c,
                                             int ldc, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  if (!is_operation<Value>(op) || !is_matrix(m, n, ldc, c) || k > order ||
      !is_matrix(order, k, lda, a) || !is_array(tau, k) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::read, a, lda, order, k);
  memory.array(Access::read, tau, k);
  memory.matrix(Access::change, c, ldc, m, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_ormqr<Value>(letter_of(side), letter_of<Value>(op), m, n, k, a, lda, tau, c,
                                   ldc, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t orgqr(cusolverDnHandle_t handle, int m, int n, int k,
                                             Value* a, int lda, const Value* tau, Room room,
                                             int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(m, n, lda, a) || n > m || k < 0 || k > n || !is_array(tau, k) ||
      !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::read, a, lda, m, k);
  memory.array(Access::read, tau, k);
  memory.matrix(Access::write, a, lda, m, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_orgqr<Value>(m, n, k, a, lda, tau, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gebrd(cusolverDnHandle_t handle, int m, int n, Value* a,
                                             int lda, Real<Value>* d, Real<Value>* e, Value* tau_q,
                                             Value* tau_p, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(m, n, lda, a) || m < n || !is_array(d, n) || !is_array(e, n - 1) ||
      !is_array(tau_q, n) || !is_array(tau_p, n) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, m, n);
  memory.array(Access::write, d, n);
  memory.array(Access::write, e, n - 1);
  memory.array(Access::write, tau_q, n);
  memory.array(Access::write, tau_p, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_gebrd<Value>(m, n, a, lda, d, e, tau_q, tau_p, rooms, size);
        }));
  });
}
/// Whether `orgbr` can compute a matrix of m rows and n columns from k reflections.
inline bool is_orgbr(cublasSideMode_t side, int m, int n, int k) {
  if (m < 0 || n < 0 || k < 0) return false;
  return side == CUBLAS_SIDE_LEFT ? m >= n && n >= (m < k ? m : k) : n >= m && m >= (n < k ? n : k);
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t orgbr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             int m, int n, int k, Value* a, int lda,
                                             const Value* tau, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n, reflections = order < k ? order : k;
  if (!is_orgbr(side, m, n, k) || !is_matrix(m, n, lda, a) || !is_array(tau, reflections) ||
      !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::read, a, lda, left ? m : reflections, left ? reflections : n);
  memory.array(Access::read, tau, order == reflections ? reflections - 1 : reflections);
  memory.matrix(Access::write, a, lda, m, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_orgbr<Value>(left ? 'Q' : 'P', m, n, k, a, lda, tau, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t sytrd(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, Real<Value>* d,
                                             Real<Value>* e, Value* tau, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !is_array(d, n) || !is_array(e, n - 1) ||
      !is_array(tau, n - 1) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::change, part, a, lda, n);
  memory.array(Access::write, d, n);
  memory.array(Access::write, e, n - 1);
  memory.array(Access::write, tau, n - 1);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_sytrd<Value>(letter_of(part), n, a, lda, d, e, tau, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t orgtr(cusolverDnHandle_t handle, cublasFillMode_t part,
                                             int n, Value* a, int lda, const Value* tau, Room room,
                                             int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_part(part) || !is_matrix(n, n, lda, a) || !is_array(tau, n - 1) || !room.is_valid() ||
      info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::read, part, a, lda, n);
  memory.array(Access::read, tau, n - 1);
  memory.matrix(Access::write, a, lda, n, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_orgtr<Value>(letter_of(part), n, a, lda, tau, rooms, size);
        }));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t ormtr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasFillMode_t part, cublasOperation_t op, int m,
                                             int n, const Value* a, int lda, const Value* tau,
                                             Value* c, int ldc, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  if (!is_part(part) || !is_operation<Value>(op) || !is_matrix(m, n, ldc, c) ||
      !is_matrix(order, order, lda, a) || !is_array(tau, order - 1) || !room.is_valid() ||
      info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.triangle(Access::read, part, a, lda, order);
  memory.array(Access::read, tau, order - 1);
  memory.matrix(Access::change, c, ldc, m, n);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, with_workspace<Value>([&](Value* rooms, int size) {
          return host_ormtr<Value>(letter_of(side), letter_of(part), letter_of<Value>(op), m, n, a,
                                   lda, tau, c, ldc, rooms, size);
        }));
  });
}

// --- Solutions by functions that may compute in a lower precision

/// The number of iterations of a function that did not try a lower precision.
constexpr int not_refined = -1;

template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gesv(cusolverDnHandle_t handle, int n, int columns, Value* a,
                                            int lda, int* pivots, const Value* b, int ldb, Value* x,
                                            int ldx, Room room, int* iterations, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(n, n, lda, a) || !is_array(pivots, n) || !is_matrix(n, columns, ldb, b) ||
      !is_matrix(n, columns, ldx, x) || !room.is_valid() || iterations == nullptr ||
      info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, n, n);
  memory.array(Access::write, pivots, n);
  memory.matrix(Access::read, b, ldb, n, columns);
  memory.matrix(Access::write, x, ldx, n, columns);
  memory.result(info);
  *iterations = not_refined;
  return in_stream(handle, memory, [=] {
    const int failed = host_getrf<Value>(n, n, a, lda, pivots);
    set(info, failed);
    if (failed != 0) return;
    for (Index j = 0; j < columns; ++j) copy_values(b + j * ldb, n, x + j * ldx);
    blas::solve_factorised<Value>(a, lda, n, pivots, CUBLAS_OP_N, x, ldx, columns);
  });
}
/// Computes least-squares solutions, for at least as many rows as columns.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gels(cusolverDnHandle_t handle, int m, int n, int columns,
                                            Value* a, int lda, const Value* b, int ldb, Value* x,
                                            int ldx, Room room, int* iterations, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!is_matrix(m, n, lda, a) || m < n || !is_matrix(m, columns, ldb, b) ||
      !is_matrix(n, columns, ldx, x) || !room.is_valid() || iterations == nullptr ||
      info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, m, n);
  memory.matrix(Access::read, b, ldb, m, columns);
  memory.matrix(Access::write, x, ldx, n, columns);
  memory.result(info);
  *iterations = not_refined;
  return in_stream(handle, memory, [=] {
    List<Value> sides = packed(b, ldb, m, columns);
    const int failed = with_workspace<Value>([&](Value* rooms, int size) {
      return host_gels<Value>('N', m, n, columns, a, lda, sides.data(), m > 0 ? m : 1, rooms, size);
    });
    set(info, failed);
    for (Index j = 0; j < columns && failed == 0; ++j)
      copy_values(sides.data() + j * m, n, x + j * ldx);
  });
}

// --- Eigenvalues of symmetric and Hermitian matrices

/// An eigenvalue problem: A x = w x or, if B is given, A x = w B x, A B x = w x or B A x = w x.
template <typename Value>
struct Eigen {
  cusolverEigMode_t mode;
  cublasFillMode_t part;
  int n;
  Value* a;
  int lda;
  Real<Value>* w;
  Value* b = nullptr;
  int ldb = 1;
  cusolverEigType_t type = CUSOLVER_EIG_TYPE_1;

  bool is_valid(bool has_b) const {
    return is_mode(mode) && is_part(part) && is_matrix(n, n, lda, a) && is_array(w, n) &&
           (!has_b || (is_matrix(n, n, ldb, b) && is_type(type)));
  }
  void touch(Ranges& memory) const {
    memory.triangle(Access::change, part, a, lda, n);
    if (mode == CUSOLVER_EIG_MODE_VECTOR) memory.matrix(Access::write, a, lda, n, n);
    if (b != nullptr) memory.triangle(Access::change, part, b, ldb, n);
    memory.array(Access::write, w, n);
  }
  /// Computes all eigenvalues in ascending order.
  int run(Real<Value>* values) const {
    if (n == 0) return 0;
    return with_workspaces<Value>([&](auto... rooms) {
      return b == nullptr
                 ? host_syevd<Value>(letter_of(mode), letter_of(part), n, a, lda, values, rooms...)
                 : host_sygvd<Value>(static_cast<int>(type), letter_of(mode), letter_of(part), n, a,
                                     lda, b, ldb, values, rooms...);
    });
  }
};
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t eigen(cusolverDnHandle_t handle, const Eigen<Value>& problem,
                                             bool has_b, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!problem.is_valid(has_b) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  problem.touch(memory);
  memory.result(info);
  return in_stream(handle, memory, [=] { set(info, problem.run(problem.w)); });
}
/// The eigenvalues that a program requests: all, those in (low, high], or those with the indices
/// from `first` to `last`, which start at 1.
template <typename Value>
struct Selection {
  cusolverEigRange_t range;
  Real<Value> low, high;
  Index first, last;

  bool is_valid(Index n) const {
    switch (range) {
      case CUSOLVER_EIG_RANGE_ALL:
        return true;
      case CUSOLVER_EIG_RANGE_I:
        return n == 0 || (1 <= first && first <= last && last <= n);
      case CUSOLVER_EIG_RANGE_V:
        return low < high;
      default:
        return false;
    }
  }
  bool has(Index i, Real<Value> value) const {
    return range == CUSOLVER_EIG_RANGE_ALL ||
           (range == CUSOLVER_EIG_RANGE_I ? first <= i + 1 && i + 1 <= last
                                          : low < value && value <= high);
  }
};
/// As `eigen`, for a part of the eigenvalues. The first elements of W and the first columns of A
/// receive the results; `found` in host memory receives the number of results.
template <typename Value, typename Count>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t selected_eigen(cusolverDnHandle_t handle,
                                                      const Eigen<Value>& problem, bool has_b,
                                                      const Selection<Value>& selection,
                                                      Count* found, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!problem.is_valid(has_b) || !selection.is_valid(problem.n) || found == nullptr ||
      !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  problem.touch(memory);
  memory.result(info);
  return awaited(handle, memory, [=] {
    List<Real<Value>> values(static_cast<std::size_t>(problem.n));
    const int failed = problem.run(values.data());
    set(info, failed);
    Index count = 0;
    for (Index i = 0; i < problem.n && failed == 0; ++i) {
      const Real<Value> value = values[static_cast<std::size_t>(i)];
      if (!selection.has(i, value)) continue;
      set(problem.w + count, value);
      if (problem.mode == CUSOLVER_EIG_MODE_VECTOR && count < i)
        copy_values(problem.a + i * problem.lda, problem.n, problem.a + count * problem.lda);
      ++count;
    }
    set(found, static_cast<Count>(count));
  });
}

/// A bound of the selected interval, which is in host memory. Other selections have no bounds.
template <typename Value>
Real<Value> bound(cusolverEigRange_t range, const void* given) {
  return range == CUSOLVER_EIG_RANGE_V && given != nullptr ? *static_cast<const Real<Value>*>(given)
                                                           : Real<Value>{};
}

/// The results that a routine with Jacobi's method reports about its last call.
struct Outcome {
  double residual = 0;
  int sweeps = 0;
  bool is_batch = false;
};
/// The parameters of a routine with Jacobi's method. LAPACK computes the results with other
/// methods, so the tolerance and the limit of sweeps have no effect, and results are always sorted.
struct Jacobi {
  double tolerance = 0;
  int most_sweeps = 100;
  bool sorts = true;
  Owned last = owned_copy(Outcome{});

  Outcome& outcome() const { return *static_cast<Outcome*>(last.get()); }
};

/// Returns a result of the last call. The host waits for the stream.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t report(cusolverDnHandle_t handle, const Jacobi* parameters,
                                              Value* to, Value Outcome::*member) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (parameters == nullptr || to == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (const auto status = status_of(cudaStreamSynchronize(handle->stream));
      status != CUSOLVER_STATUS_SUCCESS)
    return status;
  if (parameters->outcome().is_batch) return CUSOLVER_STATUS_NOT_SUPPORTED;
  *to = parameters->outcome().*member;
  return CUSOLVER_STATUS_SUCCESS;
}
/// The parameters of `cusolverDnXsyevBatched`, which a program does not provide.
inline const Jacobi& of_batches() {
  static const Jacobi parameters;
  return parameters;
}

/// The Frobenius norm of a matrix with these elements.
template <typename Value>
double norm_of(const List<Value>& values) {
  double norm = 0;
  for (const Value& value : values) norm = std::hypot(norm, double(blas::modulus(value)));
  return norm;
}
/// Computes eigenvalues, and for a single problem without B the residual |A V - V diag(W)|.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t jacobi_eigen(cusolverDnHandle_t handle,
                                                    const Eigen<Value>& first, bool has_b,
                                                    Room room, int* info, const Jacobi* parameters,
                                                    int batches, bool is_batch) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!first.is_valid(has_b) || !room.is_valid() || batches < 0 || !is_array(info, batches) ||
      parameters == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  const auto problem_of = [=](int i) {
    Eigen<Value> problem = first;
    problem.a += static_cast<Index>(i) * first.lda * first.n;
    problem.w += static_cast<Index>(i) * first.n;
    return problem;
  };
  Ranges memory;
  for (int i = 0; i < batches; ++i) problem_of(i).touch(memory);
  memory.array(Access::write, info, batches);
  const Jacobi own = *parameters;
  return in_stream(handle, memory, [=] {
    own.outcome() = {0, 1, is_batch};
    for (int i = 0; i < batches; ++i) {
      const Eigen<Value> problem = problem_of(i);
      const Index n = problem.n;
      if (is_batch || has_b) {
        set(info + i, problem.run(problem.w));
        continue;
      }
      const List<Value> a = blas::filled(blas::Triangle<const Value>{
          problem.a, n, problem.lda, problem.part == CUBLAS_FILL_MODE_LOWER,
          blas::Kind::hermitian});
      List<Value> vectors = packed<Value>(a.data(), n, n, n);
      List<Real<Value>> values(static_cast<std::size_t>(n));
      Eigen<Value> copy = problem;
      copy.mode = CUSOLVER_EIG_MODE_VECTOR;
      copy.a = vectors.data();
      copy.lda = static_cast<int>(n > 0 ? n : 1);
      const int failed = copy.run(values.data());
      set(info + i, failed);
      if (failed != 0 || n == 0) continue;
      copy_values(values.data(), n, problem.w);
      if (problem.mode == CUSOLVER_EIG_MODE_VECTOR)
        unpack(vectors.data(), n, n, problem.a, problem.lda);
      List<Value> rest = vectors;
      for (Index j = 0; j < n; ++j)
        for (Index row = 0; row < n; ++row) {
          Value& element = rest[static_cast<std::size_t>(row + j * n)];
          element =
              blas::multiply(element, blas::number<Value>(values[static_cast<std::size_t>(j)]));
        }
      blas::host_gemm(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, blas::number<Value>(1), a.data(), n,
                      vectors.data(), n, blas::number<Value>(-1), rest.data(), n);
      own.outcome().residual = norm_of(rest);
    }
  });
}

// --- Eigenvalues of general matrices

/// \param w receives the eigenvalues: first all real parts and then all imaginary parts, or, if
/// `in_pairs`, the two parts of each eigenvalue
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t geev(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                            int n, Value* a, int lda, Real<Value>* w, bool in_pairs,
                                            Value* v, int ldv, Room room, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const bool has_vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  if (!is_mode(mode) || !is_matrix(n, n, lda, a) || !is_array(w, n) ||
      (has_vectors && !is_matrix(n, n, ldv, v)) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, n, n);
  memory.array(Access::write, w, Index{2} * n);
  memory.matrix(Access::write, v, ldv, has_vectors ? n : 0, has_vectors ? n : 0);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    const auto size = static_cast<std::size_t>(n);
    List<Real<Value>> parts(2 * size);
    Value* const none = nullptr;
    const int stride = has_vectors ? ldv : 1;
    const int failed = with_workspace<Value>([&](Value* rooms, int elements) {
      if constexpr (blas::is_complex<Value>) {
        List<Real<Value>> real_room(2 * size);
        return host_geev<Value>('N', letter_of(mode), n, a, lda,
                                reinterpret_cast<Value*>(parts.data()), none, 1, v, stride, rooms,
                                elements, real_room.data());
      } else {
        return host_geev<Value>('N', letter_of(mode), n, a, lda, parts.data(), parts.data() + n,
                                none, 1, v, stride, rooms, elements);
      }
    });
    set(info, failed);
    if (failed < 0) return;
    const bool is_ordered = blas::is_complex<Value> || !in_pairs;
    for (std::size_t i = 0; i < 2 * size; ++i)
      set(w + i, parts[is_ordered ? i : i / 2 + i % 2 * size]);
  });
}

// --- Singular values

/// Computes A = U diag(S) V' by the QR algorithm. The letters select which columns of U and which
/// rows of V' are computed.
/// \param unconverged receives the superdiagonal if the algorithm does not converge; may be null
template <typename Value>
int singular_values(char of_u, char of_v, int m, int n, Value* a, int lda, Real<Value>* s, Value* u,
                    int ldu, Value* v, int ldv, Real<Value>* unconverged) {
  const int least = m < n ? m : n;
  if (least == 0) return 0;
  List<Real<Value>> rest(static_cast<std::size_t>(5 * least));
  const int info = with_workspace<Value>([&](Value* room, int size) {
    if constexpr (blas::is_complex<Value>) {
      return host_gesvd<Value>(of_u, of_v, m, n, a, lda, s, u, ldu, v, ldv, room, size,
                               rest.data());
    } else {
      const int failed = host_gesvd<Value>(of_u, of_v, m, n, a, lda, s, u, ldu, v, ldv, room, size);
      if (failed > 0) copy_values(room + 1, least - 1, rest.data());
      return failed;
    }
  });
  if (info > 0 && unconverged != nullptr) copy_values(rest.data(), least - 1, unconverged);
  return info;
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gesvd(cusolverDnHandle_t handle, signed char of_u,
                                             signed char of_v, int m, int n, Value* a, int lda,
                                             Real<Value>* s, Value* u, int ldu, Value* v, int ldv,
                                             Room room, Real<Value>* unconverged, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const auto is_job = [](char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; };
  const int rows_u = of_u == 'A' || of_u == 'S' ? m : 0, columns_u = of_u == 'A' ? m : n,
            columns_v = of_v == 'A' || of_v == 'S' ? n : 0;
  if (!is_job(of_u) || !is_job(of_v) || (of_u == 'O' && of_v == 'O') || !is_matrix(m, n, lda, a) ||
      m < n || !is_array(s, n) || (rows_u > 0 && !is_matrix(rows_u, columns_u, ldu, u)) ||
      (columns_v > 0 && !is_matrix(n, columns_v, ldv, v)) || !room.is_valid() || info == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  memory.matrix(Access::change, a, lda, m, n);
  memory.array(Access::write, s, n);
  memory.matrix(Access::write, u, ldu, rows_u, rows_u > 0 ? columns_u : 0);
  memory.matrix(Access::write, v, ldv, columns_v > 0 ? n : 0, columns_v);
  memory.result(info);
  return in_stream(handle, memory, [=] {
    set(info, singular_values(of_u, of_v, m, n, a, lda, s, u, ldu < 1 ? 1 : ldu, v,
                              ldv < 1 ? 1 : ldv, unconverged));
  });
}

/// A singular value decomposition in host memory, A = U diag(S) V'.
template <typename Value>
struct Decomposition {
  Index m, n;
  List<Value> u, v;  ///< V is stored conjugated and transposed
  List<Real<Value>> s;
  Index rows_of_v;
  int info;

  /// \param full whether U and V are square
  Decomposition(const Value* a, Index lda, Index rows, Index columns, bool full)
      : m(rows), n(columns) {
    const Index least = m < n ? m : n;
    rows_of_v = full ? n : least;
    u = List<Value>(static_cast<std::size_t>(m * (full ? m : least)));
    v = List<Value>(static_cast<std::size_t>(rows_of_v * n));
    s = List<Real<Value>>(static_cast<std::size_t>(least));
    List<Value> copy = packed(a, lda, m, n);
    const char job = full ? 'A' : 'S';
    info = least == 0
               ? 0
               : singular_values<Value>(job, job, int(m), int(n), copy.data(), int(m), s.data(),
                                        u.data(), int(m), v.data(), int(rows_of_v), nullptr);
  }
  /// The norm |A - U diag(S) V'| for the first `count` singular values.
  double residual(const Value* a, Index lda, Index count) const {
    List<Value> rest = packed(a, lda, m, n), scaled(static_cast<std::size_t>(m * count));
    if (count == 0 || m == 0 || n == 0) return norm_of(rest);
    for (Index j = 0; j < count; ++j)
      for (Index i = 0; i < m; ++i) {
        const auto e = static_cast<std::size_t>(i + j * m);
        scaled[e] = blas::multiply(u[e], blas::number<Value>(s[static_cast<std::size_t>(j)]));
      }
    blas::host_gemm(CUBLAS_OP_N, CUBLAS_OP_N, m, n, count, blas::number<Value>(-1), scaled.data(),
                    m, v.data(), rows_of_v, blas::number<Value>(1), rest.data(), m);
    return norm_of(rest);
  }
  void store(Real<Value>* values, Index count) const { copy_values(s.data(), count, values); }
  void store(Real<Value>* values, Index count, Value* to_u, Index ldu, Index columns_u, Value* to_v,
             Index ldv, Index columns_v) const {
    store(values, count);
    unpack(u.data(), m, columns_u, to_u, ldu);
    for (Index j = 0; j < columns_v; ++j)
      for (Index i = 0; i < n; ++i)
        set(to_v + i + j * ldv, blas::conjugate(v[static_cast<std::size_t>(j + i * rows_of_v)]));
  }
};
/// The operands of a decomposition whose result is V, and not its transpose.
template <typename Value>
struct Svd {
  cusolverEigMode_t mode;
  bool is_economic;
  int m, n;
  Value* a;
  int lda;
  Real<Value>* s;
  Value* u;
  int ldu;
  Value* v;
  int ldv;

  int least() const { return m < n ? m : n; }
  int columns_u() const { return is_economic ? least() : m; }
  int columns_v() const { return is_economic ? least() : n; }
  bool has_vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  bool has_shape() const {
    return is_mode(mode) && is_matrix(m, n, lda) &&
           (!has_vectors() || (is_matrix(m, columns_u(), ldu) && is_matrix(n, columns_v(), ldv)));
  }
  bool is_valid() const {
    return has_shape() && is_matrix(m, n, lda, a) && is_array(s, least()) &&
           (!has_vectors() ||
            (is_matrix(m, columns_u(), ldu, u) && is_matrix(n, columns_v(), ldv, v)));
  }
  Svd of_batch(Index i) const {
    Svd one = *this;
    one.a += i * lda * n;
    one.s += i * least();
    if (!has_vectors()) return one;
    one.u += i * ldu * columns_u();
    one.v += i * ldv * columns_v();
    return one;
  }
  void touch(Ranges& memory) const {
    memory.matrix(Access::change, a, lda, m, n);
    memory.array(Access::write, s, least());
    if (!has_vectors()) return;
    memory.matrix(Access::write, u, ldu, m, columns_u());
    memory.matrix(Access::write, v, ldv, n, columns_v());
  }
  /// \param residual receives the norm of the residual; may be null
  int run(double* residual) const {
    const Decomposition<Value> found(a, lda, m, n, has_vectors() && !is_economic);
    if (found.info != 0) return found.info;
    if (residual != nullptr) *residual = found.residual(a, lda, least());
    if (has_vectors())
      found.store(s, least(), u, ldu, columns_u(), v, ldv, columns_v());
    else
      found.store(s, least());
    return 0;
  }
};
constexpr int most_batched = 32;  ///< largest extent of a matrix of `gesvdjBatched`

template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t jacobi_svd(cusolverDnHandle_t handle,
                                                  const Svd<Value>& first, Room room, int* info,
                                                  const Jacobi* parameters, int batches,
                                                  bool is_batch) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!first.is_valid() || !room.is_valid() || batches < 0 || !is_array(info, batches) ||
      parameters == nullptr || (is_batch && (first.m > most_batched || first.n > most_batched)))
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  for (int i = 0; i < batches; ++i) first.of_batch(i).touch(memory);
  memory.array(Access::write, info, batches);
  const Jacobi own = *parameters;
  return in_stream(handle, memory, [=] {
    own.outcome() = {0, 1, is_batch};
    for (int i = 0; i < batches; ++i)
      set(info + i, first.of_batch(i).run(is_batch ? nullptr : &own.outcome().residual));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gesvdp(cusolverDnHandle_t handle, const Svd<Value>& problem,
                                              Room room, int* info, double* perturbation) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!problem.is_valid() || !room.is_valid() || info == nullptr || perturbation == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  problem.touch(memory);
  memory.result(info);
  *perturbation = 0;
  return in_stream(handle, memory, [=] { set(info, problem.run(nullptr)); });
}
/// A batch of decompositions with the `rank` largest singular values.
template <typename Value>
struct SvdBatch {
  cusolverEigMode_t mode;
  int rank, m, n;
  const Value* a;
  int lda;
  Index stride_a;
  Real<Value>* s;
  Index stride_s;
  Value* u;
  int ldu;
  Index stride_u;
  Value* v;
  int ldv;
  Index stride_v;

  bool has_vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  bool has_shape() const {
    return is_mode(mode) && is_matrix(m, n, lda) && m >= n && rank >= 0 && rank <= n &&
           (!has_vectors() || (is_matrix(m, rank, ldu) && is_matrix(n, rank, ldv)));
  }
  bool is_valid() const {
    return has_shape() && is_matrix(m, n, lda, a) && is_array(s, rank) &&
           (!has_vectors() || (is_matrix(m, rank, ldu, u) && is_matrix(n, rank, ldv, v)));
  }
};
/// \param residuals receives the norms of the residuals in host memory; may be null
template <typename Value>
CUDA_ON_CPU_AT_CALLER cusolverStatus_t gesvda(cusolverDnHandle_t handle, const SvdBatch<Value>& p,
                                              Room room, int* info, double* residuals,
                                              int batches) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!p.is_valid() || !room.is_valid() || batches < 0 || !is_array(info, batches))
    return CUSOLVER_STATUS_INVALID_VALUE;
  Ranges memory;
  for (Index i = 0; i < batches; ++i) {
    memory.matrix(Access::read, p.a + i * p.stride_a, p.lda, p.m, p.n);
    memory.array(Access::write, p.s + i * p.stride_s, p.rank);
    if (!p.has_vectors()) continue;
    memory.matrix(Access::write, p.u + i * p.stride_u, p.ldu, p.m, p.rank);
    memory.matrix(Access::write, p.v + i * p.stride_v, p.ldv, p.n, p.rank);
  }
  memory.array(Access::write, info, batches);
  const auto work = [=] {
    for (Index i = 0; i < batches; ++i) {
      const Value* const a = p.a + i * p.stride_a;
      const Decomposition<Value> found(a, p.lda, p.m, p.n, false);
      set(info + i, found.info);
      if (found.info != 0) continue;
      if (residuals != nullptr) set(residuals + i, found.residual(a, p.lda, p.rank));
      if (p.has_vectors())
        found.store(p.s + i * p.stride_s, p.rank, p.u + i * p.stride_u, p.ldu, p.rank,
                    p.v + i * p.stride_v, p.ldv, p.rank);
      else
        found.store(p.s + i * p.stride_s, p.rank);
    }
  };
  return residuals != nullptr ? awaited(handle, memory, work) : in_stream(handle, memory, work);
}

}  // namespace lapack
}  // namespace cuda_on_cpu
