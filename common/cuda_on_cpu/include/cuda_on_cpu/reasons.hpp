/// \file
/// Explanations of failed CUDA runtime calls that are more detailed than the error code.

#pragma once

#include <string>

namespace cuda_on_cpu {

/// Returns the reason for the last failed call of this host thread as a sentence, and clears the
/// stored reason. The text is empty if the error code alone is sufficient. A second call returns an
/// empty text.
std::string take_reason_of_last_error();

}  // namespace cuda_on_cpu
