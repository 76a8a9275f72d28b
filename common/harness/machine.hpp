/// \file
/// Properties of the machine on which a program runs.

#pragma once

#include <sched.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace staircase {

/// Converts a text for use in a file name: lower-case letters and digits, separated by dashes.
std::string slug(std::string_view text);

/// The machine on which a program runs.
struct Machine {
  std::string cpu;       ///< the processor's model name
  int cores;             ///< number of logical processors that this process may use
  double memory;         ///< main memory in bytes
  std::string system;    ///< name of the operating system
  std::string compiler;  ///< the compiler that built this program

  /// A short name for directories, for example `amd-epyc-2-cores`.
  std::string name() const;
};

/// Converts a machine to JSON, in the form that records contain.
nlohmann::ordered_json to_json(const Machine& machine);

/// Reads the properties of this machine from the operating system.
Machine this_machine();

/// The number of bytes that can be allocated without swapping and within the memory limit of the
/// container.
/// \param control_group the directory of the container's control group (version 2)
double available_memory(const std::filesystem::path& control_group = "/sys/fs/cgroup");

/// The largest resident set size of this process so far, in bytes.
double peak_memory();

/// The logical processors that this program may use, including those that the calling thread cannot
/// use because OpenMP has bound it to one processor.
cpu_set_t usable_cores();

/// The number of threads of an OpenMP region: OMP_NUM_THREADS, or the number of usable cores.
int thread_count();

/// The revision of the sources from which this program was built.
std::string revision();

/// The current time in UTC in ISO 8601 format.
std::string utc_now();

}  // namespace staircase
