/// \file
/// MPI, the Message Passing Interface, for stages that run on ranks: errors that become exceptions,
/// and communicators, datatypes, requests and windows that are given back when their lives end.

#pragma once

// The C++ bindings of MPI-2 are gone from the standard.
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

/// Throws what MPI says of an error, as a Failure.
[[noreturn]] void fail(int error);

/// Throws that the ranks of a machine cannot share so much memory.
[[noreturn]] void fail_to_share(std::size_t bytes);

/// Every call of MPI goes through here.
inline void check(int error) {
  if (error != MPI_SUCCESS) fail(error);
}

/// What MPI calls the type of an element.
template <typename T>
MPI_Datatype element() {
  return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT;
}

/// Something that MPI has made, which one owner gives back.
template <typename Handle, int (*give_back)(Handle*)>
class Owned {
 public:
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() {
    if (owns_) give_back(&handle_);
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

/// A communicator in which the ranks are a grid, p along y and q along x, periodic in both.
inline Communicator periodic_grid(std::size_t p, std::size_t q) {
  const int ranks[] = {static_cast<int>(p), static_cast<int>(q)}, periodic[] = {true, true};
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, periodic, false, &made));
  return Communicator(made);
}

/// The ranks before and behind this one along a direction of a grid: 0 is y, 1 is x.
inline std::pair<int, int> neighbours(MPI_Comm grid, int direction) {
  int before = 0, behind = 0;
  check(MPI_Cart_shift(grid, direction, 1, &before, &behind));
  return {before, behind};
}

/// The ranks of this rank's machine, or of each so many of them those that this rank is among.
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

/// The number that a rank of one communicator has in another one, if it is in both.
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

/// Elements of which each lies so far behind the one before: a column of a row-major array. Where
/// several lie together in a row, so do the first ones: some columns.
template <typename T>
Datatype strided(std::size_t count, std::size_t stride, std::size_t together = 1) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(static_cast<int>(count), static_cast<int>(together),
                        static_cast<int>(stride), element<T>(), &made));
  check(MPI_Type_commit(&made));
  return Datatype(made);
}

/// Messages that are on their way together, or will be. Who started them waits for them; what is
/// left at the end is given back, as it is by a rank that fails.
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

  MPI_Request* operator[](std::size_t r) { return &requests_[r]; }
  /// Starts requests that are persistent.
  void start() { check(MPI_Startall(count, requests_.data())); }
  void wait() { check(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  std::array<MPI_Request, count> requests_;
};

/// Memory of a machine of which each of its ranks has a part and reads all others. Ranks meet in
/// two halves: what one of them wrote before it arrived, another one reads after its wait.
template <typename T>
class Window {
 public:
  /// So many elements for this rank, NaN at first. All ranks of the machine make it together.
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
  /// All ranks give it back together; one that fails does not wait for the others, as it ends them.
  ~Window() {
    if (std::uncaught_exceptions() != 0) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// What a rank of the machine has.
  std::span<T> part(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    T* begin = nullptr;
    check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &begin));
    return {begin, static_cast<std::size_t>(bytes) / sizeof(T)};
  }

  std::span<T> own_part() const {
    int number = 0;
    check(MPI_Comm_rank(machine_, &number));
    return part(number);
  }

  void arrive() {
    check(MPI_Win_sync(window_));
    check(MPI_Ibarrier(machine_, &meeting_));
  }

  void wait() {
    check(MPI_Wait(&meeting_, MPI_STATUS_IGNORE));
    check(MPI_Win_sync(window_));
  }

 private:
  MPI_Comm machine_;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Request meeting_ = MPI_REQUEST_NULL;
};

}  // namespace staircase::mpi
