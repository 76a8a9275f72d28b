#include "instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <staircase/error.hpp>

#include "accesses.hpp"

namespace slicer {
namespace {

constexpr long usual_size = 5;
constexpr std::size_t most_events = 50'000;

std::vector<const Loop*> loops_around(const Frame* frame) {
  std::vector<const Loop*> loops;
  for (; frame; frame = frame->parent)
    if (frame->loop) loops.insert(loops.begin(), frame->loop);
  return loops;
}

/// All accesses of a nest, except those to its counters and to numbers that the nest never changes.
std::vector<const Access*> all_accesses(const Function& function, const Loop& nest) {
  std::set<const Variable*> counters, written;
  for (const Loop& loop : function.loops) counters.insert(loop.variable);
  for (const Access& access : function.accesses)
    if (access.is_write && access.frame->is_within(nest.frame))
      written.insert(access.place.variable);
  std::vector<const Access*> accesses;
  for (const Access& access : function.accesses)
    if (access.frame->is_within(nest.frame) && !counters.contains(access.place.variable) &&
        (has_element(access.place) || written.contains(access.place.variable)))
      accesses.push_back(&access);
  return accesses;
}

std::vector<const Loop*> loops_within(const Function& function, const Loop& nest) {
  std::vector<const Loop*> loops;
  for (const Loop& loop : function.loops)
    if (loop.frame->is_within(nest.frame)) loops.push_back(&loop);
  return loops;
}

class Running {
 public:
  Running(const Function& function, const Loop& nest)
      : function_(function),
        nest_(nest),
        accesses_(all_accesses(function, nest)),
        loops_(loops_within(function, nest)),
        names_(function, nest.frame),
        space_(names_, accesses_, countable()) {}

