#include "clauses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    case Update::logical_and:
      return "&&";
    case Update::logical_or:
      return "||";
    default:
      return "";
  }
}

bool makes_parallel(const Pragma& pragma) {
  static const std::set<std::string> of_loops{"for", "simd", "taskloop", "distribute", "loop"};
  const std::vector<std::string> names = pragma.names();
  return !pragma.has("declare") &&
         std::any_of(names.begin(), names.end(),
                     [](const std::string& word) { return of_loops.contains(word); });
}

namespace {

/// Whether a pragma distributes the iterations of a loop over the teams, or over all threads of the
/// teams.
bool distributes(const Pragma& pragma) { return pragma.has("distribute"); }

/// Whether a directive has no statement.
bool stands_alone(const std::string& directive) {
  return directive == "barrier" || directive == "taskwait" || directive == "taskyield" ||
         directive == "flush";
}

/// Whether a pragma is an `ordered` directive that applies to a statement, without `depend`,
/// `doacross` or `simd`.
bool is_ordered_region(const Pragma& pragma) {
  return pragma.words.front() == "ordered" && !pragma.has("depend") && !pragma.has("doacross") &&
         !pragma.has("simd");
}

/// Whether a pragma is an `ordered` directive without a statement. Such a directive waits for other
/// iterations, or signals them.
bool is_ordered_point(const Pragma& pragma) {
  return pragma.words.front() == "ordered" && (pragma.has("depend") || pragma.has("doacross"));
}

/// Whether the clauses of `target` and `teams` leave the sharing of variables as it is.
bool only_maps(const Pragma& pragma) {
  static const std::set<std::string> known{"target",    "teams",        "map", "device",   "shared",
                                           "num_teams", "thread_limit", "if",  "reduction"};
  const std::vector<std::string> names = pragma.names();
  return makes_parallel(pragma) ||
         (!(pragma.has("target") && pragma.has("reduction")) &&
          std::all_of(names.begin(), names.end(),
                      [](const std::string& name) { return known.contains(name); }));
}

}  // namespace

std::string uncovered(const Pragma& pragma, const std::vector<const Pragma*>& together) {
  std::set<std::string> covered{"parallel", "for", "simd", "atomic", "critical", "taskloop"};
  if (pragma.words.empty() || is_ordered_region(pragma) || is_ordered_point(pragma)) return {};
  if (only_maps(pragma)) {
    covered.insert("target");
    const bool is_distributed = std::any_of(together.begin(), together.end(),
                                            [](const Pragma* each) { return distributes(*each); });
    if (is_distributed || distributes(pragma)) covered.insert({"teams", "distribute"});
  }
  static const std::set<std::string> declaring{"declare", "threadprivate", "requires"};
  if (pragma.words.empty() || declaring.contains(pragma.words.front())) return {};
  std::vector<std::string> of_directive;
  for (const std::string& word : pragma.names()) {
    static const std::set<std::string> directives{
        "parallel", "for",        "simd",         "atomic",    "critical", "target",    "teams",
        "loop",     "distribute", "taskloop",     "master",    "masked",   "single",    "task",
        "sections", "section",    "ordered",      "barrier",   "taskwait", "taskyield", "flush",
        "scan",     "cancel",     "cancellation", "workshare", "tile",     "unroll",    "scope"};
    if (!directives.contains(word) || (word == "ordered" && !of_directive.empty())) break;
    of_directive.push_back(word);
  }
  const bool is_covered =
      !of_directive.empty() &&
      std::all_of(of_directive.begin(), of_directive.end(),
                  [&](const std::string& word) { return covered.contains(word); });
  if (is_covered) return {};
  if (of_directive.empty()) return pragma.words.front();
  return fmt::format("{}", fmt::join(of_directive, " "));
}

