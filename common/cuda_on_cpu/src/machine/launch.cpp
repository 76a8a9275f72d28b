#include "launch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "gang.hpp"
#include "side_by_side.hpp"
#include "thread_area.hpp"

namespace cuda_on_cpu {
namespace {

/// Operating-system threads that run the blocks of launches. The host thread that calls run() is
/// one of them.
class Crew {
 public:
  /// Calls work(0) to work(size - 1) concurrently and waits until all calls have returned.
  template <typename Work>
  void run(unsigned size, const Work& work) {
    {
      const std::scoped_lock lock(mutex_);
      call_ = [](const void* object, unsigned rank) { (*static_cast<const Work*>(object))(rank); };
      work_ = &work;
      size_ = size;
      left_ = size - 1;
      ++round_;
      hire();
    }
    if (size > 1) work_there_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    work_done_.wait(lock, [this] { return left_ == 0; });
  }

  /// Lets `more` further threads execute the running work. The work itself calls this function.
  void grow(unsigned more) {
    {
      const std::scoped_lock lock(mutex_);
      size_ += more;
      left_ += more;
      hire();
    }
    work_there_.notify_all();
  }

  unsigned helpers() {
    const std::scoped_lock lock(mutex_);
    return static_cast<unsigned>(threads_.size());
  }

 private:
  void hire() {
    while (threads_.size() + 1 < size_)
      threads_.emplace_back(
          [this, rank = static_cast<unsigned>(threads_.size() + 1)] { serve(rank); });
  }

  void serve(unsigned rank) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      work_there_.wait(lock, [&] { return round_ != seen && rank < size_; });
      seen = round_;
      lock.unlock();
      call_(work_, rank);
      lock.lock();
      if (--left_ == 0) work_done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_there_, work_done_;
  std::vector<std::thread> threads_;
  void (*call_)(const void*, unsigned) = nullptr;
  const void* work_ = nullptr;
  unsigned size_ = 0;
  unsigned left_ = 0;
  std::uint64_t round_ = 0;
};

Crew& crew() {
  static auto& crew = indestructible<Crew>();
  return crew;
}

unsigned size_of(dim3 extent) { return extent.x * extent.y * extent.z; }

/// Prepares a launch that is about to run. All launches in `all` run concurrently.
void prepare(Launch& launch, const Launches& all) {
  launch.blocks = size_of(launch.configuration.grid);
  launch.threads = size_of(launch.configuration.block);
  for (const auto& other : all) launch.beside.push_back(other->operation);
  analysis::launch_begins(launch);
}

/// Runs a launch. Each thread of the crew executes one block after the other. As soon as some
/// blocks wait in loops, launches of other devices run as well.
class Devices {
 public:
  Devices(Launches& launches, const CallOthers& call_others)
      : launches_(launches), call_others_(call_others) {}

  /// \param done number of blocks of the first launch that have already run
  void run(unsigned done) {
    add(*launches_.front());
    shares_.front().next = done;
    crew().run(static_cast<unsigned>(places_.size()), [this](unsigned rank) { work(rank); });
  }

 private:
  /// A launch, and the position of its next block.
  struct Share {
    explicit Share(Launch& launch) : launch(launch) {}

    Launch& launch;
    std::atomic<unsigned> next = 0;
    SideBySide side_by_side;
  };

  void add(Launch& launch) {
    Share& share = shares_.emplace_back(launch);
    launch.call_others = [this, &share] { return call_others(share); };
    if (turns_ == nullptr && analysis::leaves_out(launch))
      launch.side_by_side = &share.side_by_side;
    const unsigned workers =
        analysis::enabled && launch.side_by_side == nullptr ? 1 : settings().threads;
    add_places(share, std::min(workers, launch.blocks));
  }

  /// Lets `count` more operating-system threads run blocks of a launch.
  void add_places(Share& share, std::size_t count) {
    places_.insert(places_.end(), count, &share);
    if (turns_ == nullptr) return;
    const std::scoped_lock lock(turns_->mutex);
    turns_->runnable.resize(places_.size());
  }

