/// \file
/// Kernels that each access memory in one pattern. The counters of the CPU device for these kernels
/// must match the counters of NVIDIA's profiler on a GPU (docs/results/h200/counters.json).
///
/// A comment after an access gives its cost for a full warp: 32-byte sectors in global memory, and
/// wavefronts (passes over the 32 banks) in shared memory. Loops have `#pragma unroll 1` if
/// unrolling would change the number of instructions.

#include <cuda_runtime.h>

#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "resources.cuh"

namespace {

constexpr int side = 128;           // number of rows and of columns of the square matrices
constexpr int count = side * side;  // number of elements of a matrix
constexpr int systems = 64;         // number of tridiagonal systems
constexpr int rows = 24;            // number of rows of each system
constexpr int steps = 8;            // number of iterations of loops
constexpr int bins = 256;           // number of bins of histograms

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- Global memory: addresses of the lanes of a warp

__global__ void row_wise(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * side + x] = in[y * side + x];  // 4, 4
}

__global__ void column_wise(const float* in, float* out) {
  const int y = blockIdx.x * 32 + threadIdx.x, x = blockIdx.y * 8 + threadIdx.y;
  out[y * side + x] = in[y * side + x];  // 32, 32
}

__global__ void misaligned_load(const float* in, float* out) {
  const int i = index();
  if (i + 1 < count) out[i] = in[i + 1];  // load 5, store 4
}

__global__ void misaligned_store(const float* in, float* out) {
  const int i = index();
  if (i + 5 < count) out[i + 5] = in[i];  // load 4, store 5
}

__global__ void stride_two(const float* in, float* out) {
  const int i = index();
  out[i] = in[2 * i];  // load 8
}

__global__ void stride_three(const float* in, float* out) {
  const int i = index();
  out[i] = in[3 * i];  // load 12
}

__global__ void stride_eight(const float* in, float* out) {
  const int i = index();
  out[8 * i] = in[i];  // store 32
}

__global__ void stride_two_doubles(const double* in, double* out) {
  const int i = index();
  out[i] = in[2 * i];  // load 16, store 8
}

__global__ void reversed(const float* in, float* out) {
  const int i = index();
  out[i] = in[count - 1 - i];  // 4: the order within a warp does not matter
}

__global__ void butterfly(const float* in, float* out) {
  const int i = index();
  out[i] = in[i ^ 21];  // 4
}

__global__ void broadcast(const float* in, float* out) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) sum += in[k * 40];  // 1: all lanes read one word
  out[index()] = sum;
}

__global__ void half_warp_broadcast(const float* in, float* out) {
  const int i = index();
  out[i] = in[i / 16 * 100];  // 2
}

__global__ void gather(const float* in, const int* where, float* out) {
  const int i = index();
  out[i] = in[where[i]];  // 4 for the indices, up to 32 for the elements
}

__global__ void scatter(const float* in, const int* where, float* out) {
  const int i = index();
  out[where[i]] = in[i];
}

// --- Global memory: bytes per lane

__global__ void bytes(const unsigned char* in, unsigned char* out) {
  const int i = index();
  out[i] = in[i];  // 1
}

__global__ void bytes_stride_four(const unsigned char* in, unsigned char* out) {
  const int i = 4 * index();
  out[i] = in[i + 3];  // 4
}

__global__ void misaligned_shorts(const short* in, short* out) {
  const int i = index();
  out[i] = in[i + 1];  // load 3, store 2
}

__global__ void doubles_unit_stride(const double* in, double* out) {
  const int i = index();
  out[i] = in[i];  // 8
}

__global__ void misaligned_doubles(const double* in, double* out) {
  const int i = index();
  out[i] = in[i + 1];  // load 9, store 8
}

__global__ void float2_copy(const float2* in, float2* out) {
  const int i = index();
  out[i] = in[i];  // 8
}

__global__ void float4_copy(const float4* in, float4* out) {
  const int i = index();
  out[i] = in[i];  // 16
}

__global__ void float4_stride_two(const float4* in, float4* out) {
  const int i = index();
  out[i] = in[2 * i];  // load 32: half of every sector is used
}

__global__ void double2_copy(const double2* in, double2* out) {
  const int i = index();
  out[i] = in[i];  // 16
}

__global__ void float4_half_warp(const float4* in, float4* out) {
  const int i = index();
  if (threadIdx.x % 32 < 16) out[i] = in[i];  // 8
}

struct Body {
  float x, y, z, mass;  // aligned to 4 bytes: no 16-byte loads
};

__global__ void array_of_structures(const Body* in, float* out) {
  const Body& body = in[index()];
  out[index()] = body.x * body.y + body.z * body.mass;  // 4 loads of 16
}

__global__ void structure_of_arrays(const float* x, const float* y, const float* z,
                                    const float* mass, float* out) {
  const int i = index();
  out[i] = x[i] * y[i] + z[i] * mass[i];  // 4 loads of 4
}

