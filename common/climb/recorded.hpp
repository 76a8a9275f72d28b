/// \file
/// Recorded times of the reference GPU. The runner shows these times on machines without a GPU.

#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace staircase {

/// The directory in docs/results that contains the recordings of the reference GPU.
inline constexpr const char* reference_machine = "h200";

/// The recorded time of a stage, its speed-ups over two stages of the same run, and its fraction of
/// the peak.
struct Recorded {
  std::string gpu;           ///< for example "NVIDIA H200"
  std::string date;          ///< for example "2026-11-22"
  double median = 0;         ///< in seconds
  double over_zero = 0;      ///< speed-up over stage zero; 0 if unknown
  double over_previous = 0;  ///< speed-up over the continued stage; 0 if unknown
  double of_peak = 0;        ///< shortest possible time / recorded time; 0 if unknown
};

/// The recorded times of stages, grouped by problem.
class Recordings {
 public:
  Recordings() = default;
  /// Reads the recordings of the given workloads on the reference GPU.
  /// \param root the directory that contains docs/results; missing and malformed files are ignored
  Recordings(const std::filesystem::path& root, const std::vector<std::string>& workloads);

  /// The workload, data set and precision of a problem.
  using Problem = std::array<std::string, 3>;

  /// Finds the recorded time of a stage. The book shows the same recorded time. The result is empty
  /// if no time was recorded on the reference GPU.
  /// \param zero the name of stage zero
  /// \param before the name of the stage that `stage` continues; may be empty
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
    std::map<std::string, Time> times;  // by the name of the stage
  };

  void read(const std::string& text);
  static void sort_as_book(std::vector<Run>& runs);

  std::map<Problem, std::vector<Run>> runs_;
};

}  // namespace staircase
