/// \file
/// Merges the two passes of nvcc, which compiles a source twice and defines __CUDA_ARCH__ only in
/// one pass. The CPU device builds one program from both passes.

#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu::rewriter {

/// Whether a word occurs in any file that a preprocessed text comes from. System headers are not
/// searched.
bool sources_mention(std::string_view text, std::string_view word);

/// The text of the device pass. Functions with different bodies in the two passes choose one at run
/// time, depending on the caller. If the texts differ outside bodies, the result is the device's
/// text.
std::string merged(const std::string& device, const std::string& host);

}  // namespace cuda_on_cpu::rewriter
