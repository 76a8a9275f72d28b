/// \file
/// Communication between ranks. Each call of a rank is an operation of its stream. A call is
/// matched with calls of other ranks when it enters the stream, or when the graph that recorded the
/// call is launched.
///
/// A transfer is an operation that moves the data after all participating streams have reached
/// their calls. The reads and writes of a rank count as accesses by the operation of its own
/// stream.

#include "nccl.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

enum class Kind { send, receive, all_reduce, broadcast };

constexpr const char* name_of(Kind kind) {
  constexpr const char* names[] = {"ncclSend", "ncclRecv", "ncclAllReduce", "ncclBroadcast"};
  return names[static_cast<int>(kind)];
}

/// The parameters of one call of a rank.
struct Request {
  Kind kind;
  const char* from;  ///< null if the call reads nothing
  char* to;          ///< null if the call writes nothing
  std::size_t bytes;
  ncclDataType_t type;
  ncclRedOp_t operation;
  int peer;  ///< the other rank, or the root; -1 for all-reduce
  const void* place;

  bool is_collective() const { return kind == Kind::all_reduce || kind == Kind::broadcast; }
};

/// A request with the operation of its stream.
struct Side {
  Request request;
  OperationPointer arrival, operation;
  std::shared_ptr<class Others> others;
};

/// A collective at which some ranks have arrived.
using Gathering = std::vector<std::optional<Side>>;

/// The shared state of a communicator. All members are guarded by the runtime's mutex.
struct Clique {
  explicit Clique(int size)
      : members(static_cast<std::size_t>(size)), users(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(members.size()); }

  std::vector<ncclComm_t> members;     ///< null if a rank has not joined, or has destroyed its
                                       ///< communicator
  std::vector<std::thread::id> users;  ///< the last calling thread of each rank
  int joined = 0;
  std::map<std::pair<int, int>, std::deque<Side>> sends, receives;  ///< unmatched requests, per
                                                                    ///< sender and receiver
  std::deque<Gathering> gatherings;
  std::string broken;  ///< the error that ended the communicator, or empty
};

/// The ranks that have not made the calls that match the requests of one operation.
class Others : public Awaited {
 public:
  Others(std::shared_ptr<const Clique> clique, int rank, Kind kind)
      : clique_(std::move(clique)), rank_(rank), kind_(kind) {}

  void add(int rank) { missing_.push_back(rank); }
  void came(int rank) { missing_.erase(std::find(missing_.begin(), missing_.end(), rank)); }

  bool is_there() const override { return missing_.empty() || !clique_->broken.empty(); }
  std::vector<std::thread::id> callers() const override {
    std::vector<std::thread::id> threads;
    for (const int rank : missing_)
      threads.push_back(clique_->users[static_cast<std::size_t>(rank)]);
    return threads;
  }
  std::string sentence() const override {
    return "rank " + std::to_string(rank_) + " of " + std::to_string(clique_->size()) +
           " waits in " + name_of(kind_) + " for rank " + std::to_string(missing_.front()) +
           ", which does not make the matching call";
  }

 private:
  std::shared_ptr<const Clique> clique_;
  int rank_;
  Kind kind_;
  std::vector<int> missing_;
};

thread_local std::string last_sentence;

ncclResult_t refuse_with(ncclResult_t result, std::string sentence) {
  last_sentence = std::move(sentence);
  return result;
}

ncclResult_t cuda_failed(cudaError_t error) {
  return refuse_with(ncclUnhandledCudaError, cudaGetErrorString(error));
}

// --- Matching of calls.

/// Adds an operation that is executed after all of several streams have reached their calls, and
/// before any of them continues.
void transfer(const std::vector<const Side*>& sides, std::function<void()> work) {
  auto moving = std::make_shared<Operation>();
  moving->work = [work = std::move(work)](const Operation&) {
    work();
    return true;
  };
  moving->marks = moving->shared = true;
  moving->place = sides.back()->request.place;
  for (const Side* side : sides) {
    moving->after.push_back(side->arrival);
    side->operation->after.push_back(moving);
  }
}

/// Orders the operation of `one` after the arrival of `other`, and after all earlier operations in
/// the stream of `other`.
void join(const Side& one, const Side& other) { one.operation->after.push_back(other.arrival); }

