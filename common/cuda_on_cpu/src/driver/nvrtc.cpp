/// \file
/// NVRTC: writes the source to a file and runs cuda-on-cpu, which compiles it into the image of a
/// module.

#include "nvrtc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../analysis.hpp"
#include "../runtime/symbols.hpp"
#include "image.hpp"
#include "image_text.hpp"
#include "nvrtc_options.hpp"

// Path of the command that linked the program; null if the link has not defined this symbol.
extern "C" const char cuda_on_cpu_command[] __attribute__((weak));

struct nvrtcProgram_st {
  std::string source, name, log, image;
  std::map<std::string, std::string> headers;  // contents by the name in the #include directive
  std::map<std::string, std::string> lowered;  // lowered names by name expression
  bool is_compiled = false;
};

namespace cuda_on_cpu {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A temporary directory, which the destructor removes with its contents.
class Directory {
 public:
  Directory() {
    std::string name = fs::temp_directory_path() / "cuda-on-cpu-nvrtc-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The path of cuda-on-cpu: the value of the environment variable CUDA_ON_CPU. If this variable is
/// not set, the command that linked the program is used.
std::string command() {
  const char* said = std::getenv("CUDA_ON_CPU");
  if (said != nullptr && *said != '\0') return said;
  return cuda_on_cpu_command != nullptr ? cuda_on_cpu_command : "cuda-on-cpu";
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const fs::path& path, const std::string& content) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << content;
  return static_cast<bool>(file.flush());
}

/// Runs a command and writes its output and errors to a file.
/// \returns whether the command succeeded
bool run(const Words& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0) {
    write_file(log, "NVRTC needs the command '" + words[0] + "', which cannot be run: " +
                        std::strerror(error) + "; set CUDA_ON_CPU to the path of cuda-on-cpu\n");
    return false;
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A name expression without leading blanks and address operators: `name` for `&name`.
std::string plain_expression(const std::string& expression) {
  const auto begin = expression.find_first_not_of("& \t");
  return begin == expression.npos ? "" : expression.substr(begin);
}

/// The source followed by an entry for each name expression. The lines keep their numbers.
std::string source_of(const nvrtcProgram_st& program) {
  std::string text = "#line 1 \"" + program.name + "\"\n" + program.source + '\n';
  int number = 0;
  for (const auto& [expression, lowered] : program.lowered)
    text += "static ::cuda_on_cpu::AddedEntry cuda_on_cpu_named_" + std::to_string(number++) +
            "(&" + plain_expression(expression) + ", R\"_(" + expression + ")_\");\n";
  return text;
}

/// Loads the image to find the lowered names. The entry of each name expression contains an
/// address, and the symbol at this address is the lowered name.
/// \returns false, with the reason in the log, if the image cannot be loaded
bool find_lowered_names(nvrtcProgram_st& program) {
  if (program.lowered.empty()) return true;
  const Loading loaded = load_image(program.image, program.name);
  if (loaded.error != CUDA_SUCCESS) {
    program.log += loaded.sentence + '\n';
    return false;
  }
  for (const ImageEntry* entry = loaded.head->entries; entry != nullptr; entry = entry->next)
    if (entry->expression != nullptr)
      program.lowered[entry->expression] = linked_name_at(entry->address);
  return true;
}

nvrtcResult compile(nvrtcProgram_st& program, const Words& options) {
  const Directory directory;
  const fs::path& in = directory.path();
  if (in.empty()) return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  bool written = write_file(in / "source.cu", source_of(program));
  for (const auto& [name, content] : program.headers)
    written = write_file(in / name, content) && written;
  if (!written) return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  Words words{command(), "--quiet",    "-cubin",           in / "source.cu",
              "-o",      in / "image", "-I" + in.string(), "-D__CUDACC_RTC__"};
  if (analysis::enabled) words.emplace_back("--analyze");
  words.insert(words.end(), options.begin(), options.end());
  const bool well = run(words, in / "log");
  program.log = content_of(in / "log");
  if (!well) return NVRTC_ERROR_COMPILATION;
  program.image = content_of(in / "image");
  return find_lowered_names(program) ? NVRTC_SUCCESS : NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

nvrtcResult give(const nvrtcProgram_st* program, const std::string& text, char* to) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}

nvrtcResult give_size(const nvrtcProgram_st* program, std::size_t size, std::size_t* to) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *to = size;
  return NVRTC_SUCCESS;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

const char* nvrtcGetErrorString(nvrtcResult result) {
  constexpr const char* names[] = {"NVRTC_SUCCESS",
                                   "NVRTC_ERROR_OUT_OF_MEMORY",
                                   "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                   "NVRTC_ERROR_INVALID_INPUT",
                                   "NVRTC_ERROR_INVALID_PROGRAM",
                                   "NVRTC_ERROR_INVALID_OPTION",
                                   "NVRTC_ERROR_COMPILATION",
                                   "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                   "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                   "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                   "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                   "NVRTC_ERROR_INTERNAL_ERROR"};
  const auto number = static_cast<std::size_t>(result);
  return number < std::size(names) ? names[number] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(architectures.size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* all) {
  if (all == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::copy(architectures.begin(), architectures.end(), all);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int header_count, const char* const* headers,
                               const char* const* include_names) {
  if (program == nullptr || source == nullptr || header_count < 0) return NVRTC_ERROR_INVALID_INPUT;
  auto made = std::make_unique<nvrtcProgram_st>();
  made->source = source;
  made->name = name != nullptr ? name : "default_program.cu";
  for (int i = 0; i < header_count; ++i) made->headers[include_names[i]] = headers[i];
  *program = made.release();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  const std::unique_ptr<nvrtcProgram_st> owned(*program);
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (program->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->lowered[expression];
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (count < 0 || (count > 0 && options == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  const CommandOptions read = read_nvrtc_options(count, options);
  program->log = read.complaint;
  if (!read.complaint.empty()) return NVRTC_ERROR_INVALID_OPTION;
  program->is_compiled = true;
  return compile(*program, read.words);
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || name == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->is_compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->lowered.find(expression);
  if (found == program->lowered.end() || found->second.empty())
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* bytes) {
  return give_size(program, program == nullptr ? 0 : program->log.size() + 1, bytes);
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return give(program, program == nullptr ? "" : program->log, log);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* bytes) {
  return give_size(program, program == nullptr ? 0 : text_of_image(program->image).size() + 1,
                   bytes);
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  return give(program, program == nullptr ? "" : text_of_image(program->image), ptx);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) {
  return give_size(program, program == nullptr ? 0 : program->image.size(), bytes);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (cubin == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(cubin, program->image.data(), program->image.size());
  return NVRTC_SUCCESS;
}
