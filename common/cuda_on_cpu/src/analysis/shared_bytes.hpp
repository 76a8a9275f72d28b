/// \file
/// Texts about bytes of variables in shared memory, for messages.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "findings.hpp"

namespace cuda_on_cpu::analysis {

/// The position of a byte of the thread area in its variable, as in ": byte 8 of a variable of 64
/// bytes". The text is empty if the byte belongs to no variable in shared memory.
std::string shared_byte_text(std::size_t offset);

/// The variables in shared memory of which the running block has stored bytes that no thread has
/// read since: name, and the first of these bytes and their number.
std::vector<std::pair<std::string, Unread>> unread_of_block();

/// The bytes of the allocation at an address that kernels have stored and nothing has read since;
/// and the number of the allocation.
std::pair<unsigned, Unread> unread_of_array(const void* address);

}  // namespace cuda_on_cpu::analysis
