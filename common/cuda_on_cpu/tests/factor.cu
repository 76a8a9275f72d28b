/// \file
/// Factorisations with cuSOLVER's interface, checked by products, and calls with invalid arguments.

#include <cusolverDn.h>

#include <algorithm>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_near;
using tap::random_value;

template <typename T>
cusolverStatus_t factorise(cusolverDnHandle_t handle, cublasFillMode_t part, int n, T* a, int lda,
                           T* room, int elements, int* info) {
  if constexpr (sizeof(T) == 8)
    return cusolverDnDpotrf(handle, part, n, a, lda, room, elements, info);
  else
    return cusolverDnSpotrf(handle, part, n, a, lda, room, elements, info);
}

template <typename T>
int room_for(cusolverDnHandle_t handle, cublasFillMode_t part, int n, T* a, int lda) {
  int elements = -1;
  if constexpr (sizeof(T) == 8)
    expect(cusolverDnDpotrf_bufferSize(handle, part, n, a, lda, &elements) == 0, "room is told");
  else
    expect(cusolverDnSpotrf_bufferSize(handle, part, n, a, lda, &elements) == 0, "room is told");
  return elements;
}

/// Calls the function with 64-bit sizes, which takes the element types as arguments.
template <typename T>
cusolverStatus_t factorise_x(cusolverDnHandle_t handle, cublasFillMode_t part, int n, T* a, int lda,
                             int* info) {
  constexpr cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
  cusolverDnParams_t parameters;
  std::size_t device_bytes = 0, host_bytes = 0;
  expect(cusolverDnCreateParams(&parameters) == CUSOLVER_STATUS_SUCCESS, "parameters are made");
  expect(cusolverDnXpotrf_bufferSize(handle, parameters, part, n, type, a, lda, type, &device_bytes,
                                     &host_bytes) == CUSOLVER_STATUS_SUCCESS,
         "room is told");
  const Device<char> room(std::max<std::size_t>(device_bytes, 1));
  std::vector<char> host_room(host_bytes + 1);
  const cusolverStatus_t status =
      cusolverDnXpotrf(handle, parameters, part, n, type, a, lda, type, room.get(), device_bytes,
                       host_room.data(), host_bytes, info);
  check(cudaDeviceSynchronize());
  expect(cusolverDnDestroyParams(parameters) == CUSOLVER_STATUS_SUCCESS, "parameters are freed");
  return status;
}

struct Handle {
  Handle() { expect(cusolverDnCreate(&it) == CUSOLVER_STATUS_SUCCESS, "a handle is made"); }
  ~Handle() { cusolverDnDestroy(it); }
  cusolverDnHandle_t it;
};

/// A matrix stored by columns that are `lda` elements apart. The triangle `part` is from a positive
/// definite matrix; all other values must not change.
template <typename T>
std::vector<T> random_matrix(cublasFillMode_t part, int n, int lda) {
  std::vector<T> a(lda * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < lda; ++i) {
      const bool used = i < n && (part == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j);
      a[j * lda + i] = !used ? 1000 : i == j ? n + 1 : random_value(T{-1}, T{1});
    }
  return a;
}

/// Element (i, j) of L, i ≥ j, stored in either triangle.
template <typename T>
T factor(const std::vector<T>& l, cublasFillMode_t part, int lda, int i, int j) {
  return part == CUBLAS_FILL_MODE_LOWER ? l[j * lda + i] : l[i * lda + j];
}

template <typename T>
void expect_factor(cublasFillMode_t part, int n, int lda, T tolerance, bool with_64_bits = false) {
  const Handle handle;
  const std::vector<T> values = random_matrix<T>(part, n, lda);
  const Device<T> a(values), room(room_for(handle.it, part, n, a.get(), lda));
  const Device<int> info(1);  // uninitialised
  expect((with_64_bits ? factorise_x(handle.it, part, n, a.get(), lda, info.get())
                       : factorise(handle.it, part, n, a.get(), lda, room.get(), room.size(),
                                   info.get())) == 0,
         "it runs");
  expect_equal(info.to_host()[0], 0);
  const std::vector<T> l = a.to_host();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = 0;
      for (int k = 0; k <= j; ++k) sum += factor(l, part, lda, i, k) * factor(l, part, lda, j, k);
      expect_near(sum, factor(values, part, lda, i, j), tolerance);
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < lda; ++i)
      if (values[j * lda + i] == 1000) expect_equal(l[j * lda + i], T{1000});
}

