#include "cuda_on_cpu/library_call.hpp"

#include <array>
#include <mutex>
#include <utility>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {
namespace {

std::mutex& mutex_of(LibraryLock::What what) {
  static auto& mutexes = indestructible<std::array<std::mutex, 2>>();
  return mutexes[what];
}

}  // namespace

LibraryLock::LibraryLock(What what) : what_(what) { mutex_of(what).lock(); }
LibraryLock::~LibraryLock() { mutex_of(what_).unlock(); }

cudaError_t enter_library_call(cudaStream_t stream, const List<Touched>& touched, Owned work,
                               void (*call)(void* work), List<Touched> (*more)(void* work)) {
  const std::scoped_lock guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  enqueue(
      *found,
      [touched, work = std::move(work), call, more](const Operation& operation) {
        const auto check = [&](const List<Touched>& memory) {
          for (const Touched& t : memory)
            for (const analysis::Kind kind : {analysis::read, analysis::write}) {
              if (kind == analysis::read ? !t.read : !t.written) continue;
              const auto* range = static_cast<const char*>(t.first);
              std::size_t bytes = t.bytes;
              for (std::size_t i = 0; i < t.count; ++i) {
                if (bytes != 0) analysis::copy_access(range, bytes, kind, operation);
                range += t.pitch;
                bytes += static_cast<std::size_t>(t.growth);
              }
            }
        };
        check(touched);
        if (more != nullptr) check(more(work.get()));
        call(work.get());
        return true;
      },
      __builtin_return_address(0));
  return lasting_error();
}

}  // namespace cuda_on_cpu
