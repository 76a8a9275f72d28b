#include "process.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <system_error>

namespace cuda_on_cpu::rewriter {
namespace {

/// A file in memory that one process writes and another one reads.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("cuda_on_cpu", MFD_CLOEXEC)) {
    check(descriptor_ >= 0);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  void write(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
      check(count > 0);
      done += static_cast<std::size_t>(count);
    }
    check(::lseek(descriptor_, 0, SEEK_SET) == 0);
  }

  std::string read() const {
    check(::lseek(descriptor_, 0, SEEK_SET) == 0);
    std::string text;
    std::array<char, 1 << 16> buffer;
    ssize_t count = 0;
    while ((count = ::read(descriptor_, buffer.data(), buffer.size())) > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    check(count == 0);
    return text;
  }

 private:
  static void check(bool well) {
    if (!well)
      throw std::system_error(errno, std::generic_category(), "a file in memory cannot be used");
  }

  int descriptor_;
};

}  // namespace

int run(const Command& command, const std::string* input, std::string* output) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const MemoryFile in, out;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input != nullptr) {
    in.write(*input);
    ::posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  }
  if (output != nullptr)
    ::posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::cerr << "'" << command[0] << "' cannot be started: " << std::strerror(error) << '\n';
    return 127;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (output != nullptr) *output = out.read();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cuda_on_cpu::rewriter
