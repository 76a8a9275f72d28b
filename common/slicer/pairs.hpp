/// \file
/// Dependences: pairs of iterations that access the same element.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dependence.hpp"
#include "elements.hpp"

namespace slicer {

/// Two accesses to the same element in different iterations.
struct Conflict {
  const Touched *source, *sink;
  bool is_sure;
  bool is_update;  ///< both accesses are updates of one kind, so their order is irrelevant
  isl::set where;
  std::string unsure;
};

/// The requested pairs of iterations, for a source and a sink.
using Order = std::function<isl::set(const Touched& source, const Touched& sink)>;

/// The pairs of iterations of all accesses within a frame.
class Pairs {
 public:
  /// \param root the frame of a loop, or a frame around several loops
  /// \param loops loops of the root that get coordinates even if they contain no accesses
  Pairs(const Function& function, const Frame* root, std::vector<const Access*> accesses,
        const std::vector<const Loop*>& loops = {});
  Pairs(const Pairs&) = delete;

  const Space& space() const { return space_; }
  const std::vector<Touched>& touched() const { return touched_; }

  /// All pairs of accesses to the same element in the given order. At least one of the two is a
  /// write.
  /// \throws isl::exception if the sets are too complicated
  std::vector<Conflict> conflicts(const Order& order) const;

  /// The smallest pair of iterations among some conflicts, for the smallest sizes with such a pair.
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
