/// \file
/// The stage programs that were built, and what they say of themselves.

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace staircase {

/// A program of a stage; a CUDA stage has one for the GPU and one for the CPU device.
struct Program {
  std::filesystem::path path;
  std::string workload;
  std::string stage;                   ///< 01_openmp or yardstick_lapack
  nlohmann::ordered_json description;  ///< what `--describe` prints

  bool is_yardstick() const { return stage.starts_with("yardstick_"); }
  std::string text(const char* key) const { return description.at(key).get<std::string>(); }
  std::string device() const { return text("device"); }
  /// The precisions that it solves in: "f64", "f32" or both.
  std::vector<std::string> precisions() const;
  bool offers(const std::string& precision) const;
  /// Whether this is the program of a CUDA stage for where there is no GPU.
  bool on_cpu_device() const { return device() == "cpu-device"; }
};

/// The programs in a directory, by workload and in the order of the stages, yardsticks last.
/// \throws BadInput if there are none, or if one does not keep the contract.
std::vector<Program> find_programs(const std::filesystem::path& directory);

/// The names of the stages of such programs.
std::vector<std::string> stages_of(const std::vector<Program>& programs);

/// Those programs whose stage is selected by a list such as `00,02-03,openmp,yardstick_lapack`.
/// An empty list selects all.
/// \throws BadInput if an item of the list selects nothing.
std::vector<Program> select_stages(const std::vector<Program>& programs, const std::string& list);

/// The programs of the one stage that an item of such a list selects; stage zero's if it is empty.
/// \throws BadInput if it selects none or several, or one that does not solve in f64.
std::vector<Program> select_reference(const std::vector<Program>& programs,
                                      const std::string& item);

}  // namespace staircase
