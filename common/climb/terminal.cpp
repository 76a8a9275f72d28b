#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace staircase {

bool has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

int columns() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 132;
}

void ProgressLine::show(const std::string& text) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!std::exchange(shown_, false)) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

bool wait_for_key(const std::string& prompt) {
  termios before{};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) return true;
  // The terminal is made ready before it asks, or a quick Ctrl-C would be a signal, not a key.
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  fmt::print("{}", prompt);
  std::fflush(stdout);
  char key = 'q';
  const bool read = ::read(STDIN_FILENO, &key, 1) == 1;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  fmt::print("\r\x1b[K");
  constexpr char ctrl_c = 3, ctrl_d = 4;
  return read && key != 'q' && key != ctrl_c && key != ctrl_d;
}

}  // namespace staircase