__global__ void float3_members(const float3* in, float3* out) {
  const int i = index();
  out[i].x = in[i].z;  // 12, 12
}

// --- Global memory: block widths that are not multiples of the warp size

__global__ void block_of_33(const float* in, float* out) {
  const int i = index();
  out[i] = in[i];  // a warp of 32 and one of 1 lane
}

__global__ void block_of_48(const float* in, float* out) {
  const int i = index();
  out[i] = in[i];
}

__global__ void block_of_8_by_4(const float* in, float* out) {
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  out[y * side + x] = in[y * side + x];  // 4: four rows of one sector
}

__global__ void block_of_4_by_8(const float* in, float* out) {
  const int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * side + x] = in[y * side + x];  // 8: eight rows of half a sector
}

__global__ void block_of_16_by_16(const float* in, float* out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * side + y] = in[y * side + x];  // load 4, store 16
}

__global__ void block_of_5_by_3_by_7(const float* in, float* out) {
  const int x = blockIdx.x * 5 + threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * 3 + y) * side + x] = in[(z * 3 + y) * side + x];
}

// --- Global memory: divergent threads

__global__ void guarded_tail(const float* in, float* out, int n) {
  const int i = index();
  if (i < n) out[i] = in[i];  // warps beyond the end make no requests
}

__global__ void early_return(const float* in, float* out) {
  const int i = index();
  if (i % 3 == 0) return;
  out[i] = in[i];
}

__global__ void divergent_branch(const float* a, const float* b, float* out) {
  const int i = index();
  float sum = 0;
  if (i % 2 == 0) {
    sum = a[i];  // 4, by 16 lanes
  } else {
#pragma unroll 1
    for (int k = 0; k < 3; ++k) sum += b[i + 32 * k];  // 3 times 4, by 16 lanes
  }
  out[i] = sum;  // 4: all lanes again
}

__global__ void divergent_loop(const float* in, float* out) {
  const int i = index(), lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= lane; ++k) sum += in[k * 32 + lane];  // 32 times, by ever fewer lanes
  out[i] = sum;
}

__global__ void divergent_loop_from_a_lane(const float* in, float* out) {
  const int i = index(), lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll 1
  for (int k = lane; k < 32; k += 4) sum += in[k * 32 + lane];
  out[i] = sum;
}

__global__ void branch_in_a_loop(const float* a, float* out) {
  const int i = index();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) {
    if ((i + k) % 4 == 0) sum += a[k * 64 + i % 32];  // by 8 lanes
    sum += a[1024 + k * 32 + i % 32];                 // by all lanes
  }
  out[i] = sum;
}

__global__ void loop_in_a_branch(const float* a, float* out) {
  const int i = index();
  float sum = 1;
  if (i % 32 < 8) {
#pragma unroll 1
    for (int k = 0; k < steps; ++k) sum *= a[k * 32 + i % 32];  // 1, by 8 lanes
  }
  out[i] = sum;
}

__global__ void loop_with_break(const int* steps_of, const float* in, float* out) {
  const int i = index(), end = steps_of[i] % steps;
  float sum = 0;
#pragma unroll 1
  for (int k = 0;; ++k) {
    sum += in[k * 64 + i % 64];  // by the remaining lanes
    if (k == end) break;
    out[i] = sum;
  }
}

__global__ void some_warps_only(const float* in, float* out) {
  const int i = index();
  if (i / 32 % 4 == 1) out[i] = in[i];
}

// --- Global memory: loops

__global__ void grid_stride(const float* in, float* out) {
#pragma unroll 1
  for (int i = index(); i < count; i += gridDim.x * blockDim.x) out[i] = in[i];
}

__global__ void chunk_a_thread(const float* in, float* out) {
  const int first = index() * steps;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) out[first + k] = in[first + k];  // 32, 32
}

__global__ void accumulate_in_memory(float* sums, const float* in) {
  const int i = index();
#pragma unroll 1
  for (int k = 0; k < steps; ++k) sums[i] += in[k * count / steps + i];  // `sums` may alias `in`
}

__global__ void accumulate_in_a_register(float* sums, const float* in) {
  const int i = index();
  float sum = sums[i];
#pragma unroll 1
  for (int k = 0; k < steps; ++k) sum += in[k * count / steps + i];
  sums[i] = sum;
}

__global__ void in_place(float* values, const float* in) {
  const int i = index();
  values[i] += in[i];
}

__global__ void stencil_of_a_row(const float* in, float* out) {
  const int i = index();
  if (i > 0 && i < count - 1) out[i] = in[i - 1] + in[i] + in[i + 1];  // 5, 4, 5
}

__global__ void stencil_of_a_plane(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x > 0 && x < side - 1 && y > 0 && y < side - 1)
    out[y * side + x] = in[(y - 1) * side + x] + in[y * side + x - 1] + in[y * side + x] +
                        in[y * side + x + 1] + in[(y + 1) * side + x];
}

