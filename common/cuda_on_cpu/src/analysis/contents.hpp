/// \file
/// The contents of the arrays of each launch, for comparing two programs launch by launch.

#pragma once

namespace cuda_on_cpu {

struct Launch;

namespace analysis {

/// Appends a record about a launch to the file of CUDA_ON_CPU_CONTENTS. A record is one line of
/// JSON, which describes the arrays to which the arguments of the launch point, and then the bytes
/// of those arrays that have changed since their bytes were last appended. The first record that
/// does not fit into 16 MiB is left out and ends the file.
/// \param when "before" or "after" the launch
void append_contents(const Launch& launch, const char* when);

}  // namespace analysis
}  // namespace cuda_on_cpu
