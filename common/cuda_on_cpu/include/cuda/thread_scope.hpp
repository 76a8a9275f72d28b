/// \file
/// libcu++'s scopes: among whom an operation orders memory.

#pragma once

namespace cuda {

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};

}  // namespace cuda
