/// \file
/// Declarations that a program with loop (4) of the chapter on slicing contains if the loop runs on
/// a GPU, so that it needs no other file.

#pragma once

namespace slicer {

inline constexpr const char* device_prelude = R"(
/// Throws if a call of the CUDA runtime failed.
inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// A stream of copies and kernels, with an event at the end of a slice.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreate(&stream_));
    check(cudaEventCreateWithFlags(&end_, cudaEventDisableTiming));
  }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }
  void end_slice() { check(cudaEventRecord(end_, stream_)); }
  void wait() const { check(cudaEventSynchronize(end_)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// The elements of a box, on the host or on the device, with the same subscripts as in the array.
/// A matrix may be stored as a vector: a[i * row + j].
template <typename Element, int rank, bool is_line>
struct Room {
  Element* elements;
  long first[rank], extents[rank], row;

  template <typename... Subscript>
  __host__ __device__ Element& operator()(Subscript... subscript) const {
    long at = 0;
    int d = 0;
    ((at = at * extents[d] + static_cast<long>(subscript) - first[d], ++d), ...);
    return elements[at];
  }

  __host__ __device__ decltype(auto) operator[](long subscript) const {
    if constexpr (is_line)
      return (*this)(subscript / row, subscript % row);
    else
      return Row<0>{*this, 0}[subscript];
  }

  /// The part of the box that the first subscripts select.
  template <int known>
  struct Row {
    const Room& room;
    long at;
    __host__ __device__ decltype(auto) operator[](long subscript) const {
      const long next = at * room.extents[known] + subscript - room.first[known];
      if constexpr (known + 1 == rank)
        return (room.elements[next]);
      else
        return Row<known + 1>{room, next};
    }
  };
};

/// A box of an array in pinned host memory, and a box of the same size on the device.
template <typename Reference, int rank, bool is_line = false>
class Box {
 public:
  using Element = std::remove_cvref_t<Reference>;
  static_assert(std::is_trivially_copyable_v<Element>, "elements are copied byte by byte");

  Box() = default;
  ~Box() { release(); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  /// Allocates the elements, without initial values. No copy may be in flight.
  void hold(const std::array<long, rank>& from, const std::array<long, rank>& to, long row = 1) {
    size_ = 1;
    for (int d = 0; d < rank; ++d) {
      host_.first[d] = from[d];
      host_.extents[d] = std::max(to[d] - from[d], 0L);
      size_ *= host_.extents[d];
    }
    host_.row = row;
    if (size_ <= room_) return;
    release();
    check(cudaMallocHost(reinterpret_cast<void**>(&host_.elements), bytes()));
    check(cudaMalloc(reinterpret_cast<void**>(&elements_), bytes()));
    room_ = size_;
  }

  Room<Element, rank, is_line> on_host() const { return host_; }
  Room<Element, rank, is_line> on_device() const {
    auto room = host_;
    room.elements = elements_;
    return room;
  }
  void send(cudaStream_t stream) const {
    if (size_ > 0)
      check(cudaMemcpyAsync(elements_, host_.elements, bytes(), cudaMemcpyHostToDevice, stream));
  }
  void fetch(cudaStream_t stream) const {
    if (size_ > 0)
      check(cudaMemcpyAsync(host_.elements, elements_, bytes(), cudaMemcpyDeviceToHost, stream));
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(Element); }
  void release() {
    if (host_.elements) cudaFreeHost(host_.elements);
    if (elements_) cudaFree(elements_);
    host_.elements = elements_ = nullptr;
    room_ = 0;
  }

  Room<Element, rank, is_line> host_{};
  Element* elements_ = nullptr;
  long size_ = 0, room_ = 0;
};

/// The number of thread blocks for a number of iterations. Grid-stride loops do the rest.
inline unsigned blocks_for(long iterations, unsigned threads) {
  return static_cast<unsigned>(std::clamp((iterations + threads - 1) / threads, 1L, 65535L));
}

template <typename T>
__host__ __device__ constexpr T larger(T a, T b) {
  return a < b ? b : a;
}
)";

}  // namespace slicer