void pair_up(Clique& clique, const Side& sender, const Side& receiver) {
  const Request &send = sender.request, &receive = receiver.request;
  if (send.bytes != receive.bytes) {
    clique.broken = "a rank sends " + std::to_string(send.bytes) +
                    " bytes to a rank that receives " + std::to_string(receive.bytes) + " bytes";
    return;
  }
  transfer({&sender, &receiver}, [to = receive.to, from = send.from, bytes = send.bytes] {
    if (bytes > 0) std::memmove(to, from, bytes);
  });
  join(receiver, sender);
}

template <typename T>
void reduce(const std::vector<Request>& requests, std::size_t count) {
  const auto element = [](const char* array, std::size_t i) {
    return reinterpret_cast<const T*>(array)[i];
  };
  const ncclRedOp_t operation = requests.front().operation;
  for (std::size_t i = 0; i < count; ++i) {
    T result = element(requests.front().from, i);
    for (std::size_t r = 1; r < requests.size(); ++r) {
      const T other = element(requests[r].from, i);
      if (operation == ncclSum) result = static_cast<T>(result + other);
      if (operation == ncclProd) result = static_cast<T>(result * other);
      if (operation == ncclMin) result = std::min(result, other);
      if (operation == ncclMax) result = std::max(result, other);
    }
    for (const Request& request : requests) reinterpret_cast<T*>(request.to)[i] = result;
  }
}

void reduce(const std::vector<Request>& requests) {
  const std::size_t bytes = requests.front().bytes;
  switch (requests.front().type) {
    case ncclInt8:
      return reduce<std::int8_t>(requests, bytes);
    case ncclUint8:
      return reduce<std::uint8_t>(requests, bytes);
    case ncclInt32:
      return reduce<std::int32_t>(requests, bytes / 4);
    case ncclUint32:
      return reduce<std::uint32_t>(requests, bytes / 4);
    case ncclInt64:
      return reduce<std::int64_t>(requests, bytes / 8);
    case ncclUint64:
      return reduce<std::uint64_t>(requests, bytes / 8);
    case ncclFloat32:
      return reduce<float>(requests, bytes / 4);
    default:
      return reduce<double>(requests, bytes / 8);
  }
}

void broadcast(const std::vector<Request>& requests, std::size_t root) {
  const Request& source = requests[root];
  for (const Request& request : requests)
    if (source.bytes > 0) std::memmove(request.to, source.from, source.bytes);
}

bool are_alike(const Request& a, const Request& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.type == b.type && a.peer == b.peer &&
         a.operation == b.operation;
}

/// Adds the transfer of a collective at which all ranks have arrived.
void assemble(Clique& clique, const Gathering& gathering) {
  std::vector<const Side*> sides;
  std::vector<Request> requests;
  for (const auto& side : gathering) {
    sides.push_back(&*side);
    requests.push_back(side->request);
    if (are_alike(requests.back(), requests.front())) continue;
    clique.broken =
        "the ranks call different collectives, or one collective with different sizes, types or "
        "roots";
    return;
  }
  const bool reduces = requests.front().kind == Kind::all_reduce;
  const auto root = static_cast<std::size_t>(std::max(0, requests.front().peer));
  transfer(sides, [=, requests = std::move(requests)] {
    reduces ? reduce(requests) : broadcast(requests, root);
  });
  for (const Side* side : sides)
    for (const Side* other : sides)
      if (side != other && (reduces || other == sides[root])) join(*side, *other);
}

/// The requests of a rank in one group and one stream.
class Requests : public Meeting {
 public:
  Requests(std::shared_ptr<Clique> clique, int rank) : clique_(std::move(clique)), rank_(rank) {}

  void add(const Request& request) { requests_.push_back(request); }
  const void* place() const { return requests_.front().place; }

  void join(const OperationPointer& arrival, const OperationPointer& operation) const override {
    auto others = std::make_shared<Others>(clique_, rank_, requests_.front().kind);
    operation->awaited = others;
    for (const Request& request : requests_) {
      const Side side{request, arrival, operation, others};
      request.is_collective() ? join_gathering(side) : join_peer(side);
    }
    tell_all_who_wait();
  }

