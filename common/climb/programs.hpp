/// \file
/// Finds the stage programs, reads their descriptions and selects among them.

#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.hpp"

namespace staircase {

/// A program of a stage. A CUDA stage has one for the GPU and one for the CPU device.
struct Program {
  std::filesystem::path path;
  std::string workload;
  std::string stage;      ///< 01_openmp or baseline_lapack
  std::string device;     ///< "cpu", "gpu" or "cpu-device"
  std::string source;     ///< path from the root of the repository
  bool analysed = false;  ///< whether another program exists that analyses its memory accesses
  std::shared_ptr<nlohmann::ordered_json> described =
      std::make_shared<nlohmann::ordered_json>();  ///< cache of description(); null until its first
                                                   ///< use

  /// What `--describe` prints.
  /// \throws BadInput if the program is not built, or prints no JSON
  const nlohmann::ordered_json& description() const;
  bool is_baseline() const { return stage.starts_with("baseline_"); }
  /// A text of the description, such as "title" or "idea".
  std::string text(const char* key) const { return description().at(key).get<std::string>(); }
  /// The precisions that the stage offers: "f64", "f32" or both.
  std::vector<std::string> precisions() const;
  bool offers(const std::string& precision) const;
  /// Whether this program of a CUDA stage runs on the CPU device.
  bool on_cpu_device() const { return device == "cpu-device"; }
};

/// The stage programs of a directory, ordered by workload and stage, with baselines last. If the
/// directory has a list `programs.txt`, these are the programs in the list, built or not; otherwise
/// they are the programs that exist.
/// \throws BadInput if there are none, or if one does not describe itself
std::vector<Program> find_programs(const std::filesystem::path& directory);

/// Whether the table has a row for a program. If a stage has a program for the GPU, its program for
/// the CPU device has a row only with `--device cpu-device`.
/// \param all every program of the workload
bool is_chosen(const Program& program, const std::vector<Program>& all, const Options& options);

/// The programs of the selected stages for the selected device; each has a row in the table.
/// \throws BadInput if there are none
std::vector<Program> chosen_programs(const std::vector<Program>& all, const Options& options);

/// The names of the stages of some programs, each once.
std::vector<std::string> stages_of(const std::vector<Program>& programs);

/// The programs whose stage is in a list such as `00,02-03,openmp,baseline_lapack`; an empty list
/// selects all.
/// \throws BadInput if an item of the list selects nothing.
std::vector<Program> select_stages(const std::vector<Program>& programs, const std::string& list);

/// The programs of the reference stage, which `item` selects like an item of such a list. An empty
/// item selects stage zero.
/// \throws BadInput if the item selects no stage or several
std::vector<Program> select_reference(const std::vector<Program>& programs,
                                      const std::string& item);

}  // namespace staircase
