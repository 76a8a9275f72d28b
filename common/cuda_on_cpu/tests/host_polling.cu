/// \file
/// Host threads and kernels that poll memory until the other side has written it. Meanwhile, the
/// host makes no calls of the runtime.

#include <cooperative_groups.h>

#include <atomic>
#include <chrono>
#include <cuda/atomic>
#include <future>
#include <thread>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::Event;
using tap::expect;
using tap::expect_equal;
using tap::Patience;
using tap::Stream;

namespace {

/// Elements in host memory that kernels access, initially zero.
template <typename T>
class Shared {
 public:
  enum class Kind { pinned, managed, registered };

  explicit Shared(std::size_t size, Kind kind = Kind::pinned) : kind_(kind) {
    const std::size_t bytes = size * sizeof(T);
    if (kind == Kind::managed) {
      check(cudaMallocManaged(&data_, bytes));
    } else if (kind == Kind::pinned) {
      check(cudaHostAlloc(&data_, bytes, cudaHostAllocMapped));
    } else {
      own_.resize(size);
      data_ = own_.data();
      check(cudaHostRegister(data_, bytes, cudaHostRegisterMapped));
    }
    for (std::size_t i = 0; i < size; ++i) data_[i] = T{};
  }
  ~Shared() {
    if (kind_ == Kind::managed)
      cudaFree(data_);
    else if (kind_ == Kind::pinned)
      cudaFreeHost(data_);
    else
      cudaHostUnregister(data_);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  Kind kind_;
  T* data_ = nullptr;
  std::vector<T> own_;
};

/// Whether a condition becomes true before a time limit. The host calls `between` after each test.
template <typename Condition, typename Between>
bool comes(const Condition& condition, const Between& between) {
  const auto start = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(100)) return false;
    between();
  }
  return true;
}
template <typename Condition>
bool comes(const Condition& condition) {
  return comes(condition, [] {});
}

/// Sets a flag after storing a result.
__global__ void raise(const int* in, int* out, volatile int* flag) {
  *out = *in + 1;
  __threadfence_system();
  *flag = 1;
}

/// Sets a flag with a release store after storing a result.
__global__ void release(const int* in, int* out, int* flag) {
  *out = *in + 1;
  cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
}

/// Waits for a flag and doubles a value that was stored before the flag was set.
__global__ void await(volatile int* flag, const int* in, int* out) {
  const Patience patience;
  while (*flag == 0 && patience.lasts()) continue;
  __threadfence_system();
  *out = 2 * *in;
}

/// `asked` and `answered` are the indices, from 1, of the last question and of the last answer. A
/// negative question ends the service.
struct Mailbox {
  volatile int asked, answered;
  int question, answer;
};

__global__ void serve(Mailbox* box) {
  for (int number = 1;; ++number) {
    const Patience patience;
    while (box->asked != number && patience.lasts()) continue;
    __threadfence_system();
    if (!patience.lasts() || box->question < 0) return;
    box->answer = box->question + 100;
    __threadfence_system();
    box->answered = number;
  }
}

/// One block serves each mailbox with all its threads.
__global__ void serve_all(Mailbox* boxes) {
  Mailbox& box = boxes[blockIdx.x];
  __shared__ int question;
  for (int number = 1;; ++number) {
    if (threadIdx.x == 0) {
      const Patience patience;
      while (box.asked != number && patience.lasts()) continue;
      __threadfence_system();
      question = patience.lasts() ? box.question : -1;
    }
    __syncthreads();
    if (question < 0) return;
    if (threadIdx.x == blockDim.x - 1) box.answer = question + 100;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      box.answered = number;
    }
  }
}

/// Serves a mailbox with a grid: one thread receives a question, and all threads store the answer.
__global__ void serve_together(Mailbox* box, int* all, int questions) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int number = 1; number <= questions; ++number) {
    if (grid.thread_rank() == 0) {
      const Patience patience;
      while (box->asked != number && patience.lasts()) continue;
      __threadfence_system();
    }
    grid.sync();
    all[grid.thread_rank()] = box->question;
    grid.sync();
    if (grid.thread_rank() > 0) continue;
    __threadfence_system();
    box->answered = number;
  }
}