  /// Doubles the number of blocks of a launch that run concurrently, if enough blocks are left. The
  /// running blocks may wait for a block that has not begun.
  void let_more_begin(Share& share) {
    constexpr std::size_t most = 1024;  // blocks, each on its own operating-system thread
    const Launch& launch = share.launch;
    const bool runs_in_order = analysis::enabled && turns_ == nullptr;
    if (runs_in_order || launch.side_by_side != nullptr) return;
    const auto running =
        static_cast<std::size_t>(std::count(places_.begin(), places_.end(), &share));
    const std::size_t left = launch.blocks - std::min(share.next.load(), launch.blocks);
    add_places(share, std::min({running, left, most - std::min(running, most)}));
  }

  void work(unsigned rank) {
    Share& share = share_of(rank);
    Launch& launch = share.launch;
    for (unsigned next; !launch.failed && (next = take(share)) < launch.blocks;) {
      if (!run_in_turn(launch, next, rank)) {
        const std::scoped_lock lock(mutex_);
        give_up(launch.failure);
        if (launch.side_by_side != nullptr) launch.side_by_side->fail();
      }
      if (launch.side_by_side != nullptr) launch.side_by_side->end(next);
    }
  }

  /// Takes the next block to begin.
  /// \returns the position of the block; at least the number of blocks if there is none
  static unsigned take(Share& share) {
    Launch& launch = share.launch;
    if (launch.side_by_side == nullptr) return share.next++;
    return launch.side_by_side->take(launch.blocks, [&](unsigned turn) {
      return analysis::is_left_out(launch, settings().schedule.block(turn, launch.blocks));
    });
  }

  Share& share_of(unsigned rank) {
    const std::scoped_lock lock(mutex_);
    return *places_[rank];
  }

  /// Runs a block. If blocks run in turn, this block runs only while no other block runs.
  bool run_in_turn(Launch& launch, unsigned turn, unsigned rank) {
    const unsigned number = settings().schedule.block(turn, launch.blocks);
    if (turns_ == nullptr) return run_block(launch, number, nullptr, 0, turn);
    Gang alone(1, false, turns_, rank);
    alone.enter(0);
    const bool well = run_block(launch, number, &alone, 0);
    alone.leave(0);
    return well;
  }

  /// Marks all launches as failed, because each of them may wait for a launch that has failed.
  void give_up(cudaError_t failure) {
    for (const auto& launch : launches_)
      if (!launch->failed) {
        launch->failure = failure;
        launch->failed = true;
      }
  }

  /// Starts launches of other devices. If there are none, or if the launch runs concurrently with
  /// the host, starts more blocks of the launch.
  /// \returns whether more blocks of the launch began instead of other launches; false if the
  /// launch runs concurrently with the host
  bool call_others(Share& share) {
    const std::scoped_lock lock(mutex_);
    const bool is_beside_host = share.launch.is_beside_host;
    const std::size_t before = places_.size();
    if (is_beside_host) let_more_begin(share);
    Launches more;
    if (settings().devices > 1 && !call_others_(more)) give_up(cudaErrorUnknown);
    for (std::unique_ptr<Launch>& other : more) {
      for (const auto& launch : launches_) launch->beside.push_back(other->operation);
      launches_.push_back(std::move(other));
      prepare(*launches_.back(), launches_);
      add(*launches_.back());
    }
    const bool others_began = places_.size() > before;
    if (!is_beside_host && !others_began) let_more_begin(share);
    const std::size_t added = places_.size() - before;
    if (added > 0) crew().grow(static_cast<unsigned>(added));
    return !is_beside_host && !others_began && added > 0;
  }

  /// Whether blocks of the first launch run in turn under analysis. Such blocks can wait for each
  /// other, for the host or for other devices.
  bool runs_in_turns() const {
    const Launch& first = *launches_.front();
    return analysis::enabled && (settings().devices > 1 || first.is_beside_host ||
                                 (first.blocks > 1 && !analysis::leaves_out(first)));
  }

