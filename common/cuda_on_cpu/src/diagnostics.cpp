#include "diagnostics.hpp"

#include <unistd.h>

#include <cstdio>

namespace cuda_on_cpu {
namespace {

[[noreturn]] void end(const std::string& sentence, int status) {
  std::fprintf(stderr, "the CPU device: %s\n", sentence.c_str());
  _exit(status);
}

}  // namespace

void fatal(const std::string& sentence) {
  constexpr int device_failed = 3;
  end(sentence, device_failed);
}

void refuse(const std::string& sentence) {
  constexpr int bad_input = 2;
  end(sentence, bad_input);
}

}  // namespace cuda_on_cpu
