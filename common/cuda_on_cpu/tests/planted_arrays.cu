/// \file
/// Seeded bugs: wrong indices of arrays whose length the compiler knows, misaligned wide accesses,
/// races on parts of words, and atomic operations on uninitialised memory.

#include <cuda_runtime.h>

#include <vector>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

namespace local_array_too_short {

/// Stores a window of five elements; with the bug, the array has only four.
template <bool bug>
__global__ void smooth(const float* in, float* out, int radius) {
  float window[bug ? 4 : 5];
  const int t = threadIdx.x;
  for (int i = 0; i <= 2 * radius; ++i) window[i] = in[t + i];  // planted: out of bounds
  float sum = 0;
  for (int i = 0; i <= 2 * radius; ++i) sum += window[i];  // planted: out of bounds
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<float> in(threads + 4), out(threads);
  smooth<bug><<<1, threads>>>(in.get(), out.get(), 2);
  finish();
}

}  // namespace local_array_too_short

namespace local_histogram {

/// Counts digits; with the bug, there is no bin for the digit 9.
template <bool bug>
__global__ void count(const int* digits, int* out) {
  int bins[bug ? 9 : 10] = {};
  for (int i = 0; i < 20; ++i) ++bins[digits[i]];  // planted: out of bounds
  for (int i = 0; i < 9; ++i) out[i] = bins[i];
}

template <bool bug>
void run() {
  const Buffer<int> digits(20), out(10);
  std::vector<int> values(20);
  for (int i = 0; i < 20; ++i) values[i] = i % 10;
  check(cudaMemcpy(digits.get(), values.data(), 80, cudaMemcpyHostToDevice));
  count<bug><<<1, 1>>>(digits.get(), out.get());
  finish();
}

}  // namespace local_histogram

namespace constant_table_too_short {

__constant__ float weights[8], others[8];

/// Sums weighted values; with the bug, the kernel reads one weight too many, from the next table.
template <bool bug>
__global__ void weigh(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += weights[i] * in[i];  // planted: out of bounds
  out[threadIdx.x] = sum + others[0];
}

template <bool bug>
void run() {
  const Buffer<float> in(threads), out(threads);
  const std::vector<float> ones(8, 1);
  check(cudaMemcpyToSymbol(weights, ones.data(), 32));
  check(cudaMemcpyToSymbol(others, ones.data(), 32));
  weigh<bug><<<1, threads>>>(in.get(), out.get(), bug ? 9 : 8);
  finish();
}

}  // namespace constant_table_too_short

namespace negative_index_of_a_constant {

__constant__ int steps[4];

template <bool bug>
__global__ void differences(int* out) {
  const int t = threadIdx.x;
  out[t] = steps[t] - (bug || t > 0 ? steps[t - 1] : 0);  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<int> out(4);
  const std::vector<int> values(4, 1);
  check(cudaMemcpyToSymbol(steps, values.data(), 16));
  differences<bug><<<1, 4>>>(out.get());
  finish();
}

}  // namespace negative_index_of_a_constant

namespace device_variable_too_short {

__device__ int counts[threads];
__device__ int behind[threads];

template <bool bug>
__global__ void fill() {
  const int i = threadIdx.x;
  counts[bug ? 2 * i : i] = i;  // planted: out of bounds
  behind[i] = i;
}

template <bool bug>
void run() {
  fill<bug><<<1, threads>>>();
  finish();
}

}  // namespace device_variable_too_short

