#include "shared_events.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "../diagnostics.hpp"

namespace cuda_on_cpu {
namespace {

/// Waits until a record is complete.
/// \returns false if the process that was recording it has ended
bool wait_for(const EventRecords& records, std::uint64_t record) {
  constexpr auto now_and_then = std::chrono::microseconds(200);
  while (records.done < record) {
    const bool is_alive = kill(records.recorder, 0) == 0;
    if (!is_alive && records.done < record) return false;
    std::this_thread::sleep_for(now_and_then);
  }
  return true;
}

bool wait_or_report(const SharedEvent& event, std::uint64_t record, const void* place) {
  if (wait_for(*event.records, record)) return true;
  report_diagnostic({.kind = "deadlock",
                     .place = place,
                     .sentence =
                         "the process that was recording an event has ended, and its record "
                         "will never be complete"});
  return false;
}

}  // namespace

SharedFile::SharedFile(std::size_t bytes) : file_(memfd_create("cuda_on_cpu", MFD_CLOEXEC)) {
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0) return;
  if (file_ >= 0) close(file_);
  file_ = -1;
}

SharedFile::SharedFile(pid_t process, int file)
    : file_(open(("/proc/" + std::to_string(process) + "/fd/" + std::to_string(file)).c_str(),
                 O_RDWR | O_CLOEXEC)) {}

SharedFile::~SharedFile() {
  if (file_ >= 0) close(file_);
}

void* SharedFile::map(std::size_t bytes, void* at) const {
  if (file_ < 0) return nullptr;
  void* const mapped = mmap(at, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), file_, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

SharedEvent::SharedEvent(std::unique_ptr<SharedFile> of)
    : file(std::move(of)), records(static_cast<EventRecords*>(file->map(sizeof(EventRecords)))) {}

SharedEvent::~SharedEvent() {
  if (records != nullptr) munmap(records, sizeof *records);
}

bool SharedEvent::is_of_others() const {
  return records->begun > 0 && records->recorder != getpid();
}

void record_for_others(CUevent_st& event, CUstream_st& stream, const void* place) {
  EventRecords& records = *event.shared->records;
  event.operation = mark(stream, place);
  records.recorder = getpid();
  const std::uint64_t record = ++records.begun;
  finish(event.operation);
  if (records.done < record) records.done = record;
}

void wait_for_others(CUstream_st& stream, const std::shared_ptr<SharedEvent>& event,
                     const void* place) {
  enqueue(
      stream,
      [event, record = event->records->begun.load()](const Operation& operation) {
        acquire_from_others(operation);
        return wait_or_report(*event, record, operation.place);
      },
      place)
      ->marks = true;
}

void wait_for_others(const SharedEvent& event) {
  wait_or_report(event, event.records->begun, nullptr);
  host_acquires_from_others();
}

bool is_done(const SharedEvent& event) { return event.records->done >= event.records->begun; }

}  // namespace cuda_on_cpu
