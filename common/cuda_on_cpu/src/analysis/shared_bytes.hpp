/// \file
/// Describes bytes of variables in shared memory, and finds bytes that were stored but never read.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "findings.hpp"

namespace cuda_on_cpu::analysis {

/// A description of a byte's position in its variable, as in ": byte 8 of a variable of 64 bytes".
/// The text is empty if the byte belongs to no variable in shared memory.
std::string shared_byte_text(std::size_t offset);

/// The names of the shared-memory variables in which the running block has stored bytes that no
/// thread has read since, each with these bytes.
std::vector<std::pair<std::string, Unread>> unread_of_block();

/// The index of the allocation that contains an address, and those bytes of the allocation that
/// kernels have stored and nothing has read since.
std::pair<unsigned, Unread> unread_of_array(const void* address);

}  // namespace cuda_on_cpu::analysis
