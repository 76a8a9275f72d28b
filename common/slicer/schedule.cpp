#include "schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <staircase/error.hpp>

namespace slicer {

Schedule::Schedule(std::vector<const Loop*> band) : band_(std::move(band)) {
  for (std::size_t l = 0; l < band_.size(); ++l) {
    written_.push_back({l, std::vector<long>(band_.size())});
    written_.back().sum[l] = band_[l]->step > 0 ? 1 : -1;
  }
  times_ = written_;
}

void Schedule::apply(const Request& request) {
  if (request.what == Transformation::interchange) return interchange(request);
  request.what == Transformation::skew ? skew(request) : tile(request);
}

/// The index of the time coordinate of a loop.
std::size_t Schedule::find(const std::string& name) const {
  const auto found = std::find_if(times_.begin(), times_.end(), [&](const Time& time) {
    return band_[time.loop]->variable->name == name;
  });
  return found - times_.begin();
}

void Schedule::interchange(const Request& request) {
  std::swap(times_[find(request.names[0])], times_[find(request.names[1])]);
}

/// Adds a multiple of one loop's counter to the counter of another loop. A loop that counts down
/// keeps its direction.
void Schedule::skew(const Request& request) {
  Time& skewed = times_[find(request.names[0])];
  const Time& by = times_[find(request.names[1])];
  const bool is_against = band_[skewed.loop]->step * band_[by.loop]->step < 0;
  const long factor = is_against ? -request.numbers[0] : request.numbers[0];
  for (std::size_t l = 0; l < band_.size(); ++l) skewed.sum[l] += factor * by.sum[l];
}

void Schedule::tile(const Request& request) {
  std::vector<std::pair<std::size_t, long>> tiled;
  for (std::size_t n = 0; n < request.names.size(); ++n)
    tiled.push_back({find(request.names[n]), request.numbers[n]});
  std::sort(tiled.begin(), tiled.end());
  if (tiled.back().first - tiled.front().first + 1 != tiled.size())
    throw staircase::BadInput(fmt::format(
        "line {}: `{}` names loops that are not next to each other", request.line, request.text));
  std::vector<Time> tiles;
  for (const auto& [at, length] : tiled) {
    tiles.push_back(times_[at]);
    tiles.back().length = length;
  }
  times_.insert(times_.begin() + static_cast<std::ptrdiff_t>(tiled.front().first), tiles.begin(),
                tiles.end());
}

isl::set Schedule::reversed(const Space& space) const {
  return backward(space, band_, written_, -1).intersect(backward(space, band_, times_, 1));
}

/// The pairs whose sink runs before the source or, with sign -1, after the source.
isl::set Schedule::backward(const Space& space, const std::vector<const Loop*>& band,
                            const std::vector<Time>& times, int sign) {
  isl::set all = space.nothing(), so_far = space.universe();
  for (const Time& time : times) {
    isl::pw_aff distance = space.number(0);
    for (std::size_t l = 0; l < band.size(); ++l) {
      const isl::pw_aff source = space.variable_at(space.position_of(*band[l], 0));
      const isl::pw_aff sink = space.variable_at(space.position_of(*band[l], 1));
      distance = distance.add(sink.sub(source).mul(space.number(sign * time.sum[l])));
    }
    all = all.unite(so_far.intersect(distance.lt_set(space.number(0))));
    // Two values may lie in the same tile if they differ by less than its length.
    so_far = so_far.intersect(distance.lt_set(space.number(time.length)))
                 .intersect(distance.gt_set(space.number(-time.length)));
  }
  return all.coalesce();
}

}  // namespace slicer
