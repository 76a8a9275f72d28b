/// \file
/// Common parts of the programs that time GPU libraries: checked calls, and matrices in device
/// memory.

#pragma once

#include <cuda_runtime.h>
#include <library_types.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include "forms.hpp"

namespace forms {

// --- Checked calls

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
/// Throws std::invalid_argument if a library call returned an error, for example because the
/// library rejects a form. The device stays usable in that case.
template <typename Status>
requires std::is_enum_v<Status>
void check(Status status) {
  if (static_cast<int>(status) != 0)
    throw std::invalid_argument("refused with status " + std::to_string(static_cast<int>(status)));
}

/// Checks the status of a library call, and waits until the device has finished.
template <typename Status>
void finish(Status status) {
  check(status);
  check(cudaDeviceSynchronize());
}

// --- Arrays

/// An array in device memory.
template <typename T>
class Device {
 public:
  explicit Device(std::size_t count) : count_(count) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, std::max<std::size_t>(count, 1) * sizeof(T)));
    values_.reset(pointer, [](T* values) { cudaFree(values); });
  }
  T* get() const { return values_.get(); }
  std::size_t size() const { return count_; }
  void copy_from(const Device& other) const {
    check(cudaMemcpy(get(), other.get(), count_ * sizeof(T), cudaMemcpyDeviceToDevice));
  }
  void poison() const { check(cudaMemset(get(), 0xff, count_ * sizeof(T))); }

 private:
  std::shared_ptr<T> values_;
  std::size_t count_;
};

/// A matrix in device memory. Element (i, j) has the offset i * down + j * across.
template <typename T>
struct Matrix {
  T* values;
  std::int64_t rows, cols, down, across;

  Matrix transposed() const { return {values, cols, rows, across, down}; }
  __device__ T& operator()(std::int64_t i, std::int64_t j) const {
    return values[i * down + j * across];
  }
};

template <typename T>
Matrix<T> by_columns(const Device<T>& a, std::int64_t rows, std::int64_t cols, std::int64_t lda) {
  return {a.get(), rows, cols, 1, lda};
}

inline __device__ double random_value(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 29)) * 0x94d049bb133111ebu;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

enum class Kind { general, definite, toeplitz };

/// Fills a matrix that is stored by columns or by rows. According to `kind`, the matrix is random,
/// symmetric with eigenvalues of at least 0.3, or a symmetric Toeplitz matrix with the
/// autocorrelations 0.5^|i - j|. `first` is the index, in the complete matrix, of the first column
/// of `a`.
template <typename T>
__global__ void fill(Matrix<T> a, Kind kind, std::int64_t first) {
  const std::int64_t count = a.rows * a.cols, step = std::int64_t{blockDim.x} * gridDim.x;
  const bool down_first = a.down == 1;  // consecutive threads fill consecutive elements
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += step) {
    const std::int64_t i = down_first ? k % a.rows : k / a.cols;
    const std::int64_t in_a = down_first ? k / a.rows : k % a.cols, j = first + in_a;
    const std::int64_t low = i < j ? i : j, high = i < j ? j : i;
    T& element = a(i, in_a);
    if (kind == Kind::general)
      element = static_cast<T>(random_value(i * a.cols + in_a));
    else if (kind == Kind::toeplitz)
      element = static_cast<T>(exp2(-static_cast<double>(high - low)));
    else
      element = static_cast<T>(i == j ? 1.5
                                      : 0.6 / sqrt(static_cast<double>(a.rows)) *
                                            random_value(high * a.rows + low));
  }
}

template <typename T>
void fill_matrix(Matrix<T> a, Kind kind, std::int64_t first = 0) {
  fill<T><<<2048, 256>>>(a, kind, first);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

/// Adds the squares of the elements of `a` - `b` to sums[0], and the squares of the elements of `b`
/// to sums[1]. If `lower` is true, only elements on and below the diagonal count. `first` is the
/// index, in the complete matrices, of the first column of `a` and `b`.
template <typename T>
__global__ void compare(Matrix<T> a, Matrix<T> b, bool lower, std::int64_t first, double* sums) {
  const std::int64_t count = a.rows * a.cols, step = std::int64_t{blockDim.x} * gridDim.x;
  double difference = 0, size = 0;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += step) {
    const std::int64_t i = a.down == 1 ? k % a.rows : k / a.cols;
    const std::int64_t j = a.down == 1 ? k / a.rows : k % a.cols;
    if (lower && first + j > i) continue;
    const double x = a(i, j), y = b(i, j);
    difference += (x - y) * (x - y);
    size += y * y;
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, size);
}

/// The relative difference of two matrices in the Frobenius norm. If `lower` is true, only elements
/// on and below the diagonal count.
template <typename T>
double difference(Matrix<T> a, Matrix<T> b, bool lower) {
  const Device<double> sums(2);
  check(cudaMemset(sums.get(), 0, 2 * sizeof(double)));
  compare<T><<<2048, 256>>>(a, b, lower, 0, sums.get());
  double host[2];
  check(cudaMemcpy(host, sums.get(), sizeof host, cudaMemcpyDeviceToHost));
  return std::sqrt(host[0] / host[1]);
}

// --- Types

template <typename T>
constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

}  // namespace forms
