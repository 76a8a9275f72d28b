/// \file
/// Output files that are written completely or not at all, and other file operations.

#pragma once

#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace staircase {

/// Checks, before any work is done, that `path` can probably be written.
/// \throws BadInput if its directory is missing or may not be written, or if it is a directory.
void check_writable(const std::filesystem::path& path);

/// Writes `parts`, one after the other, to a temporary file in the directory of `path`, then
/// renames the file. A device or a pipe is written directly. After an error, Ctrl-C or another
/// signal, no partial file remains. \throws BadInput if the file cannot be written
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

/// The temporary name of an output file.
std::filesystem::path temporary_for(const std::filesystem::path& target);

/// Removes an unfinished file if a signal ends the program during the lifetime of the object.
/// Signals that are ignored or already have a handler are not changed.
class RemovedBySignals {
 public:
  explicit RemovedBySignals(std::filesystem::path path);
  ~RemovedBySignals();
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  static constexpr int signals[] = {SIGHUP, SIGINT, SIGTERM};
  static inline const char* unfinished_ = nullptr;  // the signal handler cannot receive arguments
  std::filesystem::path path_;
  struct sigaction before_[std::size(signals)] = {};
};

/// Writes to standard output and flushes it.
/// \throws BadInput if standard output is closed or full.
void write_stdout(std::string_view text);

/// Discards everything that is written to standard output from now on.
void mute_stdout();

/// Prepares the standard streams: writing to a closed stream fails, no file that is opened later
/// gets its descriptor, and a closed pipe or the file size limit causes an error and not a signal.
void guard_standard_streams();

/// A temporary directory of this process; the destructor removes it with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace staircase
