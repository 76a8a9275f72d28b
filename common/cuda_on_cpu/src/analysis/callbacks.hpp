/// \file
/// Where the accesses of instrumented code arrive.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "../analysis.hpp"

namespace cuda_on_cpu::analysis {

/// An access of a thread of a kernel at an instruction, of which nothing is known yet.
/// \param frame of the function that the instrumented code called
void check_closely(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                   const void* frame);

/// A structure is about to be stored piece by piece, after the next reported access has been read.
/// The stored values are unknown.
void write_structure(const void* to, std::size_t bytes, const void* place, const void* frame);

/// Returns the values that are about to be stored at some bytes of a write.
using ValueAt = std::function<void(std::size_t offset, std::size_t bytes, char* value)>;

/// A write of known values, piece by piece.
void write_values(const void* to, std::size_t bytes, const ValueAt& value_at, const void* place,
                  const void* frame);

/// An access of the host, or of the device's own code.
void check_access_of_host(const void* where, std::size_t bytes, Kind kind, const void* instruction);

/// The name of the device variable that only kernels may use by name and that an address of the
/// program lies in; null if there is none, or if a variable of the host has the same name.
const std::string* device_variable_name(const char* address);

/// A thread of a kernel accesses an address that is no multiple of what the access needs.
void misaligned(const void* address, std::size_t multiple, const void* place);

/// The host constructs an object with virtual functions.
void virtual_table_set(const void* object, const void* place);

/// A thread of a kernel shifts a number by as many bits as it has, by more, or by less than none.
/// \param as_gpu whether the result is that of a GPU
void shifted_too_far(int bits, std::int64_t by, bool as_gpu, const void* place);

/// An index is outside of an array of a type, which ends the launch, or the host's program: code
/// that could go on would load anew what it had before.
[[noreturn]] void index_out_of_bounds(const char* array, std::ptrdiff_t index, const void* place);

}  // namespace cuda_on_cpu::analysis