__global__ void matrix_product(const float* a, const float* b, float* c) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) sum += a[y * side + k] * b[k * side + x];  // 2, 2: two rows of 16
  c[y * side + x] = sum;
}

__global__ void transpose_naive(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * side + y] = in[y * side + x];  // load 4, store 32
}

/// Solves a tridiagonal system by the Thomas algorithm. Array elements are `stride` apart.
__device__ void solve_system(const double* a, const double* b, const double* c, double* u,
                             double* w, int first, int stride) {
  double pivot = b[first], value = u[first];
  w[first] = pivot;
#pragma unroll 1
  for (int i = 1; i < rows; ++i) {
    const int at = first + i * stride;
    const double factor = a[at] / pivot;
    pivot = b[at] - factor * c[at - stride];
    value = u[at] - factor * value;
    w[at] = pivot;
    u[at] = value;
  }
  value /= pivot;
  u[first + (rows - 1) * stride] = value;
#pragma unroll 1
  for (int i = rows - 2; i >= 0; --i) {
    const int at = first + i * stride;
    value = (u[at] - c[at] * value) / w[at];
    u[at] = value;
  }
}

__global__ void tridiagonal_by_rows(const double* a, const double* b, const double* c, double* u,
                                    double* w) {
  solve_system(a, b, c, u, w, index() * rows, 1);  // 32: systems one after the other
}

__global__ void tridiagonal_interleaved(const double* a, const double* b, const double* c,
                                        double* u, double* w) {
  solve_system(a, b, c, u, w, index(), systems);  // 8: the i-th rows of all systems are adjacent
}

// --- Neither global nor shared memory

__constant__ float weights[steps];

__global__ void constants(float* out) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) sum += weights[k];  // through the constant cache
  out[index()] = sum;
}

__device__ float device_table[count];

__global__ void device_variable(float* out) {
  const int i = index();
  out[i] = device_table[i];  // global memory, as for any other array
}

__global__ void local_array(const int* where, float* out) {
  float values[16];
#pragma unroll 1
  for (int k = 0; k < 16; ++k) values[k] = static_cast<float>(k * k);
  const int i = index();
  out[i] = values[where[i] % 16];  // the local memory of the thread
}

__global__ void read_only(const float* __restrict__ in, float* __restrict__ out) {
  const int i = index();
  out[i] = __ldg(&in[i + 2]);  // 5
}

__global__ void streaming_hints(const float* in, float* out) {
  const int i = index();
  __stcs(&out[i], __ldcs(&in[2 * i]));  // load 8, store 4
}

__global__ void volatile_loads(const volatile float* in, float* out) {
  const int i = index();
  out[i] = in[i] + in[i];  // 4 twice: a volatile value must be loaded twice
}

__global__ void warp_sum(const float* in, float* out) {
  const int i = index();
  float sum = in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (i % 32 == 0) out[i / 32] = sum;  // 1, by one lane
}

// --- Shared memory: banks are 4 bytes wide, and each wavefront serves each bank once

__global__ void shared_unit_stride(float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);  // 1
  __syncthreads();
  out[t] = tile[255 - t];  // 1
}

__global__ void shared_stride_two(float* out) {
  __shared__ float tile[512];
  const int t = threadIdx.x;
  tile[2 * t] = static_cast<float>(t);  // 2
  __syncthreads();
  out[t] = tile[2 * (255 - t)];  // 2
}

__global__ void shared_stride_three(float* out) {
  __shared__ float tile[768];
  const int t = threadIdx.x;
  tile[3 * t] = static_cast<float>(t);  // 1: odd strides reach every bank
  __syncthreads();
  out[t] = tile[3 * (255 - t)];  // 1
}

__global__ void shared_stride_32(float* out) {
  __shared__ float tile[32 * 64];
  const int t = threadIdx.x;
  tile[32 * t] = static_cast<float>(t);  // 32
  __syncthreads();
  out[t] = tile[32 * (63 - t)];  // 32
}

__global__ void shared_broadcast(float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncthreads();
  out[t] = tile[(t / 32 + 1) % 8];  // 1
}

__global__ void shared_two_words_of_a_bank(float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncthreads();
  out[t] = tile[t % 2 * 64];  // 2
}

__global__ void shared_bytes(unsigned char* out) {
  __shared__ unsigned char tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<unsigned char>(t);  // 1
  __syncthreads();
  out[t] = tile[255 - t];  // 1: lanes share words
}

__global__ void shared_shorts(short* out) {
  __shared__ short tile[512];
  const int t = threadIdx.x;
  tile[2 * t] = static_cast<short>(t);  // 1
  __syncthreads();
  out[t] = tile[2 * (t ^ 32)];  // 1
}

