/// \file
/// Loop (4): what a slice reads is copied into buffers, computed there, and copied back.

#pragma once

#include "rewriting.hpp"

namespace slicer {

/// Puts loop (4) in place of a nest.
/// \param is_template whether the parts of the loop are left to the user
/// \throws BadInput if an array is used in a way that a buffer does not allow
void write_transfers(Rewriting& rewriting, const Marked& marked, bool is_template);

}  // namespace slicer