TEST(factors_times_themselves_are_the_matrix) {
  for (const cublasFillMode_t part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
    for (const int n : {1, 2, 7, 33}) {
      expect_factor<double>(part, n, n, 1e-13);
      expect_factor<double>(part, n, n + 3, 1e-13);
      expect_factor<float>(part, n, n, 1e-4F);
      expect_factor<double>(part, n, n + 3, 1e-13, true);
      expect_factor<float>(part, n, n, 1e-4F, true);
    }
}

/// Checks solutions x = (1, 2, ..., n) of A x = b, computed individually or as a batch.
template <typename T>
void expect_solutions(cublasFillMode_t part, int n, int lda, int count, T tolerance, bool batched) {
  const Handle handle;
  std::vector<T> as, bs;
  for (int s = 0; s < count; ++s) {
    const std::vector<T> a = random_matrix<T>(part, n, lda);
    for (int i = 0; i < n; ++i) {
      T sum = 0;
      for (int j = 0; j < n; ++j)
        sum += factor(a, part, lda, std::max(i, j), std::min(i, j)) * static_cast<T>(j + 1);
      bs.push_back(sum);
    }
    as.insert(as.end(), a.begin(), a.end());
  }
  const Device<T> a(as), b(bs);
  const Device<int> infos(count), info(1);  // uninitialised
  if (batched) {
    std::vector<T*> first_of_a, first_of_b;
    for (int s = 0; s < count; ++s) {
      first_of_a.push_back(a.get() + s * lda * n);
      first_of_b.push_back(b.get() + s * n);
    }
    const Device<T*> of_a(first_of_a), of_b(first_of_b);
    if constexpr (sizeof(T) == 8) {
      expect(cusolverDnDpotrfBatched(handle.it, part, n, of_a.get(), lda, infos.get(), count) == 0,
             "the batch is factorised");
      expect(cusolverDnDpotrsBatched(handle.it, part, n, 1, of_a.get(), lda, of_b.get(), n,
                                     info.get(), count) == 0,
             "the batch is solved");
    } else {
      expect(cusolverDnSpotrfBatched(handle.it, part, n, of_a.get(), lda, infos.get(), count) == 0,
             "the batch is factorised");
      expect(cusolverDnSpotrsBatched(handle.it, part, n, 1, of_a.get(), lda, of_b.get(), n,
                                     info.get(), count) == 0,
             "the batch is solved");
    }
    check(cudaDeviceSynchronize());
    for (const int failed : infos.to_host()) expect_equal(failed, 0);
  } else {
    constexpr cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
    cusolverDnParams_t parameters;
    cusolverDnCreateParams(&parameters);
    for (int s = 0; s < count; ++s) {
      expect(factorise_x(handle.it, part, n, a.get() + s * lda * n, lda, info.get()) == 0,
             "it is factorised");
      expect(cusolverDnXpotrs(handle.it, parameters, part, n, 1, type, a.get() + s * lda * n, lda,
                              type, b.get() + s * n, n, info.get()) == 0,
             "it is solved");
    }
    check(cudaDeviceSynchronize());
    cusolverDnDestroyParams(parameters);
  }
  expect_equal(info.to_host()[0], 0);
  const std::vector<T> x = b.to_host();
  for (int s = 0; s < count; ++s)
    for (int i = 0; i < n; ++i) expect_near(x[s * n + i], static_cast<T>(i + 1), tolerance);
}

TEST(systems_are_solved_alone_and_in_batches) {
  for (const cublasFillMode_t part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
    for (const int n : {1, 2, 7, 33})
      for (const bool batched : {false, true}) {
        expect_solutions<double>(part, n, n, 3, 1e-11, batched);
        expect_solutions<double>(part, n, n + 3, 2, 1e-11, batched);
        expect_solutions<float>(part, n, n, 3, 1e-2F, batched);
      }
}

TEST(a_batch_tells_which_matrix_has_no_factor) {
  const Handle handle;
  std::vector<double> as;
  for (int s = 0; s < 3; ++s) {
    auto a = random_matrix<double>(CUBLAS_FILL_MODE_LOWER, 5, 5);
    if (s == 1) a[3 * 5 + 3] = -1;
    as.insert(as.end(), a.begin(), a.end());
  }
  const Device<double> a(as);
  const Device<double*> of_a(std::vector<double*>{a.get(), a.get() + 25, a.get() + 50});
  const Device<int> infos(std::vector<int>(3, -1));
  expect(cusolverDnDpotrfBatched(handle.it, CUBLAS_FILL_MODE_LOWER, 5, of_a.get(), 5, infos.get(),
                                 3) == 0,
         "the batch is factorised");
  check(cudaDeviceSynchronize());
  expect_equal(infos.to_host()[0], 0);
  expect_equal(infos.to_host()[1], 4);
  expect_equal(infos.to_host()[2], 0);
}

TEST(the_first_pivot_that_is_not_positive_is_told) {
  const Handle handle;
  for (const int bad : {0, 4, 8}) {
    auto values = random_matrix<double>(CUBLAS_FILL_MODE_LOWER, 9, 9);
    values[8 * 9 + 8] = values[bad * 9 + bad] = -1;
    const Device<double> a(values), room(1);
    const Device<int> info(1);  // uninitialised
    expect(
        factorise(handle.it, CUBLAS_FILL_MODE_LOWER, 9, a.get(), 9, room.get(), 1, info.get()) == 0,
        "it runs");
    expect_equal(info.to_host()[0], bad + 1);
  }
}

__global__ void square(double* value) { *value *= *value; }

TEST(it_waits_for_its_stream) {
  const Handle handle;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(cusolverDnSetStream(handle.it, stream) == CUSOLVER_STATUS_SUCCESS, "it has a stream");
  const Device<double> a(std::vector<double>{3}), room(1);
  const Device<int> info(1);  // uninitialised
  square<<<1, 1, 0, stream>>>(a.get());
  expect(
      factorise(handle.it, CUBLAS_FILL_MODE_UPPER, 1, a.get(), 1, room.get(), 1, info.get()) == 0,
      "it runs");
  square<<<1, 1, 0, stream>>>(a.get());
  check(cudaStreamSynchronize(stream));
  expect_near(a.to_host()[0], 9.0, 1e-14);
  check(cudaStreamDestroy(stream));
}

TEST(what_is_no_matrix_is_refused) {
  const Handle handle;
  const Device<double> a(std::vector<double>(16, 1)), room(1);
  const Device<int> info(1);
  const auto status = [&](cusolverDnHandle_t of, int n, double* matrix, int lda, int elements) {
    return factorise(of, CUBLAS_FILL_MODE_LOWER, n, matrix, lda, room.get(), elements, info.get());
  };
  expect(status(handle.it, -1, a.get(), 4, 1) == CUSOLVER_STATUS_INVALID_VALUE, "no size");
  expect(status(handle.it, 4, a.get(), 3, 1) == CUSOLVER_STATUS_INVALID_VALUE, "columns overlap");
#ifdef STAIRCASE_CUDA_ON_CPU  // cuSOLVER 12 checks none of these arguments
  expect(status(nullptr, 4, a.get(), 4, 1) == CUSOLVER_STATUS_NOT_INITIALIZED, "no handle");
  expect(status(handle.it, 4, nullptr, 4, 1) == CUSOLVER_STATUS_INVALID_VALUE, "no matrix");
  expect(status(handle.it, 4, a.get(), 4, 0) == CUSOLVER_STATUS_INVALID_VALUE, "no room");
#endif
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
