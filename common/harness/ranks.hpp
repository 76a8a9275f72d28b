/// \file
/// Ranks: processes that solve a problem together. This is the interface that the harness needs;
/// harness/device/ranks.cpp implements it with MPI.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "npy.hpp"

namespace staircase {

/// The part of a distributed array that belongs to a rank.
struct Part {
  std::vector<std::size_t> shape;    ///< extents of the complete array
  std::vector<std::size_t> begin;    ///< index of the first element of the part in each dimension
  std::vector<std::size_t> extents;  ///< extents of the part
};

/// Functions for the ranks of a program.
///
/// All functions except launched_as(), start() and fail() must be called after start(). Functions
/// are collective unless stated otherwise: all ranks must call them in the same order.
struct Ranks {
  /// This process's rank according to the environment variables of the launcher. Not collective.
  int (*launched_as)();
  /// Initialises MPI; further calls have no effect.
  /// \throws NotAvailable if MPI cannot start, or the launcher belongs to another MPI library
  void (*start)();
  void (*finish)();           ///< finalises MPI, before the program ends without a failure
  int (*number)();            ///< this process's rank, from 0. Not collective.
  int (*count)();             ///< the number of ranks. Not collective.
  int (*local_rank)();        ///< this process's rank, from 0, among the ranks on its machine
  int (*machines)();          ///< the number of machines on which the ranks run
  int (*cores)();             ///< this rank's share of the cores of its machine
  double (*maximum)(double);  ///< the largest argument of all ranks
  /// The texts of all ranks, ordered by rank.
  std::vector<std::string> (*all_texts)(const std::string&);
  /// Reads this rank's part of a `.npy` file.
  /// \throws BadInput if the file cannot be read
  NpyArray (*read)(const std::filesystem::path& path, const NpyLayout& layout, const Part& part);
  /// Writes the parts of all ranks to one `.npy` file, under a temporary name that is then changed.
  /// \throws BadInput if it cannot be written; no partial file remains
  void (*write)(const std::filesystem::path& path, const NpyArray& own, const Part& part);
  /// Prints a failure to standard error and ends all ranks; if several ranks fail, only one of them
  /// prints. Before start(), all ranks fail in the same way. Rank 0 then prints the failure and ends
  /// itself; the launcher ends the others, or they end themselves after 10 s. Not collective.
  void (*fail)(int status, const std::string& line);
};

/// The ranks of this program; null if it is always one process. A program links with one of two
/// definitions: harness/device/ranks.cpp or harness/device/no_ranks.cpp.
const Ranks* ranks_of_program();

}  // namespace staircase
