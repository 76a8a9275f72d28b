#include "trouble.hpp"

#include <unistd.h>

#include <cstdio>

namespace cuda_on_cpu {

void fatal(const std::string& sentence) {
  std::fprintf(stderr, "the CPU device: %s\n", sentence.c_str());
  constexpr int device_failed = 3;
  _exit(device_failed);
}

}  // namespace cuda_on_cpu
