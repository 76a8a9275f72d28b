#include "cuda_on_cpu/library_call.hpp"

#include <vector>

#include "../analysis.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

cudaError_t library_call(cudaStream_t stream, std::initializer_list<Touched> touched,
                         std::function<void()> work) {
  const std::scoped_lock guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  enqueue(
      *found,
      [memory = std::vector<Touched>(touched), work = std::move(work)](const Operation& operation) {
        for (const Touched& t : memory) {
          if (t.bytes == 0) continue;
          if (t.read) analysis::copy_access(t.first, t.bytes, analysis::read, operation);
          if (t.written) analysis::copy_access(t.first, t.bytes, analysis::write, operation);
        }
        work();
        return true;
      },
      __builtin_return_address(0));
  return lasting_error();
}

}  // namespace cuda_on_cpu