std::string doubt_of(const Pragma& pragma, const Source& source) {
  static const std::set<std::string> known{
      "parallel",   "for",         "simd",     "private",   "firstprivate", "lastprivate",
      "shared",     "schedule",    "collapse", "if",        "num_threads",  "default",
      "safelen",    "simdlen",     "nowait",   "ordered",   "aligned",      "reduction",
      "proc_bind",  "nontemporal", "order",    "linear",    "target",       "teams",
      "distribute", "map",         "device",   "num_teams", "thread_limit", "dist_schedule",
      "taskloop",   "grainsize",   "num_tasks"};
  static const std::set<std::string> operators{"+", "-",  "*",  "&",   "|",
                                               "^", "&&", "||", "min", "max"};
  std::vector<std::string> mapped = pragma.clause("map");
  for (const std::string& word : pragma.words)
    if (source.is_macro_name(word) && !names(mapped, word))
      return fmt::format("the macro `{}` in the pragma", word);
  if (pragma.has("distribute") && pragma.clause("num_teams") == std::vector<std::string>{"1"})
    return "a single team is not covered";
  if (pragma.has("teams") && !distributes(pragma)) return "`teams` is not covered";
  for (const std::string& name : pragma.names())
    if (!known.contains(name)) return fmt::format("`{}` is not covered", name);
  for (const std::string& word : pragma.clause("default"))
    if (word != "shared" && word != "none") return "the clause `default`";
  for (const char* clause : {"if", "num_threads", "schedule", "collapse"})
    for (const std::string& word : pragma.clause(clause))
      if (word == "=" || word == "++" || word == "--")
        return fmt::format("the clause `{}` changes something", clause);
  for (const auto& clause : pragma.clauses("reduction"))
    if (clause.size() < 3 || clause[1] != ":" || !operators.contains(clause[0]))
      return fmt::format("the operator `{}` of a reduction is not covered",
                         clause.empty() ? "" : clause[0]);
  for (const auto& clause : pragma.clauses("lastprivate"))
    if (names(clause, ":")) return "a modifier of the clause `lastprivate` is not covered";
  for (const Pragma& other : source.pragmas())
    if (other.has("declare") && other.has("reduction") && !pragma.clause("reduction").empty() &&
        other.clause("reduction").front() == pragma.clause("reduction").front())
      return "a reduction that the file declares is not covered";
  return {};
}

const Pragma* parallel_pragma(const Loop& loop) {
  for (const Pragma* pragma : loop.pragmas)
    if (makes_parallel(*pragma)) return pragma;
  return nullptr;
}

bool may_read(const Pragma& pragma, const std::string& name) {
  static const std::set<std::string> without_value{"private", "lastprivate", "shared", "default"};
  std::string clause;
  int depth = 0;
  for (const std::string& word : pragma.words) {
    if (depth == 0 && word != "(" && word != ")") clause = word;
    depth += (word == "(") - (word == ")");
    if (depth > 0 && word == name && !without_value.contains(clause)) return true;
  }
  return false;
}

int collapsed(const Pragma& pragma) {
  const std::vector<std::string> said = pragma.clause("collapse");
  return said.size() == 1 && std::isdigit(said[0][0]) ? std::stoi(said[0]) : said.empty() ? 1 : 0;
}

/// Whether a variable is the counter of one of the inner loops that the pragma combines. Such
/// counters are private.
bool Clauses::is_counter(const Variable& variable) const {
  const Loop* counted = loop_.inside;
  const std::vector<std::string> ordered = pragma_->clause("ordered");
  const bool has_number = ordered.size() == 1 && std::isdigit(ordered[0][0]);
  const int associated = std::max(collapsed(*pragma_), has_number ? std::stoi(ordered[0]) : 1);
  for (int level = associated; level > 1 && counted; --level, counted = counted->inside)
    if (counted->variable == &variable) return true;
  return false;
}

bool Clauses::names_it(const char* clause, const Variable& variable) const {
  return pragma_ && names(pragma_->clause(clause), variable.name);
}

