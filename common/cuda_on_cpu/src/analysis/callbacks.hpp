/// \file
/// Where the accesses of instrumented code arrive.

#pragma once

#include <cstddef>
#include <cstdint>

#include "../analysis.hpp"

namespace cuda_on_cpu::analysis {

/// An access of a thread of a kernel at an instruction, of which nothing is known yet.
/// \param frame of the function that the instrumented code called
void check_closely(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                   const void* frame);

/// An access of the host, or of the device's own code.
void check_access_of_host(const void* where, std::size_t bytes, Kind kind, const void* instruction);

/// A thread of a kernel accesses an address that is no multiple of what the access needs.
void misaligned(const void* address, std::size_t multiple, const void* place);

/// A thread of a kernel shifts a number by as many bits as it has, by more, or by less than none.
/// \param as_gpu whether the result is that of a GPU
void shifted_too_far(int bits, std::int64_t by, bool as_gpu, const void* place);

/// An index is outside of an array of a type, which ends the launch, or the host's program: code
/// that could go on would load anew what it had before.
[[noreturn]] void index_out_of_bounds(const char* array, std::ptrdiff_t index, const void* place);

}  // namespace cuda_on_cpu::analysis
