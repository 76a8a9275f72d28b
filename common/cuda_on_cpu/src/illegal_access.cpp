/// \file
/// An access of a kernel to an address that is not mapped ends the launch, not the program.

#include "illegal_access.hpp"

#include <csignal>
#include <cstdio>

#include "block.hpp"
#include "launch.hpp"

namespace cuda_on_cpu {
namespace {

struct sigaction before;

void at_fault(int signal, siginfo_t* info, void* context) {
  if (block != nullptr && block->current != nullptr) {
    std::fprintf(stderr, "kernel %s touched the address %p, where there is no memory\n",
                 block->launch->kernel.c_str(), info->si_addr);
    fail_launch(cudaErrorIllegalAddress);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(signal, info, context);
  sigaction(signal, &before, nullptr);  // the instruction runs again, and ends the program
}

}  // namespace

void catch_illegal_accesses() {
  static const bool caught [[maybe_unused]] = [] {
    struct sigaction action = {};
    action.sa_sigaction = at_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // control does not come back from a kernel
    return sigaction(SIGSEGV, &action, &before) == 0;
  }();
}

}  // namespace cuda_on_cpu
