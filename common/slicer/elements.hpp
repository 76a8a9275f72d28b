/// \file
/// Access relations: the elements of arrays that each iteration accesses.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space.hpp"

namespace slicer {

/// The element that an access selects, for each of the two iterations of a pair.
struct Touched {
  const Access* access;
  std::vector<isl::set> domains;                          ///< iterations of source and sink
  std::vector<std::vector<std::vector<isl::pw_aff>>> at;  ///< subscripts, by side (0, 1) and step
  std::string unsure;                                     ///< why it is uncertain that the access
                                                          ///< happens, or empty
};

/// Converts accesses to sets and subscripts.
class Elements {
 public:
  explicit Elements(const Space& space) : space_(space), names_(space.names()) {}

  /// Converts all accesses at once. A subscript such as i * n + j is split into a row and a column
  /// only if this is possible for every access to the array.
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
                                                           const Variable* size, long scale) const;

  const Space& space_;
  const Names& names_;
  std::map<const Frame*, std::pair<std::vector<isl::set>, std::string>> domains_;
  std::vector<Touched> touched_;
};

}  // namespace slicer
