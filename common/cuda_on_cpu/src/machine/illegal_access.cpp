/// \file
/// Handles faults of kernels, such as an access to an unmapped address or a division by zero. The
/// launch ends, but the program continues.

#include "illegal_access.hpp"

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "../diagnostics.hpp"
#include "block.hpp"
#include "launch.hpp"
#include "switch.hpp"

extern "C" const char __executable_start, etext;

namespace cuda_on_cpu {
namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// The previous signal handlers, indexed by signal number.
struct sigaction before[32];

bool is_code(const void* place) { return place >= &__executable_start && place < &etext; }

/// The instruction that caused a fault. For a fault in a host library, or at the invalid target of
/// a call, the result is the call.
const void* place_of_fault(void* context) {
  const void* here = instruction_at(context);
  return is_code(here) ? here : caller_at(context);
}

std::string sentence_of(int signal, const void* address, const void* instruction) {
  if (signal == SIGFPE)
    return "the thread divides an integer by zero, or the quotient overflows; a GPU continues with "
           "an undefined value";
  if (signal == SIGILL)
    return "the thread reaches a trap that the compiler has inserted, because the behaviour of the "
           "source is undefined there";
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  const bool is_call = static_cast<const char*>(address) + 1 == instruction;
  return is_call ? std::string("calls the address ") + text + ", where there is no function"
                 : std::string("accesses the address ") + text + ", where there is no memory";
}

/// Ends the launch of a kernel that caused a fault. If its blocks run speculatively, they are
/// executed again instead.
[[noreturn]] void end_kernel(int signal, const void* address, void* context) {
  end_trial();
  const bool is_access = signal == SIGSEGV || signal == SIGBUS;
  const Thread* thread = block->current;
  {
    const DeviceAtWork at_work;
    report_diagnostic({.kind = is_access ? "out of bounds" : "trap",
                       .place = place_of_fault(context),
                       .thread = thread,
                       .sentence = sentence_of(signal, address, instruction_at(context))});
  }
  fail_launch_at_once(is_access && !is_of_no_block(address) ? cudaErrorIllegalAddress
                                                            : cudaErrorLaunchFailure);
}

/// Ends the launch of a kernel because one of its threads has used up its stack. This function runs
/// on the signal stack.
[[noreturn]] void end_of_stack(const void* place) {
  const Thread* thread = block->current;
  {
    const DeviceAtWork at_work;  // the analysis must not check the accesses to the string
    const std::string sentence = "a thread of kernel " + block->launch->kernel +
                                 " needs more stack for its calls and local arrays than the " +
                                 std::to_string(stack_bytes >> 10) + " KiB that the CPU device has";
    if (thread == nullptr) fatal(sentence);
    report_diagnostic(
        {.kind = "stack overflow", .place = place, .thread = thread, .sentence = sentence});
  }
  fail_launch_at_once(cudaErrorHardwareStackError);
}

/// Gives this operating-system thread a separate stack for its signal handlers.
void provide_stack() {
  constexpr std::size_t bytes = 64 << 10;
  stack_t stack = {};
  stack.ss_sp = std::make_unique<char[]>(bytes).release();  // never freed, because it is used until
                                                            // the process ends
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
}

void at_fault(int signal, siginfo_t* info, void* context) {
  if (signal == SIGSEGV && block != nullptr && block->stack_pool != nullptr &&
      on_a_stack(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    end_of_stack(instruction_at(context));
  if (block != nullptr && block->current != nullptr) end_kernel(signal, info->si_addr, context);
  const struct sigaction& other = before[signal];
  if ((other.sa_flags & SA_SIGINFO) != 0 && other.sa_sigaction != nullptr)
    return other.sa_sigaction(signal, info, context);
  sigaction(signal, &other, nullptr);  // the instruction is executed again and ends the program
}

}  // namespace

void catch_illegal_accesses() {
  provide_stack();
  static const bool caught [[maybe_unused]] = [] {
    struct sigaction action = {};
    action.sa_sigaction = at_fault;
    // After a fault of a kernel, the handler does not return, so the signal must not stay blocked.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    for (const int fault : faults) sigaction(fault, &action, &before[fault]);
    return true;
  }();
}

}  // namespace cuda_on_cpu