/// Sends questions to the kernel that serves a mailbox. After the last answer, ends the kernel.
void ask(Mailbox& box, int questions) {
  for (int number = 1; number <= questions; ++number) {
    box.question = 7 * number;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    box.asked = number;
    const bool is_answered = comes([&] { return box.answered == number; });
    expect(is_answered, "an answer comes");
    if (!is_answered) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    expect_equal(box.answer, 7 * number + 100);
  }
  box.question = -1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  box.asked = questions + 1;
}

bool host_may_look_at_managed_memory() {
  int may = 0;
  check(cudaDeviceGetAttribute(&may, cudaDevAttrConcurrentManagedAccess, 0));
  return may != 0;
}

}  // namespace

TEST(a_host_that_does_nothing_else_sees_a_flag) {
  const Device<int> in(std::vector<int>{41});
  const Shared<int> out(1), memory(1);
  const volatile int* const flag = memory.get();
  raise<<<1, 1>>>(in.get(), out.get(), memory.get());
  while (*flag == 0) {
  }
  expect_equal(out[0], 42);
}

TEST(a_host_that_looks_at_the_clock_or_sleeps_sees_flags) {
  const Device<int> in(std::vector<int>{41});
  const Shared<int> out(2), memory(2);
  const volatile int* const flags = memory.get();
  raise<<<1, 1>>>(in.get(), out.get(), memory.get());
  expect(comes([&] { return flags[0] != 0; }), "it works meanwhile");
  expect_equal(out[0], 42);
  raise<<<1, 1>>>(in.get(), out.get() + 1, memory.get() + 1);
  expect(comes([&] { return flags[1] != 0; },
               [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }),
         "it sleeps meanwhile");
  expect_equal(out[1], 42);
}

TEST(flags_lie_in_managed_and_in_registered_memory) {
  const Device<int> in(std::vector<int>{41});
  for (const auto kind : {Shared<int>::Kind::registered, Shared<int>::Kind::managed}) {
    if (kind == Shared<int>::Kind::managed && !host_may_look_at_managed_memory()) continue;
    const Shared<int> memory(2, kind);
    const volatile int* const flag = memory.get();
    raise<<<1, 1>>>(in.get(), memory.get() + 1, memory.get());
    expect(comes([&] { return *flag != 0; }), "the flag is seen");
    expect_equal(memory[1], 42);
  }
}

TEST(a_host_sees_by_atomics_what_a_kernel_releases) {
  const Device<int> in(std::vector<int>{41});
  const Shared<int> out(3), flags(3);
  for (int i = 0; i < 3; ++i) {
    release<<<1, 1>>>(in.get(), out.get() + i, flags.get() + i);
    const bool is_raised =
        i == 0   ? comes([&] { return __atomic_load_n(&flags[0], __ATOMIC_ACQUIRE) != 0; })
        : i == 1 ? comes([&] { return cuda::atomic_ref<int>(flags[1]).load() != 0; })
                 : comes([&] { return std::atomic_ref<int>(flags[2]).load() != 0; });
    expect(is_raised, "flag " + std::to_string(i) + " is seen");
    expect_equal(out[i], 42);
  }
}

TEST(what_the_host_has_seen_comes_before_what_it_launches_then) {
  const Device<int> in(std::vector<int>{41});
  const Device<int> out(2);
  const Shared<int> memory(2);
  const volatile int* const flags = memory.get();
  const Stream first, second;
  raise<<<1, 1, 0, first.get()>>>(in.get(), out.get(), memory.get());
  expect(comes([&] { return flags[0] != 0; }), "the first flag is seen");
  raise<<<1, 1, 0, second.get()>>>(out.get(), out.get() + 1, memory.get() + 1);
  expect(comes([&] { return flags[1] != 0; }), "the second flag is seen");
  expect_equal(out.to_host(), std::vector<int>{42, 43});
}

TEST(a_kernel_waits_for_a_flag_of_the_host) {
  const Device<int> out(1);
  const Shared<int> in(1), memory(1);
  volatile int* const flag = memory.get();
  await<<<1, 1>>>(memory.get(), in.get(), out.get());
  in[0] = 21;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *flag = 1;
  expect_equal(out.to_host(), std::vector<int>{42});
}

TEST(a_kernel_waits_for_a_flag_of_another_thread_of_the_host) {
  const Device<int> out(1);
  const Shared<int> in(1), memory(1);
  volatile int* const flag = memory.get();
  await<<<1, 1>>>(memory.get(), in.get(), out.get());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    in[0] = 21;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *flag = 1;
  });
  expect_equal(out.to_host(), std::vector<int>{42});
  other.join();
}

