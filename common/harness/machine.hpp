/// \file
/// What machine this is.

#pragma once

#include <sched.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace staircase {

/// A text as part of a file's name: letters in lower case and digits, with dashes between them.
std::string slug(std::string_view text);

/// The machine that a program runs on.
struct Machine {
  std::string cpu;       ///< the processor's model name
  int cores;             ///< logical processors that this process may use
  double memory;         ///< bytes of main memory
  std::string system;    ///< the operating system's name
  std::string compiler;  ///< the compiler that built this program

  /// A short name for directories: `amd-epyc-2-cores`.
  std::string name() const;
};

/// The machine as records name it.
nlohmann::ordered_json to_json(const Machine& machine);

/// Reads what the operating system tells of this machine.
Machine this_machine();

/// Bytes that can be allocated without swapping, also within the limit of a container, whose
/// control group (version 2) is a directory of files.
double available_memory(const std::filesystem::path& control_group = "/sys/fs/cgroup");

/// The largest resident set that this process has had so far, in bytes.
double peak_memory();

/// The processors that this program may use, also where OpenMP has bound its first thread to one.
cpu_set_t usable_cores();

/// The threads that an OpenMP region gets, from OMP_NUM_THREADS or the cores.
int thread_count();

/// The revision of the sources that this program was built from.
std::string revision();

/// Now, in UTC, as ISO 8601.
std::string utc_now();

}  // namespace staircase