__global__ void shared_doubles(double* out) {
  __shared__ double tile[256];
  const int t = threadIdx.x;
  tile[t] = t;  // 2: half a warp per wavefront
  __syncthreads();
  out[t] = tile[255 - t];  // 2
}

__global__ void shared_doubles_stride_two(double* out) {
  __shared__ double tile[512];
  const int t = threadIdx.x;
  tile[2 * t] = t;  // 4
  __syncthreads();
  out[t] = tile[2 * (255 - t)];  // 4
}

__global__ void shared_doubles_stride_16(double* out) {
  __shared__ double tile[16 * 64];
  const int t = threadIdx.x;
  tile[16 * t] = t;  // 32
  __syncthreads();
  out[t] = tile[16 * (63 - t)];  // 32
}

// Loads of both half-warps are combined into one wavefront if the two lanes of every pair read the
// same element, or one of them reads none. The lanes of a pair differ in bit 0 of their index, or
// in bit 1.

__global__ void shared_doubles_broadcast(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[(t / 32 + 1) % 2];  // 1
}

__global__ void shared_doubles_of_half_a_warp(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  if (t % 32 < 16) out[t] = tile[63 - t];  // 1
}

__global__ void shared_doubles_of_even_lanes(double* out) {
  __shared__ double tile[32];
  const int t = threadIdx.x;
  if (t % 2 == 0) tile[t / 2] = t;  // 2: stores are not combined
  __syncthreads();
  if (t % 2 == 0) out[t] = tile[t / 2];  // 1
}

__global__ void shared_doubles_in_pairs(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[t / 2];  // 1
}

__global__ void shared_doubles_of_pairs_two_apart(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[t / 4 * 2 + t % 2];  // 1
}

__global__ void shared_doubles_of_pairs_four_apart(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[t / 8 * 4 + t % 4];  // 2, with as many different doubles as in the previous kernel
}

__global__ void shared_doubles_of_equal_halves(double* out) {
  __shared__ double tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[t % 16];  // 2
}

__global__ void shared_doubles_in_pairs_gather(const int* where, double* out) {
  __shared__ double tile[256];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[where[t / 2] % 256];
}

__global__ void shared_doubles_gather(const int* where, double* out) {
  __shared__ double tile[256];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[where[t] % 256];
}

__global__ void shared_gather(const int* where, float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncthreads();
  out[t] = tile[where[t] % 256];
}

__global__ void shared_float4(float4* out) {
  __shared__ float4 tile[256];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);  // 4: a quarter of a warp per wavefront
  __syncthreads();
  out[t] = tile[255 - t];  // 4
}

__global__ void shared_float4_stride_two(float4* out) {
  __shared__ float4 tile[512];
  const int t = threadIdx.x;
  tile[2 * t] = make_float4(t, 1, 2, 3);  // 8
  __syncthreads();
  out[t] = tile[2 * (255 - t)];  // 8
}

__global__ void shared_float4_broadcast(float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  out[t] = tile[(t / 32 + 1) % 2];  // 2: quarter-warps are combined, half-warps are not
}

__global__ void shared_float4_of_a_quarter(float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  if (t % 32 < 8) out[t] = tile[63 - t];  // 1
}

__global__ void shared_float4_of_even_lanes(float4* out) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  if (t % 2 == 0) tile[t / 2] = make_float4(t, 1, 2, 3);  // 4: stores are not combined
  __syncthreads();
  if (t % 2 == 0) out[t] = tile[t / 2];  // 2
}

__global__ void shared_float4_in_pairs(float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  out[t] = tile[t / 2];  // 2
}

__global__ void shared_float4_of_pairs_two_apart(float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  out[t] = tile[t / 4 * 2 + t % 2];  // 2
}

__global__ void shared_float4_of_equal_quarters(float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  out[t] = tile[t % 8];  // 4
}

__global__ void shared_float4_gather(const int* where, float4* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(t, 1, 2, 3);
  __syncthreads();
  out[t] = tile[where[t] % 64];
}

__global__ void shared_float2(float2* out) {
  __shared__ float2 tile[256];
  const int t = threadIdx.x;
  tile[t] = make_float2(t, 1);  // 2
  __syncthreads();
  out[t] = tile[t ^ 33];  // 2
}

__global__ void shared_dynamic(float* out) {
  extern __shared__ float dynamic_tile[];
  const int t = threadIdx.x;
  dynamic_tile[t] = static_cast<float>(t);
  __syncthreads();
  out[t] = dynamic_tile[(t + 7) % 96];
}

__global__ void shared_some_lanes(float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncthreads();
  if (t % 4 == 0) out[t] = tile[t * 8 % 256];
}

__global__ void shared_divergent_loop(float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncwarp();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= t; ++k) sum += tile[k];  // 32 times 1
  out[t] = sum;
}

// --- Shared memory: tiles and trees

