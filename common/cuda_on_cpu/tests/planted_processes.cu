/// \file
/// Seeded bugs: memory and events of other processes. The program starts itself as another process.

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int count = 256;
constexpr std::size_t size = count * sizeof(int);
constexpr const char* child_argument = "--child";

__global__ void fill(int* x, int first) { x[threadIdx.x] = first + static_cast<int>(threadIdx.x); }
__global__ void add_one(int* x) { x[threadIdx.x] += 1; }  // planted: use after free

/// The message between the processes.
struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

/// Shares memory and an event with the other process, and waits for its signal to end.
int be_child() {
  const Buffer<int> x(count);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  Handles handles;
  check(cudaIpcGetMemHandle(&handles.memory, x.get()));
  check(cudaIpcGetEventHandle(&handles.event, event));
  fill<<<1, count>>>(x.get(), 3);
  check(cudaEventRecord(event));
  char end = 0;
  if (write(STDOUT_FILENO, &handles, sizeof handles) != sizeof handles) return 3;
  if (read(STDIN_FILENO, &end, 1) != 1) return 3;
  check(cudaEventDestroy(event));
  return 0;
}

/// Another process, whose memory and event are open in this process.
class Other {
 public:
  Other() {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) std::exit(3);
    process_ = fork();
    if (process_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      unsetenv("CUDA_ON_CPU_REPORT");  // only the parent writes this report
      execl("/proc/self/exe", "planted_processes", child_argument, static_cast<char*>(nullptr));
      _exit(3);
    }
    to_ = to[1];
    Handles handles;
    if (read(from[0], &handles, sizeof handles) != sizeof handles) std::exit(3);
    check(cudaIpcOpenMemHandle((void**)&memory_, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    check(cudaIpcOpenEventHandle(&event_, handles.event));
  }
  ~Other() {
    cudaEventDestroy(event_);
    if (write(to_, "", 1) == 1) waitpid(process_, nullptr, 0);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  int* memory() const { return memory_; }
  cudaEvent_t event() const { return event_; }

 private:
  pid_t process_;
  int to_ = -1;
  int* memory_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

namespace used_when_it_is_closed {

/// Memory of another process is used until its handle is closed; with the bug, also afterwards.
template <bool bug>
void run() {
  const Other other;
  check(cudaStreamWaitEvent(nullptr, other.event(), 0));
  if (bug) check(cudaIpcCloseMemHandle(other.memory()));
  add_one<<<1, count>>>(other.memory());
  finish();
  if (!bug) check(cudaIpcCloseMemHandle(other.memory()));
}

}  // namespace used_when_it_is_closed

namespace written_by_two_streams {

/// Using memory of another process does not order the streams of this process.
template <bool bug>
void run() {
  const Other other;
  const Stream one, two;
  const Event filled;
  check(cudaStreamWaitEvent(one.get(), other.event(), 0));
  check(cudaStreamWaitEvent(two.get(), other.event(), 0));
  fill<<<1, count, 0, one.get()>>>(other.memory(), 1);
  check(cudaEventRecord(filled.get(), one.get()));
  if (!bug) check(cudaStreamWaitEvent(two.get(), filled.get(), 0));
  check(cudaMemsetAsync(other.memory(), 0, size, two.get()));  // planted: stream race
  finish();
  check(cudaIpcCloseMemHandle(other.memory()));
}

}  // namespace written_by_two_streams

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], child_argument) == 0) return be_child();
  return run_cases(argc, argv,
                   {{"used_when_it_is_closed", used_when_it_is_closed::run<true>,
                     used_when_it_is_closed::run<false>},
                    {"written_by_two_streams", written_by_two_streams::run<true>,
                     written_by_two_streams::run<false>}});
}
