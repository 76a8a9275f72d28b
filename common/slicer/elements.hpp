/// \file
/// Which elements of arrays the accesses touch.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space.hpp"

namespace slicer {

/// An element that an access touches, for the two iterations of a pair.
struct Touched {
  const Access* access;
  std::vector<isl::set> domains;                          ///< of source and sink
  std::vector<std::vector<std::vector<isl::pw_aff>>> at;  ///< of each: subscripts of each step
  std::string unsure;                                     ///< why it may not happen, or elsewhere
};

/// Makes sets and subscripts of accesses.
class Elements {
 public:
  explicit Elements(const Space& space) : space_(space), names_(space.names()) {}

  /// All accesses at once, since a line of numbers is taken apart into rows only for all.
  std::vector<Touched> touch(const std::vector<const Access*>& accesses);

 private:
  using Split = std::vector<std::vector<Polynomial>>;

  Touched touch(const Access& access);
  void find_subscripts();
  void find_subscripts(const Variable* variable, std::size_t s);
  std::optional<Split> split_up(const std::vector<Touched*>& linear,
                                const std::vector<Polynomial>& sums) const;
  std::optional<std::pair<Polynomial, Polynomial>> divided(const Touched& touched,
                                                           const Polynomial& sum,
                                                           const Variable* size) const;

  const Space& space_;
  const Names& names_;
  std::map<const Frame*, std::pair<std::vector<isl::set>, std::string>> domains_;
  std::vector<Touched> touched_;
};

}  // namespace slicer
