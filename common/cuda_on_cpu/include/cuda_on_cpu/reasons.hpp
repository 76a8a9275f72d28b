/// \file
/// Why calls of the CUDA runtime fail, in more words than the error code has.

#pragma once

#include <string>

namespace cuda_on_cpu {

/// The reason for which the last failing call of this thread of the host failed, as a sentence;
/// empty if the error code says everything. A second call returns an empty text.
std::string take_reason_of_last_error();

}  // namespace cuda_on_cpu
