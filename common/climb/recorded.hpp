/// \file
/// Recorded times of the reference GPU, shown on machines without a GPU.

#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace staircase {

/// The directory of docs/results that holds the recordings of the reference GPU.
inline constexpr const char* reference_machine = "h200";

/// The recorded time of a stage, and its ratios to other times of the same run.
struct Recorded {
  std::string gpu;           ///< "NVIDIA H200"
  std::string date;          ///< "2026-11-22"
  double median = 0;         ///< in seconds
  double over_zero = 0;      ///< speed-up over stage zero; 0 if unknown
  double over_previous = 0;  ///< speed-up over the stage that it continues; 0 if unknown
  double of_peak = 0;        ///< shortest possible time / recorded time; 0 if unknown
};

/// The recorded times of stages, by problem.
class Recordings {
 public:
  Recordings() = default;
  /// Reads the recordings of some workloads on the reference GPU.
  /// \param root the directory that contains docs/results; files that are missing, malformed or no
  ///             recordings are ignored
  Recordings(const std::filesystem::path& root, const std::vector<std::string>& workloads);

  /// Workload, data set and precision of a problem.
  using Problem = std::array<std::string, 3>;

  /// The time of a stage that the book shows too; empty if no time was recorded on the GPU.
  /// \param zero   the name of stage zero
  /// \param before the name of the stage that this one continues, or empty
  std::optional<Recorded> find(const Problem& problem, const std::string& stage,
                               const std::string& zero, const std::string& before) const;

 private:
  struct Time {
    bool on_gpu = false;
    double median = 0;
    double of_peak = 0;
  };
  struct Run {
    std::string gpu, revision, date;
    std::size_t repeats = 0;
    std::map<std::string, Time> times;  // by stage
  };

  void read(const std::string& text);
  static void sort_as_book(std::vector<Run>& runs);

  std::map<Problem, std::vector<Run>> runs_;
};

}  // namespace staircase