  /// Reports the accesses of this rank to the analysis.
  bool work(const Operation& operation) const {
    for (const Request& request : requests_) {
      if (!analysis::enabled || request.bytes == 0) continue;
      Operation part;
      part.number = operation.number;
      part.place = request.place;
      if (request.from != nullptr)
        analysis::copy_access(request.from, request.bytes, analysis::read, part);
      if (request.to != nullptr)
        analysis::copy_access(request.to, request.bytes, analysis::write, part);
    }
    return clique_->broken.empty();
  }

 private:
  void join_peer(const Side& side) const {
    const bool sends = side.request.kind == Kind::send;
    const std::pair key =
        sends ? std::pair{rank_, side.request.peer} : std::pair{side.request.peer, rank_};
    auto& waiting = (sends ? clique_->receives : clique_->sends)[key];
    if (waiting.empty()) {
      (sends ? clique_->sends : clique_->receives)[key].push_back(side);
      side.others->add(side.request.peer);
      return;
    }
    const Side other = std::move(waiting.front());
    waiting.pop_front();
    other.others->came(rank_);
    sends ? pair_up(*clique_, side, other) : pair_up(*clique_, other, side);
  }

  void join_gathering(const Side& side) const {
    auto& gatherings = clique_->gatherings;
    const auto mine = static_cast<std::size_t>(rank_);
    auto gathering = std::find_if(gatherings.begin(), gatherings.end(),
                                  [&](const Gathering& g) { return !g[mine].has_value(); });
    if (gathering == gatherings.end())
      gathering = gatherings.emplace(gathering, clique_->members.size());
    for (std::size_t rank = 0; rank < gathering->size(); ++rank) {
      if (auto& other = (*gathering)[rank])
        other->others->came(rank_);
      else if (rank != mine)
        side.others->add(static_cast<int>(rank));
    }
    (*gathering)[mine] = side;
    if (!std::all_of(gathering->begin(), gathering->end(), [](const auto& s) { return !!s; }))
      return;
    assemble(*clique_, *gathering);
    gatherings.erase(gathering);
  }

  std::shared_ptr<Clique> clique_;
  int rank_;
  std::vector<Request> requests_;
};

}  // namespace
}  // namespace cuda_on_cpu

struct ncclComm {
  std::shared_ptr<cuda_on_cpu::Clique> clique;
  int rank;
  int device;
};

namespace cuda_on_cpu {
namespace {

/// A request that waits for the end of its group.
struct Grouped {
  ncclComm_t comm;
  cudaStream_t stream;
  Request request;
};

/// The calls of a thread since its outermost ncclGroupStart.
struct Group {
  int depth = 0;
  std::vector<Grouped> requests;
  std::vector<ncclComm_t> joining;
  ncclResult_t error = ncclSuccess;
};
thread_local Group group;

struct Registry {
  std::map<std::string, std::shared_ptr<Clique>> cliques;  ///< communicators by their unique ids,
                                                           ///< until a rank destroys its own
  std::vector<std::unique_ptr<ncclComm>> communicators;
  std::uint64_t ids = 0;
};

Registry& registry() {
  static auto& registry = indestructible<Registry>();
  return registry;
}

bool is_communicator(ncclComm_t comm) {
  const auto& all = registry().communicators;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& known) { return known.get() == comm; });
}

/// Sets the current device for the lifetime of this object.
class Chosen {
 public:
  explicit Chosen(int device) { current_device() = device; }
  ~Chosen() { current_device() = before_; }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;

 private:
  int before_ = current_device();
};

CUstream_st* stream_of(ncclComm_t comm, cudaStream_t stream) {
  const Chosen here(comm->device);
  CUstream_st* found = find_stream(stream);
  return found == nullptr || found->device != comm->device ? nullptr : found;
}

/// Checks an array of a rank. `what` is the name of the array in messages.
ncclResult_t check_array(ncclComm_t comm, const void* first, std::size_t bytes, const char* what) {
  if (bytes == 0) return ncclSuccess;
  const std::string array = std::string(what) + " of rank " + std::to_string(comm->rank);
  const Allocation* allocation = find_allocation(first);
  if (allocation == nullptr)
    return refuse_with(ncclInvalidArgument, array + " does not belong to any allocation of CUDA");
  if (!allocation->contains(first, bytes))
    return refuse_with(ncclInvalidArgument, array + " has less than " + std::to_string(bytes) +
                                                " bytes: it lies in an allocation of " +
                                                std::to_string(allocation->bytes) + " bytes");
  if (allocation->space == MemorySpace::device && allocation->device != comm->device)
    return refuse_with(ncclInvalidArgument, array + " lies on device " +
                                                std::to_string(allocation->device) +
                                                ", not on device " + std::to_string(comm->device));
  return ncclSuccess;
}

