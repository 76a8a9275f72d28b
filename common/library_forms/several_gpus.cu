/// \file
/// Measures the times of alternative calls to cusolverMg that factorise a matrix on several GPUs.
/// For comparison, also measures the time of `Xpotrf` of cuSOLVER on one GPU.
///
/// Usage: library_forms_several_gpus [--tiny] [WORKLOAD]...

#define DISABLE_CUSOLVERMG_DEPRECATED
#include <cusolverDn.h>
#include <cusolverMg.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "device.hpp"
#include "forms.hpp"

namespace {

using forms::check;
using forms::Device;
using forms::fill_matrix;
using forms::finish;
using forms::Group;
using forms::Kind;
using forms::Matrix;
using forms::type;

using Devices = std::vector<int>;

/// Makes a device the current device during the lifetime of the object.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

void synchronise(const Devices& devices) {
  for (const int device : devices) {
    const OnDevice here(device);
    check(cudaDeviceSynchronize());
  }
}

/// Enables or disables the access of each device to the memory of all other devices.
void set_peer_access(const Devices& devices, bool enable) {
  for (const int device : devices)
    for (const int peer : devices) {
      if (device == peer) continue;
      const OnDevice here(device);
      const cudaError_t error =
          enable ? cudaDeviceEnablePeerAccess(peer, 0) : cudaDeviceDisablePeerAccess(peer);
      if (error != cudaErrorPeerAccessAlreadyEnabled && error != cudaErrorPeerAccessNotEnabled)
        check(error);
      cudaGetLastError();
    }
}

/// The number of columns for which each GPU allocates memory.
std::int64_t columns_per_gpu(std::int64_t n, std::int64_t block, std::int64_t gpus) {
  return (n + block * gpus - 1) / (block * gpus) * block;
}

/// The memory on one GPU, which all forms use one after the other.
template <typename T>
struct Memory {
  Device<T> matrix;   // column blocks of the matrix
  Device<T> room;     // workspace
  Device<T> columns;  // a column block of the reference
  Device<double> sums;
};

/// The distribution of a matrix over GPUs: blocks of `block` columns are assigned cyclically.
struct Layout {
  Devices devices;
  std::int64_t n, block, lda;
  bool column_order = true;
};

/// A cusolverMg handle, and a matrix whose blocks of columns are assigned cyclically to GPUs.
template <typename T>
class Distributed {
 public:
  explicit Distributed(const Layout& layout) : devices_(layout.devices) {
    check(cusolverMgCreate(&handle_));
    check(cusolverMgDeviceSelect(handle_, devices_.size(), devices_.data()));
    check(cusolverMgCreateDeviceGrid(
        &grid_, 1, devices_.size(), devices_.data(),
        layout.column_order ? CUDALIBMG_GRID_MAPPING_COL_MAJOR : CUDALIBMG_GRID_MAPPING_ROW_MAJOR));
    check(cusolverMgCreateMatrixDesc(&matrix_, layout.lda, layout.n, layout.lda, layout.block,
                                     type<T>, grid_));
  }
  ~Distributed() {
    cusolverMgDestroyMatrixDesc(matrix_);
    cusolverMgDestroyGrid(grid_);
    cusolverMgDestroy(handle_);
  }
  Distributed(const Distributed&) = delete;
  Distributed& operator=(const Distributed&) = delete;

  std::int64_t workspace(std::int64_t n, std::vector<void*> values) const {
    std::int64_t elements = 0;
    check(cusolverMgPotrf_bufferSize(handle_, CUBLAS_FILL_MODE_LOWER, n, values.data(), 1, 1,
                                     matrix_, type<T>, &elements));
    return elements;
  }

  void factorise(std::int64_t n, std::vector<void*> values, std::vector<void*> rooms,
                 std::int64_t elements) const {
    int bad = 0;
    check(cusolverMgPotrf(handle_, CUBLAS_FILL_MODE_LOWER, n, values.data(), 1, 1, matrix_, type<T>,
                          rooms.data(), elements, &bad));
    synchronise(devices_);
    if (bad != 0) throw std::runtime_error("pivot " + std::to_string(bad) + " is not positive");
  }

