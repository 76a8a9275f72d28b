/// \file
/// cuda-on-cpu: takes nvcc's place where programs are to run on the CPU device.

#include <iostream>

#include "command.hpp"
#include "places.hpp"

namespace {

constexpr const char* usage =
    "usage: cuda-on-cpu FILE.cu... [-o PROGRAM] [--analyze] [options of nvcc]\n"
    "\n"
    "Compiles CUDA C++ for the CPU: the program runs its kernels there, thread by thread.\n"
    "\n"
    "  --analyze   the program checks every access of its kernels, counts them by lines, and "
    "writes\n"
    "              a report when it ends; compile and link with it\n"
    "  -c          makes objects; -dc, -dlink, -lib, -E, -M and -MD do as nvcc's do\n"
    "  -cubin      makes a module, which a program loads when it runs; so do -fatbin and -ptx\n"
    "  -ccbin ...  the compiler of the host, g++ or clang++\n"
    "  -std=...    the standard of C++: c++17 where nothing is said\n"
    "  --explain   says what of CUDA is covered\n"
    "  --headers   says where the headers are that stand in the place of CUDA's\n"
    "  --libraries says what a linker is told in the place of the toolkit's libraries\n"
    "  --quiet     says nothing of options without a meaning on a CPU\n"
    "  --dryrun    shows the commands, and runs none of them\n"
    "\n"
    "make NVCC=cuda-on-cpu builds what a Makefile builds by nvcc.\n";

/// The first line is what build systems know nvcc by.
constexpr const char* version = "cuda-on-cpu " PROJECT_VERSION
                                ", in the place of nvcc: NVIDIA (R) Cuda compiler driver\n"
                                "Cuda compilation tools, release 13.0, V13.0.0\n";

void name_ignored(const cuda_on_cpu::command::Options& options) {
  if (options.ignored.empty() || options.quiet) return;
  std::cerr << "cuda-on-cpu: without a meaning on a CPU:";
  for (const auto& word : options.ignored) std::cerr << ' ' << word;
  std::cerr << '\n';
}

int run(const cuda_on_cpu::command::Options& options) {
  const auto says = [](const std::string& text) {
    std::cout << text;
    return 0;
  };
  if (options.help) return says(usage);
  if (options.version) return says(version);
  if (options.explain) return says(cuda_on_cpu::command::explanation());
  if (options.headers) return says(cuda_on_cpu::command::find_places().headers + '\n');
  if (options.libraries) return says(libraries(options));
  if (options.inputs.empty())
    throw cuda_on_cpu::command::BadUsage("no source is named; --help says how");
  name_ignored(options);
  return make(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(cuda_on_cpu::command::read_options({argv + 1, argv + argc}));
  } catch (const cuda_on_cpu::command::BadUsage& error) {
    std::cerr << "cuda-on-cpu: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
