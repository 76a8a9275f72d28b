/// \file
/// nvcuda::wmma compared with a plain triple loop, in the shapes and types of tensor cores.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect_equal;

namespace wmma = nvcuda::wmma;

/// Computes D = A B + 2 C in one warp, with matrix rows that are padded by two elements.
template <int m, int n, int k, typename T, typename Memory, typename Sum, typename LayoutA,
          typename LayoutB, wmma::layout_t layout>
__global__ void multiply(const Memory* a, const Memory* b, const Sum* c, Sum* d, int pitch_a,
                         int pitch_b, int pitch_c) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> in_a;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> in_b;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sum, zero;
  wmma::load_matrix_sync(in_a, a, pitch_a);
  wmma::load_matrix_sync(in_b, b, pitch_b);
  wmma::load_matrix_sync(sum, c, pitch_c, layout);
  wmma::fill_fragment(zero, 0.0f);
  for (int i = 0; i < sum.num_elements; ++i) zero.x[i] = sum.x[i] + sum.x[i];
  wmma::mma_sync(sum, in_a, in_b, zero);
  wmma::store_matrix_sync(d, sum, pitch_c, layout);
}

/// A matrix of small integers, which every type represents exactly.
struct Matrix {
  int rows, columns;
  bool by_rows;

  int pitch() const { return (by_rows ? columns : rows) + 8; }
  std::size_t size() const { return std::size_t(pitch()) * (by_rows ? rows : columns); }
  std::size_t place(int i, int j) const { return by_rows ? i * pitch() + j : j * pitch() + i; }
  int operator()(int i, int j) const { return (7 * i + 3 * j + columns) % 9 - 4; }

  template <typename T>
  std::vector<T> values() const {
    std::vector<T> all(size(), T(0.0f));
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) all[place(i, j)] = T(static_cast<float>((*this)(i, j)));
    return all;
  }
};

template <int m, int n, int k, typename T, typename Memory, typename Sum, typename LayoutA,
          typename LayoutB, wmma::layout_t layout>
void expect_product() {
  const Matrix a{m, k, std::is_same_v<LayoutA, wmma::row_major>};
  const Matrix b{k, n, std::is_same_v<LayoutB, wmma::row_major>};
  const Matrix c{m, n, layout == wmma::mem_row_major};
  const Device<Memory> in_a(a.values<Memory>()), in_b(b.values<Memory>());
  const Device<Sum> in_c(c.values<Sum>()), out(c.values<Sum>());
  multiply<m, n, k, T, Memory, Sum, LayoutA, LayoutB, layout>
      <<<1, 32>>>(in_a.get(), in_b.get(), in_c.get(), out.get(), a.pitch(), b.pitch(), c.pitch());
  check(cudaDeviceSynchronize());
  const auto found = out.to_host();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int expected = 2 * c(i, j);
      for (int l = 0; l < k; ++l) expected += a(i, l) * b(l, j);
      expect_equal(static_cast<float>(found[c.place(i, j)]), static_cast<float>(expected));
    }
}

template <int m, int n, int k, typename T, typename Memory, typename Sum>
void expect_products() {
  using wmma::col_major;
  using wmma::row_major;
  expect_product<m, n, k, T, Memory, Sum, row_major, col_major, wmma::mem_row_major>();
  expect_product<m, n, k, T, Memory, Sum, col_major, row_major, wmma::mem_row_major>();
  expect_product<m, n, k, T, Memory, Sum, row_major, row_major, wmma::mem_col_major>();
}

TEST(halves_are_summed_as_floats) {
  expect_products<16, 16, 16, __half, __half, float>();
  expect_products<32, 8, 16, __half, __half, float>();
  expect_products<8, 32, 16, __half, __half, float>();
}
TEST(halves_are_summed_as_halves) { expect_products<16, 16, 16, __half, __half, __half>(); }
TEST(bfloats_are_summed_as_floats) {
  expect_products<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>();
}
TEST(bytes_are_summed_as_integers) {
  expect_products<16, 16, 16, signed char, signed char, int>();
  expect_products<8, 32, 16, signed char, signed char, int>();
}
TEST(tf32_is_kept_in_floats) { expect_products<16, 16, 8, wmma::precision::tf32, float, float>(); }
TEST(doubles_have_a_shape_of_their_own) { expect_products<8, 8, 4, double, double, double>(); }

__global__ void saturate(int* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(a, static_cast<signed char>(2));
  wmma::fill_fragment(b, static_cast<signed char>(1));
  wmma::fill_fragment(sum, 0x7fff'fff0);
  wmma::mma_sync(sum, a, b, sum, true);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

TEST(integers_saturate_where_it_is_asked_for) {
  const Device<int> out(256);
  saturate<<<1, 32>>>(out.get());
  check(cudaDeviceSynchronize());
  expect_equal(out.to_host(), std::vector<int>(256, 0x7fff'ffff));
}

__global__ void round_to_tf32(const float* in, float* out) {
  out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}

TEST(tf32_has_ten_bits_behind_the_point) {
  const Device<float> in(std::vector<float>{1, 1 + 0x1p-10f, 1 + 0x1p-12f, -3.5f}), out(4);
  round_to_tf32<<<1, 4>>>(in.get(), out.get());
  check(cudaDeviceSynchronize());
  expect_equal(out.to_host(), std::vector<float>{1, 1 + 0x1p-10f, 1, -3.5f});
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
