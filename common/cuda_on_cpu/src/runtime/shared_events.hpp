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

/// What the processes know of an event, in memory that they share.
struct EventRecords {
  std::atomic<std::uint64_t> begun;  ///< records that were asked for
  std::atomic<std::uint64_t> done;
  std::atomic<pid_t> recorder;  ///< of the latest one
};

/// A mapped file without a name that other processes open by this process and its number here.
class SharedFile {
 public:
  /// Makes one, or opens that of another process; without a file if that fails.
  explicit SharedFile(std::size_t bytes);
  SharedFile(pid_t process, int file);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int file() const { return file_; }
  /// The file, which is the caller's to close from now on.
  int give_away() { return std::exchange(file_, -1); }
  /// Maps so many bytes, at an address that is mapped already if one is given; null if that fails.
  void* map(std::size_t bytes, void* at = nullptr) const;

 private:
  int file_;
};

struct SharedEvent {
  explicit SharedEvent(std::unique_ptr<SharedFile> of);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  /// Whether another process has recorded it last.
  bool is_of_others() const;

  std::unique_ptr<SharedFile> file;
  EventRecords* records;  ///< null if there is no memory for them
};

/// Records an event that others may wait for behind all that a stream has, which is done now.
void record_for_others(CUevent_st& event, CUstream_st& stream, const void* place);

/// Lets a stream wait for what another process has recorded.
void wait_for_others(CUstream_st& stream, const std::shared_ptr<SharedEvent>& event,
                     const void* place);

/// The same for the host.
void wait_for_others(const SharedEvent& event);

/// Whether all that was recorded is done.
bool is_done(const SharedEvent& event);

}  // namespace cuda_on_cpu
