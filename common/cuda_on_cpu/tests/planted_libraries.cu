/// \file
/// Seeded bugs: calls of cuBLAS and cuSOLVER whose operands are not written yet, or are written
/// concurrently.

#include <cusolverDn.h>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int n = 4, lda = 6;
constexpr auto lower = CUBLAS_FILL_MODE_LOWER;
constexpr auto vectors = CUSOLVER_EIG_MODE_VECTOR;

/// Elements in device memory that nothing has written.
template <typename T>
class Unwritten {
 public:
  explicit Unwritten(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
  ~Unwritten() { cudaFree(data_); }
  Unwritten(const Unwritten&) = delete;
  Unwritten& operator=(const Unwritten&) = delete;

  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Writes the identity into one triangle of a matrix. Nothing is written between the columns and in
/// the other triangle.
__global__ void write_triangle(double* a) {
  const int i = threadIdx.x, j = threadIdx.y;
  if (i >= j) a[i + j * lda] = i == j;
}
template <typename T>
__global__ void write_matrix(T* a, int stride) {
  a[threadIdx.x + threadIdx.y * stride] = threadIdx.x == threadIdx.y;
}
__global__ void write_vector(double* x, int stride) { x[threadIdx.x * stride] = threadIdx.x; }

struct Blas {
  Blas() { cublasCreate(&handle); }
  ~Blas() { cublasDestroy(handle); }
  cublasHandle_t handle = nullptr;
};
struct Solver {
  Solver() { cusolverDnCreate(&handle); }
  ~Solver() { cusolverDnDestroy(handle); }
  cusolverDnHandle_t handle = nullptr;
  Buffer<double> room{1};
  Unwritten<int> info{1};
};

namespace right_hand_side_never_written {

/// A factorisation reads only one triangle of the matrix.
template <bool bug>
void run() {
  const Solver s;
  const Unwritten<double> a(lda * n), b(n);
  write_triangle<<<1, dim3(n, n)>>>(a.get());
  if (!bug) write_vector<<<1, n>>>(b.get(), 1);
  cusolverDnDpotrf(s.handle, lower, n, a.get(), lda, s.room.get(), 1, s.info.get());
  const double* const l = a.get();
  int* const i = s.info.get();
  cusolverDnDpotrs(s.handle, lower, n, 1, l, lda, b.get(), n, i);  // planted: uninitialised read
  finish();
}

}  // namespace right_hand_side_never_written

namespace other_triangle_written {

/// The call reads the triangle that it names. The second call has no bug.
template <bool bug>
void run() {
  const Solver s;
  const Unwritten<double> a(lda * n), b(lda * n), w(n);
  const auto part = bug ? CUBLAS_FILL_MODE_UPPER : lower;
  double *const first = a.get(), *const second = b.get(), *const v = w.get(),
                *const r = s.room.get();
  write_triangle<<<1, dim3(n, n)>>>(first);
  write_triangle<<<1, dim3(n, n)>>>(second);
  int* const i = s.info.get();
  const auto h = s.handle;
  cusolverDnDsyevd(h, vectors, part, n, first, lda, v, r, 1, i);  // planted: uninitialised read
  cusolverDnDsyevd(h, vectors, lower, n, second, lda, v, r, 1, i);
  finish();
}

}  // namespace other_triangle_written

namespace matrix_of_a_batch_never_written {

/// The addresses of the matrices are known only when the stream executes the call.
template <bool bug>
void run() {
  const Blas blas;
  const Unwritten<double> a(n * n), b(n * n), tau(2 * n);
  write_matrix<<<1, dim3(n, n)>>>(a.get(), n);
  if (!bug) write_matrix<<<1, dim3(n, n)>>>(b.get(), n);
  double *const as[] = {a.get(), b.get()}, *const taus[] = {tau.get(), tau.get() + n};
  const Unwritten<double*> all_a(2), all_tau(2);
  check(cudaMemcpy(all_a.get(), as, sizeof as, cudaMemcpyHostToDevice));
  check(cudaMemcpy(all_tau.get(), taus, sizeof taus, cudaMemcpyHostToDevice));
  double* const* const t = all_tau.get();
  const auto h = blas.handle;
  int i = 0;
  cublasDgeqrfBatched(h, n, n, all_a.get(), n, t, &i, 2);  // planted: uninitialised read
  finish();
}

}  // namespace matrix_of_a_batch_never_written

namespace product_of_an_unwritten_matrix {

/// A product reads neither the memory between the columns nor the other elements of a vector.
template <bool bug>
void run() {
  const Blas blas;
  const Unwritten<double> a(lda * n), x(2 * n), y(n);
  if (!bug) write_matrix<<<1, dim3(n, n)>>>(a.get(), lda);
  write_vector<<<1, n>>>(x.get(), 2);
  const double one = 1, zero = 0, *const m = a.get(), *const v = x.get();
  double* const w = y.get();
  const auto op = CUBLAS_OP_N;
  const auto h = blas.handle;
  cublasDgemv(h, op, n, n, &one, m, lda, v, 2, &zero, w, 1);  // planted: uninitialised read
  finish();
}

}  // namespace product_of_an_unwritten_matrix

namespace system_of_the_other_triangle {

/// A triangular system reads one triangle of its matrix.
template <bool bug>
void run() {
  const Blas blas;
  const Unwritten<double> a(lda * n);
  const Buffer<double> b(lda * n);
  write_triangle<<<1, dim3(n, n)>>>(a.get());
  const auto part = bug ? CUBLAS_FILL_MODE_UPPER : lower;
  const auto left = CUBLAS_SIDE_LEFT;
  const auto op = CUBLAS_OP_N;
  const auto full = CUBLAS_DIAG_NON_UNIT;
  const double one = 1, *const m = a.get();
  double* const x = b.get();
  const auto h = blas.handle;
  cublasDtrsm(h, left, part, op, full, n, n, &one, m, lda, x, lda);  // planted: uninitialised read
  finish();
}

}  // namespace system_of_the_other_triangle

namespace typed_product_of_an_unwritten_matrix {

/// A product whose types are arguments does not read the memory between the columns.
template <bool bug>
void run() {
  const Blas blas;
  const Unwritten<float> a(lda * n), c(lda * n);
  write_matrix<<<1, dim3(n, n)>>>(a.get(), lda);
  if (!bug) write_matrix<<<1, dim3(n, n)>>>(c.get(), lda);
  const float one = 1, *const m = a.get();
  float* const r = c.get();
  const auto t = CUDA_R_32F;
  const auto op = CUBLAS_OP_N;
  const auto handle = blas.handle;
  cublasSgemmEx(handle, op, op, n, n, n, &one, m, t, lda,  // planted: uninitialised read
                m, t, lda, &one, r, t, lda);
  finish();
}

}  // namespace typed_product_of_an_unwritten_matrix

namespace factors_in_another_stream {

/// The matrix is written in a stream for which the factorisation does not wait.
template <bool bug>
void run() {
  const Solver s;
  const Stream stream;
  const Buffer<double> a(lda * n), tau(n);
  check(cudaDeviceSynchronize());
  write_matrix<<<1, dim3(n, n), 0, stream.get()>>>(a.get(), lda);
  if (!bug) cusolverDnSetStream(s.handle, stream.get());
  double* const t = tau.get();
  int* const i = s.info.get();
  cusolverDnDgeqrf(s.handle, n, n, a.get(), lda, t, s.room.get(), 1, i);  // planted: stream race
  finish();
}

}  // namespace factors_in_another_stream

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(argc, argv,
                   {BOTH(right_hand_side_never_written), BOTH(other_triangle_written),
                    BOTH(matrix_of_a_batch_never_written), BOTH(product_of_an_unwritten_matrix),
                    BOTH(system_of_the_other_triangle), BOTH(typed_product_of_an_unwritten_matrix),
                    BOTH(factors_in_another_stream)});
}
