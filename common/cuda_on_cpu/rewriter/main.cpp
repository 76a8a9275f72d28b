/// \file
/// Turns CUDA C++ into plain C++ for the CPU device, for a build that compiles the output itself:
///
///     rewrite_cuda SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...]
///
/// The compiler's preprocessor runs first, so that launches in macros and in headers are seen.

#include <algorithm>
#include <fstream>
#include <iostream>

#include "process.hpp"
#include "rewrite.hpp"

namespace {

int make(const std::string& source, const std::string& output, const std::string& depfile,
         cuda_on_cpu::rewriter::Command compiler) {
  const bool guards =
      std::find(compiler.begin(), compiler.end(), "-DCUDA_ON_CPU_ANALYSE") != compiler.end();
  const auto options = {"-E",  "-x",           "c++",         "-MD", "-MF", depfile.c_str(),
                        "-MT", output.c_str(), source.c_str()};
  compiler.insert(compiler.end(), options.begin(), options.end());
  std::string text;
  if (const int status = cuda_on_cpu::rewriter::run(compiler, nullptr, &text); status != 0)
    return status;
  text = cuda_on_cpu::rewriter::rewrite(std::move(text), guards);
  std::ofstream file(output);
  file << text;
  if (!file.flush()) throw std::runtime_error("'" + output + "' cannot be written");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: " << argv[0] << " SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...]\n";
    return 2;
  }
  try {
    return make(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
