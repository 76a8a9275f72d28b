/// \file
/// Runs other programs and keeps what they print.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace staircase {

/// How a program ended and what it printed.
struct ProcessResult {
  int status;       ///< exit status, or 128 + the signal that ended it
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// How to run a program.
struct ProcessOptions {
  std::string directory = {};                 ///< where it runs; empty for here
  std::vector<std::string> environment = {};  ///< NAME=value, added to this program's own
  std::vector<int> closed = {};               ///< standard streams that it finds closed
  std::string out_path = {};                  ///< where its standard output goes instead
  std::function<void(double)> tick = {};      ///< called now and then with the seconds so far
};

/// While one lives, Ctrl-C (SIGINT) does not end this program at once, so that it can end in order.
class InterruptsDeferred {
 public:
  InterruptsDeferred();
  ~InterruptsDeferred();
  InterruptsDeferred(const InterruptsDeferred&) = delete;
  InterruptsDeferred& operator=(const InterruptsDeferred&) = delete;

 private:
  void (*before_)(int);
};

/// \throws Failure if Ctrl-C has come while it was deferred.
void throw_if_interrupted();

/// Whether a program of this name can be started without its path.
bool is_on_path(const std::string& name);

/// Runs `command` (a path and its arguments; no shell) to its end, with no standard input.
/// \throws BadInput if the program cannot be started
/// \throws Failure at Ctrl-C, which ends the program as well, and where there is no room for it
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

}  // namespace staircase
