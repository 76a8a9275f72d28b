#include <string>

#include "../block.hpp"
#include "callbacks.hpp"
#include "findings.hpp"

namespace cuda_on_cpu {

using namespace analysis;

void enters_host_function(const char* name) {
  if (!is_on_device()) return;
  const Thread* thread = block->current;
  const DeviceAtWork at_work;
  add_finding("host function", place_of(__builtin_return_address(0)), 0, thread,
              "the kernel calls '" + std::string(name) +
                  "', a function of the host: it has neither __device__ nor __global__");
}

}  // namespace cuda_on_cpu
