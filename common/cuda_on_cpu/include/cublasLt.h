/// \file
/// Replaces the cublasLt header: matrix products whose operands are given by descriptors, followed
/// by an optional bias and activation function. 8-bit floating-point types and gradients are not
/// supported.

#pragma once

#include <cstdint>
#include <cstring>

#include "cublas_v2.h"

// --- Enumerations for products, matrices and algorithm preferences

enum cublasLtPointerMode_t { CUBLASLT_POINTER_MODE_HOST = 0, CUBLASLT_POINTER_MODE_DEVICE = 1 };
enum cublasLtOrder_t { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  CUBLASLT_EPILOGUE_RELU_AUX = 130,
  CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134,
  CUBLASLT_EPILOGUE_DRELU = 136,
  CUBLASLT_EPILOGUE_DRELU_BGRAD = 152,
  CUBLASLT_EPILOGUE_GELU_AUX = 160,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
  CUBLASLT_EPILOGUE_DGELU = 192,
  CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
  CUBLASLT_EPILOGUE_BGRADA = 256,
  CUBLASLT_EPILOGUE_BGRADB = 512
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
  CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_TRANSC = 5,
  CUBLASLT_MATMUL_DESC_FILL_MODE = 6,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 13,
  CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET = 15,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
  CUBLASLT_MATRIX_LAYOUT_COLS = 3,
  CUBLASLT_MATRIX_LAYOUT_LD = 4,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};

struct cublasLtContext {};
using cublasLtHandle_t = cublasLtContext*;

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType scale;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N, transpose_c = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  std::int32_t bias_type = -1;  ///< -1 if the bias has the type of the result
  bool scales_matrices = false;
};
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;

struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t stride;
  std::int32_t order = CUBLASLT_ORDER_COL, batches = 1;
  std::int64_t distance = 0;
};
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;

struct cublasLtMatmulPreferenceOpaque_t {};
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

namespace cuda_on_cpu {

template <typename Value, typename... Arguments>
cublasStatus_t initialise_for_lt(Value* object, Arguments... arguments) {
  if (object == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *object = Value{arguments...};
  return CUBLAS_STATUS_SUCCESS;
}
template <typename Value, typename... Arguments>
cublasStatus_t create_for_lt(Value** made, Arguments... arguments) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *made = new Value{arguments...};
  return CUBLAS_STATUS_SUCCESS;
}
template <typename Value>
cublasStatus_t destroy_of_lt(Value* made) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}

/// Sets a member of a descriptor from the bytes that the program passes.
template <typename Value>
cublasStatus_t set_member(Value& member, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes < sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&member, from, sizeof(Value));
  return CUBLAS_STATUS_SUCCESS;
}

inline Matrix matrix_of(const void* first, const cublasLtMatrixLayoutOpaque_t& layout) {
  return {const_cast<void*>(first),
          layout.type,
          layout.rows,
          layout.columns,
          static_cast<std::size_t>(layout.stride),
          layout.order == CUBLASLT_ORDER_ROW};
}

inline bool is_known_epilogue(std::uint32_t epilogue) {
  constexpr std::uint32_t known = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU |
                                  CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
  return epilogue != 0 && (epilogue & ~known) == 0;
}

