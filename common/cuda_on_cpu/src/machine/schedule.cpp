#include "schedule.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

namespace cuda_on_cpu {

bool Schedule::read(std::string_view text) {
  constexpr std::string_view prefix = "random:";
  if (text == "ascending" || text == "descending") {
    order = text == "ascending" ? Order::ascending : Order::descending;
    return true;
  }
  if (!text.starts_with(prefix)) return false;
  order = Order::random;
  text.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return error == std::errc() && end == text.data() + text.size();
}

unsigned Schedule::block(unsigned i, unsigned blocks) const {
  if (order == Order::ascending) return i;
  if (order == Order::descending) return blocks - 1 - i;
  // A stride that is coprime to the number of blocks reaches every block without a table.
  std::mt19937_64 generator(seed);
  const std::uint64_t first = generator();
  std::uint64_t stride = generator() % blocks;
  while (std::gcd(stride, std::uint64_t{blocks}) != 1) ++stride;
  return static_cast<unsigned>((first % blocks + stride % blocks * i) % blocks);
}

std::vector<unsigned> Schedule::threads(unsigned threads, unsigned block) const {
  std::vector<unsigned> ranks(threads);
  std::iota(ranks.begin(), ranks.end(), 0u);
  if (order == Order::descending) std::reverse(ranks.begin(), ranks.end());
  if (order == Order::random)
    std::shuffle(ranks.begin(), ranks.end(), std::mt19937_64(seed + block));
  return ranks;
}

}  // namespace cuda_on_cpu
