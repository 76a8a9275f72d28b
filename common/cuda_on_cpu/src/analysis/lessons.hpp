/// \file
/// What the host and kernels that run beside it tell each other by flags: memory that one writes
/// and the other looks at, by volatile variables or atomics.

#pragma once

#include "knowledge.hpp"

namespace cuda_on_cpu::analysis {

/// A kernel publishes something at an address, behind a fence that counts for the host, too.
void publish_to_host(const void* address, const KnowledgeOf& knowledge);

/// What the host has published at an address, or null. The mutex is held.
const KnowledgeOf* published_by_host(const void* address);

/// The host reads a flag. What was published there by then it knows when it does something else,
/// and that is now.
void host_sees(const void* address);
void host_catches_up();

/// The host writes a flag, which publishes all that it has done.
void host_tells(const void* address);

/// Whether an access is done before an operation, of the host or of a stream, because the host knew
/// so by flags.
bool is_taught(const Event& then, std::uint32_t operation);

/// Forgets what flags have told the host and it knows otherwise by now.
void forget_old_lessons();

}  // namespace cuda_on_cpu::analysis