  Instance run(std::map<std::string, Given>& given) {
    isl_ctx_reset_operations(shared_context().get());
    for (const Loop* loop : loops_)
      if (!counts(*loop)) refuse(fmt::format("{} (line {})", loop->unknown, loop->line));
    const std::string trouble = trouble_in(function_, *nest_.frame, accesses_);
    if (!trouble.empty()) refuse(trouble);
    if (accesses_.empty()) refuse("it accesses no memory");
    try {
      fix_sizes(given);
      for (const Loop* loop : loops_) measure(*loop);
      for (const Touched& touched : Elements(space_).touch(accesses_)) happen(touched);
    } catch (const isl::exception&) {
      refuse("the sets of iterations are too complicated");
    }
    std::sort(timed_.begin(), timed_.end(),
              [](const auto& one, const auto& other) { return one.first < other.first; });
    for (auto& [time, event] : timed_) instance_.events.push_back(std::move(event));
    return std::move(instance_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw staircase::BadInput(
        fmt::format("line {}: the nest cannot be drawn: {}", nest_.line, why));
  }

  std::vector<const Loop*> countable() const {
    std::vector<const Loop*> loops;
    std::copy_if(loops_.begin(), loops_.end(), std::back_inserter(loops),
                 [](const Loop* loop) { return counts(*loop); });
    return loops;
  }

  /// The name of a size in the source: the name of the variable that is initialised with the size,
  /// or the size's own name if there is no such variable.
  std::string called(const Variable* size) const {
    for (const Variable& variable : function_.variables)
      if (variable.value && variable.value->operation == Operation::symbol &&
          variable.value->symbol == size && !variable.name.empty())
        return variable.name;
    return size->name;
  }

  void fix_sizes(std::map<std::string, Given>& given) {
    fixed_ = space_.universe();
    for (const Variable* size : space_.sizes()) {
      const std::string name = called(size);
      if (name.empty()) refuse("a size of the nest has no name");
      long value = usual_size;
      for (auto& [said, number] : given)
        if (said == name || said == size->name) {
          value = number.value;
          number.is_used = true;
        }
      instance_.sizes[name] = value;
      const isl::pw_aff at = space_.variable_at(space_.position_of(size));
      fixed_ = fixed_.intersect(at.eq_set(space_.number(value)));
    }
  }

  /// Restricts a set to one side of the pairs: all coordinates of the other side are 0.
  isl::set alone(isl::set set, const std::vector<const Loop*>& loops) const {
    set = set.intersect(fixed_);
    std::set<std::size_t> used;
    for (const Loop* loop : loops) used.insert(space_.position_of(*loop, 0));
    for (const Variable* size : space_.sizes()) used.insert(space_.position_of(size));
    for (std::size_t d = 0; d < space_.count(); ++d)
      if (!used.contains(d)) set = set.intersect(space_.variable_at(d).eq_set(space_.number(0)));
    if (isl_set_is_bounded(set.get()) != isl_bool_true) refuse("a loop of the nest has no end");
    return set;
  }

  void measure(const Loop& loop) {
    std::string unsure;
    const isl::set domain = alone(space_.domain(*loop.frame, 0, unsure), loops_around(loop.frame));
    if (!unsure.empty()) refuse(unsure);
    if (domain.is_empty()) return;
    const auto at = static_cast<int>(space_.position_of(loop, 0));
    const isl::val first = isl::manage(isl_set_dim_min_val(domain.copy(), at));
    const isl::val last = isl::manage(isl_set_dim_max_val(domain.copy(), at));
    instance_.extents[&loop] = {first.num_si(), last.num_si() + 1};
  }

  /// Records the events of an access in all iterations.
  void happen(const Touched& touched) {
    const Access& access = *touched.access;
    if (!touched.unsure.empty()) refuse(touched.unsure);
    if (access.place.is_loose || Names::is_elsewhere(access))
      refuse(
          fmt::format("line {} has `{}`, which may refer to any memory", access.line, access.text));
    const std::vector<const Loop*> loops = loops_around(access.frame);
    const std::size_t statement = statement_of(access, loops);
    alone(touched.domains[0], loops).foreach_point([&](const isl::point& point) {
      Event event{&access, statement, {}, cell_of(touched, loops, point)};
      std::vector<long> time;
      for (const Loop* loop : loops) {
        event.point.push_back(counter(*loop, point));
        time.push_back(first_access(*loop));
        time.push_back(loop->step > 0 ? event.point.back() : -event.point.back());
      }
      time.push_back(&access - function_.accesses.data());
      instance_.statements[statement].points.insert(event.point);
      timed_.push_back({time, event});
      if (timed_.size() > most_events)
        throw staircase::BadInput(fmt::format(
            "line {}: the nest reads and writes more than {} times; --set makes sizes smaller",
            nest_.line, most_events));
    });
  }

  Cell cell_of(const Touched& touched, const std::vector<const Loop*>& loops,
               const isl::point& point) {
    const Place& place = touched.access->place;
    Cell cell{place.variable, place.variable->name, {}, {}};
    for (const Loop* loop : loops)
      if (place.variable->frame && place.variable->frame->is_within(loop->frame))
        cell.own.push_back(counter(*loop, point));
    for (std::size_t s = 0; s < place.steps.size(); ++s) {
      if (!place.steps[s].member.empty()) cell.name += "." + place.steps[s].member;
      for (const isl::pw_aff& at : touched.at[0][s])
        cell.element.push_back(isl::manage(isl_pw_aff_eval(at.copy(), point.copy())).num_si());
    }
    hold_apart(cell, *touched.access);
    return cell;
  }

  /// Refuses a location that is a part of another accessed location.
  void hold_apart(const Cell& cell, const Access& access) {
    auto& forms = forms_[cell.variable];
    if (!forms.insert({cell.name, cell.element.size()}).second) return;
    for (const auto& [name, rank] : forms) {
      const bool is_same = name == cell.name && rank == cell.element.size();
      const bool is_apart =
          !(name + ".").starts_with(cell.name + ".") && !(cell.name + ".").starts_with(name + ".");
      if (!is_same && !is_apart)
        refuse(fmt::format(
            "line {} has `{}`, but another line has only a part of it, or an object around it",
            access.line, access.text));
    }
  }

  long counter(const Loop& loop, const isl::point& point) const {
    const auto at = static_cast<int>(space_.position_of(loop, 0));
    return isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, at)).num_si();
  }

  long first_access(const Loop& loop) const {
    const auto found =
        std::find_if(function_.accesses.begin(), function_.accesses.end(),
                     [&](const Access& access) { return access.frame->is_within(loop.frame); });
    return found - function_.accesses.begin();
  }

  /// The index of the statement that contains an access, within the body of the innermost loop.
  std::size_t statement_of(const Access& access, const std::vector<const Loop*>& loops) {
    const auto index = static_cast<std::size_t>(&access - function_.accesses.data());
    std::size_t part = 0;
    for (const std::size_t first : loops.back()->parts)
      if (first <= index) part = first;
    const auto [known, is_new] =
        numbers_.insert({{loops.back(), part}, instance_.statements.size()});
    if (is_new) instance_.statements.push_back({access.line, loops, {}});
    return known->second;
  }

  const Function& function_;
  const Loop& nest_;
  std::vector<const Access*> accesses_;
  std::vector<const Loop*> loops_;
  Names names_;
  Space space_;
  isl::set fixed_;  ///< the given values of the sizes
  Instance instance_;
  std::map<std::pair<const Loop*, std::size_t>, std::size_t> numbers_;
  std::map<const Variable*, std::set<std::pair<std::string, std::size_t>>> forms_;
  std::vector<std::pair<std::vector<long>, Event>> timed_;
};

}  // namespace

Instance instance_of(const Function& function, const Loop& nest,
                     std::map<std::string, Given>& given) {
  return Running(function, nest).run(given);
}

}  // namespace slicer