 private:
  Devices devices_;
  cusolverMgHandle_t handle_{};
  cudaLibMgGrid_t grid_{};
  cudaLibMgMatrixDesc_t matrix_{};
};

/// The forms that factorise one matrix of n × n elements.
template <typename T>
class Cholesky {
 public:
  Cholesky(std::int64_t n, int gpus, int scale) : n_(n), all_(gpus), scale_(scale) {
    std::iota(all_.begin(), all_.end(), 0);
    reference_ = std::make_unique<Device<T>>(n * n);
  }

  /// Measures the time of each form with each block size, on one GPU and on all GPUs. If `more` is
  /// true, also measures the reverse order of the GPUs, and further variants with blocks of 1024
  /// columns.
  void run(int repeats, const std::vector<std::int64_t>& blocks, bool more) {
    Group group{forms::group_name<T>("cholesky", std::to_string(n_)), forms::tolerance<T>, {}};
    add_single(group);
    forms::run(group, repeats);
    group.forms.clear();
    for (const std::int64_t block : blocks)
      for (const std::size_t gpus : counts()) {
        const Devices devices(all_.begin(), all_.begin() + gpus);
        add(group, name(gpus, block), {devices, n_, block / scale_, n_});
        if (more && gpus > 1)
          add(group, name(gpus, block) + "_reversed",
              {{devices.rbegin(), devices.rend()}, n_, block / scale_, n_});
      }
    for (const std::size_t gpus : counts()) {
      if (!more) continue;
      const Devices devices(all_.begin(), all_.begin() + gpus);
      const std::int64_t block = 1024;
      const Layout layout{devices, n_, block / scale_, n_};
      add(group, name(gpus, block) + "_new_handle", layout, {.new_handle = true});
      add(group, name(gpus, block) + "_padded", {devices, n_, block / scale_, n_ + 32});
      add(group, name(gpus, block) + "_row_order", {devices, n_, block / scale_, n_, false});
      if (gpus > 1)
        add(group, name(gpus, block) + "_no_peers", layout, {.new_handle = true, .peers = false});
    }
    forms::run(group, repeats);
  }

 private:
  struct Options {
    bool new_handle = false;  // use a new handle for each call
    bool peers = true;        // enable peer access before the handle is created
  };

  std::vector<std::size_t> counts() const {
    return all_.size() > 1 ? std::vector<std::size_t>{1, all_.size()} : std::vector<std::size_t>{1};
  }
  static std::string name(std::size_t gpus, std::int64_t block) {
    return "MgPotrf_gpus_" + std::to_string(gpus) + "_block_" + std::to_string(block);
  }

  Matrix<T> reference() const { return forms::by_columns(*reference_, n_, n_, n_); }

  /// Adds the form `Xpotrf` on one GPU, whose factor is the reference for all other forms.
  void add_single(Group& group) const {
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t parameters = nullptr;
    check(cusolverDnCreate(&handle));
    check(cusolverDnCreateParams(&parameters));
    std::size_t bytes = 0, host_bytes = 0;
    check(cusolverDnXpotrf_bufferSize(handle, parameters, CUBLAS_FILL_MODE_LOWER, n_, type<T>,
                                      reference_->get(), n_, type<T>, &bytes, &host_bytes));
    const Device<char> room(bytes);
    const Device<int> info(1);
    group.forms.push_back({"Xpotrf_gpus_1", [this] { fill_matrix(reference(), Kind::definite); },
                           [=, this] {
                             std::vector<char> host_room(host_bytes + 1);
                             finish(cusolverDnXpotrf(handle, parameters, CUBLAS_FILL_MODE_LOWER, n_,
                                                     type<T>, reference_->get(), n_, type<T>,
                                                     room.get(), bytes, host_room.data(),
                                                     host_bytes, info.get()));
                           },
                           [] { return 0.0; }});
  }

  /// Replaces the memory of the previous form by memory for `layout`.
  void allocate(const Layout& layout, const Distributed<T>& distributed) {
    const std::int64_t columns = columns_per_gpu(n_, layout.block, layout.devices.size());
    memory_.clear();
    for (const int device : layout.devices) {
      const OnDevice here(device);
      memory_.push_back({Device<T>(columns * layout.lda), Device<T>(0),
                         Device<T>(n_ * layout.block), Device<double>(2)});
    }
    elements_ = distributed.workspace(n_, pointers(&Memory<T>::matrix));
    for (std::size_t g = 0; g < memory_.size(); ++g) {
      const OnDevice here(layout.devices[g]);
      memory_[g].room = Device<T>(elements_);
    }
  }

