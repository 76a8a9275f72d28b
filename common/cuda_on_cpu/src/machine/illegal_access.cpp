/// \file
/// An access of a kernel to an address that is not mapped ends the launch, not the program.

#include "illegal_access.hpp"

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "../diagnostics.hpp"
#include "block.hpp"
#include "launch.hpp"
#include "switch.hpp"

namespace cuda_on_cpu {
namespace {

struct sigaction before;

/// A thread of a kernel has used up its stack. (This runs on another one.)
[[noreturn]] void end_of_stack(const void* place) {
  const std::string sentence = "a thread of kernel " + block->launch->kernel +
                               " needs more stack for its calls and local arrays than the " +
                               std::to_string(stack_bytes >> 10) + " KiB that the CPU device has";
  const Thread* thread = block->current;
  if (thread == nullptr) fatal(sentence);
  {
    const DeviceAtWork at_work;
    report_diagnostic(
        {.kind = "stack overflow", .place = place, .thread = thread, .sentence = sentence});
  }
  fail_launch_at_once(cudaErrorHardwareStackError);
}

/// Lets this thread of the operating system handle a fault on a stack of its own.
void provide_stack() {
  constexpr std::size_t bytes = 64 << 10;
  stack_t stack = {};
  stack.ss_sp = std::make_unique<char[]>(bytes).release();  // as long as the process
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
}

void at_fault(int signal, siginfo_t* info, void* context) {
  if (block != nullptr && block->stack_pool != nullptr &&
      on_a_stack(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    end_of_stack(instruction_at(context));
  if (block != nullptr && block->current != nullptr) {
    end_trial();
    std::fprintf(stderr, "kernel %s touched the address %p, where there is no memory\n",
                 block->launch->kernel.c_str(), info->si_addr);
    fail_launch_at_once(is_of_no_block(info->si_addr) ? cudaErrorLaunchFailure
                                                      : cudaErrorIllegalAddress);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(signal, info, context);
  sigaction(signal, &before, nullptr);  // the instruction runs again, and ends the program
}

}  // namespace

void catch_illegal_accesses() {
  provide_stack();
  static const bool caught [[maybe_unused]] = [] {
    struct sigaction action = {};
    action.sa_sigaction = at_fault;
    // Control does not come back from a kernel.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &before) == 0;
  }();
}

}  // namespace cuda_on_cpu