Sharing Clauses::sharing(const Variable& variable) const {
  Sharing found;
  if (!pragma_) return found;
  found.is_counter = is_counter(variable);
  found.takes_value = names_it("firstprivate", variable);
  found.leaves_value = names_it("lastprivate", variable);
  // All lanes of a vector belong to one thread, so they share a variable of the thread.
  const bool is_of_thread = variable.is_of_thread && !pragma_->has("simd");
  found.is_private = is_of_thread || found.is_counter || found.takes_value || found.leaves_value ||
                     names_it("private", variable);
  for (const Frame* frame = loop_.frame; frame && !found.is_private; frame = frame->parent) {
    if (!frame->region) continue;
    for (const char* clause : {"private", "firstprivate"})
      if (frame->region != pragma_ && names(frame->region->clause(clause), variable.name))
        found.is_private = true;
    found.is_of_region = variable.frame && !variable.is_named && variable.frame->is_within(frame);
    found.is_private = found.is_private || found.is_of_region;
    break;
  }
  return found;
}

std::string Clauses::reduction_of(const Variable& variable) const {
  if (!pragma_) return {};
  std::vector<std::vector<std::string>> clauses = pragma_->clauses("reduction");
  for (const Pragma* other : loop_.pragmas)
    if (other != pragma_ && other->has("teams") && pragma_->has("distribute"))
      for (const auto& clause : other->clauses("reduction")) clauses.push_back(clause);
  for (const std::vector<std::string>& clause : clauses) {
    int depth = 0;  // nesting depth of brackets, for array sections
    for (std::size_t w = 2; w < clause.size(); ++w) {
      if (depth == 0 && clause[w] == variable.name) return clause[0] == "-" ? "+" : clause[0];
      depth += (clause[w] == "[") - (clause[w] == "]");
    }
  }
  return {};
}

std::vector<std::string> Clauses::section_of(const Variable& variable) const {
  if (!pragma_) return {};
  for (const std::vector<std::string>& clause : pragma_->clauses("reduction")) {
    int depth = 0;
    for (std::size_t w = 2; w < clause.size(); ++w) {
      if (depth == 0 && clause[w] == variable.name) {
        std::size_t end = w + 1;
        while (end < clause.size() && clause[end] != ",") ++end;
        return {clause.begin() + static_cast<std::ptrdiff_t>(w) + 1,
                clause.begin() + static_cast<std::ptrdiff_t>(end)};
      }
      depth += (clause[w] == "[") - (clause[w] == "]");
    }
  }
  return {};
}

bool Clauses::reduces(const Variable& variable, Update update) const {
  return update != Update::none && reduction_of(variable) == sign_of(update);
}

std::string guard_of(const Access& access, const Loop& loop) {
  for (const Frame* frame = access.frame; frame && frame != loop.frame; frame = frame->parent)
    if (!frame->guard.empty()) return frame->guard;
  return {};
}

std::string surroundings_of(const Loop& loop, const Pragma& pragma) {
  bool is_of_one = false;  // a single thread runs the loop's statement
  for (const Frame* frame = loop.frame->parent; frame; frame = frame->parent) {
    const bool is_single = frame->directive == "single" || frame->directive == "master";
    const bool is_passed = stands_alone(frame->directive) || (pragma.has("taskloop") && is_single);
    is_of_one = is_of_one || is_single;
    if (!frame->directive.empty() && !is_passed)
      return fmt::format("the loop is in `{}`", frame->directive);
    if (!frame->guard.empty() && !pragma.has("parallel"))
      return fmt::format("the loop is in `{}`", frame->guard);
    if (frame->loop && parallel_pragma(*frame->loop)) return {};
    if (!frame->region || frame->region == &pragma) continue;
    const bool is_run_by_each = pragma.has("parallel") || (pragma.has("taskloop") && !is_of_one);
    return is_run_by_each ? "each thread of a parallel region runs the whole loop" : "";
  }
  if (pragma.has("taskloop")) return "the parallel region around `taskloop` is not visible";
  return {};
}

}  // namespace slicer
