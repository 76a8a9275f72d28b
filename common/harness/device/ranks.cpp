/// \file
/// Implements the interface in ranks.hpp with MPI.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/ranks.hpp>
#include <optional>
#include <staircase/error.hpp>
#include <staircase/mpi.hpp>
#include <thread>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
// Open MPI leaks memory, so the leak detection is disabled in programs with ranks.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace staircase {
namespace mpi {

void fail(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw Failure(Exit::exhausted, fmt::format("MPI failed: {}", text));
}

void fail_to_share(std::size_t bytes) {
  throw NotEnoughMemory(fmt::format(
      "a rank cannot allocate {} bytes of memory shared with the other ranks of its "
      "machine; enlarge /dev/shm, which contains this memory, or choose a smaller problem",
      bytes));
}

}  // namespace mpi

namespace {

namespace fs = std::filesystem;
using mpi::check;

bool started = false;

// --- Failures

/// A counter shared by the ranks of a machine. The counter ensures that only the first failing rank
/// reports a failure.
struct Claims {
  MPI_Win window = MPI_WIN_NULL;
  int* taken = nullptr;
};
Claims claims;

void prepare_claims() {
  const mpi::Communicator here = mpi::machine();
  int number = 0, unit = 0;
  check(MPI_Comm_rank(here, &number));
  MPI_Aint size = number == 0 ? sizeof(int) : 0;
  check(MPI_Win_allocate_shared(size, sizeof(int), MPI_INFO_NULL, here, &claims.taken,
                                &claims.window));
  check(MPI_Win_shared_query(claims.window, 0, &size, &unit, &claims.taken));
  if (number == 0) *claims.taken = 0;
  check(MPI_Barrier(here));
}

bool is_first_to_fail() {
  return claims.taken == nullptr || std::atomic_ref<int>(*claims.taken).fetch_add(1) == 0;
}

// --- Start and end

/// The value of the first environment variable in `names` that is set, as an integer; empty if none
/// of the variables is set.
std::optional<int> left_by_launcher(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return {};
}

int launched_as() {
  return left_by_launcher({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}).value_or(0);
}

int number() {
  int number = 0;
  if (started) check(MPI_Comm_rank(MPI_COMM_WORLD, &number));
  return number;
}

int count() {
  int count = 1;
  if (started) check(MPI_Comm_size(MPI_COMM_WORLD, &count));
  return count;
}

/// Checks that the MPI library has the version for which the program was compiled.
/// \throws NotAvailable if the versions differ
void check_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string wanted =
      fmt::format("Open MPI v{}.{}.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
  if (!std::string_view(version).starts_with(wanted))
    throw NotAvailable(fmt::format("this program was built for {}x, and the library is {}", wanted,
                                   std::string_view(version).substr(0, 40)));
}

void start() {
  if (started) return;
  check_version();
  const int launched = left_by_launcher({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}).value_or(1);
  // For a single rank, MPI needs no daemon, no session directory and no network library. A session
  // directory would be shared with other programs, and loading one of the network libraries takes
  // 0.2 s.
  for (const auto& [name, value] : {std::pair("OMPI_MCA_ess_singleton_isolated", "1"),
                                    {"OMPI_MCA_orte_create_session_dirs", "0"},
                                    {"OMPI_MCA_pml", "ob1"}})
    if (launched == 1 && launched_as() == 0) ::setenv(name, value, 0);
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw NotAvailable("MPI cannot be started on this machine");
  started = true;
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (launched > 1 && count() == 1)
    throw NotAvailable(
        fmt::format("the launcher started {} processes that cannot connect to each other; use the "
                    "mpiexec of Open MPI {}.{}",
                    launched, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION));
  if (count() > 1) prepare_claims();
  if (provided < MPI_THREAD_FUNNELED)
    throw NotAvailable("this MPI library does not support processes with several threads");
}

void finish() {
  if (!started) return;
  if (claims.window != MPI_WIN_NULL) check(MPI_Win_free(&claims.window));
  claims.taken = nullptr;
  started = false;
  check(MPI_Finalize());
}

void fail(int status, const std::string& line) {
  const auto print = [&] { std::fputs(line.c_str(), stderr); };
  if (!started || count() == 1) {
    // The launcher aborts all ranks as soon as one rank fails. Rank 0 must have printed the message
    // by then.
    if (launched_as() == 0)
      print();
    else
      std::this_thread::sleep_for(std::chrono::seconds(10));
    return finish();
  }
  if (is_first_to_fail()) {
    print();
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  std::this_thread::sleep_for(
      std::chrono::minutes(1));  // MPI_Abort() of the first failing rank ends this rank
}

// --- Communication between ranks

int local_rank() {
  const mpi::Communicator here = mpi::machine();
  int number = 0;
  check(MPI_Comm_rank(here, &number));
  return number;
}

int machines() {
  int first = local_rank() == 0 ? 1 : 0, all = 0;
  check(MPI_Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  return all;
}

int cores() {
  const mpi::Communicator here = mpi::machine();
  int ranks = 0;
  check(MPI_Comm_size(here, &ranks));
  const cpu_set_t own = usable_cores();
  cpu_set_t all = own;
  check(MPI_Allreduce(MPI_IN_PLACE, &all, sizeof all, MPI_BYTE, MPI_BOR, here));
  return std::clamp(CPU_COUNT(&all) / ranks, 1, std::max(CPU_COUNT(&own), 1));
}

double maximum(double own) {
  double most = 0;
  check(MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return most;
}

std::vector<std::string> all_texts(const std::string& own) {
  const int length = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(count())), begins;
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD));
  int end = 0;
  for (const int one : lengths) begins.push_back(std::exchange(end, end + one));
  std::string joined(static_cast<std::size_t>(end), ' ');
  check(MPI_Allgatherv(own.data(), length, MPI_CHAR, joined.data(), lengths.data(), begins.data(),
                       MPI_CHAR, MPI_COMM_WORLD));
  std::vector<std::string> all;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    all.push_back(
        joined.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(lengths[r])));
  return all;
}

