#include "clauses.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace slicer {
namespace {

bool names(const std::vector<std::string>& words, const std::string& name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

}  // namespace

std::string sign_of(Update update) {
  switch (update) {
    case Update::sum:
      return "+";
    case Update::product:
      return "*";
    case Update::minimum:
      return "min";
    case Update::maximum:
      return "max";
    case Update::conjunction:
      return "&";
    case Update::disjunction:
      return "|";
    case Update::parity:
      return "^";
    default:
      return "";
  }
}

bool makes_parallel(const Pragma& pragma) {
  static const std::set<std::string> of_loops{"for", "simd", "taskloop", "distribute", "loop"};
  const auto clauses = std::find(pragma.words.begin(), pragma.words.end(), "(");
  return !pragma.has("declare") &&
         std::any_of(pragma.words.begin(), clauses,
                     [](const std::string& word) { return of_loops.contains(word); });
}

const Pragma* parallel_pragma(const Loop& loop) {
  for (const Pragma* pragma : loop.pragmas)
    if (makes_parallel(*pragma)) return pragma;
  return nullptr;
}

int collapsed(const Pragma& pragma) {
  const std::vector<std::string> said = pragma.clause("collapse");
  return said.size() == 1 && std::isdigit(said[0][0]) ? std::stoi(said[0]) : said.empty() ? 1 : 0;
}

/// The counters of all loops that are taken together are private.
bool Clauses::is_counter(const Variable& variable) const {
  const Loop* counted = loop_.inside;
  for (int level = collapsed(*pragma_); level > 1 && counted; --level, counted = counted->inside)
    if (counted->variable == &variable) return true;
  return false;
}

bool Clauses::is_private(const Variable& variable) const {
  if (!pragma_) return false;
  if (variable.is_of_thread || is_counter(variable)) return true;
  for (const char* clause : {"private", "firstprivate", "lastprivate", "linear"})
    if (names(pragma_->clause(clause), variable.name)) return true;
  bool is_in_region = false;
  for (const Frame* frame = loop_.frame; frame; frame = frame->parent) {
    if (!frame->region) continue;
    for (const char* clause : {"private", "firstprivate"})
      if (frame->region != pragma_ && names(frame->region->clause(clause), variable.name))
        return true;
    is_in_region = variable.frame && !variable.is_named && variable.frame->is_within(frame);
    break;
  }
  return is_in_region;
}

bool Clauses::reduces(const Variable& variable, Update update) const {
  const std::vector<std::string> words =
      pragma_ ? pragma_->clause("reduction") : std::vector<std::string>();
  const std::string sign = sign_of(update);
  bool is_sign = false;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (w + 1 < words.size() && words[w + 1] == ":")
      is_sign = words[w] == sign || (words[w] == "-" && sign == "+");
    else if (is_sign && words[w] == variable.name)
      return true;
  }
  return false;
}

}  // namespace slicer
