/// \file
/// Measures the times of several forms of a library call, checks that their results agree, and
/// prints one line per form.
///
/// The forms of a group solve the same problem, for example with different triangles or storage
/// orders.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace forms {

template <typename T>
constexpr const char* precision = std::is_same_v<T, double> ? "f64" : "f32";
/// The largest relative difference that rounding can cause between the results of two forms.
template <typename T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-11 : 2e-3;

/// Selects one of two functions according to the precision T.
template <typename T, typename F64, typename F32>
auto of(F64 f64, F32 f32) {
  if constexpr (std::is_same_v<T, double>)
    return f64;
  else
    return f32;
}

template <typename T>
std::string group_name(const std::string& workload, const std::string& size) {
  return workload + "." + precision<T> + "." + size;
}

/// The command line. The arguments are the names of the workloads whose forms are timed. Without
/// names, all workloads are timed.
class Arguments {
 public:
  Arguments(int argc, char** argv) : words_(argv + 1, argv + argc) {
    scale_ = std::erase(words_, "--tiny") > 0 ? 64 : 1;
  }
  bool wants(const std::string& workload) const {
    return words_.empty() || std::find(words_.begin(), words_.end(), workload) != words_.end();
  }
  /// The size of a problem: `full`, or a smaller size if the forms are only checked (--tiny).
  int size(int full) const { return std::max(full / scale_, 1); }

 private:
  std::vector<std::string> words_;
  int scale_;
};

/// A form of a library call that solves the problem of a group.
struct Form {
  std::string name;
  std::function<void()> prepare;  ///< restores operands that a call overwrites; not timed
  std::function<void()> call;     ///< the timed call; returns when the work is complete
  std::function<double()> error;  ///< relative difference from the first form of the group
};

/// The forms that solve one problem. The name of the group consists of workload, precision and
/// size, separated by dots.
struct Group {
  std::string name;
  double tolerance;  ///< largest relative difference between two forms
  std::vector<Form> forms;
};

/// The median duration of `repeats` calls, in seconds, after one warm-up call.
inline double seconds(const Form& form, int repeats) {
  const auto once = [&form] {
    form.prepare();
    const auto begin = std::chrono::steady_clock::now();
    form.call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  once();
  std::vector<double> times(repeats);
  std::generate(times.begin(), times.end(), once);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Measures the times of the forms of a group. For each form, the function prints the name, the
/// seconds and the relative difference from the first form. A form that the library rejects, or
/// that differs by more than the tolerance, is printed as a comment.
/// \throws std::runtime_error at the end if a form differs from the first form
inline void run(const Group& group, int repeats) {
  std::string different;
  for (const Form& form : group.forms) {
    const std::string name = group.name + "." + form.name;
    try {
      const double time = seconds(form, repeats);
      const double error = form.error();
      const bool agrees = error <= group.tolerance;
      std::printf("%s%s %.9g %.2g\n", agrees ? "" : "# differs: ", name.c_str(), time, error);
      if (!agrees) different += (different.empty() ? "" : ", ") + name;
    } catch (const std::invalid_argument& refused) {
      std::printf("# %s: %s\n", name.c_str(), refused.what());
    }
    std::fflush(stdout);
  }
  if (!different.empty())
    throw std::runtime_error("these forms differ from the first one of their problem: " +
                             different);
}

}  // namespace forms