// --- Files

/// The message of the first rank whose file operation failed; empty if the operation succeeded on
/// all ranks.
std::string why_not(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (error != MPI_SUCCESS) MPI_Error_string(error, text, &length);
  for (const std::string& why : all_texts(text))
    if (!why.empty()) return why;
  return {};
}

MPI_Datatype element_of(const NpyArray& array) {
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT, MPI_INT32_T, MPI_INT64_T};
  return types[array.values.index()];
}

/// The MPI datatype of a part within a file with row-major or column-major order.
mpi::Datatype region(const Part& part, bool column_major, MPI_Datatype element) {
  const auto whole = [](const std::vector<std::size_t>& numbers) {
    return std::vector<int>(numbers.begin(), numbers.end());
  };
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_create_subarray(static_cast<int>(part.shape.size()), whole(part.shape).data(),
                                 whole(part.extents).data(), whole(part.begin).data(),
                                 column_major ? MPI_ORDER_FORTRAN : MPI_ORDER_C, element, &made));
  check(MPI_Type_commit(&made));
  return mpi::Datatype(made);
}

/// The MPI datatype of one row of a part. Transfers count rows and not elements, because MPI counts
/// with an int, and the number of elements of a part may exceed the range of an int.
mpi::Datatype row_of(const Part& part, MPI_Datatype element) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(part.extents.back()), element, &made));
  check(MPI_Type_commit(&made));
  return mpi::Datatype(made);
}

std::size_t size_of(const Part& part) {
  std::size_t size = 1;
  for (const std::size_t extent : part.extents) size *= extent;
  return size;
}

int rows_of(const Part& part) { return static_cast<int>(size_of(part) / part.extents.back()); }

