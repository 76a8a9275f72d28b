#include "slicing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <staircase/error.hpp>

#include "footprints.hpp"
#include "lines.hpp"
#include "rewriting.hpp"
#include "transfers.hpp"

namespace slicer {
namespace {

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// Replaces a nest by loop (3) of the chapter on slicing, a single loop over all slices.
class InPlace {
 public:
  InPlace(Rewriting& rewriting, const Marked& marked)
      : rewriting_(rewriting),
        source_(rewriting.source()),
        marked_(marked),
        lines_(columns_before(source_, marked.nest.first)) {
    std::vector<std::string> names{"e", "slices"};
    for (const Cut& cut : marked.cuts)
      for (const char* part : {"slices", "length", "begin", "end", "first", "count"})
        names.push_back(cut.name + "_" + part);
    suffix_ = rewriting.suffix(names);
  }

  void write() {
    std::vector<std::string> loops;
    for (const std::size_t digit : marked_.digits) loops.push_back(marked_.cuts[digit].name);
    lines_.comment(
        loops.size() == 1
            ? fmt::format("Loop (3): slices of {}, whose iterations are independent.", loops[0])
            : fmt::format("Loop (3): e is the index of a slice of {}, whose iterations are "
                          "independent. The slice of {} changes fastest.",
                          fmt::join(loops, " and "), loops[0]));
    for (const Cut& cut : marked_.cuts) measure(cut);
    const std::string type = type_of_number();
    std::string all = name(marked_.cuts[0], "slices");
    if (marked_.cuts.size() > 1) {
      std::vector<std::string> factors;
      for (const Cut& cut : marked_.cuts) factors.push_back(name(cut, "slices"));
      all = "slices" + suffix_;
      lines_.set(fmt::format("const {} {}", type, all),
                 fmt::format("{}", fmt::join(factors, " * ")));
    }
    const std::string e = "e" + suffix_;
    lines_.loop(fmt::format("{} {} = 0", type, e), e + " < " + all, "++" + e, " {");
    lines_.indent();
    for (std::size_t d = 0; d < marked_.digits.size(); ++d) bound(d);
    const std::size_t columns = lines_.columns();
    lines_.outdent();
    const auto line = static_cast<unsigned>(marked_.nest.first - lines_.columns());
    rewriting_.replace({line, marked_.nest.last},
                       lines_.text() + bounded_nest(source_, marked_, suffix_, columns) +
                           std::string(lines_.columns(), ' ') + "}");
    rewriting_.remove_line(marked_.directive.range);
    rewriting_.include("algorithm");
    rewriting_.include("cstddef");
  }

 private:
  std::string name(const Cut& cut, const std::string& part) const {
    return cut.name + "_" + part + suffix_;
  }

  /// The type of the slice index e: the common type of the loop counters, or `long` if they differ.
  std::string type_of_number() const {
    const bool is_one = std::all_of(marked_.cuts.begin(), marked_.cuts.end(), [&](const Cut& cut) {
      return cut.type == marked_.cuts[0].type;
    });
    return is_one ? marked_.cuts[0].type : "long";
  }

  /// Writes the number of slices of a loop, and their length.
  void measure(const Cut& cut) {
    std::string first =
        std::string(source_.text().substr(cut.first.first, cut.first.last - cut.first.first));
    std::string last = cut.last;
    if (!cut.is_fixed) {
      Footprints footprints(marked_, suffix_);
      const Extent extent = footprints.extent(cut);
      for (const auto& [variable, value] : footprints.numbers_in(extent.first + " " + extent.last))
        if (numbers_.insert(variable).second) lines_.set("const long " + variable, value);
      first = extent.first;
      last = extent.last;
    }
    std::string count = last;
    if (first != "0") {
      lines_.set(fmt::format("const {} {}", cut.type, name(cut, "first")), first);
      first = name(cut, "first");
      count = fmt::format("std::max<{}>({}, {}) - {}", cut.type, first, last, first);
    }
    if (first != "0" || !is_word(count)) {
      lines_.set(fmt::format("const {} {}", cut.type, name(cut, "count")), count);
      count = name(cut, "count");
    }
    counts_.push_back(count);
    firsts_.push_back(first);
    const std::string slices = name(cut, "slices");
    lines_.set(
        fmt::format("const {} {}", cut.type, slices),
        cut.is_count ? cut.slices : fmt::format("std::max<{}>(1, {})", cut.type, cut.slices));
    lines_.set(fmt::format("const {} {}", cut.type, name(cut, "length")),
               fmt::format("{0} / {1} + ({0} % {1} > 0)", count, slices));
  }

  /// Writes the statements that compute the beginning and the end of a loop's slice. The slice
  /// index e is a number in mixed radix, with one digit per sliced loop. Digit d is the index of
  /// this loop's slice.
  void bound(std::size_t d) {
    const std::size_t at = marked_.digits[d];
    const Cut& cut = marked_.cuts[at];
    std::string digit = "e" + suffix_;
    for (std::size_t before = 0; before < d; ++before)
      digit += " / " + name(marked_.cuts[marked_.digits[before]], "slices");
    if (d + 1 < marked_.digits.size()) digit += " % " + name(cut, "slices");
    const std::string first = firsts_[at] == "0" ? "" : firsts_[at] + " + ";
    const std::string last = firsts_[at] == "0" ? counts_[at] : firsts_[at] + " + " + counts_[at];
    lines_.set(fmt::format("const {} {}", cut.type, name(cut, "begin")),
               fmt::format("{}{} * {}", first, digit, name(cut, "length")));
    lines_.set(fmt::format("const {} {}", cut.type, name(cut, "end")),
               fmt::format("std::min<{}>({} + {}, {})", cut.type, name(cut, "begin"),
                           name(cut, "length"), last));
  }

  Rewriting& rewriting_;
  const Source& source_;
  const Marked& marked_;
  std::string suffix_;
  Lines lines_;
  std::vector<std::string> counts_, firsts_;  ///< the number of iterations and the first value of
                                              ///< each loop
  std::set<std::string> numbers_;
};

}  // namespace

std::string sliced(const Source& source, const std::list<Function>& functions, const Form& form) {
  Rewriting rewriting(source);
  for (const Marked& marked : marked_nests(source, functions)) {
    if (marked.is_on_device && !form.is_cuda)
      throw staircase::BadInput(
          fmt::format("line {}: the pragma `{}` makes a CUDA source, so OUT has to end with .cu",
                      marked.directive.line, marked.directive.text));
    if (form.number == 4) {
      write_transfers(rewriting, marked, form.is_template);
      continue;
    }
    if (marked.is_on_device)
      throw staircase::BadInput(
          fmt::format("line {}: the pragma `{}` asks for a device, which only loop (4) supports",
                      marked.directive.line, marked.directive.text));
    if (marked.buffers > 1)
      throw staircase::BadInput(
          fmt::format("line {}: the pragma `{}` asks for buffers, which only loop (4) has",
                      marked.directive.line, marked.directive.text));
    InPlace(rewriting, marked).write();
  }
  return rewriting.text();
}

}  // namespace slicer