constexpr std::size_t element_sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};  // bytes of an element, by ncclDataType_t

ncclResult_t check_request(ncclComm_t comm, cudaStream_t stream, const Request& request) {
  const int size = comm->clique->size();
  const auto number = [](int value) { return std::to_string(value); };
  if (!comm->clique->broken.empty()) return refuse_with(ncclInvalidUsage, comm->clique->broken);
  if (stream_of(comm, stream) == nullptr)
    return refuse_with(ncclInvalidArgument, "the stream of rank " + number(comm->rank) +
                                                " does not belong to device " +
                                                number(comm->device));
  if (request.kind != Kind::all_reduce && (request.peer < 0 || request.peer >= size))
    return refuse_with(
        ncclInvalidArgument,
        "rank " + number(request.peer) + " does not exist: the ranks are 0 to " + number(size - 1));
  if (request.kind == Kind::all_reduce && request.operation == ncclAvg)
    return refuse_with(ncclInvalidArgument, "the CPU device does not support ncclAvg");
  if (request.operation < ncclSum || request.operation > ncclAvg)
    return refuse_with(ncclInvalidArgument,
                       number(request.operation) + " is not a value of ncclRedOp_t");
  if (request.kind == Kind::all_reduce && element_sizes[request.type] == 2)
    return refuse_with(ncclInvalidArgument, "the CPU device does not reduce values of 16 bits");
  const bool reads = request.from != nullptr || request.kind != Kind::receive;
  const bool writes = request.to != nullptr || request.kind != Kind::send;
  if (reads && (request.kind != Kind::broadcast || request.peer == comm->rank))
    if (const auto error = check_array(comm, request.from, request.bytes, "the source");
        error != ncclSuccess)
      return error;
  return writes ? check_array(comm, request.to, request.bytes, "the target") : ncclSuccess;
}

/// Enqueues the requests of a group in their streams.
ncclResult_t enter(const std::vector<Grouped>& requests) {
  struct Part {
    ncclComm_t comm;
    CUstream_st* stream;
    std::shared_ptr<Requests> requests;
  };
  std::vector<Part> parts;
  for (const Grouped& grouped : requests) {
    CUstream_st* stream = stream_of(grouped.comm, grouped.stream);
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& p) {
      return p.comm == grouped.comm && p.stream == stream;
    });
    if (part == parts.end())
      part = parts.insert(part,
                          {grouped.comm, stream,
                           std::make_shared<Requests>(grouped.comm->clique, grouped.comm->rank)});
    part->requests->add(grouped.request);
  }
  for (const Part& part : parts) {
    part.comm->clique->users[static_cast<std::size_t>(part.comm->rank)] =
        std::this_thread::get_id();
    enqueue_meeting(
        *part.stream, part.requests,
        [own = part.requests](const Operation& operation) { return own->work(operation); },
        part.requests->place());
    if (const std::string& broken = part.comm->clique->broken; !broken.empty())
      return refuse_with(ncclInvalidArgument, broken);
  }
  return lasting_error() == cudaSuccess ? ncclSuccess : cuda_failed(lasting_error());
}

/// Checks that each rank sends to itself as often as it receives from itself in a group.
ncclResult_t check_own(const std::vector<Grouped>& requests) {
  std::map<ncclComm_t, int> surplus;
  for (const auto& [comm, stream, request] : requests)
    if (!request.is_collective() && request.peer == comm->rank)
      surplus[comm] += request.kind == Kind::send ? 1 : -1;
  for (const auto& [comm, sends] : surplus)
    if (sends != 0)
      return refuse_with(ncclInvalidUsage,
                         "rank " + std::to_string(comm->rank) +
                             " sends to itself more or less often in a group than "
                             "it receives from itself");
  return ncclSuccess;
}

