// Shared by all programs of this notebook: views of matrices, and a main program that checks a kernel.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

// A matrix in the memory of the GPU, row by row. It does not own the memory.
template <typename T, int rank>
class View {
  static_assert(rank == 2, "the matrices of this notebook have two indices");

 public:
  __host__ __device__ View(T* data, unsigned rows, unsigned cols) : data_(data), rows_(rows), cols_(cols) {}
  __host__ __device__ operator View<const T, rank>() const { return {data_, rows_, cols_}; }
  // The number of rows for dimension 0, and of columns for dimension 1.
  __host__ __device__ unsigned extent(int dimension) const { return dimension == 0 ? rows_ : cols_; }
  __host__ __device__ T& operator()(std::size_t row, std::size_t col) const { return data_[row * cols_ + col]; }

 private:
  T* data_;
  unsigned rows_, cols_;
};

// Ends the program if a CUDA call fails.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA reports an error: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Computes C = AᵀA with `multiply` for a random A, and compares C with sums that the host computes.
// The arguments of the program are the numbers of rows and columns of A.
template <typename Multiply>
int check_product(int argc, char** argv, Multiply multiply) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 45, cols = argc > 2 ? std::atoi(argv[2]) : 37;
  if (rows < 1 || cols < 1 || rows > 4096 || cols > 4096) {
    std::printf("rows and columns have to be from 1 to 4096\n");
    return 2;
  }
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> a(std::size_t(rows) * cols), c(std::size_t(cols) * cols, std::numeric_limits<double>::quiet_NaN());
  for (double& element : a) element = uniform(generator);

  double *device_a, *device_c;
  check(cudaMalloc(&device_a, a.size() * sizeof(double)));
  check(cudaMalloc(&device_c, c.size() * sizeof(double)));
  check(cudaMemcpy(device_a, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
  multiply(View<const double, 2>(device_a, rows, cols), View<double, 2>(device_c, cols, cols));
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(c.data(), device_c, c.size() * sizeof(double), cudaMemcpyDeviceToHost));
  check(cudaFree(device_a));
  check(cudaFree(device_c));

  std::size_t wrong = 0;
  for (int i = 0; i < cols; ++i)
    for (int j = 0; j < cols; ++j) {
      double sum = 0, size = 0;
      for (int k = 0; k < rows; ++k) {
        const double product = a[std::size_t(k) * cols + i] * a[std::size_t(k) * cols + j];
        sum += product;
        size += std::fabs(product);
      }
      const double computed = c[std::size_t(i) * cols + j];
      // The order of a sum may change its last digits. NaN fails this comparison.
      if (std::fabs(computed - sum) <= 1e-14 * rows * size) continue;
      if (wrong++ == 0) std::printf("c(%d, %d) is %g, and should be %g\n", i, j, computed, sum);
    }
  if (wrong == 0)
    std::printf("C = AᵀA is right: %d x %d elements, sums over %d rows\n", cols, cols, rows);
  else
    std::printf("C is wrong in %zu of %zu elements\n", wrong, c.size());
  return wrong == 0 ? 0 : 1;
}