__global__ void tile_without_padding(const float* in, float* out) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
  tile[y][x] = in[(row + y) * side + column + x];  // 1
  __syncthreads();
  out[(column + y) * side + row + x] = tile[x][y];  // 32
}

__global__ void tile_with_padding(const float* in, float* out) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
  tile[y][x] = in[(row + y) * side + column + x];  // 1
  __syncthreads();
  out[(column + y) * side + row + x] = tile[x][y];  // 1
}

__global__ void tile_swizzled(const float* in, float* out) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
  tile[y][x ^ y] = in[(row + y) * side + column + x];  // 1
  __syncthreads();
  out[(column + y) * side + row + x] = tile[x][y ^ x];  // 1
}

__global__ void double_tile_without_padding(const double* in, double* out) {
  __shared__ double tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
  tile[y][x] = in[(row + y) * side + column + x];  // 2
  __syncthreads();
  out[(column + y) * side + row + x] = tile[x][y];  // 32
}

__global__ void double_tile_with_padding(const double* in, double* out) {
  __shared__ double tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
  tile[y][x] = in[(row + y) * side + column + x];  // 2
  __syncthreads();
  out[(column + y) * side + row + x] = tile[x][y];  // 2
}

__global__ void matrix_product_in_tiles(const float* a, const float* b, float* c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < 64; first += 16) {
    tile_a[ty][tx] = a[y * side + first + tx];
    tile_b[ty][tx] = b[(first + ty) * side + x];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  c[y * side + x] = sum;
}

__global__ void matrix_product_unrolled(const float* a, const float* b, float* c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < 64; first += 16) {
    tile_a[ty][tx] = a[y * side + first + tx];
    tile_b[ty][tx] = b[(first + ty) * side + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[ty][k] * tile_b[k][tx];  // 4 elements of a at once
    __syncthreads();
  }
  c[y * side + x] = sum;
}