ncclResult_t submit(ncclComm_t comm, cudaStream_t stream, std::size_t count, Request request) {
  const Guard guard(runtime_mutex());
  const ncclResult_t error = [&] {
    if (!is_communicator(comm))
      return refuse_with(ncclInvalidArgument, "the communicator is not valid");
    if (request.type < ncclInt8 || request.type > ncclBfloat16)
      return refuse_with(ncclInvalidArgument,
                         std::to_string(request.type) +
                             " is not a value of ncclDataType_t that the CPU device supports");
    const std::size_t size = element_sizes[request.type];
    if (count > PTRDIFF_MAX / size)
      return refuse_with(ncclInvalidArgument, std::to_string(count) + " elements are too many");
    request.bytes = count * size;
    return check_request(comm, stream, request);
  }();
  if (error != ncclSuccess) {
    if (group.depth > 0) group.error = error;
    return error;
  }
  if (request.kind == Kind::broadcast && request.peer != comm->rank) request.from = nullptr;
  const Grouped grouped{comm, stream, request};
  if (group.depth > 0) {
    group.requests.push_back(grouped);
    return ncclSuccess;
  }
  const ncclResult_t own = check_own({grouped});
  return own == ncclSuccess ? enter({grouped}) : own;
}

// --- Joining.

/// The ranks that have not joined a communicator.
class Joining : public Awaited {
 public:
  Joining(std::shared_ptr<const Clique> clique, int rank)
      : clique_(std::move(clique)), rank_(rank) {}

  bool is_there() const override { return clique_->joined == clique_->size(); }
  std::vector<std::thread::id> callers() const override { return {}; }
  std::string sentence() const override {
    return "rank " + std::to_string(rank_) + " of " + std::to_string(clique_->size()) +
           " waits for the other ranks to join, but no other thread can do so; enclose the calls "
           "of a single thread in ncclGroupStart and ncclGroupEnd";
  }

 private:
  std::shared_ptr<const Clique> clique_;
  int rank_;
};

ncclResult_t wait_until_joined(const std::vector<ncclComm_t>& comms) {
  for (const ncclComm_t comm : comms)
    if (const Joining others(comm->clique, comm->rank); !wait_for(others))
      return refuse_with(ncclInvalidUsage, others.sentence());
  return ncclSuccess;
}

