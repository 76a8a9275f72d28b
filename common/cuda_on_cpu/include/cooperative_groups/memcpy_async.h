/// \file
/// Replaces the CUDA header of the same name: asynchronous copies that the threads of a group
/// perform together.

#pragma once

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups {

/// The alignment in bytes that a copy may assume: the alignment of `Value`, or the alignment that
/// cuda::aligned_size_t guarantees.
template <typename Value, typename Size>
struct AlignmentOfCopy {
  static constexpr std::size_t value = alignof(Value);
};
template <typename Value, std::size_t alignment>
struct AlignmentOfCopy<Value, cuda::aligned_size_t<alignment>> {
  static constexpr std::size_t value = alignment;
};

/// Copies `bytes` bytes in units, which are distributed over the threads of the group. The size of
/// a unit is the alignment, but at most 16 bytes; for alignments below 4, it is the size of
/// `Value`. As on a GPU, bytes after the last complete unit are not copied.
template <typename Group, typename Value, typename Size>
void memcpy_async(const Group& group, Value* to, const Value* from, const Size& bytes) {
  constexpr std::size_t alignment = AlignmentOfCopy<Value, Size>::value;
  constexpr std::size_t unit = alignment < 4 ? sizeof(Value) : (alignment < 16 ? alignment : 16);
  for (std::size_t i = group.thread_rank() * unit; i + unit <= static_cast<std::size_t>(bytes);
       i += group.size() * unit)
    cuda_on_cpu::start_copy(reinterpret_cast<char*>(to) + i,
                            reinterpret_cast<const char*>(from) + i, unit);
  cuda_on_cpu::commit_copies();
}

template <unsigned stages, typename Group>
void wait_prior(const Group& group) {
  cuda_on_cpu::wait_for_copies(stages);
  group.sync();
}

template <typename Group>
void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
