/// \file
/// Events that several processes record and wait for.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "stream.hpp"

namespace cuda_on_cpu {

/// The records of an event, in memory that several processes share.
struct EventRecords {
  std::atomic<std::uint64_t> begun;  ///< number of records that were requested
  std::atomic<std::uint64_t> done;
  std::atomic<pid_t> recorder;  ///< process of the latest record
};

/// An unnamed mapped file. Other processes open it through the id of this process and the file
/// descriptor.
class SharedFile {
 public:
  /// Creates a file, or opens a file of another process. On failure, the object has no file.
  explicit SharedFile(std::size_t bytes);
  SharedFile(pid_t process, int file);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int file() const { return file_; }
  /// Returns the file descriptor. The caller then has to close the file.
  int give_away() { return std::exchange(file_, -1); }
  /// Maps the first `bytes` bytes of the file at `at`, where pages must already be mapped, or
  /// anywhere if `at` is null. Returns null on failure.
  void* map(std::size_t bytes, void* at = nullptr) const;

 private:
  int file_;
};

struct SharedEvent {
  explicit SharedEvent(std::unique_ptr<SharedFile> of);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  /// Whether another process made the latest record of the event.
  bool is_of_others() const;

  std::unique_ptr<SharedFile> file;
  EventRecords* records;  ///< null if the file cannot be mapped
};

/// Records an event of several processes after all operations of a stream. These operations are
/// executed now.
void record_for_others(CUevent_st& event, CUstream_st& stream, const void* place);

/// Lets a stream wait for the latest record by another process.
void wait_for_others(CUstream_st& stream, const std::shared_ptr<SharedEvent>& event,
                     const void* place);

/// Lets the host wait for the latest record by another process.
void wait_for_others(const SharedEvent& event);

/// Whether all requested records are complete.
bool is_done(const SharedEvent& event);

}  // namespace cuda_on_cpu