ncclResult_t join(ncclComm_t* comm, const std::shared_ptr<Clique>& clique, int rank, int device) {
  for (const auto& known : registry().communicators)
    if (known->clique == clique && (known->rank == rank || known->device == device))
      return refuse_with(ncclInvalidUsage,
                         "rank " + std::to_string(rank) + " on device " + std::to_string(device) +
                             " cannot join, because rank " + std::to_string(known->rank) +
                             " on device " + std::to_string(known->device) +
                             " has already joined; ranks and devices must differ");
  registry().communicators.push_back(std::make_unique<ncclComm>(ncclComm{clique, rank, device}));
  *comm = registry().communicators.back().get();
  clique->members[static_cast<std::size_t>(rank)] = *comm;
  ++clique->joined;
  tell_all_who_wait();
  return ncclSuccess;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return refuse_with(ncclInvalidArgument, "version is null");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* texts[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process exited or there was a network error",
                                   "NCCL operation in progress"};
  return result >= 0 && result < ncclNumResults ? texts[result] : "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) { return last_sentence.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const Guard guard(runtime_mutex());
  if (id == nullptr) return refuse_with(ncclInvalidArgument, "the id is null");
  *id = {};
  const std::string text = std::to_string(getpid()) + ' ' + std::to_string(++registry().ids);
  std::copy(text.begin(), text.end(), id->internal);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  const Guard guard(runtime_mutex());
  if (comm == nullptr) return refuse_with(ncclInvalidArgument, "the communicator is null");
  *comm = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse_with(ncclInvalidArgument, "rank " + std::to_string(rank) +
                                                " is not valid if the number of ranks is " +
                                                std::to_string(ranks));
  const std::string name(id.internal, strnlen(id.internal, sizeof id.internal));
  const std::string process = name.substr(0, name.find(' '));
  if (process != std::to_string(getpid()))
    return refuse_with(ncclInvalidUsage,
                       "on the CPU device, all ranks of NCCL are threads of one process, but this "
                       "ncclUniqueId is from process '" +
                           process + "', not from " + std::to_string(getpid()));
  auto& clique = registry().cliques[name];
  if (clique == nullptr) clique = std::make_shared<Clique>(ranks);
  if (clique->size() != ranks)
    return refuse_with(ncclInvalidArgument,
                       "rank " + std::to_string(rank) + " joins with " + std::to_string(ranks) +
                           " as the number of ranks, but another rank has joined with " +
                           std::to_string(clique->size()));
  const ncclResult_t error = join(comm, clique, rank, current_device());
  if (error != ncclSuccess || group.depth > 0) {
    if (error == ncclSuccess)
      group.joining.push_back(*comm);
    else if (group.depth > 0)
      group.error = error;
    return error;
  }
  return wait_until_joined({*comm});
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  const Guard guard(runtime_mutex());
  if (comms == nullptr || count < 1)
    return refuse_with(ncclInvalidArgument,
                       "ncclCommInitAll needs an array of communicators and at least 1 rank, not " +
                           std::to_string(count) + " ranks");
  const auto clique = std::make_shared<Clique>(count);
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    ncclResult_t error = ncclSuccess;
    if (device < 0 || device >= settings().devices)
      error = refuse_with(ncclInvalidArgument, "device " + std::to_string(device) +
                                                   " does not exist: the number of devices is " +
                                                   std::to_string(settings().devices));
    else
      error = join(&comms[rank], clique, rank, device);
    if (error == ncclSuccess) continue;
    for (int before = 0; before < rank; ++before) ncclCommDestroy(comms[before]);
    return error;
  }
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const Guard guard(runtime_mutex());
  return is_communicator(comm)
             ? ncclSuccess
             : refuse_with(ncclInvalidArgument, "the communicator is not valid");
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const Guard guard(runtime_mutex());
  if (!is_communicator(comm))
    return refuse_with(ncclInvalidArgument, "the communicator is not valid");
  comm->clique->members[static_cast<std::size_t>(comm->rank)] = nullptr;
  std::erase_if(registry().cliques,
                [&](const auto& known) { return known.second == comm->clique; });
  std::erase_if(registry().communicators, [&](const auto& known) { return known.get() == comm; });
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  const Guard guard(runtime_mutex());
  if (!is_communicator(comm) || count == nullptr)
    return refuse_with(ncclInvalidArgument,
                       "the communicator is not valid, or the pointer for the result is null");
  *count = comm->clique->size();
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  const Guard guard(runtime_mutex());
  if (!is_communicator(comm) || rank == nullptr)
    return refuse_with(ncclInvalidArgument,
                       "the communicator is not valid, or the pointer for the result is null");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  const Guard guard(runtime_mutex());
  if (!is_communicator(comm) || device == nullptr)
    return refuse_with(ncclInvalidArgument,
                       "the communicator is not valid, or the pointer for the result is null");
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const Guard guard(runtime_mutex());
  if (!is_communicator(comm) || error == nullptr)
    return refuse_with(ncclInvalidArgument,
                       "the communicator is not valid, or the pointer for the result is null");
  *error = ncclSuccess;
  if (lasting_error() != cudaSuccess) *error = cuda_failed(lasting_error());
  if (!comm->clique->broken.empty()) *error = refuse_with(ncclInvalidUsage, comm->clique->broken);
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return submit(comm, stream, count,
                {Kind::send, static_cast<const char*>(from), nullptr, 0, type, ncclSum, peer,
                 __builtin_return_address(0)});
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return submit(comm, stream, count,
                {Kind::receive, nullptr, static_cast<char*>(to), 0, type, ncclSum, peer,
                 __builtin_return_address(0)});
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return submit(comm, stream, count,
                {Kind::all_reduce, static_cast<const char*>(from), static_cast<char*>(to), 0, type,
                 operation, -1, __builtin_return_address(0)});
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return submit(comm, stream, count,
                {Kind::broadcast, static_cast<const char*>(from), static_cast<char*>(to), 0, type,
                 ncclSum, root, __builtin_return_address(0)});
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const Guard guard(runtime_mutex());
  if (group.depth == 0)
    return refuse_with(ncclInvalidUsage, "ncclGroupEnd without an ncclGroupStart before it");
  if (--group.depth > 0) return ncclSuccess;
  const Group ended = std::exchange(group, {});
  if (ended.error != ncclSuccess) return ended.error;
  if (const auto error = wait_until_joined(ended.joining); error != ncclSuccess) return error;
  if (const auto error = check_own(ended.requests); error != ncclSuccess) return error;
  return enter(ended.requests);
}
