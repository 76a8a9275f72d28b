/// \file
/// Processes that solve a problem together, its ranks. What the harness needs of them is here; a
/// program that runs on ranks links with harness/device/ranks.cpp, which has it from MPI.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "npy.hpp"

namespace staircase {

/// What a rank has of an array that all ranks have together.
struct Part {
  std::vector<std::size_t> shape;    ///< of the whole array
  std::vector<std::size_t> begin;    ///< where the part begins in each dimension
  std::vector<std::size_t> extents;  ///< of the part
};

/// The ranks of a program, as the harness needs them. Functions beside the first two and the last
/// want `start` first; all ranks call those of which nothing else is said, in the same order.
struct Ranks {
  /// This rank's number as its launcher says, before anything was started. Any rank may ask.
  int (*launched_as)();
  /// Makes the ranks known to each other; called again, it does nothing.
  /// \throws NotAvailable if the launcher belongs to another MPI
  void (*start)();
  void (*finish)();            ///< before a program's end that is no failure
  int (*number)();             ///< of this rank, from 0. Any rank may ask.
  int (*count)();              ///< of ranks. Any rank may ask.
  int (*number_here)();        ///< of this rank, from 0, among those on its machine
  int (*machines)();           ///< on how many machines the ranks are
  int (*cores)();              ///< for this rank, if those of a machine share its cores out
  double (*greatest)(double);  ///< of the numbers of all ranks
  /// The texts of all ranks, by rank.
  std::vector<std::string> (*texts)(const std::string&);
  /// Reads this rank's part of a `.npy` file, whose shape the part has.
  /// \throws BadInput if the file cannot be read
  NpyArray (*read)(const std::filesystem::path& path, const NpyLayout& layout, const Part& part);
  /// Writes one `.npy` file of the parts of all ranks, under a temporary name that is then changed.
  /// \throws BadInput if it cannot be written; nothing is left behind then
  void (*write)(const std::filesystem::path& path, const NpyArray& own, const Part& part);
  /// Tells a failure on standard error, one of all ranks', and ends all of them. Before `start`,
  /// when all ranks fail alike, rank 0 tells it, and each ends by itself. Any rank may call it.
  void (*fail)(int status, const std::string& line);
};

/// The ranks of this program; null where it is always one process. A program links with one of two
/// definitions: harness/device/ranks.cpp, or no_ranks.cpp beside it.
const Ranks* ranks_of_program();

}  // namespace staircase
