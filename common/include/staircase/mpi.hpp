/// \file
/// Helpers for stages that run on ranks of MPI (Message Passing Interface). MPI errors become
/// exceptions, and objects own communicators, datatypes, requests and windows.

#pragma once

// Excludes the C++ bindings of MPI-2, which the MPI standard has removed.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "array.hpp"

namespace staircase::mpi {

/// Throws an exception with the text of an MPI error.
/// \throws Failure with Exit::exhausted
[[noreturn]] void fail(int error);

/// Throws an exception, because `bytes` bytes of shared memory cannot be allocated.
/// \throws NotEnoughMemory always
[[noreturn]] void fail_to_share(std::size_t bytes);

/// Throws if an MPI call failed; see fail().
inline void check(int error) {
  if (error != MPI_SUCCESS) fail(error);
}

/// The MPI datatype of an element: double or float.
template <typename T>
MPI_Datatype element() {
  return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT;
}

/// Owns an MPI object and frees it at the end of its lifetime.
template <typename Handle, int (*release)(Handle*)>
class Owned {
 public:
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() {
    if (owns_) release(&handle_);
  }
  Owned(Owned&& other) noexcept
      : handle_(other.handle_), owns_(std::exchange(other.owns_, false)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;

  operator Handle() const { return handle_; }

 private:
  Handle handle_;
  bool owns_ = true;
};

using Communicator = Owned<MPI_Comm, MPI_Comm_free>;
using Group = Owned<MPI_Group, MPI_Group_free>;
using Datatype = Owned<MPI_Datatype, MPI_Type_free>;

/// A communicator in which the ranks form a periodic grid of p ranks along y and q ranks along x.
inline Communicator periodic_grid(std::size_t p, std::size_t q) {
  const int ranks[] = {static_cast<int>(p), static_cast<int>(q)}, periodic[] = {true, true};
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, periodic, false, &made));
  return Communicator(made);
}

/// The ranks before and after this rank along a direction of a grid. Direction 0 is y, and
/// direction 1 is x.
inline std::pair<int, int> neighbours(MPI_Comm grid, int direction) {
  int previous = 0, next = 0;
  check(MPI_Cart_shift(grid, direction, 1, &previous, &next));
  return {previous, next};
}

/// A communicator of the ranks on the same machine as this rank. If `so_many` is not 0, these ranks
/// are divided into groups of `so_many`, and the communicator contains the group of this rank.
inline Communicator machine(std::int64_t so_many = 0) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
  Communicator all(made);
  if (so_many == 0) return all;
  int number = 0;
  check(MPI_Comm_rank(all, &number));
  check(MPI_Comm_split(all, static_cast<int>(number / so_many), number, &made));
  return Communicator(made);
}

/// The rank in communicator `other` of the process that has rank `rank` in communicator `one`. The
/// result is empty if `other` does not contain the process.
inline std::optional<int> number_in(MPI_Comm other, MPI_Comm one, int rank) {
  const auto group_of = [](MPI_Comm communicator) {
    MPI_Group made = MPI_GROUP_NULL;
    check(MPI_Comm_group(communicator, &made));
    return Group(made);
  };
  int number = MPI_UNDEFINED;
  check(MPI_Group_translate_ranks(group_of(one), 1, &rank, group_of(other), &number));
  return number == MPI_UNDEFINED ? std::nullopt : std::optional(number);
}

/// A datatype of `count` groups of `together` adjacent elements each. The first elements of two
/// consecutive groups are `stride` elements apart. Such a datatype describes one column of a
/// row-major array, or several adjacent columns.
template <typename T>
Datatype strided(std::size_t count, std::size_t stride, std::size_t together = 1) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(static_cast<int>(count), static_cast<int>(together),
                        static_cast<int>(stride), element<T>(), &made));
  check(MPI_Type_commit(&made));
  return Datatype(made);
}

/// A fixed number of requests for messages that can be in flight at the same time. The rank that
/// starts the messages must wait for their completion. The destructor frees the remaining requests.
template <std::size_t count>
class Requests {
 public:
  Requests() { requests_.fill(MPI_REQUEST_NULL); }
  ~Requests() {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  /// The address of request r, in the form that MPI functions expect.
  MPI_Request* operator[](std::size_t r) { return &requests_[r]; }
  /// Starts all requests, which must be persistent.
  void start() { check(MPI_Startall(count, requests_.data())); }
  /// Waits for all requests.
  void wait() { check(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  std::array<MPI_Request, count> requests_;
};

/// Memory that the ranks of a machine share: each rank writes its own part and reads all parts.
///
/// The ranks synchronise by a split barrier: a rank's writes before arrive() are visible to each
/// rank that has returned from wait().
template <typename T>
class Window {
 public:
  /// Allocates `count` elements for this rank and sets them to NaN. All ranks of `machine` must
  /// call the constructor.
  Window(MPI_Comm machine, std::size_t count) : machine_(machine) {
    const std::size_t bytes = count * sizeof(T);
    void* own = nullptr;
    if (MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), sizeof(T), MPI_INFO_NULL, machine,
                                &own, &window_) != MPI_SUCCESS)
      fail_to_share(bytes);
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_));
    poison(std::span(static_cast<T*>(own), count));
  }
  /// Frees the memory; all ranks must call the destructor. While an exception propagates, the
  /// destructor does nothing, because a failing rank aborts all ranks and must not wait for other
  /// ranks.
  ~Window() {
    if (std::uncaught_exceptions() != 0) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// The part that rank `rank` of the machine's communicator owns.
  std::span<T> part(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    T* begin = nullptr;
    check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &begin));
    return {begin, static_cast<std::size_t>(bytes) / sizeof(T)};
  }

  /// The part that this rank owns.
  std::span<T> own_part() const {
    int number = 0;
    check(MPI_Comm_rank(machine_, &number));
    return part(number);
  }

  /// Makes the writes of this rank visible to the other ranks and arrives at the barrier, without
  /// waiting.
  void arrive() {
    check(MPI_Win_sync(window_));
    check(MPI_Ibarrier(machine_, &barrier_));
  }

  /// Waits until all ranks have arrived.
  void wait() {
    check(MPI_Wait(&barrier_, MPI_STATUS_IGNORE));
    check(MPI_Win_sync(window_));
  }

 private:
  MPI_Comm machine_;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
};

}  // namespace staircase::mpi
