#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <staircase/error.hpp>
#include <string_view>
#include <utility>

namespace staircase {
namespace {

/// Owns a file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }
  int get() const { return value_; }

 private:
  int value_;
};

struct Pipe {
  Descriptor read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw Failure(Exit::exhausted,
                    fmt::format("no pipe could be created: {}", std::strerror(errno)));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

/// Reads the available bytes and appends them to `to`. Returns false at the end of the stream.
bool drain(const Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

volatile std::sig_atomic_t interrupted = 0;

/// Converts texts to a null-terminated array of C strings for posix_spawnp(). The pointers remain
/// valid as long as `texts`.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// The environment of this program, with some variables added or replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> environment = added;
  const auto is_added = [&](std::string_view variable) {
    const auto name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(added, [&](const auto& one) { return one.starts_with(name); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_added(*variable)) environment.emplace_back(*variable);
  return environment;
}

/// The actions of the new process before the program starts: the directory, the standard streams
/// and the signals.
struct Preparations {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  Preparations(const ProcessOptions& options, int out, int err) {
    ::posix_spawn_file_actions_init(&actions);
    if (!options.directory.empty())
      ::posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    for (const int stream : options.closed) ::posix_spawn_file_actions_addclose(&actions, stream);
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&signals, signal);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
  ~Preparations() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Preparations(const Preparations&) = delete;
  Preparations& operator=(const Preparations&) = delete;
};

/// Starts a program with posix_spawnp(), which does not copy this process. Ctrl-C ends the new
/// program, even if this program defers Ctrl-C.
/// \throws BadInput if the program cannot be started
/// \throws Failure if the system has too little memory or too many processes
pid_t start(const std::vector<std::string>& command, const ProcessOptions& options, int out,
            int err) {
  const auto environment = environment_with(options.environment);
  const Preparations preparations(options, out, err);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, command[0].c_str(), &preparations.actions, &preparations.attributes,
                     pointers_to(command).data(), pointers_to(environment).data());
  const auto why = fmt::format("'{}' could not be started: {}", command[0], std::strerror(error));
  if (error == EAGAIN || error == ENOMEM) throw Failure(Exit::exhausted, why);
  if (error != 0) throw BadInput(why);
  return child;
}

}  // namespace

InterruptsDeferred::InterruptsDeferred()
    : before_(std::signal(SIGINT, [](int) { interrupted = 1; })) {
  if (before_ == SIG_IGN)
    std::signal(SIGINT, SIG_IGN);  // nohup and background jobs of scripts ignore SIGINT
}

InterruptsDeferred::~InterruptsDeferred() { std::signal(SIGINT, before_); }

void throw_if_interrupted() {
  if (interrupted != 0) throw Failure(Exit::interrupted, "interrupted");
}

bool is_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');)
    if (::access((directory + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  Pipe out, err;
  Descriptor out_file;
  if (!options.out_path.empty())
    out_file = Descriptor(::open(options.out_path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!options.out_path.empty() && out_file.get() < 0)
    throw BadInput(
        fmt::format("'{}' cannot be opened: {}", options.out_path, std::strerror(errno)));
  const InterruptsDeferred deferred;
  throw_if_interrupted();
  const pid_t child = start(
      command, options, out_file.get() >= 0 ? out_file.get() : out.write.get(), err.write.get());
  for (Descriptor* end : {&out.write, &err.write}) end->close();

  const auto began = std::chrono::steady_clock::now();
  ProcessResult result{};
  std::array<pollfd, 2> streams{pollfd{out.read.get(), POLLIN, 0},
                                pollfd{err.read.get(), POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (interrupted != 0) ::kill(child, SIGINT);  // the signal may have reached only this process
    if (::poll(streams.data(), streams.size(), 100) < 0) continue;
    if (streams[0].revents != 0 && !drain(out.read, result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err.read, result.err)) streams[1].fd = -1;
    if (options.tick)
      options.tick(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  throw_if_interrupted();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
    throw Failure(Exit::interrupted, "interrupted");
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace staircase
