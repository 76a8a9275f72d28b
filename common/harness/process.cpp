#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <staircase/error.hpp>
#include <utility>

namespace staircase {
namespace {

/// A file descriptor that is closed at the end of its life.
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
                    fmt::format("no pipe could be made: {}", std::strerror(errno)));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

/// Appends what can be read now; returns false at the end of the stream.
bool drain(const Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

volatile std::sig_atomic_t interrupted = 0;

/// Becomes the program; returns only if that fails. Nothing here may allocate but putenv(), which
/// glibc allows behind fork().
void become(char* const* arguments, const ProcessOptions& options, int out, int err) {
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) return;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const int stream : options.closed) ::close(stream);
  for (const auto& variable : options.environment) ::putenv(const_cast<char*>(variable.c_str()));
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  ::execvp(arguments[0], arguments);
}

}  // namespace

InterruptsDeferred::InterruptsDeferred()
    : before_(std::signal(SIGINT, [](int) { interrupted = 1; })) {
  if (before_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // as nohup and shell scripts leave it
}

InterruptsDeferred::~InterruptsDeferred() { std::signal(SIGINT, before_); }

void InterruptsDeferred::end_in_child() const {
  if (before_ == SIG_IGN) return;
  std::signal(SIGINT, SIG_DFL);
  if (interrupted != 0) std::raise(SIGINT);
}

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
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  Pipe out, err, failure;
  Descriptor out_file;
  if (!options.out_path.empty())
    out_file = Descriptor(::open(options.out_path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!options.out_path.empty() && out_file.get() < 0)
    throw BadInput(
        fmt::format("'{}' cannot be opened: {}", options.out_path, std::strerror(errno)));
  const InterruptsDeferred deferred;
  throw_if_interrupted();
  const pid_t child = ::fork();
  if (child < 0)
    throw Failure(Exit::exhausted,
                  fmt::format("'{}' could not be started: {}", command[0], std::strerror(errno)));
  if (child == 0) {
    deferred.end_in_child();
    become(arguments.data(), options, out_file.get() >= 0 ? out_file.get() : out.write.get(),
           err.write.get());
    const int error = errno;
    (void)!::write(failure.write.get(), &error, sizeof error);
    ::_exit(127);
  }
  for (Descriptor* end : {&out.write, &err.write, &failure.write}) end->close();

  // The pipe of failures closes by itself when the program starts.
  int error = 0;
  const bool failed = ::read(failure.read.get(), &error, sizeof error) == sizeof error;

  const auto start = std::chrono::steady_clock::now();
  ProcessResult result{};
  std::array<pollfd, 2> streams{pollfd{out.read.get(), POLLIN, 0},
                                pollfd{err.read.get(), POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (interrupted != 0) ::kill(child, SIGINT);  // also where it came to this program alone
    if (::poll(streams.data(), streams.size(), 100) < 0) continue;
    if (streams[0].revents != 0 && !drain(out.read, result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err.read, result.err)) streams[1].fd = -1;
    if (options.tick)
      options.tick(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed)
    throw BadInput(fmt::format("'{}' could not be started: {}", command[0], std::strerror(error)));
  throw_if_interrupted();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
    throw Failure(Exit::interrupted, "interrupted");
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace staircase
