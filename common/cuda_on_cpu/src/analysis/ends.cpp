/// \file
/// Writes the report at the end of the program, even if a signal or `_exit` ends it.
///
/// A signal handler may interrupt any function, so it may call only a few functions. A separate
/// thread of the analysis therefore writes the report when the handler requests it. After a fault
/// or an abort in host code, the faulting thread waits in the handler. After a signal from another
/// process, the interrupted thread continues, because it may hold a lock. A kernel stops at its
/// next access.

#include "ends.hpp"

#include <errno.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../runtime/stream.hpp"
#include "../settings.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {

std::atomic<bool> ends_by_signal = false;

namespace {

constexpr int of_host[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int of_others[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// The state that the signal handler shares with the thread that writes the report.
struct Watch {
  sem_t asked, written;
  std::atomic<int> signal = 0;
  std::atomic<pid_t> process = 0;       ///< the process that has started the writing thread
  std::atomic<bool> has_begun = false;  ///< whether the writing of the report has begun
};

Watch& watch() {
  static auto& watch = indestructible<Watch>();
  return watch;
}

/// Ends the program by a signal, as if the signal had no handler.
[[noreturn]] void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  ::kill(getpid(), signal);
  for (;;) pause();
}

/// Tries for two seconds to lock the runtime. A thread that crashed inside of the runtime never
/// releases the lock.
bool lock_runtime() {
  constexpr int tries = 200;
  for (int i = 0; i < tries; ++i) {
    if (runtime_mutex().try_lock()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Writes the report of a program that does not end by `return` or `exit`.
/// \param analyses_rest whether to execute and analyse pending operations first
bool write_report_of_end(bool analyses_rest) {
  if (lock_runtime() && analyses_rest && !runtime_mutex().is_nested())
    for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
  return write_report();
}

bool is_of_others(int signal) {
  for (const int other : of_others)
    if (signal == other) return true;
  return false;
}

void write_when_asked() {
  Watch& w = watch();
  while (sem_wait(&w.asked) != 0) {
  }
  const int signal = w.signal;
  if (settings().report.empty() || !settings().quiet)
    std::fprintf(stderr, "\nThe program is ended by signal %d (%s).\n", signal, strsignal(signal));
  write_report_of_end(signal == SIGABRT);
  if (is_of_others(signal)) end_by(signal);
  sem_post(&w.written);
}

void at_signal(int signal) {
  Watch& w = watch();
  if (w.process != getpid()) end_by(signal);
  if (w.has_begun.exchange(true)) {
    if (is_of_others(signal)) return;  // the program ends after the report has been written
    end_by(signal);
  }
  w.signal = signal;
  ends_by_signal = is_of_others(signal);
  sem_post(&w.asked);
  if (is_of_others(signal)) return;
  timespec until = {};
  clock_gettime(CLOCK_REALTIME, &until);
  constexpr int most_seconds = 60;
  until.tv_sec += most_seconds;
  while (sem_timedwait(&w.written, &until) != 0 && errno == EINTR) {
  }
  end_by(signal);
}

void at_fault_of_host(int signal, siginfo_t*, void*) { at_signal(signal); }

/// Installs the handler of a signal, unless the program handles or ignores this signal.
void catch_signal(int signal) {
  struct sigaction known = {};
  sigaction(signal, nullptr, &known);
  if ((known.sa_flags & SA_SIGINFO) != 0 || known.sa_handler != SIG_DFL) return;
  struct sigaction action = {};
  action.sa_sigaction = at_fault_of_host;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

void start_thread() {
  Watch& w = watch();
  sem_init(&w.asked, 0, 0);
  sem_init(&w.written, 0, 0);
  w.has_begun = false;
  w.process = getpid();
  // Signals from other processes must interrupt a thread of the program and not this thread.
  sigset_t others, before;
  sigemptyset(&others);
  for (const int signal : of_others) sigaddset(&others, signal);
  pthread_sigmask(SIG_BLOCK, &others, &before);
  std::thread(write_when_asked).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Writes the report of a program that ends without destructors, unless it has been written.
/// \returns whether there was no error
bool write_report_once() {
  Watch& w = watch();
  return w.process != getpid() || w.has_begun.exchange(true) || write_report_of_end(true);
}

[[noreturn]] void end_process(int status) {
  syscall(SYS_exit_group, status);
  for (;;) pause();
}

/// Ends the program. If there was an error, status 1 replaces status 0.
[[noreturn]] void end_with(int status) {
  const bool well = write_report_once();
  end_process(status == 0 && !well ? 1 : status);
}

/// Writes the report of a program that ends by `return` or `exit`.
struct AtExit {
  ~AtExit() {
    if (watch().has_begun.exchange(true)) wait_for_end();
    const std::scoped_lock lock(runtime_mutex());
    // Pending operations are analysed as well.
    for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
    std::fflush(nullptr);
    if (!write_report()) end_process(1);
  }
} at_exit;

}  // namespace

void watch_ends() {
  if (watch().process == getpid()) return;
  static const bool catches [[maybe_unused]] = [] {
    for (const int signal : of_host) catch_signal(signal);
    for (const int signal : of_others) catch_signal(signal);
    std::at_quick_exit([] {
      if (!write_report_once()) end_process(1);
    });
    return true;
  }();
  start_thread();
}

void wait_for_end() {
  for (;;) pause();
}

int own_threads() { return watch().process == getpid() ? 1 : 0; }

}  // namespace cuda_on_cpu::analysis

// Replacements of the functions that end a program without calling destructors.
extern "C" {
void _exit(int status) { cuda_on_cpu::analysis::end_with(status); }
void _Exit(int status) noexcept { cuda_on_cpu::analysis::end_with(status); }
}
