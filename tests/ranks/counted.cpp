/// \file
/// Wraps MPI through its profiling interface. This file counts messages, their bytes, and calls by
/// threads other than the first. It also finds objects that are never freed, and can make a call
/// fail on one rank.
///
/// Rank r writes STAIRCASE_COUNTED/r.json at the end. With STAIRCASE_FAILING=CALL,RANK,N, the Nth
/// call of MPI_CALL on RANK, counted from 1, returns an error. Except for File_write_all, this call
/// has no effect. If CALL is Init_thread, MPI starts without support for threads.

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

struct Counts {
  long messages = 0, received = 0, by_others = 0;
  long begun = 0, prepared = 0;  ///< one-time requests, and persistent requests
  long long bytes = 0, bytes_received = 0;
};
Counts counts;

/// A send, a receive or a barrier. A request that is not persistent ends when its rank has waited
/// for it. Barriers and transfers with MPI_PROC_NULL do not count as messages.
struct Request {
  bool sends;
  long long bytes;
  bool persistent, active, is_message = true;
};
std::map<MPI_Request, Request> requests;
std::set<MPI_Datatype> types;
std::set<MPI_Comm> communicators;
std::set<MPI_Group> groups;
std::set<MPI_Win> windows;

long long bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<long long>(count) * size;
}

void note_thread() { counts.by_others += ::gettid() == ::getpid() ? 0 : 1; }

void count(bool sends, long long bytes) {
  (sends ? counts.messages : counts.received) += 1;
  (sends ? counts.bytes : counts.bytes_received) += bytes;
}

int rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Whether this call is the one that STAIRCASE_FAILING selects.
bool fails(const char* call) {
  static std::map<std::string, int> calls;
  const char* wanted = std::getenv("STAIRCASE_FAILING");
  if (wanted == nullptr) return false;
  const int number = ++calls[call];
  return std::string(wanted) ==
         std::string(call) + "," + std::to_string(rank()) + "," + std::to_string(number);
}

void begin(MPI_Request request, Request what) {
  note_thread();
  requests[request] = what;
  ++(what.persistent ? counts.prepared : counts.begun);
  if (!what.persistent && what.is_message) count(what.sends, what.bytes);
}

void start(MPI_Request request) {
  Request& what = requests.at(request);
  what.active = true;
  if (what.is_message) count(what.sends, what.bytes);
}

/// Ends requests after a wait; `before` contains the requests as they were before the wait.
void end(const std::vector<MPI_Request>& before) {
  for (const MPI_Request request : before) {
    const auto found = requests.find(request);
    if (found == requests.end()) continue;
    found->second.active = false;
    if (!found->second.persistent) requests.erase(found);
  }
}

}  // namespace

extern "C" {

int MPI_Init_thread(int* count, char*** arguments, int wanted, int* provided) {
  const int error = PMPI_Init_thread(count, arguments, wanted, provided);
  if (fails("Init_thread")) *provided = MPI_THREAD_SINGLE;
  return error;
}

int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                 void* received, int received_count, MPI_Datatype received_type, int from,
                 int received_tag, MPI_Comm comm, MPI_Status* status) {
  if (fails("Sendrecv")) return MPI_ERR_OTHER;
  note_thread();
  count(true, bytes_of(sent_count, sent_type));
  count(false, bytes_of(received_count, received_type));
  return PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count,
                       received_type, from, received_tag, comm, status);
}

int MPI_Isend(const void* data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int error = PMPI_Isend(data, number, type, to, tag, comm, request);
  begin(*request, {true, bytes_of(number, type), false, true, to != MPI_PROC_NULL});
  return error;
}

int MPI_Irecv(void* data, int number, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int error = PMPI_Irecv(data, number, type, from, tag, comm, request);
  begin(*request, {false, bytes_of(number, type), false, true, from != MPI_PROC_NULL});
  return error;
}

int MPI_Send_init(const void* data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Send_init(data, number, type, to, tag, comm, request);
  begin(*request, {true, bytes_of(number, type), true, false, to != MPI_PROC_NULL});
  return error;
}

