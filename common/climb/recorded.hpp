/// \file
/// What was recorded on the reference GPU, for where there is none.

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

/// A stage's recorded time, and how it compares within the same run of the same recording.
struct Recorded {
  std::string gpu;       ///< "NVIDIA H200"
  std::string date;      ///< "2026-11-22"
  double median = 0;     ///< in seconds
  double over_zero = 0;  ///< speed-up over stage zero, 0 if unknown
  double over_step = 0;  ///< speed-up over the stage that it continues, 0 if unknown
  double of_limit = 0;   ///< share of the GPU's limit, 0 if unknown
};

/// The recorded times of stages, by problem.
class Recordings {
 public:
  Recordings() = default;
  /// Reads the recordings of some workloads on the reference GPU below a directory that holds
  /// docs/results. A file that is missing, broken or something else is left out.
  Recordings(const std::filesystem::path& root, const std::vector<std::string>& workloads);

  /// A problem by workload, data set and precision.
  using Problem = std::array<std::string, 3>;

  /// The time of a stage that the book shows; nothing if none was recorded on the GPU.
  /// \param zero   stage zero
  /// \param before the stage that this one continues, or empty
  std::optional<Recorded> find(const Problem& problem, const std::string& stage,
                               const std::string& zero, const std::string& before) const;

 private:
  struct Time {
    bool on_gpu = false;
    double median = 0;
    double of_limit = 0;
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
