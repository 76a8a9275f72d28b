/// \file
/// Fourier transforms of real matrices by cuFFT, and a type of complex numbers.

#pragma once

#include <cufft.h>

#include <string>
#include <type_traits>

#include "error.hpp"

namespace staircase {

/// A complex number with the memory layout of cuFFT.
template <typename T>
struct alignas(2 * sizeof(T)) Complex {
  T real, imaginary;

  friend __host__ __device__ Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
  friend __host__ __device__ Complex operator*(Complex a, T b) {
    return {a.real * b, a.imaginary * b};
  }
  /// This number, converted to another precision.
  template <typename U>
  __host__ __device__ Complex<U> as() const {
    return {static_cast<U>(real), static_cast<U>(imaginary)};
  }
};

/// Throws if a cuFFT call failed.
/// \throws Failure with Exit::exhausted ("the device failed")
inline void check(cufftResult result) {
  if (result != CUFFT_SUCCESS)
    throw Failure(Exit::exhausted, "the device failed: cuFFT's error " + std::to_string(result) +
                                       (result == CUFFT_ALLOC_FAILED ? ", not enough memory" : ""));
}

/// The two-dimensional Fourier transform of a real matrix of rows × cols elements, and its inverse.
/// The inverse is not normalised: a forward transform followed by an inverse transform multiplies
/// the matrix by rows · cols.
template <typename T>
class RealTransform {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
  static constexpr bool is_double = std::is_same_v<T, double>;

 public:
  RealTransform(int rows, int cols) {
    check(cufftPlan2d(&forward_, rows, cols, is_double ? CUFFT_D2Z : CUFFT_R2C));
    check(cufftPlan2d(&backward_, rows, cols, is_double ? CUFFT_Z2D : CUFFT_C2R));
  }
  ~RealTransform() {
    cufftDestroy(forward_);
    cufftDestroy(backward_);
  }
  RealTransform(const RealTransform&) = delete;
  RealTransform& operator=(const RealTransform&) = delete;

  /// Transforms rows × cols real values into rows × (cols / 2 + 1) coefficients. The omitted
  /// coefficients are complex conjugates of the stored coefficients.
  void forward(T* matrix, Complex<T>* coefficients) const {
    if constexpr (is_double)
      check(cufftExecD2Z(forward_, matrix, reinterpret_cast<cufftDoubleComplex*>(coefficients)));
    else
      check(cufftExecR2C(forward_, matrix, reinterpret_cast<cufftComplex*>(coefficients)));
  }

  /// Applies the inverse transform, which overwrites the coefficients.
  void backward(Complex<T>* coefficients, T* matrix) const {
    if constexpr (is_double)
      check(cufftExecZ2D(backward_, reinterpret_cast<cufftDoubleComplex*>(coefficients), matrix));
    else
      check(cufftExecC2R(backward_, reinterpret_cast<cufftComplex*>(coefficients), matrix));
  }

 private:
  cufftHandle forward_ = 0, backward_ = 0;
};

}  // namespace staircase
