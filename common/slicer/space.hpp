/// \file
/// The space of pairs of iterations. Its coordinates are the counters of the outer loops, the
/// counters of the loops within the root for each of the two iterations, and the sizes.

#pragma once

#include <isl/cpp.h>

#include <optional>
#include <string>
#include <vector>

#include "names.hpp"

namespace slicer {

/// The isl context of all sets. An operation throws after about a second: see `begin_operations`.
isl::ctx shared_context();

/// Resets the operation count before the next query. Each query that exceeds the limit lowers the
/// limit for the rest of the file, so that no file takes long.
void begin_operations();

/// Where a term occurs in the program, for one side of a pair: 0 is the source, and 1 is the sink.
struct View {
  const Frame *used, *stable;
  int side;
  bool is_end = false;  ///< whether the term is the end of a loop, which is assumed not to overflow
};

/// The coordinates of a pair of iterations, in the order that determines the smallest pair.
class Space {
 public:
  /// \param accesses the accesses within the root, whose sizes become coordinates
  /// \param loops loops that get coordinates even if they contain no accesses
  Space(const Names& names, const std::vector<const Access*>& accesses,
        const std::vector<const Loop*>& loops = {});

  const Names& names() const { return names_; }
  const std::vector<const Variable*>& sizes() const { return sizes_; }

  std::size_t count() const { return outer_.size() + 2 * levels_ + sizes_.size(); }
  /// The number of leading coordinates: one for each outer loop, and two (one per side) for the
  /// outermost loop of the root.
  std::size_t first_ones() const { return outer_.size() + 2; }
  std::size_t position_of(const Loop& loop, int side) const;
  std::size_t position_of(const Variable* size) const;

  isl::pw_aff number(long value) const;
  isl::pw_aff variable_at(std::size_t position) const;
  isl::set universe() const { return isl::manage(isl_set_universe(space_.copy())); }
  isl::set nothing() const { return isl::manage(isl_set_empty(space_.copy())); }

  isl::pw_aff affine(const Polynomial& polynomial, const View& view) const;
  /// The affine function of a term; nothing if the term is not affine.
  std::optional<isl::pw_aff> affine(const Term& term, const View& view) const;
  /// The set in which a condition has, or may have, the wanted value. If the set is an
  /// approximation, the reason is stored in `unsure`.
  isl::set truth(const Term& term, const View& view, bool wanted, std::string& unsure) const;
  /// The iterations of a loop.
  isl::set range(const Loop& loop, const View& view, std::string& unsure) const;
  isl::set beyond_start(const Loop& loop, const Term& start, const isl::pw_aff& counter,
                        const View& view, std::string& unsure) const;
  /// The iteration domain of a frame: the iterations in which it runs, or may run.
  isl::set domain(const Frame& innermost, int side, std::string& unsure) const;

 private:
  void name_sizes(const Frame& innermost);
  void name_sizes(const Term& term, const Frame* used, const Frame* stable);
  std::size_t position_of(std::size_t level, int side) const;
  std::size_t level_of(const Loop& loop) const;
  std::optional<isl::pw_aff> chosen(const Term& term, const View& view) const;
  /// The value of an operand of an unsigned operation, in which a negative value wraps around to a
  /// large value.
  std::optional<isl::pw_aff> operand(const Term& term, std::size_t which, const View& view) const;

  const Names& names_;
  std::vector<const Loop*> outer_;
  std::vector<const Variable*> sizes_;
  std::size_t levels_ = 1;  ///< the depth of the loop nest within the root
  isl::space space_;
};

}  // namespace slicer
