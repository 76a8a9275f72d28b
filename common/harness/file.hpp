/// \file
/// Files that are written whole or not at all.

#pragma once

#include <filesystem>
#include <string_view>

namespace staircase {

/// Checks, before any work is done, that `path` can probably be written.
/// \throws BadInput if its directory is missing or may not be written, or if it is a directory.
void check_writable(const std::filesystem::path& path);

/// Writes `parts`, one after the other, under a temporary name beside `path`, then renames the
/// file. A path that is a device or a pipe is written directly. \throws BadInput if it cannot be
/// written; nothing is left behind then, nor where Ctrl-C or another signal ends the program.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

/// Writes to standard output and flushes it.
/// \throws BadInput if standard output is closed or full.
void write_stdout(std::string_view text);

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
