/// \file
/// Runs other programs and captures their output.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace staircase {

/// The exit status and the output of a program.
struct ProcessResult {
  int status;       ///< exit status, or 128 + the signal that ended it
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// How to run a program.
struct ProcessOptions {
  std::string directory = {};                 ///< its working directory; empty for the current one
  std::vector<std::string> environment = {};  ///< NAME=value, added to this program's own
  std::vector<int> closed = {};               ///< standard streams that are closed in it
  std::string out_path = {};  ///< a file for its standard output; empty to capture it
  std::function<void(double)> tick =
      {};  ///< called about ten times per second with the seconds so far
};

/// Defers Ctrl-C (SIGINT) during the lifetime of the object, so that the program can end in an
/// orderly way; see throw_if_interrupted().
class InterruptsDeferred {
 public:
  InterruptsDeferred();
  ~InterruptsDeferred();
  InterruptsDeferred(const InterruptsDeferred&) = delete;
  InterruptsDeferred& operator=(const InterruptsDeferred&) = delete;

 private:
  void (*before_)(int);
};

/// \throws Failure with Exit::interrupted if Ctrl-C was pressed while it was deferred
void throw_if_interrupted();

/// Whether the PATH contains a program of this name.
bool is_on_path(const std::string& name);

/// Runs `command` (a path and its arguments, without a shell) and waits for its end. Its standard
/// input is empty. \throws BadInput if the program cannot be started \throws Failure if Ctrl-C was
/// pressed, which also ends the program, or if the system cannot create
///         another process
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

}  // namespace staircase
