/// \file
/// Texts about bytes of variables in shared memory, for messages.

#pragma once

#include <cstddef>
#include <string>

namespace cuda_on_cpu::analysis {

/// The position of a byte of the thread area in its variable, as in ": byte 8 of a variable of 64
/// bytes". The text is empty if the byte belongs to no variable in shared memory.
std::string shared_byte_text(std::size_t offset);

}  // namespace cuda_on_cpu::analysis
