/// \file
/// Baseline: cuSOLVER's factorisation of a matrix in the memories of several GPUs.
///
/// cuSOLVER requires the lower triangle of a column-major matrix. The program therefore transposes
/// our matrix while it copies it.

#include "../cholesky.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <staircase/cusolver_mg.hpp>
#include <staircase/devices.hpp>
#include <type_traits>
#include <vector>

namespace cholesky {

using staircase::check;
using staircase::DeviceArray;
using staircase::OnDevice;
using staircase::View;

/// Returns the number of columns of a group. Groups are distributed cyclically. Wide groups make
/// the updates fast, but every GPU needs several groups.
std::size_t columns_per_group(std::size_t n) {
  return std::clamp(std::bit_floor(n / 4), std::size_t{128}, std::size_t{2048});
}

template <typename T>
constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

// [distribute]
/// The columns of the matrix, distributed cyclically in groups over all GPUs. Each GPU has memory
/// for as many groups of columns as the GPU with the most groups.
template <typename T>
class Columns {
 public:
  Columns(std::size_t n, const std::vector<int>& devices)
      : group_(columns_per_group(n)), devices_(devices), transposed_(n * group_) {
    const std::size_t rounds = (n + group_ * devices.size() - 1) / (group_ * devices.size());
    for (const int device : devices) {
      const OnDevice here(device);
      arrays_.emplace_back(rounds * group_, n);
      pointers_.push_back(arrays_.back().data());
    }
  }

  void** pointers() { return pointers_.data(); }

  /// Copies the lower triangle of A to the GPUs, one group of columns after the other.
  void copy_from(View<const T, 2> a) {
    const std::size_t n = a.extent(0);
    for (std::size_t j0 = 0; j0 < n; j0 += group_) {
      const std::size_t count = std::min(group_, n - j0);
#pragma omp parallel for schedule(static)
      for (std::size_t i = j0; i < n; ++i)
        for (std::size_t j = 0; j < count; ++j) transposed_[j * n + i] = a(i, j0 + j);
      const OnDevice here(device_of(j0));
      check(cudaMemcpy(place_of(j0), transposed_.data(), count * n * sizeof(T),
                       cudaMemcpyHostToDevice));
    }
    // cusolverMg has streams of its own, which do not wait for copies.
    for (const int device : devices_) {
      const OnDevice here(device);
      check(cudaDeviceSynchronize());
    }
  }

  /// Copies L to the host, with zeros above the diagonal.
  void copy_to(View<T, 2> l) {
    const std::size_t n = l.extent(0);
    for (std::size_t j0 = 0; j0 < n; j0 += group_) {
      const std::size_t count = std::min(group_, n - j0);
      const OnDevice here(device_of(j0));
      check(cudaMemcpy(transposed_.data(), place_of(j0), count * n * sizeof(T),
                       cudaMemcpyDeviceToHost));
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < count; ++j)
          l(i, j0 + j) = j0 + j <= i ? transposed_[j * n + i] : T{0};
    }
  }

 private:
  int device_of(std::size_t j0) const { return devices_[j0 / group_ % devices_.size()]; }
  T* place_of(std::size_t j0) {
    return &arrays_[j0 / group_ % devices_.size()](j0 / group_ / devices_.size() * group_, 0);
  }

  std::size_t group_;  // columns per group
  std::vector<int> devices_;
  std::deque<DeviceArray<T, 2>> arrays_;
  std::vector<void*> pointers_;
  std::vector<T> transposed_;
};
// [distribute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::vector<int> devices = staircase::devices(problem.gpus);
  timeline.begin("allocate");
  const std::size_t n = problem.n;
  staircase::connect(devices);
  const staircase::CusolverMgHandle handle(devices);
  const staircase::CusolverMgMatrix matrix(n, columns_per_group(n), type<T>, devices);
  Columns<T> columns(n, devices);
  std::int64_t elements = 0;
  check(cusolverMgPotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, columns.pointers(), 1, 1,
                                   matrix, type<T>, &elements));
  std::deque<DeviceArray<T, 1>> rooms;
  std::vector<void*> pointers;
  for (const int device : devices) {
    const OnDevice here(device);
    pointers.push_back(rooms.emplace_back(elements).data());
  }
  Solution<T> l(n, n);

  timeline.begin("copy in");
  columns.copy_from(problem.a<T>());

  timeline.begin("kernels");
  int bad = 0;  // index of the first pivot that is not positive, counted from 1
  check(cusolverMgPotrf(handle, CUBLAS_FILL_MODE_LOWER, n, columns.pointers(), 1, 1, matrix,
                        type<T>, pointers.data(), elements, &bad));
  for (const int device : devices) {
    const OnDevice here(device);
    check(cudaDeviceSynchronize());
  }

  timeline.begin("copy out");
  columns.copy_to(l);
  if (bad > 0) l(bad - 1, bad - 1) = std::numeric_limits<T>::quiet_NaN();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "cusolverMgPotrf",
                                 .idea = "Call potrf of cuSOLVER on several GPUs",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