TEST(a_kernel_that_goes_on_serves_a_mailbox) {
  const Shared<Mailbox> box(1);
  serve<<<1, 1>>>(box.get());
  ask(box[0], 100);
}

TEST(the_host_calls_the_runtime_while_a_kernel_waits_for_it) {
  const Shared<Mailbox> box(1);
  const Shared<int> memory(2);
  const Device<int> in(std::vector<int>{41}), copy(1);
  const Stream first, second;
  serve<<<1, 1, 0, first.get()>>>(box.get());
  box[0].question = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  box[0].asked = 1;
  expect(comes([&] { return box[0].answered == 1; }), "an answer comes");
  // The kernel cannot have ended, and other streams need not wait for it.
  expect_equal(cudaStreamQuery(first.get()), cudaErrorNotReady);
  check(cudaMemcpyAsync(copy.get(), in.get(), sizeof(int), cudaMemcpyDeviceToDevice, second.get()));
  check(cudaStreamSynchronize(second.get()));
  raise<<<1, 1, 0, second.get()>>>(copy.get(), memory.get() + 1, memory.get());
  box[0].question = -1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  box[0].asked = 2;
  check(cudaStreamSynchronize(second.get()));
  expect_equal(memory[1], 42);
}

/// Queries a stream or an event repeatedly, and lets the kernel continue in between.
template <typename Ask>
void expect_to_let_go(const Ask& ask) {
  const Shared<int> in(1), memory(1);
  const Device<int> out(1);
  const Stream stream;
  const Event behind;
  volatile int* const flag = memory.get();
  await<<<1, 1, 0, stream.get()>>>(memory.get(), in.get(), out.get());
  check(cudaEventRecord(behind.get(), stream.get()));
  expect_equal(ask(stream, behind), cudaErrorNotReady);
  in[0] = 21;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *flag = 1;
  expect(comes([&] { return ask(stream, behind) == cudaSuccess; }), "it ends");
  expect_equal(out.to_host(), std::vector<int>{42});
}

TEST(who_asks_for_a_kernel_that_waits_for_the_host_goes_on) {
  expect_to_let_go(
      [](const Stream& stream, const Event&) { return cudaStreamQuery(stream.get()); });
  expect_to_let_go([](const Stream&, const Event& event) { return cudaEventQuery(event.get()); });
}

TEST(all_blocks_of_a_kernel_serve_the_host) {
  constexpr int count = 10;
  const Shared<Mailbox> boxes(count);
  serve_all<<<count, 40>>>(boxes.get());
  for (int i = count; i-- > 0;) ask(boxes[i], 3);
}

TEST(a_cooperative_grid_serves_the_host) {
  constexpr int blocks = 3, threads = 40, questions = 3;
  const Shared<Mailbox> box(1);
  const Shared<int> all(blocks * threads);
  Mailbox* mailbox = box.get();
  int* stored = all.get();
  int count = questions;
  void* arguments[] = {&mailbox, &stored, &count};
  check(cudaLaunchCooperativeKernel((void*)serve_together, blocks, threads, arguments));
  for (int number = 1; number <= questions; ++number) {
    box[0].question = 5 * number;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    box[0].asked = number;
    const bool is_answered = comes([&] { return box[0].answered == number; });
    expect(is_answered, "an answer comes");
    if (!is_answered) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (int i = 0; i < blocks * threads; ++i) expect_equal(all[i], 5 * number);
  }
}

TEST(threads_of_the_host_have_a_mailbox_each) {
  const Shared<Mailbox> boxes(3);
  const Stream streams[3];
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&boxes, &streams, i] {
      serve<<<1, 1, 0, streams[i].get()>>>(boxes.get() + i);
      ask(boxes[i], 20);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(a_thread_of_the_host_tells_another_one_what_it_saw) {
  const Device<int> in(std::vector<int>{41});
  const Shared<int> out(1), memory(1);
  const volatile int* const flag = memory.get();
  std::promise<bool> seen;
  std::thread looks([&] { seen.set_value(comes([&] { return *flag != 0; })); });
  raise<<<1, 1>>>(in.get(), out.get(), memory.get());
  expect(seen.get_future().get(), "the flag is seen");
  expect_equal(out[0], 42);
  looks.join();
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
