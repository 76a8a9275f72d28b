/// \file
/// The report: counts and findings by source line, as a table and as JSON or SARIF.

#include <errno.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "../machine/side_by_side.hpp"
#include "../machine/thread_area.hpp"
#include "../runtime/images.hpp"
#include "../runtime/stream.hpp"
#include "../runtime/symbols.hpp"
#include "../settings.hpp"
#include "clock_map.hpp"
#include "contents.hpp"
#include "ends.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "reported.hpp"
#include "shared_bytes.hpp"
#include "targets.hpp"
#include "trial.hpp"
#include "unwritten.hpp"
#include "values.hpp"

namespace cuda_on_cpu {
namespace analysis {
namespace {

using Json = nlohmann::ordered_json;

bool is_shared(const Site& site) { return site.space == Space::shared; }

const char* unit_of(const Site& site) { return is_shared(site) ? "wavefronts" : "sectors"; }

/// The requests of one kind of access, summed over the lines of a kernel.
struct Sum {
  std::uint64_t requests = 0, cost = 0, ideal = 0;
};

using Lines = std::map<const void*, Line>;

Lines lines_of_record() {
  std::set<const void*> places;
  for (const auto& [key, site] : record().sites.all) places.insert(address_of(site.place));
  for (const auto& [key, finding] : record().findings) {
    places.insert(finding.place);
    places.insert(finding.other_place);
    places.insert(finding.read);
    places.insert(finding.callers.begin(), finding.callers.end());
  }
  for (const auto& [joint, count] : record().joints) places.insert(address_of(joint.place));
  places.erase(nullptr);
  return lines_of(places);
}

Line line_of(const Lines& lines, const void* place) {
  const auto found = lines.find(place);
  return found == lines.end() ? Line{} : found->second;
}

/// The source line of a finding. For a finding in a library, the result is the line that calls the
/// library.
Line line_of(const Lines& lines, const Finding& finding) {
  const Line line = line_of(lines, finding.place);
  if (!is_of_toolkit(line)) return line;
  for (const void* caller : finding.callers) {
    const Line asks = line_of(lines, caller);
    if (asks.number != 0 && !is_of_toolkit(asks) && asks.file.find("/c++/") == asks.file.npos)
      return asks;
  }
  return line;
}

/// The sites of a kernel by line. Accesses of one line, kind and size are merged. Lines of
/// libraries are omitted, because the code of a library differs on a GPU.
std::vector<std::pair<Line, Site>> sites_of(std::uint32_t kernel, const Lines& lines) {
  std::map<std::tuple<Line, Space, Kind, unsigned>, Site> merged;
  for (const auto& [key, site] : record().sites.all) {
    if (site.kernel != kernel) continue;
    const Line line = line_of(lines, address_of(site.place));
    if (is_of_toolkit(line)) continue;
    auto [found, is_new] = merged.try_emplace({line, site.space, site.kind, site.bytes}, site);
    if (is_new) continue;
    found->second.requests += site.requests;
    found->second.lanes += site.lanes;
    found->second.cost += site.cost;
    found->second.ideal += site.ideal;
  }
  std::vector<std::pair<Line, Site>> sites;
  for (const auto& [key, site] : merged) sites.emplace_back(std::get<Line>(key), site);
  return sites;
}

/// Adds the barriers of a kernel by line, and its shuffles by line and form, to the JSON report.
void add_joints(Json& json, std::uint32_t kernel, const Lines& lines) {
  std::map<std::tuple<Line, std::string, int, int>, std::uint64_t> merged;
  for (const auto& [joint, count] : record().joints)
    if (joint.kernel == kernel)
      merged[{line_of(lines, address_of(joint.place)), joint.kind, joint.distance, joint.width}] +=
          count;
  Json barriers = Json::array(), shuffles = Json::array();
  for (const auto& [key, count] : merged) {
    const auto& [line, kind, distance, width] = key;
    if (kind.ends_with("barrier"))
      barriers.push_back({{"file", line.file},
                          {"line", line.number},
                          {"count", count},
                          {"some_have_ended", kind != "barrier"}});
    else
      shuffles.push_back({{"file", line.file},
                          {"line", line.number},
                          {"kind", kind},
                          {"distance", distance},
                          {"width", width},
                          {"count", count}});
  }
  json["barriers"] = barriers;
  json["shuffles"] = shuffles;
}

/// Adds the shapes of a kernel's launches, the allocations to which their arguments point, and the
/// unread bytes of its shared-memory variables to the JSON report.
void add_shapes(Json& json, const KernelTotals& kernel) {
  const auto triple = [](dim3 t) { return std::array{t.x, t.y, t.z}; };
  Json shapes = Json::array(), unread = Json::array();
  for (const LaunchShape& shape : kernel.shapes)
    shapes.push_back({{"grid", triple(shape.grid)},
                      {"block", triple(shape.block)},
                      {"dynamic_shared", shape.dynamic_shared},
                      {"launches", shape.launches}});
  for (const auto& [variable, each] : kernel.unread)
    unread.push_back({{"variable", variable},
                      {"blocks", each.blocks},
                      {"first", each.first},
                      {"bytes", each.bytes},
                      {"of_bytes", each.of_bytes}});
  json["shapes"] = shapes;
  json["arrays"] = kernel.arrays;
  json["unread"] = unread;
}

Json json_of(const KernelTotals& kernel, const std::vector<std::pair<Line, Site>>& sites) {
  std::map<std::string, Sum> sums;
  Json lines = Json::array();
  for (const auto& [line, site] : sites) {
    Sum& sum = sums[access_name(site)];
    sum.requests += site.requests;
    sum.cost += site.cost;
    sum.ideal += site.ideal;
    lines.push_back({{"file", line.file},
                     {"line", line.number},
                     {"access", access_name(site)},
                     {"bits", 8 * site.bytes},
                     {"requests", site.requests},
                     {"lanes", site.lanes},
                     {unit_of(site), site.cost},
                     {"ideal", site.ideal}});
  }
  Json json{{"kernel", kernel.name},
            {"launches", kernel.launches},
            {"blocks", kernel.blocks},
            {"threads", kernel.threads},
            {"block_barriers", kernel.barriers}};
  for (const std::string space : {"global", "shared"})
    for (const std::string verb : {"load", "store", "atomic"}) {
      const Sum& sum = sums[space + ' ' + verb];
      const std::string unit = space == "global" ? "sectors" : "wavefronts";
      json[space + '_' + verb + 's'] = {
          {"requests", sum.requests}, {unit, sum.cost}, {"ideal_" + unit, sum.ideal}};
    }
  json["lines"] = lines;
  return json;
}

Json json_of(const ReportedFinding& reported) {
  const auto& [finding, line, other] = reported;
  const auto triple = [](uint3 t) { return std::array{t.x, t.y, t.z}; };
  const Accessed& accessed = finding.accessed;
  Json json{{"kind", finding.kind},
            {"kernel", finding.kernel},
            {"file", line.file},
            {"line", line.number},
            {"other_file", other.file},
            {"other_line", other.number},
            {"block", triple(finding.block)},
            {"thread", triple(finding.thread)},
            {"count", finding.count},
            {"sentence", finding.sentence},
            {"order", finding.order}};
  if (!accessed.variable.empty())
    json["variable"] = {{"name", accessed.variable},
                        {"byte", accessed.byte},
                        {"bytes", accessed.bytes},
                        {"of_bytes", accessed.of_bytes}};
  if (accessed.pointer >= 0)
    json["argument"] = {{"pointer", accessed.pointer},   {"pointers", accessed.pointers},
                        {"byte", accessed.byte},         {"bytes", accessed.bytes},
                        {"of_bytes", accessed.of_bytes}, {"words", accessed.words}};
  if (!finding.ranges.empty()) {
    Json ranges = Json::array();
    for (const ByteRange& range : finding.ranges) ranges.push_back({range.first, range.bytes});
    json["unwritten"] = {{"ranges", ranges}, {"of_bytes", finding.of_bytes}};
  }
  return json;
}

/// Whether to report a finding, given its source lines. Two barriers or collectives on one line are
/// one operation that the compiler has duplicated. CUB reads unwritten temporary storage beyond the
/// end of a segment, but never uses the values.
bool is_trouble(const Finding& finding, const Lines& lines) {
  const bool between_places = finding.kind == "divergent barrier" ||
                              (finding.kind == "invalid mask" && finding.other_place != nullptr);
  const Line here = line_of(lines, finding.place), there = line_of(lines, finding.other_place);
  const bool reads_ahead = finding.kind == "uninitialised read" &&
                           finding.sentence.starts_with("shared memory") &&
                           here.taken_from.find("/cccl/cub/") != here.taken_from.npos;
  return !reads_ahead && (!between_places || here.number == 0 || here != there);
}

void print_kernel(const KernelTotals& kernel, const std::vector<std::pair<Line, Site>>& sites) {
  fmt::print(stderr, "\n{}: {} launches, {} blocks, {} threads, {} barriers\n", kernel.name,
             kernel.launches, kernel.blocks, kernel.threads, kernel.barriers);
  if (sites.empty()) return;
  fmt::print(stderr, "  {:<26} {:<14} {:>4} {:>12} {:>6} {:>9} {:>6}   {}\n", "line", "access",
             "bits", "requests", "lanes", "cost", "ideal", "source");
  for (const auto& [line, site] : sites) {
    const auto per_request = [requests = static_cast<double>(site.requests)](std::uint64_t n) {
      return static_cast<double>(n) / requests;
    };
    fmt::print(stderr, "  {:<26} {:<14} {:>4} {:>12} {:>6.1f} {:>6.2f} {} {:>6.2f}   {:.60}\n",
               place_text(line), access_name(site), 8 * site.bytes, site.requests,
               per_request(site.lanes), per_request(site.cost), is_shared(site) ? "wf" : "se",
               per_request(site.ideal), text_of(line));
  }
}

/// Whether a line of the source updates a variable by an operator, or by an assignment of an
/// expression that contains the variable.
bool updates_variable(const std::string& text) {
  static const std::regex for_header("\\bfor\\s*\\([^)]*\\)");
  static const std::regex by_operator("\\+\\+|--|[-+*/%&|^]=|(<<|>>)=");
  static const std::regex assignment(
      "([^\\s;{}()=!<>][^;{}()=!<>]*(\\([^;{}()=]*\\))?)\\s*=([^=;][^;]*);");
  const std::string rest = std::regex_replace(text, for_header, "");
  if (std::regex_search(rest, by_operator)) return true;
  const auto without_blanks = [](std::string all) {
    std::erase_if(all, [](unsigned char c) { return std::isspace(c); });
    return all;
  };
  for (std::sregex_iterator i(rest.begin(), rest.end(), assignment), end; i != end; ++i)
    if (without_blanks((*i)[3]).find(without_blanks((*i)[1])) != std::string::npos) return true;
  return false;
}

/// The position after the bracket that closes the bracket at `open`.
std::size_t behind_parenthesis(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i)
    if (text[i] == '(' || text[i] == '[')
      ++depth;
    else if ((text[i] == ')' || text[i] == ']') && --depth == 0)
      return i + 1;
  return text.size();
}

/// A text without the matches of a pattern and without the bracketed text after each match.
std::string without(std::string text, const std::regex& pattern, char bracket) {
  for (std::smatch match; std::regex_search(text, match, pattern);) {
    const auto first = static_cast<std::size_t>(match.position());
    const std::size_t open = text.find(bracket, first);
    text.erase(first, behind_parenthesis(text, open) - first);
  }
  return text;
}

/// Whether an expression only names an object: a variable, a member, an array element or the target
/// of a pointer.
bool names_object(std::string text) {
  static const std::regex cast(
      "(reinterpret|static|const)_cast\\s*<[^()]*>\\s*(?=\\()|"
      "\\(\\s*(const\\s+)?[A-Za-z_][\\w:]*(\\s+const)?\\s*\\**\\s*\\)(?=\\s*[A-Za-z_&*(])");
  static const std::regex load("__ld(g|cg|ca|cs|lu|cv)\\s*\\(");
  static const std::regex element("\\[");
  static const std::regex object("[*&\\s]*[A-Za-z_][\\w\\s.:]*");
  text = std::regex_replace(text, std::regex("->"), ".");
  if (const auto condition = text.find('?'); condition != text.npos) {
    const auto otherwise = text.find(':', condition);
    static const std::regex literal(
        "\\s*[-+]?[\\d.]+[\\w.+-]*\\s*|\\s*\\w+\\s*[({][^A-Za-z]*[)}]\\s*");
    if (otherwise == text.npos) return false;
    const std::string one = text.substr(condition + 1, otherwise - condition - 1),
                      other = text.substr(otherwise + 1);
    const bool is_one = names_object(one), is_other = names_object(other);
    return (is_one && (is_other || std::regex_match(other, literal))) ||
           (is_other && std::regex_match(one, literal));
  }
  if (std::regex_search(text, load)) text = without(text, load, '(') + 'x';
  text = without(text, element, '[');
  text = std::regex_replace(text, cast, "");
  // The parentheses after `*` may contain a computed address.
  if (const auto star = text.find_first_not_of(" \t&"); star != text.npos && text[star] == '*')
    if (const auto open = text.find_first_not_of(" \t*", star);
        open != text.npos && text[open] == '(')
      text.replace(open, behind_parenthesis(text, open) - open, "x");
  std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
  return std::regex_match(text, object);
}

/// Whether a line of the source only copies values and does not compute new ones.
bool only_copies(const std::string& line) {
  static const std::regex function(
      "\\b(mem(cpy|move)\\w*|copy\\w*|swap|cp\\.async\\S*|__pipeline_memcpy_async)\\b");
  static const std::regex condition("\\b(for|if|while|switch)\\s*\\(");
  static const std::regex comment("//.*|/\\*.*?\\*/");
  static const std::regex step("\\+\\+|--");
  static const std::regex update("[-+*/%&|^]=|<<=|>>=");
  static const std::regex value("(?:[^=!<>]=|\\breturn\\b)([^=;][^;]*)");
  if (std::regex_search(line, function)) return true;
  std::string text = std::regex_replace(line, comment, "");
  text = std::regex_replace(without(text, condition, '('), step, "");
  if (std::regex_search(text, update)) return false;
  bool copies = false;
  for (std::sregex_iterator i(text.begin(), text.end(), value), end; i != end; ++i) {
    std::string assigned = (*i)[1];
    // The text may contain the rest of a chain of assignments, or of a list of declarations.
    if (const auto last = assigned.rfind('='); last != assigned.npos) assigned.erase(0, last + 1);
    copies = copies || names_object(assigned);
    if (!names_object(assigned) && std::regex_search(assigned, std::regex("[\\[*]|->")))
      return false;
  }
  return copies;
}

/// Judges a finding by the whole run and by the source. A plain read that races with atomic
/// operations is a note if a compare-and-swap follows. Stores of equal values are lost updates if
/// their line updates a volatile variable. A read of unwritten bytes is no error if the thread only
/// copies them.
/// \returns the finding, or nothing if it is no error
std::optional<Finding> judged(const Finding& found, const Lines& lines) {
  Finding finding = found;
  if (found.read == nullptr) return finding;
  if (found.kind == "uninitialised read") {
    const Line load = line_of(lines, found.place), store = line_of(lines, found.read);
    if (load.number != 0 && store.number != 0 && only_copies(text_of(load)) &&
        only_copies(text_of(store)))
      return std::nullopt;
    finding.other_place = nullptr;
    return finding;
  }
  if (!found.is_note && record().optimistic_reads.contains(found.read)) {
    finding.is_note = true;
    finding.kind = "optimistic read";
    finding.sentence =
        "a plain read of a variable that other threads update by atomic operations: the value may "
        "be out of date, and the compare-and-swap that follows fails in this case";
    if (finding.place != found.read) std::swap(finding.place, finding.other_place);
  } else if (const Line line = line_of(lines, found.place); found.is_note && line.number != 0 &&
                                                            line == line_of(lines, found.read) &&
                                                            updates_variable(text_of(line))) {
    finding.is_note = false;
    finding.kind = "race";
    finding.sentence =
        "threads update a volatile variable without an atomic operation, with no barrier between "
        "them: all but one of the updates are lost";
  }
  return finding;
}

/// The findings by line. A misaligned access and an optimistic read are reported once per line. The
/// compiler checks the alignment of one access several times, and each atomic operation may race
/// with the same optimistic read.
std::vector<ReportedFinding> reported_findings(const Lines& lines) {
  std::vector<ReportedFinding> reported;
  for (const auto& [key, found] : record().findings) {
    const std::optional<Finding> judgement = judged(found, lines);
    if (!judgement.has_value()) continue;
    const Finding& finding = *judgement;
    const Line line = line_of(lines, finding);
    const auto is_same = [&](const ReportedFinding& other) {
      return other.finding.kind == finding.kind && other.finding.kernel == finding.kernel &&
             other.line == line && line.number != 0;
    };
    const bool is_reported_once =
        finding.kind == "misaligned access" || finding.kind == "optimistic read";
    if (is_reported_once && std::any_of(reported.begin(), reported.end(), is_same)) continue;
    const Line other = line_of(lines, finding.other_place);
    if (is_trouble(finding, lines))
      reported.push_back({finding, line, is_of_toolkit(other) ? Line{} : other});
  }
  return reported;
}

void print_finding(const ReportedFinding& reported) {
  const auto& [finding, line, other] = reported;
  fmt::print(stderr, "\n{}: {}: {}: {}\n  {}\n", place_text(line),
             finding.is_note ? "note" : "error", finding.kind, finding.sentence, text_of(line));
  if (finding.kernel.empty())
    fmt::print(stderr, "  in the host's code{}",
               finding.kind.starts_with("ignored") || finding.kind.starts_with("illegal")
                   ? ""
                   : " or a copy");
  else
    fmt::print(stderr, "  in {}, block ({}, {}, {}), thread ({}, {}, {})", finding.kernel,
               finding.block.x, finding.block.y, finding.block.z, finding.thread.x,
               finding.thread.y, finding.thread.z);
  fmt::print(stderr, ", {}\n",
             finding.count == 1 ? "once" : fmt::format("{} times", finding.count));
  if (other.number != 0)
    fmt::print(stderr, "  the other: {}\n  {}\n", place_text(other), text_of(other));
}

/// Writes the report into the file that CUDA_ON_CPU_REPORT names: as SARIF if the name ends in
/// `.sarif`, otherwise as JSON.
void write_file(const std::vector<ReportedFinding>& reported, const std::vector<Counted>& counted,
                const std::string& summary, const Lines& lines) {
  Json kernels = Json::array(), errors = Json::array(), notes = Json::array();
  for (const Counted& each : counted) {
    kernels.push_back(json_of(each.kernel, each.sites));
    add_shapes(kernels.back(), each.kernel);
    add_joints(kernels.back(), each.number, lines);
  }
  for (const ReportedFinding& each : reported)
    (each.finding.is_note ? notes : errors).push_back(json_of(each));
  Json unread = Json::array();
  for (const auto& [number, each] : record().unread_arrays)
    unread.push_back({{"array", number},
                      {"first", each.first},
                      {"bytes", each.bytes},
                      {"of_bytes", each.of_bytes}});
  std::ofstream file(settings().report);
  if (settings().report.ends_with(".sarif"))
    file << sarif_of(reported);
  else
    file << Json{{"program", program_invocation_short_name},
                 {"accesses", record().accesses},
                 {"kernels", kernels},
                 {"unread", unread},
                 {"errors", errors},
                 {"notes", notes},
                 {"summary", summary}}
                .dump(1)
         << '\n';
  if (!file.flush()) refuse(fmt::format("cannot write the report '{}'", settings().report));
}

/// An error of a call whose result the source ignores. The program may still query the last
/// error.
struct DroppedError {
  std::thread::id thread;
  Place place;
  std::string sentence;
};

struct DroppedErrors {
  std::mutex mutex;
  std::vector<DroppedError> all;
};

DroppedErrors& dropped_errors() {
  static auto& dropped = indestructible<DroppedErrors>();
  return dropped;
}

/// An error of a call by a kernel's thread. The thread belongs to the block that this thread of the
/// operating system runs.
struct DroppedInKernel {
  unsigned rank;
  Place place;
  std::string sentence;
};

std::vector<DroppedInKernel>& dropped_in_block() {
  thread_local auto& dropped = indestructible<std::vector<DroppedInKernel>>();
  return dropped;
}

}  // namespace

Record& record() {
  static auto& record = indestructible<Record>();
  return record;
}

namespace {

/// Details that are already known of the next finding of this thread.
struct NextFinding {
  NotedAccess access = {};
  std::uint64_t order = 0;
  std::vector<ByteRange> ranges = {};
  std::size_t of_bytes = 0;
};

NextFinding& next_finding() {
  thread_local auto& next = indestructible<NextFinding>();
  return next;
}

}  // namespace

void note_accessed(const void* address, std::size_t bytes) {
  next_finding().access = {address, bytes};
}

NotedAccess noted_access() { return next_finding().access; }

void note_order(std::uint64_t order) { next_finding().order = order; }

std::uint64_t next_order() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void note_ranges(std::vector<ByteRange>&& ranges, std::size_t of_bytes) {
  next_finding().ranges = std::move(ranges);
  next_finding().of_bytes = of_bytes;
}

namespace {

/// Guards the counts that concurrent blocks update.
std::mutex& mutex_of_counts() {
  static auto& mutex = indestructible<std::mutex>();
  return mutex;
}

void count(Joint&& joint) {
  if (block->on_trial) {
    ++notes().joints[std::move(joint)];
    return;
  }
  const std::scoped_lock lock(mutex_of_counts());
  ++record().joints[std::move(joint)];
}

constexpr std::uint64_t most_looked_through = 64;  // blocks of a kernel

/// Records the bytes in shared memory that the running block has stored and that no thread has
/// read.
void look_for_unread() {
  const std::scoped_lock lock(mutex_of_counts());
  KernelTotals& kernel = record().kernels[block->launch->record];
  if (kernel.looked_through++ >= most_looked_through) return;
  for (auto& [variable, unread] : unread_of_block()) {
    Unread& known = kernel.unread[variable];
    if (known.blocks++ == 0) {
      known.first = unread.first;
      known.bytes = unread.bytes;
      known.of_bytes = unread.of_bytes;
    }
  }
}

}  // namespace

void barrier_opens(const void* place, bool some_have_ended) {
  if (block->left_out) return;
  const DeviceAtWork at_work;
  count({block->launch->record, place_of(place), some_have_ended ? "partial barrier" : "barrier"});
}

void shuffled(const Thread& thread, const ShuffleForm& form) {
  if (block->left_out || form.kind == nullptr) return;
  const DeviceAtWork at_work;
  count({block->launch->record, place_of(thread.place), form.kind, form.distance, form.width});
}

bool leaves_out(const Launch& launch) {
  return (settings().blocks + 1) / 2 < (launch.blocks + 1) / 2;
}

// The analysed blocks are pairs of neighbours, evenly spaced from the first to the last block of
// the grid. If blocks can wait for each other, all blocks are analysed.
bool is_left_out(const Launch& launch, unsigned number) {
  const std::uint64_t wanted = (settings().blocks + 1) / 2, all = (launch.blocks + 1) / 2;
  if (!leaves_out(launch) || launch.configuration.cooperative || has_clusters(launch.configuration))
    return false;
  const std::uint64_t pair = number / 2, steps = std::max<std::uint64_t>(wanted - 1, 1);
  const std::uint64_t nearest = (pair * steps + all - 2) / (all - 1);  // division with rounding up
  return nearest >= wanted || nearest * (all - 1) / steps != pair;
}

static void note_shape(KernelTotals& kernel, const Configuration& configuration) {
  constexpr std::size_t most = 64;
  const auto are_same = [](dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  for (LaunchShape& shape : kernel.shapes)
    if (are_same(shape.grid, configuration.grid) && are_same(shape.block, configuration.block) &&
        shape.dynamic_shared == configuration.dynamic_shared) {
      ++shape.launches;
      return;
    }
  if (kernel.shapes.size() < most)
    kernel.shapes.push_back(
        {configuration.grid, configuration.block, configuration.dynamic_shared, 1});
}

static void note_arrays(KernelTotals& kernel, const Launch& launch) {
  constexpr std::size_t most = 8;
  std::vector<unsigned> arrays = arrays_of(launch);
  const auto known = std::find(kernel.arrays.begin(), kernel.arrays.end(), arrays);
  if (known == kernel.arrays.end() && kernel.arrays.size() < most)
    kernel.arrays.push_back(std::move(arrays));
}

void launch_begins(Launch& launch) {
  watch_ends();
  {
    Record& r = record();
    const std::scoped_lock lock(clock_mutex());  // the host may read flags while a kernel runs
    const auto known = std::find_if(r.kernels.begin(), r.kernels.end(),
                                    [&](const auto& k) { return k.name == launch.kernel; });
    launch.record = static_cast<std::uint32_t>(known - r.kernels.begin());
    if (known == r.kernels.end()) r.kernels.push_back({launch.kernel});
    r.kernel_of[launch.operation] = launch.record;
    KernelTotals& kernel = r.kernels[launch.record];
    ++kernel.launches;
    kernel.blocks += launch.blocks;
    kernel.threads += std::uint64_t{launch.blocks} * launch.threads;
    note_shape(kernel, launch.configuration);
    note_arrays(kernel, launch);
  }
  forget_releases_before(launch);
  append_contents(launch, "before");
}

/// The marks of unanalysed blocks, keyed by the order in which the blocks started.
/// The marks are kept as long as an earlier block may run.
struct LateMarks {
  std::mutex mutex;
  std::multimap<unsigned, std::vector<Mark>> by_turn;

  void count_before(unsigned turn) {
    const std::scoped_lock lock(mutex);
    const auto end = by_turn.lower_bound(turn);
    for (auto marks = by_turn.begin(); marks != end; ++marks) count_as_written(marks->second);
    by_turn.erase(by_turn.begin(), end);
  }
};

static LateMarks& late_marks() {
  static auto& marks = indestructible<LateMarks>();
  return marks;
}

/// Marks the bytes that an ended unanalysed block has written. If other blocks may run
/// concurrently, the marks are only kept for later.
static void keep_marks(Block& block) {
  std::vector<Mark>& marks = block.targets->marks;
  if (block.launch->side_by_side == nullptr) {
    count_as_written(marks);
  } else if (!marks.empty()) {
    LateMarks& late = late_marks();
    const std::scoped_lock lock(late.mutex);
    late.by_turn.emplace(block.turn, marks);
  }
  marks.clear();
}

void launch_ends(Launch& launch) {
  record().kernels[launch.record].barriers += launch.barriers;
  append_contents(launch, "after");
  if (launch.side_by_side != nullptr) late_marks().count_before(launch.blocks);
}

static std::span<Warp> warps_of(Block& block) {
  return std::span(block.warps).first((block.launch->threads + warp_size - 1) / warp_size);
}

/// Prepares the logs of a block. An unanalysed block logs no accesses, so only the logs that have
/// been used are cleared.
static void prepare_logs(Block& block) {
  if (block.logs == nullptr) {
    block.logs = std::make_unique_for_overwrite<AccessLog[]>(most_threads / warp_size).release();
    for (AccessLog& log : std::span(block.logs, most_threads / warp_size)) log.is_used = true;
  }
  AccessLog* next = block.logs;
  for (Warp& warp : warps_of(block)) {
    warp.log = next++;
    if (!block.left_out || warp.log->is_used) warp.log->clear();
    warp.log->is_used = !block.left_out;
  }
}

void block_begins(Block& block) {
  block.left_out = is_left_out(*block.launch, block.number);
  passes_over = block.left_out ? thread_area_bytes() : 0;
  if (block.targets == nullptr) block.targets = std::make_unique<Targets>().release();
  block.targets->operation = block.left_out ? Targets::none : block.launch->operation;
  accesses = 0;
  if (block.left_out)
    ++std::atomic_ref(record().kernels[block.launch->record].left_out);
  else if (block.launch->side_by_side != nullptr)
    late_marks().count_before(block.turn);
  SideBySide* const others = block.launch->side_by_side;
  block.beside = others != nullptr && others->is_beside(block.turn) ? others : nullptr;
  prepare_logs(block);
  clear_block_clocks(!block.left_out && !block.on_trial);
  forget_overwritings();
  forget_unwritten_reads();
  begin_on_trial(block);
}

void block_ends(Block& block) {
  passes_over = 0;
  if (block.left_out) keep_marks(block);
  if (block.on_trial) return end_on_trial(block);
  for (const DroppedInKernel& dropped : dropped_in_block())
    add_finding("ignored error", dropped.place, 0, &block.threads[dropped.rank], dropped.sentence);
  dropped_in_block().clear();
  // After a failure of the block, lanes may still wait.
  for (Warp& warp : warps_of(block)) check_rest(warp);
  report_uses();
  if (!block.failed && !block.left_out) look_for_unread();
  block_runs_no_more();
  if (!block.left_out) record().accesses += accesses;
}

void error_dropped(const void* place, const Thread* thread, const std::string& sentence) {
  if (thread != nullptr)
    return dropped_in_block().push_back({thread->rank, place_of(place), sentence});
  const std::scoped_lock lock(dropped_errors().mutex);
  dropped_errors().all.push_back({std::this_thread::get_id(), place_of(place), sentence});
}

void errors_looked_at() {
  if (is_on_device()) {
    const unsigned rank = block->current->rank;
    const DeviceAtWork at_work;
    std::erase_if(dropped_in_block(), [&](const auto& dropped) { return dropped.rank == rank; });
    return;
  }
  const std::scoped_lock lock(dropped_errors().mutex);
  std::erase_if(dropped_errors().all, [](const DroppedError& dropped) {
    return dropped.thread == std::this_thread::get_id();
  });
}

std::uint64_t races_found() {
  std::uint64_t count = 0;
  for (const auto& [key, finding] : record().findings)
    if (finding.kind.ends_with("race") || finding.kind == "same value") count += finding.count;
  return count;
}

namespace {

struct Watched {
  std::mutex mutex;
  bool is_on = false;
  std::vector<RacyBytes> bytes;
};

Watched& watched() {
  static auto& watched = indestructible<Watched>();
  return watched;
}

}  // namespace

void watch_racy_bytes() { watched().is_on = true; }

std::vector<RacyBytes> racy_bytes() {
  const std::scoped_lock lock(watched().mutex);
  return watched().bytes;
}

void note_racy_bytes(const RacyBytes& bytes) {
  Watched& w = watched();
  if (!w.is_on) return;
  const std::scoped_lock lock(w.mutex);
  w.bytes.push_back(bytes);
}

void forget_findings() {
  record().findings.clear();
  const std::scoped_lock lock(watched().mutex);
  watched().bytes.clear();
}

void allocated(const void*, std::size_t) { watch_ends(); }

void freed(const void* address, std::size_t, const void*) {
  const auto [number, unread] = unread_of_array(address);
  if (unread.bytes == 0) return;
  const std::scoped_lock lock(mutex_of_counts());
  record().unread_arrays[number] = unread;
}

static void add(const char* kind, Place place, Place other_place, const Thread* thread,
                const std::string& sentence, bool is_note, Place read = 0) {
  static auto& mutex = indestructible<std::mutex>();
  end_trial();
  const NextFinding next = std::exchange(next_finding(), {});
  const std::scoped_lock lock(mutex);
  Finding& finding = record().findings[fmt::format("{} {} {}", kind, place, other_place)];
  const std::uint64_t order = next.order != 0 ? next.order : next_order();
  if (finding.order == 0 || order < finding.order) finding.order = order;
  if (finding.count++ > 0 && (moment == nullptr || *moment >= finding.moment)) return;
  if (thread != nullptr && next.access.address != nullptr)
    finding.accessed = accessed_at(next.access.address, next.access.bytes);
  finding.ranges = next.ranges;
  finding.of_bytes = next.of_bytes;
  finding.moment = moment == nullptr ? Moment{} : *moment;
  finding.is_note = is_note;
  finding.kind = kind;
  finding.place = address_of(place);
  finding.other_place = address_of(other_place);
  finding.read = address_of(read);
  finding.sentence = sentence;
  if (thread == nullptr) return;
  if (finding.accessed.pointer >= 0 && finding.kind == "uninitialised read")
    finding.ranges = unwritten_of_array(next.access.address, finding.of_bytes);
  finding.kernel = block->launch->kernel;
  finding.block = block->index;
  finding.thread = thread->index;
  const void* const callers = block->launch->invocation.callers.get();
  if (callers != nullptr) finding.callers = *static_cast<const std::vector<const void*>*>(callers);
}

void add_finding(const char* kind, Place place, Place other_place, const Thread* thread,
                 const std::string& sentence) {
  add(kind, place, other_place, thread, sentence, false);
}

void add_note(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence) {
  add(kind, place, other_place, thread, sentence, true);
}

void add_race(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence, Place read) {
  add(kind, place, other_place, thread, sentence, false, read);
}

void add_same_value(Place place, Place other_place, const Thread* thread,
                    const std::string& sentence, Place read) {
  add("same value", place, other_place, thread, sentence, true, read);
}

void note_optimistic_read(Place read) {
  thread_local Place last = 0;
  if (read == last) return;
  last = read;
  const std::scoped_lock lock(clock_mutex());
  record().optimistic_reads.insert(address_of(read));
}

std::string access_name(const Site& site) {
  constexpr const char* verbs[] = {"load", "store", "atomic", "atomic"};
  return fmt::format("{} {}", is_shared(site) ? "shared" : "global", verbs[site.kind]);
}

std::string place_text(const Line& line) {
  return line.number == 0
             ? "?"
             : fmt::format("{}:{}", line.file.substr(line.file.rfind('/') + 1), line.number);
}

bool write_report() {
  for (const DroppedError& dropped : dropped_errors().all)
    add_finding("ignored error", dropped.place, 0, nullptr, dropped.sentence);
  const Lines lines = lines_of_record();
  std::vector<Counted> counted;
  for (std::uint32_t k = 0; k < record().kernels.size(); ++k)
    counted.push_back({record().kernels[k], sites_of(k, lines), k});
  const std::vector<ReportedFinding> reported = reported_findings(lines);
  const std::string summary = summary_of(reported, counted);
  if (settings().report.empty() || !settings().quiet) {
    for (const ReportedFinding& each : reported) print_finding(each);
    fmt::print(stderr, "\n{}\n", summary);
    for (const Counted& kernel : counted) print_kernel(kernel.kernel, kernel.sites);
  }
  if (!settings().report.empty()) write_file(reported, counted, summary, lines);
  return std::all_of(reported.begin(), reported.end(),
                     [](const ReportedFinding& t) { return t.finding.is_note; });
}

}  // namespace analysis

Owned callers() {
  std::array<void*, 64> all{};
  const auto count = static_cast<std::size_t>(::backtrace(all.data(), all.size()));
  std::vector<const void*> within;
  for (const void* place : std::span(all).first(count).subspan(1))  // without this function
    if (image_at(place) != nullptr) within.push_back(place);
  return owned_copy(std::move(within));
}

void report_diagnostic(const Diagnostic& diagnostic) {
  analysis::add_finding(diagnostic.kind, analysis::place_of(diagnostic.place),
                        analysis::place_of(diagnostic.other_place), diagnostic.thread,
                        diagnostic.sentence);
}

}  // namespace cuda_on_cpu