__global__ void tree_with_growing_stride(const float* in, float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = in[index()];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < 256; step *= 2) {
    const int at = 2 * step * t;
    if (at < 256) tile[at] += tile[at + step];  // strides of 2, 4, 8, ...: bank conflicts
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void tree_with_shrinking_stride(const float* in, float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = in[index()];
  __syncthreads();
#pragma unroll 1
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];  // 1
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void scan_of_a_block(const float* in, float* out) {
  __shared__ float tile[2][256];
  const int t = threadIdx.x;
  float sum = in[index()];
  int now = 0;
#pragma unroll 1
  for (int step = 1; step < 256; step *= 2) {
    tile[now][t] = sum;  // 1
    __syncthreads();
    if (t >= step) sum += tile[now][t - step];  // 1, by ever fewer warps
    now = 1 - now;
  }
  out[index()] = sum;
}

// --- Atomics in shared memory: the number of wavefronts is the largest number of lanes per bank,
// even if lanes access the same word

__global__ void shared_atomics_apart(int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  atomicAdd(&tile[255 - t], t);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void shared_atomics_on_one(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, static_cast<int>(threadIdx.x) + 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void shared_atomics_in_a_bank(int* out) {
  __shared__ int tile[32 * 32];
  const int t = threadIdx.x;
  tile[32 * t] = 0;
  __syncwarp();
  atomicAdd(&tile[32 * (31 - t)], t);
  __syncwarp();
  out[t] = tile[32 * t];
}

__global__ void shared_atomic_tickets(int* out) {
  __shared__ int next[8];
  const int t = threadIdx.x;
  if (t < 8) next[t] = 0;
  __syncthreads();
  out[t] = atomicAdd(&next[t / 32], t);
}

__global__ void shared_atomic_maximum(const int* in, int* out) {
  __shared__ int largest[4];
  const int t = threadIdx.x;
  if (t < 4) largest[t] = 0;
  __syncthreads();
  atomicMax(&largest[t % 4], in[t]);
  __syncthreads();
  if (t < 4) out[t] = largest[t];
}

__global__ void shared_atomics_gather(const int* where, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  atomicAdd(&tile[where[t] % 64 * 3], t);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void shared_atomics_on_floats(const float* in, float* out) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  atomicAdd(&tile[t], in[t]);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void shared_atomics_of_64_bits(const int* where, unsigned long long* out) {
  __shared__ unsigned long long tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  atomicAdd(&tile[where[t] % 64], t + 1ull);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void shared_atomic_exchange(const int* where, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = atomicExch(&tile[where[t] % 256], -t);
}

__global__ void shared_atomic_compare_and_swap(int* out) {
  __shared__ int tile[512];
  const int t = threadIdx.x;
  tile[t] = tile[t + 256] = 0;
  __syncthreads();
  out[t] = atomicCAS(&tile[t / 4 * 8], 0, t);
}

__global__ void shared_histogram(const int* in, int* out) {
  __shared__ int tile[bins];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  atomicAdd(&tile[in[index()] % bins], 1);
  __syncthreads();
  out[index()] = tile[t];
}

// --- Atomics in global memory: sectors count again for every lane that shares an element with
// another lane

__global__ void histogram_of_many_bins(const int* in, int* out) { atomicAdd(&out[in[index()]], 1); }

__global__ void histogram_of_few_bins(const int* in, int* out) {
  atomicAdd(&out[in[index()] % 4], 1);
}

__global__ void atomics_apart(int* out) { atomicAdd(&out[index()], 3); }

__global__ void atomics_on_one(const int* in, int* out) { atomicAdd(out, in[index()]); }

__global__ void atomics_used(int* counters, int* out) {
  const int i = index();
  out[i] = atomicAdd(&counters[i % 8], i);
}

__global__ void atomics_on_floats(const float* in, float* out) {
  const int i = index();
  atomicAdd(&out[i % 100], in[i]);
}

__global__ void atomics_on_doubles(const double* in, double* out) {
  const int i = index();
  atomicAdd(&out[i % 100], in[i]);
}

__global__ void atomics_on_doubles_used(const double* in, double* sums, double* out) {
  const int i = index();
  out[i] = atomicAdd(&sums[i / 2], in[i]);
}

__global__ void atomic_maximum(const int* in, int* out) {
  const int i = index();
  atomicMax(&out[i % 16], in[i]);
}

__global__ void atomic_exchange(int* values, int* out) {
  const int i = index();
  out[i] = atomicExch(&values[count - 1 - i], i);
}

__global__ void atomic_compare_and_swap(int* locks, int* out) {
  const int i = index();
  out[i] = atomicCAS(&locks[2 * i], 0, i);
}

__global__ void atomics_of_some_lanes(int* out) {
  const int i = index();
  if (i % 8 == 0) atomicAdd(&out[i], i);
}

/// The integers below `count` in a random order, which is the same in every run.
std::vector<int> shuffled_indices() {
  std::vector<int> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  std::mt19937 random(1);
  for (int i = count - 1; i > 0; --i) std::swap(indices[i], indices[random() % (i + 1)]);
  return indices;
}

/// The input and output of kernels, four initialised elements per thread.
template <typename T>
struct Pair {
  const Buffer<T> inputs{4 * count, 0x3f}, outputs{4 * count};
  T* const in = inputs.get();
  T* const out = outputs.get();
};

// Each function launches the kernels of one group above.

void look_everywhere(const int* where) {
  const dim3 grid(side / 32, side / 8), block(32, 8);
  constexpr int blocks = count / 256;
  const Pair<float> floats;
  const Pair<double> doubles;
  row_wise<<<grid, block>>>(floats.in, floats.out);
  column_wise<<<grid, block>>>(floats.in, floats.out);
  misaligned_load<<<blocks, 256>>>(floats.in, floats.out);
  misaligned_store<<<blocks, 256>>>(floats.in, floats.out);
  stride_two<<<blocks, 256>>>(floats.in, floats.out);
  stride_three<<<blocks, 256>>>(floats.in, floats.out);
  stride_eight<<<blocks / 8, 256>>>(floats.in, floats.out);
  stride_two_doubles<<<blocks, 256>>>(doubles.in, doubles.out);
  reversed<<<blocks, 256>>>(floats.in, floats.out);
  butterfly<<<blocks, 256>>>(floats.in, floats.out);
  broadcast<<<blocks, 256>>>(floats.in, floats.out);
  half_warp_broadcast<<<8, 256>>>(floats.in, floats.out);
  gather<<<blocks, 256>>>(floats.in, where, floats.out);
  scatter<<<blocks, 256>>>(floats.in, where, floats.out);
}

void take_all_widths() {
  const Pair<unsigned char> chars;
  const Pair<short> shorts;
  const Pair<float> floats;
  const Pair<float2> twos;
  const Pair<float3> threes;
  const Pair<float4> fours;
  const Pair<double> doubles;
  const Pair<double2> double_twos;
  const Pair<Body> bodies;
  bytes<<<8, 256>>>(chars.in, chars.out);
  bytes_stride_four<<<8, 256>>>(chars.in, chars.out);
  misaligned_shorts<<<8, 256>>>(shorts.in, shorts.out);
  doubles_unit_stride<<<8, 256>>>(doubles.in, doubles.out);
  misaligned_doubles<<<8, 256>>>(doubles.in, doubles.out);
  float2_copy<<<8, 256>>>(twos.in, twos.out);
  float4_copy<<<8, 256>>>(fours.in, fours.out);
  float4_stride_two<<<8, 256>>>(fours.in, fours.out);
  double2_copy<<<8, 256>>>(double_twos.in, double_twos.out);
  float4_half_warp<<<8, 256>>>(fours.in, fours.out);
  array_of_structures<<<8, 256>>>(bodies.in, floats.out);
  structure_of_arrays<<<8, 256>>>(floats.in, floats.in + count, floats.in + 2 * count,
                                  floats.in + 3 * count, floats.out);
  float3_members<<<8, 256>>>(threes.in, threes.out);
}

void use_blocks_of_all_shapes() {
  const Pair<float> floats;
  block_of_33<<<40, 33>>>(floats.in, floats.out);
  block_of_48<<<40, 48>>>(floats.in, floats.out);
  block_of_8_by_4<<<dim3(side / 8, side / 4), dim3(8, 4)>>>(floats.in, floats.out);
  block_of_4_by_8<<<dim3(side / 4, side / 8), dim3(4, 8)>>>(floats.in, floats.out);
  block_of_16_by_16<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(floats.in, floats.out);
  block_of_5_by_3_by_7<<<side / 5, dim3(5, 3, 7)>>>(floats.in, floats.out);
}

void part(const int* where) {
  const Pair<float> floats;
  guarded_tail<<<8, 256>>>(floats.in, floats.out, 1234);
  early_return<<<8, 256>>>(floats.in, floats.out);
  divergent_branch<<<8, 256>>>(floats.in, floats.in + count, floats.out);
  divergent_loop<<<4, 128>>>(floats.in, floats.out);
  divergent_loop_from_a_lane<<<4, 128>>>(floats.in, floats.out);
  branch_in_a_loop<<<4, 128>>>(floats.in, floats.out);
  loop_in_a_branch<<<4, 128>>>(floats.in, floats.out);
  loop_with_break<<<4, 128>>>(where, floats.in, floats.out);
  some_warps_only<<<4, 256>>>(floats.in, floats.out);
}

void loop() {
  const Pair<float> floats;
  grid_stride<<<5, 96>>>(floats.in, floats.out);
  chunk_a_thread<<<8, 256>>>(floats.in, floats.out);
  accumulate_in_memory<<<8, 256>>>(floats.out, floats.in);
  accumulate_in_a_register<<<8, 256>>>(floats.out, floats.in);
  in_place<<<8, 256>>>(floats.out, floats.in);
  stencil_of_a_row<<<count / 256, 256>>>(floats.in, floats.out);
  stencil_of_a_plane<<<dim3(side / 32, side / 4), dim3(32, 4)>>>(floats.in, floats.out);
  matrix_product<<<dim3(4, 4), dim3(16, 16)>>>(floats.in, floats.in + count, floats.out);
  transpose_naive<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(floats.in, floats.out);
  const Pair<double> doubles;
  const double *a = doubles.in, *b = a + systems * rows, *c = b + systems * rows;
  double *u = doubles.out, *w = u + systems * rows;
  tridiagonal_by_rows<<<1, systems>>>(a, b, c, u, w);
  tridiagonal_interleaved<<<1, systems>>>(a, b, c, u, w);
}

void look_elsewhere(const int* where) {
  const Pair<float> floats;
  const std::vector<float> ones(count, 1);
  check(cudaMemcpyToSymbol(weights, ones.data(), sizeof weights));
  check(cudaMemcpyToSymbol(device_table, ones.data(), sizeof device_table));
  constants<<<8, 256>>>(floats.out);
  device_variable<<<8, 256>>>(floats.out);
  local_array<<<8, 256>>>(where, floats.out);
  read_only<<<8, 256>>>(floats.in, floats.out);
  streaming_hints<<<8, 256>>>(floats.in, floats.out);
  volatile_loads<<<8, 256>>>(floats.in, floats.out);
  warp_sum<<<8, 256>>>(floats.in, floats.out);
}

void share(const int* where) {
  const Pair<float> floats;
  const Pair<double> doubles;
  const Pair<float2> twos;
  const Pair<float4> fours;
  const Pair<unsigned char> chars;
  const Pair<short> shorts;
  shared_unit_stride<<<1, 256>>>(floats.out);
  shared_stride_two<<<1, 256>>>(floats.out);
  shared_stride_three<<<1, 256>>>(floats.out);
  shared_stride_32<<<1, 64>>>(floats.out);
  shared_broadcast<<<1, 256>>>(floats.out);
  shared_two_words_of_a_bank<<<1, 256>>>(floats.out);
  shared_bytes<<<1, 256>>>(chars.out);
  shared_shorts<<<1, 256>>>(shorts.out);
  shared_doubles<<<1, 256>>>(doubles.out);
  shared_doubles_stride_two<<<1, 256>>>(doubles.out);
  shared_doubles_stride_16<<<1, 64>>>(doubles.out);
  shared_doubles_broadcast<<<1, 64>>>(doubles.out);
  shared_doubles_of_half_a_warp<<<1, 64>>>(doubles.out);
  shared_doubles_of_even_lanes<<<1, 64>>>(doubles.out);
  shared_doubles_in_pairs<<<1, 64>>>(doubles.out);
  shared_doubles_of_pairs_two_apart<<<1, 64>>>(doubles.out);
  shared_doubles_of_pairs_four_apart<<<1, 64>>>(doubles.out);
  shared_doubles_of_equal_halves<<<1, 64>>>(doubles.out);
  shared_doubles_in_pairs_gather<<<1, 256>>>(where, doubles.out);
  shared_doubles_gather<<<1, 256>>>(where, doubles.out);
  shared_gather<<<1, 256>>>(where, floats.out);
  shared_float2<<<1, 256>>>(twos.out);
  shared_float4<<<1, 256>>>(fours.out);
  shared_float4_stride_two<<<1, 256>>>(fours.out);
  shared_float4_broadcast<<<1, 64>>>(fours.out);
  shared_float4_of_a_quarter<<<1, 64>>>(fours.out);
  shared_float4_of_even_lanes<<<1, 64>>>(fours.out);
  shared_float4_in_pairs<<<1, 64>>>(fours.out);
  shared_float4_of_pairs_two_apart<<<1, 64>>>(fours.out);
  shared_float4_of_equal_quarters<<<1, 64>>>(fours.out);
  shared_float4_gather<<<1, 64>>>(where, fours.out);
  shared_dynamic<<<1, 96, 96 * sizeof(float)>>>(floats.out);
  shared_some_lanes<<<1, 256>>>(floats.out);
  shared_divergent_loop<<<1, 32>>>(floats.out);
}

void use_tiles() {
  const Pair<float> floats;
  const Pair<double> doubles;
  const dim3 grid(side / 32, side / 32), block(32, 32);
  tile_without_padding<<<grid, block>>>(floats.in, floats.out);
  tile_with_padding<<<grid, block>>>(floats.in, floats.out);
  tile_swizzled<<<grid, block>>>(floats.in, floats.out);
  double_tile_without_padding<<<grid, block>>>(doubles.in, doubles.out);
  double_tile_with_padding<<<grid, block>>>(doubles.in, doubles.out);
  matrix_product_in_tiles<<<dim3(4, 4), dim3(16, 16)>>>(floats.in, floats.in + count, floats.out);
  matrix_product_unrolled<<<dim3(4, 4), dim3(16, 16)>>>(floats.in, floats.in + count, floats.out);
  tree_with_growing_stride<<<4, 256>>>(floats.in, floats.out);
  tree_with_shrinking_stride<<<4, 256>>>(floats.in, floats.out);
  scan_of_a_block<<<4, 256>>>(floats.in, floats.out);
}

void add_in_shared_memory(const int* where) {
  const Pair<float> floats;
  const Pair<int> ints;
  const Pair<unsigned long long> longs;
  shared_atomics_apart<<<1, 256>>>(ints.out);
  shared_atomics_on_one<<<2, 256>>>(ints.out);
  shared_atomics_in_a_bank<<<1, 32>>>(ints.out);
  shared_atomic_tickets<<<1, 256>>>(ints.out);
  shared_atomic_maximum<<<1, 256>>>(where, ints.out);
  shared_atomics_gather<<<1, 256>>>(where, ints.out);
  shared_atomics_on_floats<<<1, 256>>>(floats.in, floats.out);
  shared_atomics_of_64_bits<<<1, 64>>>(where, longs.out);
  shared_atomic_exchange<<<1, 256>>>(where, ints.out);
  shared_atomic_compare_and_swap<<<1, 256>>>(ints.out);
  shared_histogram<<<4, bins>>>(where, ints.out);
}

void add_in_global_memory(const int* where) {
  const Pair<float> floats;
  const Pair<double> doubles;
  const Pair<int> ints;
  histogram_of_many_bins<<<8, 256>>>(where, ints.out);
  histogram_of_few_bins<<<8, 256>>>(where, ints.out);
  atomics_apart<<<8, 256>>>(ints.out);
  atomics_on_one<<<8, 256>>>(where, ints.out);
  atomics_used<<<8, 256>>>(ints.in, ints.out);
  atomics_on_floats<<<8, 256>>>(floats.in, floats.out);
  atomics_on_doubles<<<8, 256>>>(doubles.in, doubles.out);
  atomics_on_doubles_used<<<8, 256>>>(doubles.in, doubles.out, doubles.out + count);
  atomic_maximum<<<8, 256>>>(where, ints.out);
  atomic_exchange<<<8, 256>>>(ints.in, ints.out);
  atomic_compare_and_swap<<<8, 256>>>(ints.in, ints.out);
  atomics_of_some_lanes<<<8, 256>>>(ints.out);
}

}  // namespace

int main() {
  const Buffer<int> permutation(count);
  int* const where = permutation.get();
  const std::vector<int> indices = shuffled_indices();
  check(cudaMemcpy(where, indices.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  look_everywhere(where);
  take_all_widths();
  use_blocks_of_all_shapes();
  part(where);
  loop();
  look_elsewhere(where);
  share(where);
  use_tiles();
  add_in_shared_memory(where);
  add_in_global_memory(where);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
