/// \file
/// Output files that are written either completely or not at all, and other file operations.

#pragma once

#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace staircase {

/// Checks that `path` can probably be written. Programs call this function before they do any work.
/// \throws BadInput if the directory of `path` is missing or not writable, or if `path` is a
/// directory
void check_writable(const std::filesystem::path& path);

/// Writes `parts` consecutively to a temporary file in the directory of `path`, and then renames
/// this file. A device or a pipe is written directly. After an error, Ctrl-C or another signal, no
/// partial file remains.
/// \throws BadInput if the file cannot be written
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

/// The temporary name under which an output file is written.
std::filesystem::path temporary_for(const std::filesystem::path& target);

/// Removes an unfinished file if a signal ends the program during the lifetime of the object.
/// Signals that are ignored, or that already have a handler, are not affected.
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

/// Writes a text to standard output without buffering.
/// \throws BadInput if standard output is closed or its device is full
void write_stdout(std::string_view text);

/// Discards all later output to standard output.
void mute_stdout();

/// Prepares the standard streams. A write to a closed stream then fails, and no file that is opened
/// later gets the descriptor of a closed stream. A closed pipe or an exceeded file size limit
/// causes an error instead of a signal.
void guard_standard_streams();

/// A temporary directory of this process. The destructor removes the directory with its contents.
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
