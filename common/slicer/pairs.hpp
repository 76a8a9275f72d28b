/// \file
/// Pairs of iterations that touch the same element.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dependence.hpp"
#include "elements.hpp"

namespace slicer {

/// Two accesses that touch the same element in different iterations.
struct Conflict {
  const Touched *source, *sink;
  bool is_sure;
  bool is_update;  ///< both only add to it, or the like, so that the order does not matter
  isl::set where;
  std::string unsure;
};

/// The pairs that are asked for, of a source and a sink.
using Order = std::function<isl::set(const Touched& source, const Touched& sink)>;

/// The pairs of iterations of what a frame contains.
class Pairs {
 public:
  /// \param root the frame of a loop, or one around several
  /// \param loops within the root, or its own, that count even if there are no accesses in them
  Pairs(const Function& function, const Frame* root, std::vector<const Access*> accesses,
        const std::vector<const Loop*>& loops = {});
  Pairs(const Pairs&) = delete;

  const Space& space() const { return space_; }
  const std::vector<Touched>& touched() const { return touched_; }

  /// What touches the same element, of which one writes, in an order.
  /// \throws isl::exception if the sets are too complicated
  std::vector<Conflict> conflicts(const Order& order) const;

  /// The smallest pair of iterations among some conflicts, for the smallest sizes that have one.
  Pair smallest(const std::vector<const Conflict*>& conflicts) const;

 private:
  void compare(const Touched& source, const Touched& sink, const Order& order,
               std::vector<Conflict>& conflicts) const;
  void compare_names(const Touched& source, const Touched& sink, const Order& order,
                     std::vector<Conflict>& conflicts) const;
  isl::set sizes_up_to(long most) const;
  isl::set up_to(long largest) const;
  std::vector<long> point_of(const isl::set& set) const;
  bool precedes(const std::vector<long>& one, const std::vector<long>& other) const;
  Pair pair_of(const Conflict& conflict, const std::vector<long>& values) const;
  Values iteration(const Access& access, const std::vector<long>& values, int side) const;
  std::string element(const Touched& touched, const std::vector<long>& values) const;
  long index_at(const Touched& touched, std::size_t s, const std::vector<long>& values) const;

  std::vector<const Access*> accesses_;
  Names names_;
  Space space_;
  std::vector<Touched> touched_;
};

}  // namespace slicer
