/// \file
/// MPI, the Message Passing Interface, for stages that run on ranks: errors that become exceptions,
/// and communicators, datatypes and requests that are given back at the end of their lives.

#pragma once

// The C++ bindings of MPI-2 are gone from the standard.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace staircase::mpi {

/// Throws what MPI says of an error, as a Failure.
[[noreturn]] void fail(int error);

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

}  // namespace staircase::mpi
