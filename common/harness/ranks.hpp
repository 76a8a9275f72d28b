/// \file
/// Ranks are processes that solve a problem together. This file contains the interface that the
/// harness needs; harness/device/ranks.cpp implements it with MPI.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "npy.hpp"

namespace staircase {

/// The part of a distributed array that belongs to one rank.
struct Part {
  std::vector<std::size_t> shape;    ///< extents of the complete array
  std::vector<std::size_t> begin;    ///< index of the first element of the part in each dimension
  std::vector<std::size_t> extents;  ///< extents of the part
};

/// Functions for the ranks of a program; see ranks_of_program().
///
/// All functions except launched_as(), start() and fail() must be called after start(). Unless
/// stated otherwise, functions are collective: all ranks must call them in the same order.
struct Ranks {
  /// The rank of this process according to the launcher's environment variables. The function is
  /// not collective.
  int (*launched_as)();
  /// Initialises MPI. Further calls have no effect.
  /// \throws NotAvailable if MPI cannot start, or if the launcher belongs to another MPI library
  void (*start)();
  void (*finish)();           ///< finalises MPI; called before the program ends without a failure
  int (*number)();            ///< the rank of this process, from 0; not collective
  int (*count)();             ///< the number of ranks; not collective
  int (*local_rank)();        ///< the rank of this process, from 0, among the ranks on its machine
  int (*machines)();          ///< the number of machines on which the ranks run
  int (*cores)();             ///< this machine's number of cores per rank
  double (*maximum)(double);  ///< the maximum of the arguments of all ranks
  /// Returns the texts that all ranks pass, in the order of the ranks.
  std::vector<std::string> (*all_texts)(const std::string&);
  /// Reads this rank's part of a `.npy` file.
  /// \throws BadInput if the file cannot be read
  NpyArray (*read)(const std::filesystem::path& path, const NpyLayout& layout, const Part& part);
  /// Writes the parts of all ranks to one `.npy` file, first under a temporary name.
  /// \throws BadInput if the file cannot be written; no partial file remains
  void (*write)(const std::filesystem::path& path, const NpyArray& own, const Part& part);
  /// Prints a failure to standard error and ends all ranks. If several ranks fail, only one rank
  /// prints. Before start(), all ranks fail in the same way. Rank 0 then prints the failure and
  /// ends; the launcher ends the remaining ranks, or they end after 10 s. The function is not
  /// collective.
  void (*fail)(int status, const std::string& line);
};

/// The rank functions of this program; null if the program always consists of a single process. A
/// program is linked with one of two definitions: harness/device/ranks.cpp or
/// harness/device/no_ranks.cpp.
const Ranks* ranks_of_program();

}  // namespace staircase
