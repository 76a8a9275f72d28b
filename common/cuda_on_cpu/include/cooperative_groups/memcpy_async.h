/// \file
/// Found in place of CUDA's own header: copies that a group makes together.

#pragma once

#include <algorithm>

#include "../cooperative_groups.h"

namespace cooperative_groups {

/// Copies bytes; each thread of the group takes a share.
template <typename Group, typename T, typename Size>
void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  const auto count = static_cast<std::size_t>(bytes) / sizeof(T);
  for (std::size_t i = group.thread_rank(); i < count; i += group.size())
    cuda_on_cpu::start_copy(to + i, from + i, sizeof(T));
  const std::size_t rest = static_cast<std::size_t>(bytes) % sizeof(T);
  if (rest > 0 && group.thread_rank() == 0)
    cuda_on_cpu::start_copy(to + count, from + count, rest);
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
