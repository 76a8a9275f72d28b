/// \file
/// Files that are written whole or not at all.

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

/// Writes `parts`, one after the other, under a temporary name beside `path`, then renames the
/// file. A path that is a device or a pipe is written directly. \throws BadInput if it cannot be
/// written; nothing is left behind then, nor where Ctrl-C or another signal ends the program.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

/// Where a file is written before it takes its name.
std::filesystem::path temporary_for(const std::filesystem::path& target);

/// Removes a file that is not finished if a signal ends the program meanwhile. Signals that
/// somebody else handles or ignores stay theirs.
class RemovedBySignals {
 public:
  explicit RemovedBySignals(std::filesystem::path path);
  ~RemovedBySignals();
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  static constexpr int signals[] = {SIGHUP, SIGINT, SIGTERM};
  static inline const char* unfinished_ = nullptr;  // for the handler, which gets no more
  std::filesystem::path path_;
  struct sigaction before_[std::size(signals)] = {};
};

/// Writes to standard output and flushes it.
/// \throws BadInput if standard output is closed or full.
void write_stdout(std::string_view text);

/// From here on, what is written to standard output is lost.
void mute_stdout();

/// Makes sure that a closed standard stream fails when it is written, that no file opened later
/// takes its place, and that a closed pipe or a limit on the size of files is an error and not a
/// signal.
void guard_standard_streams();

/// A directory of this process's own, removed with all that is in it.
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
