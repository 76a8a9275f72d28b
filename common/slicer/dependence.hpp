/// \file
/// The dependences that a loop carries, computed with sets of integers.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest.hpp"

namespace slicer {

using Values = std::vector<std::pair<std::string, long>>;

/// Two iterations that conflict: the sink has to run after the source.
struct Pair {
  std::string kind;  ///< flow, anti or output
  std::string element;
  Values source, sink, sizes;
};

enum class Verdict { independent, reduction, dependent, unknown };

/// The verdict on the claim of a pragma that a loop is parallel.
enum class Claim { none, proved, refuted, unknown };

struct Finding {
  const Loop* loop = nullptr;
  Verdict verdict = Verdict::unknown;
  std::optional<Pair> pair;
  std::string reason;
  std::vector<std::string> reductions;

  const Pragma* pragma = nullptr;  ///< the pragma that makes the loop parallel
  Claim claim = Claim::none;
  std::optional<Pair> against;
  std::string why;

  std::vector<Assumption> assumptions;  ///< required by the verdict and the claim
};

/// Examines the iterations of a loop, for fixed values of the counters of the outer loops.
/// \param is_strict whether a verdict that would need an assumption is `unknown`
Finding examine(const Function& function, const Loop& loop, bool is_strict = false);

/// The reason for the verdict `unknown` if no assumption is permitted: "nothing proves that `a` and
/// `b` do not overlap (line 3)".
std::string unproved(const std::vector<Assumption>& assumptions);

std::string name_of(Verdict verdict);
std::string name_of(Claim claim);

/// Describes a pair in words: "i = 1, j = 0 reads x(0), which i = 0 writes (flow)".
std::string sentence_of(const Pair& pair);

}  // namespace slicer
