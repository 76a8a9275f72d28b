/// \file
/// The failures that a program of this repository reports, each with its exit status.

#pragma once

#include <stdexcept>

namespace staircase {

/// Exit statuses of every program.
enum class Exit : int {
  solved = 0,
  wrong = 1,           ///< a result is wrong: not finite, or not what stage zero computes
  bad_input = 2,       ///< bad usage, bad input, or a file that cannot be read or written
  exhausted = 3,       ///< not enough memory, or the device failed
  not_available = 77,  ///< the stage lacks hardware, or takes no problem of this size
  interrupted = 130    ///< by Ctrl-C while the runner ran a stage
};

/// A failure that is told in one sentence, which names the offending value and what is allowed.
class Failure : public std::runtime_error {
 public:
  Failure(Exit status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  Exit status() const { return status_; }

 private:
  Exit status_;
};

/// What the user gave cannot be used.
struct BadInput : Failure {
  explicit BadInput(const std::string& sentence) : Failure(Exit::bad_input, sentence) {}
};

/// The machine has less memory than the problem needs.
struct NotEnoughMemory : Failure {
  explicit NotEnoughMemory(const std::string& sentence) : Failure(Exit::exhausted, sentence) {}
};

/// The hardware that the stage is written for is not there, or its idea does not fit the problem.
struct NotAvailable : Failure {
  explicit NotAvailable(const std::string& sentence) : Failure(Exit::not_available, sentence) {}
};

/// The solution is wrong.
struct WrongResult : Failure {
  explicit WrongResult(const std::string& sentence) : Failure(Exit::wrong, sentence) {}
};

}  // namespace staircase
