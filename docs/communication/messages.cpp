/// \file
/// Measures the cost of messages between ranks, for the chapter on communication. Start two ranks
/// with `mpiexec -n 2`. The program prints JSON. For each size of a message in bytes and for each
/// repeat, the JSON contains the seconds of half a ping-pong and of one exchange.
///
/// Usage: messages [REPEATS [LARGEST]]

#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int most_repeats = 1000, most_bytes = 1 << 26;

// [ping pong]
/// Sends a message from rank 0 to rank 1, and another message back.
void there_and_back(std::vector<char>& message, int rank) {
  const int size = static_cast<int>(message.size()), other = 1 - rank;
  if (rank == 0) MPI_Send(message.data(), size, MPI_CHAR, other, 0, MPI_COMM_WORLD);
  MPI_Recv(message.data(), size, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(message.data(), size, MPI_CHAR, other, 0, MPI_COMM_WORLD);
}
// [ping pong]

// [exchange]
/// Sends and receives on both ranks concurrently, as stage 01 does with a row.
void exchange(std::vector<char>& message, std::vector<char>& halo, int rank) {
  const int size = static_cast<int>(message.size()), other = 1 - rank;
  MPI_Sendrecv(message.data(), size, MPI_CHAR, other, 0, halo.data(), size, MPI_CHAR, other, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
// [exchange]

/// The number of messages that are timed together, and the number of repetitions. All repetitions
/// together take a few milliseconds. On a busy machine, a message may wait until its ranks are
/// scheduled. No repetition begins after `patience` seconds.
constexpr int together = 20;
constexpr double patience = 0.25;
std::size_t rounds_of(std::size_t bytes) { return bytes <= 8192 ? 101 : 101 * 8192 / bytes + 5; }

/// Whether both ranks have time for another repetition.
bool go_on(double until) {
  int is_early = MPI_Wtime() < until;
  MPI_Allreduce(MPI_IN_PLACE, &is_early, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return is_early != 0;
}

/// The time of a message in seconds: the median over repetitions, which interruptions by other
/// programs hardly affect.
template <typename Message>
double typical(std::size_t rounds, Message message) {
  const double until = MPI_Wtime() + patience;
  std::vector<double> times;
  do {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < together; ++i) message();
    times.push_back((MPI_Wtime() - begin) / together);
  } while (times.size() < rounds && go_on(until));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void measure(int repeats, int largest, int rank) {
  if (rank == 0) fmt::print("[");
  for (int bytes = 8; bytes <= largest; bytes *= 2) {
    std::vector<char> message(bytes), halo(bytes);
    std::vector<double> pings, exchanges;
    for (int r = 0; r < repeats; ++r) {
      const std::size_t rounds = rounds_of(bytes);
      pings.push_back(typical(rounds, [&] { there_and_back(message, rank); }) / 2);
      exchanges.push_back(typical(rounds, [&] { exchange(message, halo, rank); }));
    }
    if (rank == 0)
      fmt::print("{}\n{{\"bytes\":{},\"ping_pong\":[{:.4e}],\"exchange\":[{:.4e}]}}",
                 bytes == 8 ? "" : ",", bytes, fmt::join(pings, ","), fmt::join(exchanges, ","));
  }
  if (rank == 0) fmt::print("\n]\n");
}

/// Returns the integer in a command-line argument, or 0 if the text is not an integer from 1 to
/// `most`.
int number(const char* text, int most) {
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc() && rest == end && value >= 1 && value <= most ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? number(argv[1], most_repeats) : 15;
  const int largest = argc > 2 ? number(argv[2], most_bytes) : 1 << 20;
  if (argc > 3 || repeats == 0 || largest < 8) {
    fmt::print(
        stderr,
        "usage: messages [REPEATS [LARGEST]]: repeats from 1 to {}, the largest message from "
        "8 to {} bytes, not '{}'\n",
        most_repeats, most_bytes, fmt::join(argv + 1, argv + argc, " "));
    return 2;
  }
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2)
    measure(repeats, largest, rank);
  else if (rank == 0)
    fmt::print(stderr, "messages go between 2 ranks, not {}\n", ranks);
  MPI_Finalize();
  return ranks == 2 ? 0 : 2;
}
