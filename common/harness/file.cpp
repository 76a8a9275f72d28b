#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <staircase/error.hpp>
#include <system_error>
#include <utility>

namespace staircase {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw BadInput(fmt::format("the file '{}' cannot be written: {}", path.string(), why));
}

/// Writes the complete text. If a write fails, returns false and sets errno.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// An open file. The destructor removes the file unless `keep` is set or rename_to() succeeded.
class NewFile {
 public:
  NewFile(const fs::path& path, int flags, bool keep)
      : path_(path),
        descriptor_(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)),
        keep_(keep) {}
  ~NewFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!keep_) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool write(std::initializer_list<std::string_view> parts) {
    if (descriptor_ < 0) return false;
    for (const auto part : parts)
      if (!write_all(descriptor_, part)) return false;
    return true;
  }

  bool rename_to(const fs::path& target) {
    keep_ = ::close(std::exchange(descriptor_, -1)) == 0 &&
            ::rename(path_.c_str(), target.c_str()) == 0;
    if (const int error = errno; !keep_) {
      ::unlink(path_.c_str());
      errno = error;
    }
    return keep_;
  }

 private:
  fs::path path_;
  int descriptor_;
  bool keep_;
};

}  // namespace

fs::path temporary_for(const fs::path& target) {
  return fmt::format("{}.{}.tmp", target.string(), ::getpid());
}

RemovedBySignals::RemovedBySignals(fs::path path) : path_(std::move(path)) {
  unfinished_ = path_.c_str();
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    ::unlink(unfinished_);
    std::raise(signal);  // ends the program after this handler has returned
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : signals) ::sigaddset(&action.sa_mask, signal);
  for (std::size_t s = 0; s < std::size(signals); ++s) {
    ::sigaction(signals[s], nullptr, &before_[s]);
    if (before_[s].sa_handler == SIG_DFL) ::sigaction(signals[s], &action, nullptr);
  }
}

RemovedBySignals::~RemovedBySignals() {
  for (std::size_t s = 0; s < std::size(signals); ++s)
    ::sigaction(signals[s], &before_[s], nullptr);
}

void check_writable(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) refuse(path, "it is a directory");
  const fs::path directory = path.has_parent_path() ? path.parent_path() : ".";
  if (!fs::is_directory(directory, error))
    refuse(path, fmt::format("there is no directory '{}'", directory.string()));
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) refuse(path, error.message());
  if (::access(temporary_for(target).c_str(), F_OK) != 0 && errno != ENOENT)
    refuse(path, std::strerror(errno));
  const fs::path checked =
      fs::exists(path, error) && !fs::is_regular_file(path, error) ? path : directory;
  if (::access(checked.c_str(), W_OK) != 0) refuse(path, std::strerror(errno));
}

void write_file(const fs::path& path, std::initializer_list<std::string_view> parts) {
  check_writable(path);
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    if (NewFile file(path, 0, true); !file.write(parts)) refuse(path, std::strerror(errno));
    return;
  }
  // If the path is a symbolic link, the target of the link is replaced.
  const fs::path target = fs::weakly_canonical(path);
  const fs::path temporary = temporary_for(target);
  const RemovedBySignals removed(temporary);
  NewFile file(temporary, O_CREAT | O_TRUNC, false);
  if (!file.write(parts) || !file.rename_to(target)) refuse(path, std::strerror(errno));
}

void write_stdout(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text))
    throw BadInput(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

void mute_stdout() {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nothing, STDOUT_FILENO);
  ::close(nothing);
}

void guard_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

TemporaryDirectory::TemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  if (parent == nullptr) parent = "/tmp";
  std::string name = fs::path(parent) / "staircase-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw BadInput(fmt::format(
        "no temporary directory can be created in '{}': {}; TMPDIR selects another directory",
        parent, std::strerror(errno)));
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace staircase
