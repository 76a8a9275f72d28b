/// \file
/// The values that users set by environment variables.

#pragma once

#include <cstddef>
#include <string>

#include "machine/schedule.hpp"

namespace cuda_on_cpu {

struct Settings {
  unsigned threads;     ///< CUDA_ON_CPU_THREADS: number of operating-system threads
  int devices;          ///< CUDA_ON_CPU_DEVICES: number of devices
  int peers;            ///< CUDA_ON_CPU_PEERS: size of the groups of devices with peer access to
                        ///< each other
  std::size_t memory;   ///< CUDA_ON_CPU_MEMORY: bytes of each device's memory
  std::size_t lost_at;  ///< CUDA_ON_CPU_LOST_AT: number, from 1, of the kernel or copy at which the
                        ///< devices fail
  int capability;       ///< CUDA_ON_CPU_CAPABILITY: ten times the compute capability, at most 90
  unsigned patience;    ///< CUDA_ON_CPU_PATIENCE: seconds of spinning after which a deadlock is
                        ///< assumed
  std::string report;   ///< CUDA_ON_CPU_REPORT: file for the report of an analysed program
  bool quiet;           ///< CUDA_ON_CPU_QUIET: whether to write the report to its file only
  std::size_t blocks;   ///< CUDA_ON_CPU_BLOCKS: number of blocks to analyse in each launch
  Schedule schedule;    ///< CUDA_ON_CPU_SCHEDULE: order in which blocks and threads begin
};

/// The settings, which the first call reads. An invalid value ends the program with status 2 and an
/// error message.
const Settings& settings();

}  // namespace cuda_on_cpu