  std::vector<void*> pointers(Device<T> Memory<T>::*array) const {
    std::vector<void*> pointers;
    for (const Memory<T>& memory : memory_) pointers.push_back((memory.*array).get());
    return pointers;
  }

  /// Calls visit(memory, block of columns, first column of the block) for each block on its device.
  template <typename Visit>
  void for_each_block(const Layout& layout, Visit visit) {
    for (std::int64_t j0 = 0, b = 0; j0 < n_; j0 += layout.block, ++b) {
      const std::int64_t gpus = layout.devices.size(), count = std::min(layout.block, n_ - j0);
      const OnDevice here(layout.devices[b % gpus]);
      const Memory<T>& memory = memory_[b % gpus];
      T* begin = memory.matrix.get() + b / gpus * layout.block * layout.lda;
      visit(memory, Matrix<T>{begin, n_, count, 1, layout.lda}, j0);
    }
  }

  double error(const Layout& layout) {
    for (std::size_t g = 0; g < memory_.size(); ++g) {
      const OnDevice here(layout.devices[g]);
      check(cudaMemset(memory_[g].sums.get(), 0, 2 * sizeof(double)));
    }
    for_each_block(layout, [&](const Memory<T>& memory, Matrix<T> block, std::int64_t j0) {
      check(cudaMemcpy(memory.columns.get(), reference_->get() + j0 * n_,
                       block.cols * n_ * sizeof(T), cudaMemcpyDefault));
      forms::compare<T><<<2048, 256>>>(block, forms::by_columns(memory.columns, n_, block.cols, n_),
                                       true, j0, memory.sums.get());
      check(cudaDeviceSynchronize());
    });
    double difference = 0, size = 0;
    for (const Memory<T>& memory : memory_) {
      double sums[2];
      check(cudaMemcpy(sums, memory.sums.get(), sizeof sums, cudaMemcpyDefault));
      difference += sums[0];
      size += sums[1];
    }
    return std::sqrt(difference / size);
  }

  void add(Group& group, const std::string& name, const Layout& layout, Options options = {}) {
    const auto held = std::make_shared<std::unique_ptr<Distributed<T>>>();
    group.forms.push_back({name,
                           [=, this] {
                             const bool is_first = *held == nullptr;
                             if (is_first || options.new_handle) {
                               held->reset();
                               set_peer_access(layout.devices, options.peers);
                               *held = std::make_unique<Distributed<T>>(layout);
                             }
                             if (is_first) allocate(layout, **held);
                             for_each_block(
                                 layout, [&](const Memory<T>&, Matrix<T> block, std::int64_t j0) {
                                   fill_matrix(block, Kind::definite, j0);
                                 });
                             synchronise(layout.devices);
                           },
                           [=, this] {
                             (*held)->factorise(n_, pointers(&Memory<T>::matrix),
                                                pointers(&Memory<T>::room), elements_);
                           },
                           [=, this] {
                             const double difference = error(layout);
                             held->reset();
                             set_peer_access(layout.devices, true);
                             return difference;
                           }});
  }

  std::int64_t n_;
  Devices all_;
  int scale_;
  std::unique_ptr<Device<T>> reference_;
  std::vector<Memory<T>> memory_;
  std::int64_t elements_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  const forms::Arguments arguments(argc, argv);
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus));
  const int scale = arguments.size(64) == 64 ? 1 : 16;
  if (arguments.wants("cholesky")) {
    Cholesky<double>(arguments.size(4096), gpus, scale).run(9, {128, 256, 512, 1024}, false);
    Cholesky<double>(arguments.size(16384), gpus, scale).run(5, {256, 512, 1024, 2048}, false);
    Cholesky<double>(arguments.size(32768), gpus, scale)
        .run(3, {128, 256, 512, 1024, 2048, 4096}, true);
    Cholesky<float>(arguments.size(32768), gpus, scale).run(3, {256, 512, 1024, 2048}, false);
    Cholesky<double>(arguments.size(65536), gpus, scale)
        .run(2, {128, 512, 1024, 2048, 4096}, false);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "library_forms_several_gpus: %s\n", error.what());
  return 1;
}
