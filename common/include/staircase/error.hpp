/// \file
/// The exit statuses of the programs in this repository, and the exceptions that cause them.

#pragma once

#include <stdexcept>

namespace staircase {

/// Exit statuses of every program.
enum class Exit : int {
  solved = 0,
  wrong = 1,           ///< a result is not finite, or differs from the result of stage zero
  bad_input = 2,       ///< bad usage, bad input, or a file that cannot be read or written
  exhausted = 3,       ///< not enough memory, or the device failed
  not_available = 77,  ///< the hardware is missing, or the problem exceeds the stage's limits
  interrupted = 130    ///< the user pressed Ctrl-C while the runner ran a stage
};

/// A failure that the program reports in one sentence. The sentence names the invalid value and the
/// allowed range.
class Failure : public std::runtime_error {
 public:
  Failure(Exit status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  Exit status() const { return status_; }

 private:
  Exit status_;
};

/// An argument or an input file cannot be used.
struct BadInput : Failure {
  explicit BadInput(const std::string& sentence) : Failure(Exit::bad_input, sentence) {}
};

/// The machine has less memory than the problem needs.
struct NotEnoughMemory : Failure {
  explicit NotEnoughMemory(const std::string& sentence) : Failure(Exit::exhausted, sentence) {}
};

/// The stage needs different hardware, or the problem exceeds the limits of the stage.
struct NotAvailable : Failure {
  explicit NotAvailable(const std::string& sentence) : Failure(Exit::not_available, sentence) {}
};

/// The solution is wrong, for example not finite.
struct WrongResult : Failure {
  explicit WrongResult(const std::string& sentence) : Failure(Exit::wrong, sentence) {}
};

}  // namespace staircase
