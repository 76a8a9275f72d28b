/// \file
/// nvcc compiles a source twice, and only once with __CUDA_ARCH__; here both become one program.

#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu::rewriter {

/// Whether a file that a preprocessed text comes from, and that is none of the system's, holds a
/// word.
bool sources_mention(std::string_view text, std::string_view word);

/// The text that was preprocessed for the device, with functions that choose the body of the other
/// pass where they are called by the host. If more than bodies differ, the device's text.
std::string merged(const std::string& device, const std::string& host);

}  // namespace cuda_on_cpu::rewriter
