/// \file
/// The command cuda-on-cpu, which replaces nvcc and compiles CUDA programs for the CPU device.

#include <iostream>

#include "command.hpp"
#include "places.hpp"

namespace {

constexpr const char* usage =
    "usage: cuda-on-cpu FILE.cu... [-o PROGRAM] [--analyze] [options of nvcc]\n"
    "\n"
    "Compiles CUDA C++ for the CPU. The program runs its kernels there, thread by thread.\n"
    "\n"
    "  --analyze   builds a program that checks every memory access of its kernels, counts the "
    "accesses\n"
    "              of each line, and writes a report when it ends; also needed when you link\n"
    "  -c          makes objects; -dc, -dlink, -lib, -E, -M and -MD work as with nvcc\n"
    "  -cubin      makes a module, which a program loads at run time; so do -fatbin and -ptx\n"
    "  -ccbin ...  selects the host compiler, g++ or clang++\n"
    "  -std=...    selects the C++ standard; the default is c++17\n"
    "  --explain   lists the supported parts of CUDA\n"
    "  --headers   prints the directory of the headers that replace those of CUDA\n"
    "  --libraries prints the libraries that replace those of the toolkit\n"
    "  --quiet     does not list the options that have no effect on a CPU\n"
    "  --dryrun    prints the commands without running them\n"
    "\n"
    "make NVCC=cuda-on-cpu builds a project whose Makefile uses nvcc.\n";

/// Build systems recognise nvcc by the first line of this text.
constexpr const char* version = "cuda-on-cpu " PROJECT_VERSION
                                ", in the place of nvcc: NVIDIA (R) Cuda compiler driver\n"
                                "Cuda compilation tools, release 13.0, V13.0.0\n";

void name_ignored(const cuda_on_cpu::command::Options& options) {
  if (options.ignored.empty() || options.quiet) return;
  std::cerr << "cuda-on-cpu: options without effect on a CPU:";
  for (const auto& word : options.ignored) std::cerr << ' ' << word;
  std::cerr << '\n';
}

int run(const cuda_on_cpu::command::Options& options) {
  const auto print = [](const std::string& text) {
    std::cout << text;
    return 0;
  };
  if (options.help) return print(usage);
  if (options.version) return print(version);
  if (options.explain) return print(cuda_on_cpu::command::explanation());
  if (options.headers) return print(cuda_on_cpu::command::find_places().headers + '\n');
  if (options.libraries) return print(libraries(options));
  if (options.inputs.empty())
    throw cuda_on_cpu::command::BadUsage("the command line names no source file; see --help");
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