NpyArray read(const fs::path& path, const NpyLayout& layout, const Part& part) {
  if (count() == 1) return read_npy(path);
  NpyArray own = without_elements(layout);
  own.shape = part.extents;
  void* const data = std::visit(
      [&](auto& values) -> void* {
        values.resize(size_of(part));
        return values.data();
      },
      own.values);
  const mpi::Datatype file_type = region(part, layout.column_major, element_of(own));
  const mpi::Datatype row = row_of(part, element_of(own));
  MPI_File file = MPI_FILE_NULL;
  int error = MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    error = MPI_File_set_view(file, static_cast<MPI_Offset>(layout.elements_begin), element_of(own),
                              file_type, "native", MPI_INFO_NULL);
    const int read = MPI_File_read_all(file, data, rows_of(part), row, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = read;
    MPI_File_close(&file);
  }
  if (const std::string why = why_not(error); !why.empty())
    throw BadInput(fmt::format("the file '{}' cannot be read: {}", path.string(), why));
  if (layout.column_major) to_row_major(own);
  return own;
}

/// Removes a temporary file in its destructor, unless the file was renamed.
struct Unfinished {
  fs::path path;
  bool finished = false;
  ~Unfinished() {
    if (!finished) ::unlink(path.c_str());
  }
};

/// Writes the part of this rank at its position in the file. Rank 0 also writes the header.
/// \returns MPI_SUCCESS, or the first error of MPI on this rank
int write_parts(const fs::path& path, const NpyArray& own, const Part& part) {
  const void* const data =
      std::visit([](const auto& values) -> const void* { return values.data(); }, own.values);
  const std::string header = npy_header(own.dtype(), part.shape);
  const mpi::Datatype file_type = region(part, false, element_of(own));
  const mpi::Datatype row = row_of(part, element_of(own));
  MPI_File file = MPI_FILE_NULL;
  int error = MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                            MPI_INFO_NULL, &file);
  if (error != MPI_SUCCESS) return error;
  const auto note = [&](int one) { error = error == MPI_SUCCESS ? one : error; };
  if (number() == 0)
    note(MPI_File_write_at(file, 0, header.data(), static_cast<int>(header.size()), MPI_CHAR,
                           MPI_STATUS_IGNORE));
  note(MPI_File_set_view(file, static_cast<MPI_Offset>(header.size()), element_of(own), file_type,
                         "native", MPI_INFO_NULL));
  note(MPI_File_write_all(file, data, rows_of(part), row, MPI_STATUS_IGNORE));
  note(MPI_File_close(&file));
  return error;
}

void write(const fs::path& path, const NpyArray& own, const Part& part) {
  if (count() == 1) return write_npy(path, own);
  // Rank 0 chooses the temporary name. The name is empty if the target exists and is not a regular
  // file.
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(path);
  const bool shared = !fs::exists(target, ignored) || fs::is_regular_file(target, ignored);
  const fs::path temporary =
      all_texts(number() == 0 && shared ? temporary_for(target).string() : "").front();
  if (temporary.empty())
    throw BadInput(
        fmt::format("the file '{}' cannot be written by {} ranks: it is not a regular file",
                    path.string(), count()));
  const RemovedBySignals removed(temporary);
  Unfinished file{temporary};
  int error = write_parts(temporary, own, part);
  std::string why = why_not(error);
  if (why.empty()) {
    std::error_code failure;
    if (number() == 0) fs::rename(temporary, target, failure);
    why = all_texts(failure ? failure.message() : "").front();
  }
  if (!why.empty())
    throw BadInput(fmt::format("the file '{}' cannot be written: {}", path.string(), why));
  file.finished = true;
}

constexpr Ranks ranks{.launched_as = launched_as,
                      .start = start,
                      .finish = finish,
                      .number = number,
                      .count = count,
                      .local_rank = local_rank,
                      .machines = machines,
                      .cores = cores,
                      .maximum = maximum,
                      .all_texts = all_texts,
                      .read = read,
                      .write = write,
                      .fail = fail};

}  // namespace

const Ranks* ranks_of_program() { return &ranks; }

}  // namespace staircase
