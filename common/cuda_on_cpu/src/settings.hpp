/// \file
/// What users set by environment variables.

#pragma once

#include <cstddef>
#include <string>

#include "machine/schedule.hpp"

namespace cuda_on_cpu {

struct Settings {
  unsigned threads;     ///< CUDA_ON_CPU_THREADS: threads of the operating system
  int devices;          ///< CUDA_ON_CPU_DEVICES: number of devices
  int peers;            ///< CUDA_ON_CPU_PEERS: devices that reach each other's memory, in groups
  std::size_t memory;   ///< CUDA_ON_CPU_MEMORY: bytes of each device's memory
  std::size_t lost_at;  ///< CUDA_ON_CPU_LOST_AT: the kernel or copy at which the devices are lost
  int capability;       ///< CUDA_ON_CPU_CAPABILITY: ten times the compute capability; 90
  unsigned patience;    ///< CUDA_ON_CPU_PATIENCE: seconds after which waiting in loops is in vain
  std::string report;   ///< CUDA_ON_CPU_REPORT: where an analysed program writes its report
  bool quiet;           ///< CUDA_ON_CPU_QUIET: the report goes into that file only
  std::size_t blocks;   ///< CUDA_ON_CPU_BLOCKS: of each launch, are analysed
  Schedule schedule;    ///< CUDA_ON_CPU_SCHEDULE: the order in which blocks and threads begin
};

/// Read once; a value that makes no sense ends the program with a sentence.
const Settings& settings();

}  // namespace cuda_on_cpu
