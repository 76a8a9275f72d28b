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

/// The text of the device pass. If the passes define different bodies for a function, the result
/// contains both: kernels execute the body of the device pass, and the host executes the other
/// body. If the texts differ outside function bodies, the result is the text of the device pass.
std::string merged(const std::string& device, const std::string& host);

}  // namespace cuda_on_cpu::rewriter
