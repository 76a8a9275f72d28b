/// \file
/// Replaces the analysis in programs that are not analysed. Diagnostics are printed, and all other
/// functions do nothing.

#include <cstdio>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../machine/launch.hpp"

namespace cuda_on_cpu {

void report_diagnostic(const Diagnostic& diagnostic) {
  if (diagnostic.thread == nullptr) {
    std::fprintf(stderr, "the host: %s: %s\n", diagnostic.kind, diagnostic.sentence.c_str());
    return;
  }
  const Block* b = block;
  const char* kernel = b != nullptr && b->launch != nullptr ? b->launch->kernel.c_str() : "";
  const uint3 in = b != nullptr ? b->index : uint3{};
  const uint3 at = diagnostic.thread->index;
  std::fprintf(stderr, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s: %s\n", kernel, in.x,
               in.y, in.z, at.x, at.y, at.z, diagnostic.kind, diagnostic.sentence.c_str());
}

namespace analysis {

const bool enabled = false;

void image_loaded(const LoadedImage&, std::size_t) {}
void launch_begins(Launch&) {}
void launch_ends(Launch&) {}
bool leaves_out(const Launch&) { return false; }
bool is_left_out(const Launch&, unsigned) { return false; }
bool may_be_tried(const Launch&) { return false; }
void trial_begins(Launch&, unsigned) {}
bool trial_is_full() { return false; }
bool trial_ends(Launch&) { return false; }
void check_trial(Launch&, unsigned, unsigned) {}
void block_begins(Block&) {}
void block_ends(Block&) {}
void resolve(Warp&) {}
void different_barriers(const Thread&, const Thread&) {}
void different_operations(const Thread&, const Thread&) {}
void different_masks(const Thread&, const Thread&) {}
void asks_outside_mask(const Thread&, unsigned) {}
void stops(const Thread&) {}
void barrier_opens(const void*, bool) {}
void shuffled(const Thread&, const ShuffleForm&) {}
void lanes_ordered(Warp&, unsigned) {}
std::uint64_t races_found() { return 0; }
void forget_findings() {}
void watch_racy_bytes() {}
std::vector<RacyBytes> racy_bytes() { return {}; }
void arrives_at_gang(const Thread&) {}
void arrives_at_gang() {}
void has_waited_for_gang() {}
void arrives_at(const void*) {}
void phase_ends(const void*) {}
void has_waited_at(const void*) {}
void access(const void*, std::size_t, Kind, const void*, const void*) {}
void copy_starts(const void*, std::size_t, const void*) {}
void sends(const void*, std::size_t, const void*) {}
void received(const void*, std::size_t) {}
void copy_access(const void*, std::size_t, Kind, const Operation&, Purpose) {}
void carry_unwritten(const void*, const void*, std::size_t) {}
void blocks_wait_for_each_other(const Thread&) {}
void copied_to_host(const void*, std::size_t) {}
void copied_to_device(const void*, std::size_t, const Operation&) {}
void fence(Among) {}
void host_asks() {}
void error_dropped(const void*, const Thread*, const std::string&) {}
void errors_looked_at() {}
std::shared_ptr<const Inheritance> inheritance(const Thread&) { return nullptr; }
void child_begins(std::uint32_t, std::shared_ptr<const Inheritance>) {}
void child_ends(std::uint32_t) {}
int own_threads() { return 0; }
void allocated(const void*, std::size_t) {}
void freed(const void*, std::size_t, const void*) {}
void allocated_again(Allocation&, const Operation&) {}
void written_by_others(Allocation&) {}

}  // namespace analysis
}  // namespace cuda_on_cpu
