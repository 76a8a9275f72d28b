/// \file
/// Memory and events that processes share. The program starts itself as the other process.

#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_refusal;
using tap::Stream;
using tap::table;

constexpr int count = 5000;
constexpr const char* child_argument = "--child";
constexpr int file_of_pool = 100, file_of_memory = 101;  // file descriptors that a child inherits

__global__ void affine(int* x, int factor, int addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = factor * x[i] + addend;
}

/// The message from the parent to a child.
struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventInterprocess));
  }
  explicit Event(const cudaIpcEventHandle_t& handle) {
    check(cudaIpcOpenEventHandle(&event_, handle));
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }
  cudaIpcEventHandle_t handle() const {
    cudaIpcEventHandle_t handle;
    check(cudaIpcGetEventHandle(&handle, event_));
    return handle;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

void well(CUresult result, tap::Location place = tap::Location::current()) {
  expect_equal(result, CUDA_SUCCESS, place);
}

/// Memory of a handle, mapped at addresses of this process. The handle is released.
class Mapped {
 public:
  Mapped(CUmemGenericAllocationHandle handle, std::size_t bytes) : bytes_(bytes) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    well(cuMemAddressReserve(&address_, bytes, 0, 0, 0));
    well(cuMemMap(address_, bytes, 0, handle, 0));
    well(cuMemRelease(handle));
    well(cuMemSetAccess(address_, bytes, &access, 1));
  }
  ~Mapped() {
    well(cuMemUnmap(address_, bytes_));
    well(cuMemAddressFree(address_, bytes_));
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  int* get() const { return reinterpret_cast<int*>(address_); }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_;
};

/// Properties of device memory, with or without a handle that can be exported as a file.
CUmemAllocationProp memory_of_device(CUmemAllocationHandleType type) {
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  property.requestedHandleTypes = type;
  return property;
}

cudaIpcMemHandle_t handle_of(int* pointer) {
  cudaIpcMemHandle_t handle;
  check(cudaIpcGetMemHandle(&handle, pointer));
  return handle;
}

/// Another process of this program, connected through its standard input and output.
class Child {
 public:
  explicit Child(const char* what) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) throw tap::Skipped{"there are no pipes"};
    process_ = fork();
    if (process_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int file : {to[0], to[1], from[0], from[1]}) close(file);
      execl("/proc/self/exe", "ipc", child_argument, what, static_cast<char*>(nullptr));
      _exit(9);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  ~Child() {
    if (process_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  template <typename T>
  void tell(const T& what) const {
    expect(write(to_, &what, sizeof what) == sizeof what, "the child is told");
  }
  Handles hear() const {
    Handles handles;
    expect(read(from_, &handles, sizeof handles) == sizeof handles, "the child tells");
    return handles;
  }
  void end() {
    int status = -1;
    waitpid(process_, &status, 0);
    process_ = 0;
    close(to_);
    close(from_);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends well");
  }

 private:
  pid_t process_;
  int to_ = -1, from_ = -1;
};

// --- The child processes

/// Waits for the parent's kernel, and then works on the parent's memory.
void go_on_with_memory() {
  Handles handles;
  expect(read(STDIN_FILENO, &handles, sizeof handles) == sizeof handles, "the parent tells");
  const Stream stream;
  const Event event(handles.event);
  int *x = nullptr, *again = nullptr;
  check(cudaIpcOpenMemHandle((void**)&x, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  check(cudaIpcOpenMemHandle((void**)&again, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  expect(x == again, "what is opened twice is the same");
  check(cudaIpcCloseMemHandle(again));
  check(cudaStreamWaitEvent(stream.get(), event.get(), 0));
  affine<<<count / 128 + 1, 128, 0, stream.get()>>>(x, 3, 1);
  check(cudaEventRecord(event.get(), stream.get()));  // no wait of this process uses it
  std::vector<int> seen(count);
  check(cudaMemcpyAsync(seen.data(), x, count * sizeof(int), cudaMemcpyDeviceToHost, stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  expect_equal(seen, table<int>(count, [](int i) { return 3 * (2 * i + 5) + 1; }));
  check(cudaIpcCloseMemHandle(x));
  expect_refusal(cudaIpcCloseMemHandle(x), cudaErrorInvalidValue);
}

/// Shares memory and ends.
void leave_a_handle() {
  const Device<int> x(count);
  const Event event;
  const Handles handles = {handle_of(x.get()), event.handle()};
  expect(write(STDOUT_FILENO, &handles, sizeof handles) == sizeof handles, "the parent is told");
}

/// Works on memory of a pool that the parent shares through an inherited file descriptor.
void go_on_with_pools() {
  std::array<cudaMemPoolPtrExportData, 2> data{};
  expect(read(STDIN_FILENO, &data, sizeof data) == sizeof data, "the parent tells");
  cudaMemPool_t pool = nullptr, none = nullptr;
  check(cudaMemPoolImportFromShareableHandle(&pool, (void*)std::intptr_t{file_of_pool},
                                             cudaMemHandleTypePosixFileDescriptor, 0));
  expect_refusal(cudaMemPoolImportFromShareableHandle(&none, (void*)std::intptr_t{STDIN_FILENO},
                                                      cudaMemHandleTypePosixFileDescriptor, 0),
                 cudaErrorInvalidValue);
  int *x = nullptr, *other = nullptr;
  expect_refusal(cudaMemPoolImportPointer((void**)&other, pool, &data[1]), cudaErrorInvalidValue);
  check(cudaMemPoolImportPointer((void**)&x, pool, &data[0]));
  expect(cudaMallocFromPoolAsync(&other, 4, pool, nullptr) == cudaErrorInvalidValue,
         "nothing is taken of another process's pool");
  affine<<<count / 128 + 1, 128>>>(x, 3, 1);
  check(cudaFreeAsync(x, nullptr));
  check(cudaDeviceSynchronize());
  check(cudaMemPoolDestroy(pool));
}

/// Works on memory that the parent has shared through an inherited file descriptor.
void go_on_with_mapped_memory() {
  std::size_t bytes = 0;
  expect(read(STDIN_FILENO, &bytes, sizeof bytes) == sizeof bytes, "the parent tells");
  check(cudaFree(nullptr));  // creates a context
  const auto imported = [](int file, CUmemGenericAllocationHandle* handle) {
    return cuMemImportFromShareableHandle(handle, (void*)std::intptr_t{file},
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  };
  CUmemGenericAllocationHandle handle = 0, none = 0;
  expect(imported(STDIN_FILENO, &none) != CUDA_SUCCESS, "a pipe is no memory");
  well(imported(file_of_memory, &handle));
  CUmemAllocationProp property{};
  well(cuMemGetAllocationPropertiesFromHandle(&property, handle));
  expect_equal(property.location.id, 0);
  const Mapped memory(handle, bytes);
  affine<<<count / 128 + 1, 128>>>(memory.get(), 3, 1);
  check(cudaDeviceSynchronize());
}

int be_child(const char* what) {
  try {
    (std::strcmp(what, "memory") == 0   ? go_on_with_memory
     : std::strcmp(what, "pools") == 0  ? go_on_with_pools
     : std::strcmp(what, "mapped") == 0 ? go_on_with_mapped_memory
                                        : leave_a_handle)();
  } catch (const tap::Abandoned&) {
  }
  return tap::complaints() == 0 ? 0 : 1;
}

// --- The parent process

TEST(processes_work_on_the_same_memory) {
  const Device<int> x(table<int>(count, [](int i) { return i; }));
  const Stream stream;
  const Event event;
  const Handles handles = {handle_of(x.get()), event.handle()};
  affine<<<count / 128 + 1, 128, 0, stream.get()>>>(x.get(), 2, 5);
  check(cudaEventRecord(event.get(), stream.get()));
  Child child("memory");
  child.tell(handles);
  child.end();
  const Stream other;  // waits for the child, which has waited for the parent's work
  check(cudaStreamWaitEvent(other.get(), event.get(), 0));
  affine<<<count / 128 + 1, 128, 0, other.get()>>>(x.get(), 1, -7);
  check(cudaStreamSynchronize(other.get()));
  check(cudaEventQuery(event.get()));
  check(cudaEventSynchronize(event.get()));
  expect_equal(x.to_host(), table<int>(count, [](int i) { return 3 * (2 * i + 5) + 1 - 7; }));
}

TEST(memory_stays_as_it_is_when_it_is_shared) {
  const Device<int> x(table<int>(count, [](int i) { return 9 * i; }));
  handle_of(x.get());
  const cudaIpcMemHandle_t one = handle_of(x.get()), other = handle_of(x.get());
  expect(std::memcmp(&one, &other, sizeof one) == 0, "a handle does not change");
  affine<<<count / 128 + 1, 128>>>(x.get(), 1, 1);
  expect_equal(x.to_host(), table<int>(count, [](int i) { return 9 * i + 1; }));
}

TEST(processes_work_on_memory_of_pools) {
  const int type = cudaMemHandleTypePosixFileDescriptor;
  int types = 0;
  check(cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  expect_equal(types & type, type);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  const Stream stream;
  cudaMemPool_t pools[2] = {};
  std::array<int*, 2> x{};
  std::array<cudaMemPoolPtrExportData, 2> data{};
  int files[2] = {-1, -1};
  for (const int i : {0, 1}) {
    check(cudaMemPoolCreate(&pools[i], &properties));
    check(cudaMallocAsync(&x[i], count * sizeof(int), pools[i], stream.get()));
    expect_refusal(cudaMemPoolExportPointer(&data[i], x[i]), cudaErrorInvalidValue);  // too early
    check(cudaMemPoolExportToShareableHandle(&files[i], pools[i],
                                             cudaMemHandleTypePosixFileDescriptor, 0));
    check(cudaMemPoolExportPointer(&data[i], x[i]));
  }
  check(cudaMemsetAsync(x[0], 0, count * sizeof(int), stream.get()));
  affine<<<count / 128 + 1, 128, 0, stream.get()>>>(x[0], 1, 4);
  check(cudaStreamSynchronize(stream.get()));
  dup2(files[0], file_of_pool);
  for (const int file : files) close(file);
  Child child("pools");
  child.tell(data);
  child.end();
  close(file_of_pool);
  std::vector<int> seen(count);
  check(cudaMemcpyAsync(seen.data(), x[0], count * sizeof(int), cudaMemcpyDeviceToHost,
                        stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  expect_equal(seen, std::vector<int>(count, 13));
  cudaMemAccessFlags may = cudaMemAccessFlagsProtNone;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  check(cudaMemPoolGetAccess(&may, pools[0], &here));
  expect(may == cudaMemAccessFlagsProtReadWrite, "a device may use its own pools");
  properties.handleTypes = cudaMemHandleTypeNone;
  cudaMemPool_t own = nullptr;
  check(cudaMemPoolCreate(&own, &properties));
  expect_refusal(
      cudaMemPoolExportToShareableHandle(&files[0], own, cudaMemHandleTypePosixFileDescriptor, 0),
      cudaErrorInvalidValue);
  const Device<int> plain(4);
  expect_refusal(cudaMemPoolExportPointer(&data[0], plain.get()), cudaErrorInvalidValue);
  check(cudaMemPoolDestroy(own));
  for (const int i : {0, 1}) {
    check(cudaFreeAsync(x[i], stream.get()));
    check(cudaStreamSynchronize(stream.get()));
    check(cudaMemPoolDestroy(pools[i]));
  }
}

TEST(processes_map_the_same_memory) {
  check(cudaFree(nullptr));  // creates a context
  CUmemAllocationProp property = memory_of_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  std::size_t bytes = 0;
  well(cuMemGetAllocationGranularity(&bytes, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle handle = 0, own = 0;
  int file = -1;
  well(cuMemCreate(&handle, bytes, &property, 0));
  const auto exported = [&](CUmemGenericAllocationHandle of) {
    return cuMemExportToShareableHandle(&file, of, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  };
  property = memory_of_device(CU_MEM_HANDLE_TYPE_NONE);
  well(cuMemCreate(&own, bytes, &property, 0));
  expect_equal(exported(own), CUDA_ERROR_INVALID_VALUE);
  well(cuMemRelease(own));
  well(exported(handle));
  dup2(file, file_of_memory);
  close(file);
  const Mapped memory(handle, bytes);
  affine<<<count / 128 + 1, 128>>>(memory.get(), 0, 4);
  check(cudaDeviceSynchronize());
  Child child("mapped");
  child.tell(bytes);
  child.end();
  close(file_of_memory);
  affine<<<count / 128 + 1, 128>>>(memory.get(), 1, 2);
  std::vector<int> seen(count);
  check(cudaMemcpy(seen.data(), memory.get(), count * sizeof(int), cudaMemcpyDeviceToHost));
  expect_equal(seen, std::vector<int>(count, 15));
}

TEST(handles_of_a_process_that_has_ended_are_refused) {
  Child child("handle");
  const Handles handles = child.hear();
  child.end();
  void* pointer = nullptr;
  [[maybe_unused]] cudaEvent_t event = nullptr;
  expect_refusal(cudaIpcOpenMemHandle(&pointer, handles.memory, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorInvalidResourceHandle);
#ifdef STAIRCASE_CUDA_ON_CPU  // the driver of a GPU keeps events
  expect_refusal(cudaIpcOpenEventHandle(&event, handles.event), cudaErrorMapBufferObjectFailed);
#endif
}

TEST(what_cannot_be_shared_is_refused) {
  const Device<int> x(count);
  cudaIpcMemHandle_t handle = handle_of(x.get());
  void* pointer = nullptr;
  expect_refusal(cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorDeviceUninitialized);
  expect_refusal(cudaIpcOpenMemHandle(&pointer, handle, 0), cudaErrorInvalidValue);
  expect_refusal(
      cudaIpcOpenMemHandle(&pointer, cudaIpcMemHandle_t{}, cudaIpcMemLazyEnablePeerAccess),
      cudaErrorInvalidValue);
  expect_refusal(cudaIpcCloseMemHandle(x.get()), cudaErrorInvalidValue);
  int of_host = 0;
  expect_refusal(cudaIpcGetMemHandle(&handle, &of_host), cudaErrorInvalidValue);
  cudaEvent_t plain = nullptr, event = nullptr;
  check(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  cudaIpcEventHandle_t of_event{};
  expect_refusal(cudaIpcGetEventHandle(&of_event, plain), cudaErrorInvalidResourceHandle);
  check(cudaEventDestroy(plain));
  expect_refusal(cudaIpcOpenEventHandle(&event, of_event), cudaErrorMapBufferObjectFailed);
  expect_refusal(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
  const Event shared;
  expect_refusal(cudaIpcOpenEventHandle(&event, shared.handle()), cudaErrorDeviceUninitialized);
  check(cudaEventQuery(shared.get()));  // never recorded, so there is nothing to wait for
  check(cudaEventSynchronize(shared.get()));
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == child_argument) return be_child(argv[2]);
  return tap::run_on_device(argc, argv);
}