namespace shared_row_too_short {

/// Stores a row with its halo; with the bug, the tile has no room for the right halo.
template <bool bug>
__global__ void stencil(const float* in, float* out) {
  __shared__ float tile[2][bug ? threads : threads + 2];
  const int t = threadIdx.x;
  for (int row = 0; row < 2; ++row) {
    tile[row][t] = in[t];
    if (t < 2) tile[row][threads + t] = in[threads + t];  // planted: out of bounds
  }
  __syncthreads();
  out[t] = tile[0][t] + tile[1][t + 2];  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<float> in(threads + 2), out(threads);
  stencil<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace shared_row_too_short

namespace member_array_too_short {

struct Polygon {
  int corners;
  float x[4];
};

template <bool bug>
__global__ void perimeter(const Polygon* polygons, float* out) {
  const Polygon& p = polygons[threadIdx.x];
  float sum = 0;
  for (int i = 0; i < p.corners; ++i) sum += p.x[bug ? i + 1 : i];  // planted: out of bounds
  out[threadIdx.x] = sum;
}

template <bool bug>
void run() {
  const Buffer<Polygon> polygons(8);
  const Buffer<float> out(8);
  const std::vector<Polygon> squares(8, Polygon{4, {0, 1, 2, 3}});
  check(cudaMemcpy(polygons.get(), squares.data(), 8 * sizeof(Polygon), cudaMemcpyHostToDevice));
  perimeter<bug><<<1, 8>>>(polygons.get(), out.get());
  finish();
}

}  // namespace member_array_too_short

namespace misaligned_float4 {

/// Reads groups of four floats after a header; with the bug, the header is a single float.
template <bool bug>
__global__ void copy(const float* in, float4* out) {
  const auto* fours = reinterpret_cast<const float4*>(in + (bug ? 1 : 4));
  out[threadIdx.x] = fours[threadIdx.x];  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<float> in(4 * threads + 4), out(4 * threads);
  copy<bug><<<1, threads>>>(in.get(), reinterpret_cast<float4*>(out.get()));
  finish();
}

}  // namespace misaligned_float4

namespace misaligned_rows {

/// Writes rows in pairs of floats; with the bug, the row pitch is odd.
template <bool bug>
__global__ void clear(float* matrix, int pitch) {
  auto* row = reinterpret_cast<float2*>(matrix + blockIdx.x * pitch);
  row[threadIdx.x] = {};  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<float> matrix(17 * 4);
  clear<bug><<<4, 8>>>(matrix.get(), bug ? 17 : 16);
  finish();
}

}  // namespace misaligned_rows

namespace misaligned_shared_memory {

/// Places doubles after integers; with the bug, the number of integers is odd.
template <bool bug>
__global__ void sums(double* out) {
  extern __shared__ int raw[];
  auto* numbers = reinterpret_cast<double*>(raw + (bug ? 3 : 4));
  if (threadIdx.x < 3) raw[threadIdx.x] = 0;
  numbers[threadIdx.x] = threadIdx.x;  // planted: misaligned access
  __syncthreads();
  out[threadIdx.x] = numbers[7 - threadIdx.x];
}

template <bool bug>
void run() {
  const Buffer<double> out(8);
  sums<bug><<<1, 8, 16 + 8 * sizeof(double)>>>(out.get());
  finish();
}

}  // namespace misaligned_shared_memory

namespace float4_at_half_its_size {

/// Reads 16 bytes at once; with the bug, the address is only a multiple of 8.
template <bool bug>
__global__ void sums(const float* in, float* out) {
  const float* first = in + (bug ? 2 : 4) + 4 * threadIdx.x;
  const float4 four = *reinterpret_cast<const float4*>(first);  // planted: misaligned access
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

template <bool bug>
void run() {
  const Buffer<float> in(4 * threads + 4), out(threads);
  sums<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace float4_at_half_its_size

namespace double2_in_odd_rows {

/// Writes rows in pairs of doubles; the correct counterpart pads the odd row length.
template <bool bug>
__global__ void clear(double* matrix) {
  constexpr int pitch = bug ? 15 : 16;
  auto* row = reinterpret_cast<double2*>(matrix + blockIdx.x * pitch);
  row[threadIdx.x] = make_double2(0, 0);  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<double> matrix(16 * 4);
  clear<bug><<<4, 7>>>(matrix.get());
  finish();
}

}  // namespace double2_in_odd_rows

namespace float4_in_padded_shared_rows {

/// Padding by two floats avoids bank conflicts, but only padding by four keeps rows aligned.
template <bool bug>
__global__ void reverse(const float4* in, float4* out) {
  __shared__ float tile[8][bug ? 34 : 36];
  const int row = threadIdx.y, column = 4 * threadIdx.x, i = 8 * row + threadIdx.x;
  for (int k = 0; k < 4; ++k) tile[row][column + k] = (&in[i].x)[k];
  __syncthreads();
  out[i] = *reinterpret_cast<float4*>(&tile[7 - row][column]);  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<float4> in(threads), out(threads);
  reverse<bug><<<1, dim3(8, 8)>>>(in.get(), out.get());
  finish();
}

}  // namespace float4_in_padded_shared_rows

namespace read_only_float4 {

/// A load through the read-only cache requires the same alignment as other loads.
template <bool bug>
__global__ void lasts(const float* in, float* out) {
  const auto* fours = reinterpret_cast<const float4*>(in + (bug ? 2 : 0));
  out[threadIdx.x] = __ldg(fours + threadIdx.x).w;  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<float> in(4 * threads + 4), out(threads);
  lasts<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace read_only_float4

namespace pairs_that_are_no_vector {

/// Two doubles need 8-byte alignment; with the bug, the declaration of the structure requires 16.
struct Pair {
  double first, second;
};
struct alignas(16) AlignedPair {
  double first, second;
};

template <bool bug>
__global__ void copy(const double* in, double* out) {
  using Type = std::conditional_t<bug, AlignedPair, Pair>;
  const int i = 2 * threadIdx.x;
  *reinterpret_cast<Type*>(out + i) =
      *reinterpret_cast<const Type*>(in + i + 1);  // planted: misaligned access
}

template <bool bug>
void run() {
  const Buffer<double> in(2 * threads + 1), out(2 * threads);
  copy<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace pairs_that_are_no_vector

namespace misaligned_word_of_bytes {

/// Reads a length after a tag of one byte; the correct counterpart assembles the length from bytes.
template <bool bug>
__global__ void length(const unsigned char* message, unsigned* out) {
  if (bug)
    *out = *reinterpret_cast<const unsigned*>(message + 1);  // planted: misaligned access
  else
    *out = message[1] | message[2] << 8 | message[3] << 16 | message[4] << 24;
}

template <bool bug>
void run() {
  const Buffer<unsigned char> message(8);
  const Buffer<unsigned> out(1);
  length<bug><<<1, 1>>>(message.get(), out.get());
  finish();
}

}  // namespace misaligned_word_of_bytes

namespace counter_never_cleared {

/// Counts in uninitialised memory, which the correct counterpart clears.
__global__ void count(int* counter) {
  atomicAdd(counter, 1);  // planted: uninitialised read
}

template <bool bug>
void run() {
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof(int)));
  if (!bug) check(cudaMemset(counter, 0, sizeof(int)));
  count<<<2, threads>>>(counter);
  finish();
  check(cudaFree(counter));
}

}  // namespace counter_never_cleared

namespace one_byte_of_a_counter_cleared {

/// With the bug, only one byte of the counter is cleared, as if cudaMemset counted elements.
__global__ void count(int* counter) {
  atomicAdd(counter, 1);  // planted: uninitialised read
}

template <bool bug>
void run() {
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof(int)));
  check(cudaMemset(counter, 0, bug ? 1 : sizeof(int)));
  count<<<2, threads>>>(counter);
  finish();
  check(cudaFree(counter));
}

}  // namespace one_byte_of_a_counter_cleared

namespace shared_histogram_never_cleared {

template <bool bug>
__global__ void histogram(const unsigned char* in, unsigned* out) {
  __shared__ unsigned bins[16];
  if (!bug && threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] % 16], 1u);  // planted: uninitialised read
  __syncthreads();
  if (threadIdx.x < 16 && bins[threadIdx.x] > 0)
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);  // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<unsigned char> in(threads);
  const Buffer<unsigned> out(16);
  histogram<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace shared_histogram_never_cleared

namespace largest_of_nothing {

/// Computes a maximum with atomicMax. With the bug, the result has no initial value.
template <bool bug>
__global__ void largest(const int* in, int* out) {
  if (!bug && threadIdx.x == 0) atomicExch(out, in[0]);
  __syncthreads();
  atomicMax(out, in[threadIdx.x]);  // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> in(threads);
  int* out = nullptr;
  check(cudaMalloc(&out, sizeof(int)));
  largest<bug><<<1, threads>>>(in.get(), out);
  finish();
  check(cudaFree(out));
}

}  // namespace largest_of_nothing

namespace lock_never_opened {

/// Acquires a lock, which is uninitialised with the bug.
__global__ void locked(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) == 1) {  // planted: uninitialised read
  }
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}

template <bool bug>
void run() {
  const Buffer<int> sum(1);
  int* lock = nullptr;
  check(cudaMalloc(&lock, sizeof(int)));
  if (!bug) check(cudaMemset(lock, 0, sizeof(int)));
  locked<<<2, 32>>>(lock, sum.get());
  finish();
  check(cudaFree(lock));
}

}  // namespace lock_never_opened

namespace bytes_of_neighbours {

/// Each thread updates its own byte; with the bug, it also updates the byte of its neighbour.
template <bool bug>
__global__ void invert(unsigned char* image) {
  const int t = threadIdx.x;
  const unsigned char value = image[t];
  image[t] = 255 - value;                               // planted: race
  if (bug && t > 0) image[t - 1] ^= value & 1 ? 1 : 2;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<unsigned char> image(threads, 3);
  invert<bug><<<1, threads>>>(image.get());
  finish();
}

}  // namespace bytes_of_neighbours

namespace halves_in_shared_memory {

/// Threads exchange pairs of 2-byte elements. With the bug, there is no barrier before a thread
/// reads the element of its neighbour.
template <bool bug>
__global__ void exchange(unsigned short* values) {
  __shared__ unsigned short tile[threads];
  const int t = threadIdx.x;
  tile[t] = values[t];
  tile[t] = tile[t] + 1;
  tile[t] = tile[t] * 2;
  if (!bug) __syncthreads();
  values[t] = tile[t ^ 1];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<unsigned short> values(threads);
  exchange<bug><<<1, threads>>>(values.get());
  finish();
}

}  // namespace halves_in_shared_memory

namespace bytes_at_the_border_of_blocks {

/// Blocks update odd numbers of bytes, so adjacent blocks share words, and with the bug also bytes.
template <bool bug>
__global__ void brighten(unsigned char* image, int width) {
  const int i = blockIdx.x * width + threadIdx.x;
  if (threadIdx.x < width + bug) image[i] = image[i] + 1 + blockIdx.x;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<unsigned char> image(256);
  brighten<bug><<<5, 32>>>(image.get(), 29);
  finish();
}

}  // namespace bytes_at_the_border_of_blocks

namespace padding_of_structures {

/// The copy includes the uninitialised padding of the structure. With the bug, a member that is
/// used after the copy is not initialised either.
struct Cell {
  char kind;
  double value;
  int count;
};

template <bool bug>
__global__ void make(Cell* cells) {
  Cell& cell = cells[threadIdx.x];
  cell.kind = 1;
  if (!bug) cell.value = 0.5;
  cell.count = 3;
}

__global__ void copy(const Cell* from, Cell* to) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void sum(const Cell* cells, double* sums) {
  const Cell& cell = cells[threadIdx.x];
  sums[threadIdx.x] = cell.kind + cell.count;
  sums[threadIdx.x] += cell.value;  // planted: uninitialised read
}

template <bool bug>
void run() {
  Cell* cells = nullptr;
  check(cudaMalloc(&cells, threads * sizeof(Cell)));
  Cell* copies = nullptr;
  check(cudaMalloc(&copies, threads * sizeof(Cell)));
  const Buffer<double> sums(threads);
  make<bug><<<1, threads>>>(cells);
  copy<<<1, threads>>>(cells, copies);
  sum<<<1, threads>>>(copies, sums.get());
  std::vector<Cell> on_host(threads);
  check(cudaMemcpy(on_host.data(), cells, threads * sizeof(Cell), cudaMemcpyDeviceToHost));
  finish();
  check(cudaFree(cells));
  check(cudaFree(copies));
}

}  // namespace padding_of_structures

namespace padding_behind_a_kilobyte {

/// The padding begins 1 KiB after the first value; with the bug, some values are uninitialised.
struct Row {
  float values[256];
  float padding;
};

template <bool bug>
__global__ void make(Row* row) {
  if (!bug || threadIdx.x < 240) row->values[threadIdx.x] = 1;
}

__global__ void negate(Row* row) {
  row->values[threadIdx.x] = -row->values[threadIdx.x];  // planted: uninitialised read
}

template <bool bug>
void run() {
  Row *row = nullptr, *copy = nullptr, on_host;
  check(cudaMalloc(&row, sizeof(Row)));
  check(cudaMalloc(&copy, sizeof(Row)));
  make<bug><<<1, 256>>>(row);
  check(cudaMemcpy(copy, row, sizeof(Row), cudaMemcpyDeviceToDevice));
  negate<<<1, 256>>>(copy);
  check(cudaMemcpy(&on_host, row, sizeof(Row), cudaMemcpyDeviceToHost));
  finish();
  check(cudaFree(row));
  check(cudaFree(copy));
}

}  // namespace padding_behind_a_kilobyte

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(argc, argv,
                   {BOTH(local_array_too_short),
                    BOTH(local_histogram),
                    BOTH(constant_table_too_short),
                    BOTH(negative_index_of_a_constant),
                    BOTH(device_variable_too_short),
                    BOTH(shared_row_too_short),
                    BOTH(member_array_too_short),
                    BOTH(misaligned_float4),
                    BOTH(misaligned_rows),
                    BOTH(misaligned_shared_memory),
                    BOTH(float4_at_half_its_size),
                    BOTH(double2_in_odd_rows),
                    BOTH(float4_in_padded_shared_rows),
                    BOTH(read_only_float4),
                    BOTH(pairs_that_are_no_vector),
                    BOTH(misaligned_word_of_bytes),
                    BOTH(counter_never_cleared),
                    BOTH(one_byte_of_a_counter_cleared),
                    BOTH(shared_histogram_never_cleared),
                    BOTH(largest_of_nothing),
                    BOTH(lock_never_opened),
                    BOTH(bytes_of_neighbours),
                    BOTH(halves_in_shared_memory),
                    BOTH(bytes_at_the_border_of_blocks),
                    BOTH(padding_of_structures),
                    BOTH(padding_behind_a_kilobyte)});
}
