/// \file
/// Sets of pairs of iterations: outer loops, the loops within the root for each of the two, sizes.

#pragma once

#include <isl/cpp.h>

#include <optional>
#include <string>
#include <vector>

#include "names.hpp"

namespace slicer {

/// What all sets are made in. It gives up after a second or so: see `isl_ctx_reset_operations`.
isl::ctx shared_context();

/// Where a term stands, for a side of the pair: 0 for the source, 1 for the sink.
struct View {
  const Frame *used, *stable;
  int side;
  bool is_end = false;  ///< of a loop, where no number is taken to wrap around
};

/// The integers of a pair of iterations, in the order by which the smallest pair is chosen.
class Space {
 public:
  /// \param accesses what is read and written within the root, whose sizes get a place
  /// \param loops that count in any case, with or without accesses in them
  Space(const Names& names, const std::vector<const Access*>& accesses,
        const std::vector<const Loop*>& loops = {});

  const Names& names() const { return names_; }
  const std::vector<const Variable*>& sizes() const { return sizes_; }

  std::size_t count() const { return outer_.size() + 2 * levels_ + sizes_.size(); }
  /// How many values tell which pair it is: of the outer loops, and of the outermost one twice.
  std::size_t first_ones() const { return outer_.size() + 2; }
  std::size_t position_of(const Loop& loop, int side) const;
  std::size_t position_of(const Variable* size) const;

  isl::pw_aff number(long value) const;
  isl::pw_aff variable_at(std::size_t position) const;
  isl::set universe() const { return isl::manage(isl_set_universe(space_.copy())); }
  isl::set nothing() const { return isl::manage(isl_set_empty(space_.copy())); }

  isl::pw_aff affine(const Polynomial& polynomial, const View& view) const;
  /// Nothing if a term is beyond affine.
  std::optional<isl::pw_aff> affine(const Term& term, const View& view) const;
  /// Where a condition is as wanted, or may be so, where `unsure` says why that is not sure.
  isl::set truth(const Term& term, const View& view, bool wanted, std::string& unsure) const;
  /// The iterations of a loop.
  isl::set range(const Loop& loop, const View& view, std::string& unsure) const;
  /// Where a frame runs, or may run.
  isl::set domain(const Frame& innermost, int side, std::string& unsure) const;

 private:
  void name_sizes(const Frame& innermost);
  void name_sizes(const Term& term, const Frame* used, const Frame* stable);
  std::size_t position_of(std::size_t level, int side) const;
  std::size_t level_of(const Loop& loop) const;
  std::optional<isl::pw_aff> chosen(const Term& term, const View& view) const;
  /// An operand of something that tells a negative number from the large one that it wraps around
  /// to.
  std::optional<isl::pw_aff> operand(const Term& term, std::size_t which, const View& view) const;

  const Names& names_;
  std::vector<const Loop*> outer_;
  std::vector<const Variable*> sizes_;
  std::size_t levels_ = 1;  ///< how many loops lie one in another within the root
  isl::space space_;
};

}  // namespace slicer
