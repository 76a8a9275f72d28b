/// \file
/// Found in place of CUDA's own header: copies that a group makes together.

#pragma once

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups {

/// Which alignment a copy may count on: that of its type, or what its size promises.
template <typename Value, typename Size>
struct AlignmentOfCopy {
  static constexpr std::size_t value = alignof(Value);
};
template <typename Value, std::size_t alignment>
struct AlignmentOfCopy<Value, cuda::aligned_size_t<alignment>> {
  static constexpr std::size_t value = alignment;
};

/// Copies bytes; each thread of the group takes a share, in units of the alignment from 4 to 16.
/// Bytes behind the last whole unit stay where they are, as on a GPU.
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
