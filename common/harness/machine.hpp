/// \file
/// The machine on which a program runs.

#pragma once

#include <sched.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace staircase {

/// Converts a text for use in a file name: lower-case letters and digits, with dashes between them.
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

/// The machine as JSON, as records contain it.
nlohmann::ordered_json to_json(const Machine& machine);

/// Reads the properties of this machine from the operating system.
Machine this_machine();

/// Bytes that can be allocated without swapping, within the memory limit of the container.
/// \param control_group the directory of the control group (version 2) of the container
double available_memory(const std::filesystem::path& control_group = "/sys/fs/cgroup");

/// The largest resident set size of this process so far, in bytes.
double peak_memory();

/// The logical processors that this program may use, even if OpenMP has bound the calling thread to
/// one.
cpu_set_t usable_cores();

/// The number of threads of an OpenMP region, from OMP_NUM_THREADS or the number of cores.
int thread_count();

/// The revision of the sources that this program was built from.
std::string revision();

/// The current time in UTC in ISO 8601 format.
std::string utc_now();

}  // namespace staircase