int MPI_Recv_init(void* data, int number, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Recv_init(data, number, type, from, tag, comm, request);
  begin(*request, {false, bytes_of(number, type), true, false, from != MPI_PROC_NULL});
  return error;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  const int error = PMPI_Ibarrier(comm, request);
  begin(*request, {false, 0, false, true, false});
  return error;
}

int MPI_Startall(int number, MPI_Request* started) {
  note_thread();
  for (int r = 0; r < number; ++r) start(started[r]);
  return PMPI_Startall(number, started);
}

int MPI_Waitall(int number, MPI_Request* waiting, MPI_Status* statuses) {
  if (fails("Waitall")) return MPI_ERR_OTHER;
  note_thread();
  const std::vector<MPI_Request> before(waiting, waiting + number);
  const int error = PMPI_Waitall(number, waiting, statuses);
  end(before);
  return error;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  note_thread();
  const std::vector<MPI_Request> before{*request};
  const int error = PMPI_Wait(request, status);
  end(before);
  return error;
}

int MPI_Request_free(MPI_Request* request) {
  const auto found = requests.find(*request);
  // A request that is still in transit stays in the list.
  if (found != requests.end() && !found->second.active) requests.erase(found);
  return PMPI_Request_free(request);
}

int MPI_Type_commit(MPI_Datatype* type) {
  types.insert(*type);
  return PMPI_Type_commit(type);
}

int MPI_Type_free(MPI_Datatype* type) {
  types.erase(*type);
  return PMPI_Type_free(type);
}

int MPI_Cart_create(MPI_Comm from, int dimensions, const int* ranks, const int* periodic,
                    int reorder, MPI_Comm* made) {
  const int error = PMPI_Cart_create(from, dimensions, ranks, periodic, reorder, made);
  communicators.insert(*made);
  return error;
}

int MPI_Comm_split_type(MPI_Comm from, int type, int key, MPI_Info info, MPI_Comm* made) {
  const int error = PMPI_Comm_split_type(from, type, key, info, made);
  communicators.insert(*made);
  return error;
}

int MPI_Comm_split(MPI_Comm from, int color, int key, MPI_Comm* made) {
  const int error = PMPI_Comm_split(from, color, key, made);
  communicators.insert(*made);
  return error;
}

int MPI_Comm_free(MPI_Comm* comm) {
  communicators.erase(*comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  const int error = PMPI_Comm_group(comm, group);
  groups.insert(*group);
  return error;
}

int MPI_Group_free(MPI_Group* group) {
  groups.erase(*group);
  return PMPI_Group_free(group);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* window) {
  if (fails("Win_allocate_shared")) return MPI_ERR_INTERN;
  const int error = PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
  windows.insert(*window);
  return error;
}

int MPI_Win_free(MPI_Win* window) {
  windows.erase(*window);
  return PMPI_Win_free(window);
}

int MPI_File_write_all(MPI_File file, const void* data, int number, MPI_Datatype type,
                       MPI_Status* status) {
  const int error = PMPI_File_write_all(file, data, number, type, status);
  return fails("File_write_all") ? MPI_ERR_NO_SPACE : error;
}

int MPI_Finalize() {
  const char* directory = std::getenv("STAIRCASE_COUNTED");
  if (directory != nullptr)
    std::ofstream(std::string(directory) + "/" + std::to_string(rank()) + ".json")
        << "{\"messages\": " << counts.messages << ", \"received\": " << counts.received
        << ", \"bytes\": " << counts.bytes << ", \"bytes_received\": " << counts.bytes_received
        << ", \"requests\": " << requests.size() << ", \"types\": " << types.size()
        << ", \"communicators\": " << communicators.size() << ", \"groups\": " << groups.size()
        << ", \"windows\": " << windows.size() << ", \"begun\": " << counts.begun
        << ", \"prepared\": " << counts.prepared << ", \"by_others\": " << counts.by_others << "}\n";
  return PMPI_Finalize();
}

}  // extern "C"
