/// \file
/// The stage programs that were built, and what they say of themselves.

#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.hpp"

namespace staircase {

/// A program of a stage; a CUDA stage has one for the GPU and one for the CPU device.
struct Program {
  std::filesystem::path path;
  std::string workload;
  std::string stage;      ///< 01_openmp or yardstick_lapack
  std::string device;     ///< "cpu", "gpu" or "cpu-device"
  std::string source;     ///< from the root of the repository
  bool analysed = false;  ///< whether there is a program for it that analyses its accesses
  std::shared_ptr<nlohmann::ordered_json> described =
      std::make_shared<nlohmann::ordered_json>();  ///< null until it is asked for

  /// What `--describe` prints.
  /// \throws BadInput if the program does not describe itself
  const nlohmann::ordered_json& description() const;
  bool is_yardstick() const { return stage.starts_with("yardstick_"); }
  std::string text(const char* key) const { return description().at(key).get<std::string>(); }
  /// The precisions that it solves in: "f64", "f32" or both.
  std::vector<std::string> precisions() const;
  bool offers(const std::string& precision) const;
  /// Whether this is the program of a CUDA stage for where there is no GPU.
  bool on_cpu_device() const { return device == "cpu-device"; }
};

/// The programs in a directory, by workload and in the order of the stages, yardsticks last: those
/// that its list `programs.txt` names, built or not, or without a list those that there are.
/// \throws BadInput if there are none, or if one does not keep the contract.
std::vector<Program> find_programs(const std::filesystem::path& directory);

/// Whether a program has a row of its own; for a stage that has a program for the GPU, the one for
/// the CPU device has none unless it was asked for.
/// \param all every program of the workload
bool is_chosen(const Program& program, const std::vector<Program>& all, const Options& options);

/// The programs that get a row: of the stages that the options select, those for the device.
/// \throws BadInput if there are none
std::vector<Program> chosen_programs(const std::vector<Program>& all, const Options& options);

/// The names of the stages of such programs.
std::vector<std::string> stages_of(const std::vector<Program>& programs);

/// Those programs whose stage is selected by a list such as `00,02-03,openmp,yardstick_lapack`.
/// An empty list selects all.
/// \throws BadInput if an item of the list selects nothing.
std::vector<Program> select_stages(const std::vector<Program>& programs, const std::string& list);

/// The programs of the one stage that an item of such a list selects; stage zero's if it is empty.
/// \throws BadInput if it selects none or several.
std::vector<Program> select_reference(const std::vector<Program>& programs,
                                      const std::string& item);

}  // namespace staircase
