/// \file
/// The checks that instrumented code calls at its accesses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "../analysis.hpp"

namespace cuda_on_cpu::analysis {

/// Checks an access of a kernel's thread by the slow path. The slow path is needed if the access is
/// not plain, or if the target of the instruction is unknown.
/// \param frame stack frame of the function that the instrumented code called
void check_closely(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                   const void* frame);

/// Checks the store of a structure, piece by piece, before the store is performed. In a copy, the
/// structure is read after this call, so the stored values are unknown.
void write_structure(const void* to, std::size_t bytes, const void* place, const void* frame);

/// A function that provides the bytes of a pending write. It copies `bytes` bytes, beginning at
/// `offset`, to `value`.
using ValueAt = std::function<void(std::size_t offset, std::size_t bytes, char* value)>;

/// Checks a write of known values, piece by piece, before the write is performed.
void write_values(const void* to, std::size_t bytes, const ValueAt& value_at, const void* place,
                  const void* frame);

/// Checks an access by host code, or by the code of the CPU device itself.
void check_access_of_host(const void* where, std::size_t bytes, Kind kind, const void* instruction);

/// The name of the device variable in the program that contains an address. Managed variables are
/// not included. The result is null if there is no such variable, or if another variable has the
/// same name.
const std::string* device_variable_name(const char* address);

/// Reports an access of a kernel's thread to an address that is not a multiple of the required
/// alignment.
/// \param multiple required alignment in bytes
void misaligned(const void* address, std::size_t multiple, const void* place);

/// Adds a note if the host constructs an object with virtual functions in managed memory.
void virtual_table_set(const void* object, const void* place);

/// Adds a note that a kernel shifts a value by a negative number of bits, or by at least the width
/// of the value.
/// \param bits width of the value
/// \param as_gpu whether the CPU device computes the same result as a GPU
void shifted_too_far(int bits, std::int64_t by, bool as_gpu, const void* place);

/// Reports an index outside an array and ends the launch or, in host code, the program. Because
/// this function never returns, the compiler need not reload values after it.
/// \param array type of the array
[[noreturn]] void index_out_of_bounds(const char* array, std::ptrdiff_t index, const void* place);

}  // namespace cuda_on_cpu::analysis