inline Epilogue epilogue_of(const cublasLtMatmulDescOpaque_t& description, cudaDataType result) {
  Epilogue epilogue;
  if ((description.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) epilogue.bias = description.bias;
  epilogue.bias_type =
      description.bias_type < 0 ? result : static_cast<cudaDataType>(description.bias_type);
  if ((description.epilogue & CUBLASLT_EPILOGUE_RELU) != 0)
    epilogue.function = Epilogue::Function::relu;
  if ((description.epilogue & CUBLASLT_EPILOGUE_GELU) != 0)
    epilogue.function = Epilogue::Function::gelu;
  return epilogue;
}

/// The status of a product: CUBLAS_STATUS_NOT_SUPPORTED if the CPU device cannot compute the
/// product.
inline cublasStatus_t status_of(const cublasLtMatmulDescOpaque_t& description,
                                const Product& product) {
  if (!product.has_known_types() || !is_known_epilogue(description.epilogue) ||
      bytes_of(product.epilogue.bias_type) == 0 || description.transpose_c != CUBLAS_OP_N ||
      description.scales_matrices || description.pointer_mode != CUBLASLT_POINTER_MODE_HOST)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return product.fits() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace cuda_on_cpu

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cuda_on_cpu::create_for_lt(handle);
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cuda_on_cpu::destroy_of_lt(handle);
}
inline std::size_t cublasLtGetVersion() { return 130000; }

inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                               cublasComputeType_t compute, cudaDataType scale) {
  return cuda_on_cpu::create_for_lt(description, compute, scale);
}
/// Initialises a description in memory of the caller.
inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description,
                                             cublasComputeType_t compute, cudaDataType scale) {
  return cuda_on_cpu::initialise_for_lt(description, compute, scale);
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return cuda_on_cpu::destroy_of_lt(description);
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                                     cublasLtMatmulDescAttributes_t attribute,
                                                     const void* from, std::size_t bytes) {
  const auto set = [&](auto& member) { return cuda_on_cpu::set_member(member, from, bytes); };
  if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return set(description->compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return set(description->scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return set(description->pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(description->transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(description->transpose_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return set(description->transpose_c);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(description->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(description->bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return set(description->bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return set(description->bias_type);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return CUBLAS_STATUS_SUCCESS;
    default:
      description->scales_matrices = true;  // or any other unsupported attribute
      return CUBLAS_STATUS_SUCCESS;
  }
}

inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t stride) {
  return cuda_on_cpu::create_for_lt(layout, type, rows, columns, stride);
}
inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type,
                                               std::uint64_t rows, std::uint64_t columns,
                                               std::int64_t stride) {
  return cuda_on_cpu::initialise_for_lt(layout, type, rows, columns, stride);
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return cuda_on_cpu::destroy_of_lt(layout);
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t attribute,
                                                       const void* from, std::size_t bytes) {
  const auto set = [&](auto& member) { return cuda_on_cpu::set_member(member, from, bytes); };
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return set(layout->type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return set(layout->order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return set(layout->rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return set(layout->columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return set(layout->stride);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(layout->batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(layout->distance);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return cuda_on_cpu::create_for_lt(preference);
}
inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  return cuda_on_cpu::initialise_for_lt(preference);
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return cuda_on_cpu::destroy_of_lt(preference);
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                           cublasLtMatmulPreferenceAttributes_t,
                                                           const void*, std::size_t) {
  return preference == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

/// Returns the only algorithm, which needs no workspace.
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t, int requested, cublasLtMatmulHeuristicResult_t* results,
    int* returned) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1 || results == nullptr || returned == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Product product{matrix_of(nullptr, *a),
                        matrix_of(nullptr, *b),
                        matrix_of(nullptr, *c),
                        matrix_of(nullptr, *d),
                        description->transpose_a != CUBLAS_OP_N,
                        description->transpose_b != CUBLAS_OP_N,
                        1,
                        0,
                        epilogue_of(*description, d->type)};
  const cublasStatus_t status = status_of(*description, product);
  *returned = status == CUBLAS_STATUS_SUCCESS ? 1 : 0;
  *results = {};
  return status;
}

/// Computes a product. The arguments for the algorithm and the workspace have no effect.
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                     const void* alpha, const void* a,
                                     cublasLtMatrixLayout_t layout_a, const void* b,
                                     cublasLtMatrixLayout_t layout_b, const void* beta,
                                     const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                                     cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*,
                                     void*, std::size_t, cudaStream_t stream) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (description == nullptr || alpha == nullptr || beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Product product{matrix_of(a, *layout_a),
                        matrix_of(b, *layout_b),
                        matrix_of(c, *layout_c),
                        matrix_of(d, *layout_d),
                        description->transpose_a != CUBLAS_OP_N,
                        description->transpose_b != CUBLAS_OP_N,
                        element<double>(alpha, description->scale, 0),
                        element<double>(beta, description->scale, 0),
                        epilogue_of(*description, layout_d->type)};
  if (const auto status = status_of(*description, product); status != CUBLAS_STATUS_SUCCESS)
    return status;
  if (((description->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) != (description->bias != nullptr))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < layout_d->batches; ++i) {
    const auto of_batch = [&](const Matrix& matrix, const cublasLtMatrixLayoutOpaque_t& layout) {
      return matrix.of_batch(static_cast<std::size_t>(i),
                             static_cast<std::size_t>(layout.distance));
    };
    Product one = product;
    one.a = of_batch(product.a, *layout_a);
    one.b = of_batch(product.b, *layout_b);
    one.c = of_batch(product.c, *layout_c);
    one.d = of_batch(product.d, *layout_d);
    if (one.epilogue.bias != nullptr)
      one.epilogue.bias = static_cast<const char*>(one.epilogue.bias) +
                          i * description->bias_stride *
                              static_cast<std::int64_t>(bytes_of(one.epilogue.bias_type));
    if (enqueue_product(stream, one, is_in_double(description->compute)) != cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