  Launches& launches_;
  const CallOthers& call_others_;
  std::mutex mutex_;
  std::deque<Share> shares_;
  std::vector<Share*> places_;  // the launch whose blocks a thread of the crew runs, by the rank of
                                // the thread
  const std::shared_ptr<Turns> turns_ = runs_in_turns() ? std::make_shared<Turns>(1) : nullptr;
};

/// Runs blocks of a launch concurrently under analysis, beginning with the first block. The
/// concurrent run is speculative: its results are valid if the order of the blocks does not matter.
/// \returns the number of blocks with valid results; the other blocks have to run one after the
/// other
unsigned run_on_trial(Launch& launch) {
  const unsigned workers = std::min(settings().threads, launch.blocks);
  if (workers < 2 || !analysis::may_be_tried(launch)) return 0;
  unsigned done = 0;
  while (done < launch.blocks) {
    const std::uint64_t barriers = launch.barriers;
    std::atomic<unsigned> next = done;
    analysis::trial_begins(launch, done);
    crew().run(workers, [&](unsigned) {
      for (unsigned turn;
           !launch.trial_is_over && !analysis::trial_is_full() && (turn = next++) < launch.blocks;)
        if (!run_block(launch, settings().schedule.block(turn, launch.blocks), nullptr, 0, turn))
          launch.trial_is_over = true;
    });
    if (!analysis::trial_ends(launch)) {
      launch.barriers = barriers;
      return done;
    }
    crew().run(workers, [&](unsigned rank) { analysis::check_trial(launch, rank, workers); });
    done = std::min(next.load(), launch.blocks);
  }
  return done;
}

/// Runs all blocks of several grids concurrently.
void run_grids(const Launches& launches) {
  unsigned blocks = 0;
  for (const auto& launch : launches) blocks += launch->blocks;
  const auto turns = std::make_shared<Turns>(blocks);
  std::vector<std::unique_ptr<Gang>> gangs;
  std::vector<std::pair<unsigned, unsigned>> places;  // index of a grid, and of a block in this
                                                      // grid
  for (const auto& launch : launches) {
    const auto first = static_cast<unsigned>(places.size());
    for (unsigned number = 0; number < launch->blocks; ++number)
      places.emplace_back(gangs.size(), number);
    gangs.push_back(std::make_unique<Gang>(launch->blocks, false, turns, first));
  }
  std::atomic<bool> failed = false;
  crew().run(blocks, [&](unsigned rank) {
    const auto [grid, number] = places[rank];
    Gang& gang = *gangs[grid];
    if (!gang.enter(number)) return;
    if (!run_block(*launches[grid], number, &gang, number)) {
      if (!failed.exchange(true)) launches[grid]->failed = true;  // the other grids were abandoned
      for (const auto& other : gangs) other->fail();
    }
    gang.leave(number);
  });
}

/// Runs the clusters of a launch one after the other. `number_of(cluster, rank)` is the index in
/// the grid of block `rank` of a cluster.
template <typename NumberOf>
void run_clusters(Launch& launch, unsigned gang_size, const NumberOf& number_of) {
  std::vector<std::unique_ptr<Gang>> gangs(launch.blocks / gang_size);
  for (auto& gang : gangs)
    gang = std::make_unique<Gang>(gang_size, true, std::make_shared<Turns>(gang_size), 0);
  crew().run(gang_size, [&](unsigned rank) {
    for (unsigned g = 0; g < gangs.size() && gangs[g]->enter(rank); ++g) {
      if (!run_block(launch, number_of(g, rank), gangs[g].get(), rank)) {
        launch.failed = true;
        for (unsigned next = g + 1; next < gangs.size(); ++next) gangs[next]->fail();
      }
      gangs[g]->leave(rank);
    }
  });
}

/// The index in the grid of block `rank` of a cluster. In ranks and indices, x varies fastest.
unsigned number_in_cluster(const Configuration& c, unsigned cluster, unsigned rank) {
  const dim3 clusters(c.grid.x / c.cluster.x, c.grid.y / c.cluster.y, c.grid.z / c.cluster.z);
  const unsigned x = cluster % clusters.x * c.cluster.x + rank % c.cluster.x;
  const unsigned y =
      cluster / clusters.x % clusters.y * c.cluster.y + rank / c.cluster.x % c.cluster.y;
  const unsigned z =
      cluster / (clusters.x * clusters.y) * c.cluster.z + rank / (c.cluster.x * c.cluster.y);
  return (z * c.grid.y + y) * c.grid.x + x;
}

/// The end of a protected region that stands for the shared memory of blocks that a cluster does
/// not have. Every access to this region causes a fault.
const char* end_of_no_block() {
  static const char* const end = [] {
    const std::size_t bytes = thread_area_bytes();
    void* memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<const char*>(memory) + bytes;
  }();
  return end;
}

}  // namespace

bool is_valid(const Configuration& c) {
  constexpr unsigned most_layers = 65535, most_block_layers = 64;
  const bool grid = c.grid.x > 0 && c.grid.y > 0 && c.grid.z > 0 && c.grid.x <= 0x7fffffff &&
                    c.grid.y <= most_layers && c.grid.z <= most_layers;
  const bool block = c.block.x > 0 && c.block.y > 0 && c.block.z > 0 && c.block.x <= most_threads &&
                     c.block.y <= most_threads && c.block.z <= most_block_layers &&
                     size_of(c.block) <= most_threads;
  return grid && block && size_of(c.cluster) > 0;
}

bool has_whole_clusters(const Configuration& c, unsigned most_blocks) {
  return size_of(c.cluster) <= most_blocks && c.grid.x % c.cluster.x == 0 &&
         c.grid.y % c.cluster.y == 0 && c.grid.z % c.cluster.z == 0;
}

bool has_clusters(const Configuration& c) { return size_of(c.cluster) > 1; }

bool run(Launches& launches, const CallOthers& call_others) {
  for (const auto& launch : launches) prepare(*launch, launches);
  Launch& first = *launches.front();
  const Configuration& c = first.configuration;
  if (c.cooperative)
    run_grids(launches);
  else if (has_clusters(c))
    run_clusters(first, size_of(c.cluster),
                 [&](unsigned gang, unsigned rank) { return number_in_cluster(c, gang, rank); });
  else if (const unsigned done = run_on_trial(first); done < first.blocks)
    Devices(launches, call_others).run(done);
  bool well = true;
  for (const auto& launch : launches) {
    analysis::launch_ends(*launch);
    well = well && !launch->failed;
  }
  return well;
}

unsigned helping_threads() { return crew().helpers(); }

unsigned cluster_rank() { return block->launch->configuration.cooperative ? 0 : block->gang_rank; }

dim3 cluster_extent() {
  end_trial();  // the caller may store the structure without instrumentation
  return block->launch->configuration.cluster;
}

dim3 cluster_position() {
  const dim3 extent = cluster_extent();
  const unsigned rank = cluster_rank();
  return {rank % extent.x, rank / extent.x % extent.y, rank / (extent.x * extent.y)};
}

unsigned cluster_size() { return size_of(cluster_extent()); }

void* in_block_of_cluster(const void* address, unsigned rank) {
  const auto* here = static_cast<const char*>(address);
  if (rank == cluster_rank()) return const_cast<char*>(here);
  const char* area = rank < cluster_size() ? block->gang->thread_area(rank) : end_of_no_block();
  return const_cast<char*>(area) + (here - thread_area_end());
}

bool is_of_no_block(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  return byte < end_of_no_block() && byte >= end_of_no_block() - thread_area_bytes();
}

bool is_shared_of(const void* address, unsigned rank) {
  const auto* area = static_cast<const char*>(in_block_of_cluster(thread_area_end(), rank));
  const auto* byte = static_cast<const char*>(address);
  return byte < area && byte >= area - thread_area_bytes();
}

}  // namespace cuda_on_cpu
