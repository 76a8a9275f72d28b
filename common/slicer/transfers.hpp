/// \file
/// Loop (4): each slice copies its input into buffers, computes there, and copies the results back.

#pragma once

#include "rewriting.hpp"

namespace slicer {

/// Replaces a nest by loop (4).
/// \param is_template whether the parts of the loop are left to the user
/// \throws BadInput if the nest uses an array in a way that a buffer does not support
void write_transfers(Rewriting& rewriting, const Marked& marked, bool is_template);

}  // namespace slicer
