/// \file
/// Finds stage programs, reads their descriptions and selects among them.

#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.hpp"

namespace staircase {

/// A program of a stage. A CUDA stage has two programs: one for the GPU and one for the CPU device.
struct Program {
  std::filesystem::path path;
  std::string workload;
  std::string stage;      ///< name, for example 01_openmp or baseline_lapack
  std::string device;     ///< "cpu", "gpu" or "cpu-device"
  std::string source;     ///< path from the root of the repository
  bool analysed = false;  ///< whether another program analyses the accesses of this program
  std::shared_ptr<nlohmann::ordered_json> described =
      std::make_shared<nlohmann::ordered_json>();  ///< cache of description(); null until its first
                                                   ///< use

  /// The JSON that the program prints with `--describe`.
  /// \throws BadInput if the program is not built, or does not print JSON
  const nlohmann::ordered_json& description() const;
  bool is_baseline() const { return stage.starts_with("baseline_"); }
  /// Returns a text from the description, for example for the key "title" or "idea".
  std::string text(const char* key) const { return description().at(key).get<std::string>(); }
  /// The precisions that the stage supports: "f64", "f32" or both.
  std::vector<std::string> precisions() const;
  bool offers(const std::string& precision) const;
  /// Whether this is the program of a CUDA stage for the CPU device.
  bool on_cpu_device() const { return device == "cpu-device"; }
};

/// The stage programs in a directory, ordered by workload and stage, with baselines last. If the
/// directory contains a list `programs.txt`, the result contains the programs in this list, even
/// those that are not built. Without such a list, the result contains the existing programs.
/// \throws BadInput if there are no programs, or if a program does not print its description
std::vector<Program> find_programs(const std::filesystem::path& directory);

/// Whether the table contains a row for a program. If a stage has a program for the GPU, the
/// program for the CPU device has a row only with `--device cpu-device`.
/// \param all all programs of the workload
bool is_chosen(const Program& program, const std::vector<Program>& all, const Options& options);

/// The programs of the selected stages for the selected device. Each program has a row in the
/// table.
/// \throws BadInput if there are no such programs
std::vector<Program> chosen_programs(const std::vector<Program>& all, const Options& options);

/// The names of the programs' stages, each name once.
std::vector<std::string> stages_of(const std::vector<Program>& programs);

/// Selects programs by a list of stages such as `00,02-03,openmp,baseline_lapack`. An empty list
/// selects all programs.
/// \throws BadInput if an item of the list does not select any program
std::vector<Program> select_stages(const std::vector<Program>& programs, const std::string& list);

/// Selects the programs of the reference stage. `item` has the same form as an item of the list in
/// select_stages(). An empty item selects stage zero.
/// \throws BadInput if the item selects no stage or several stages
std::vector<Program> select_reference(const std::vector<Program>& programs,
                                      const std::string& item);

}  // namespace staircase
