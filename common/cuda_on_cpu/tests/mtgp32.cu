/// \file
/// MTGP32 in kernels: the published sequence of the recursion for any number of threads, and the
/// distributions derived from it. The parameters come from the toolkit.

#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "device.hpp"

using tap::Device;
using tap::expect;
using tap::expect_equal;

struct States {
  explicit States(int count, unsigned long long seed) : states(count), constants(1) {
    expect(curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, constants.get()) ==
               CURAND_STATUS_SUCCESS,
           "the parameters are there");
    expect(curandMakeMTGP32KernelState(states.get(), mtgp32dc_params_fast_11213, constants.get(),
                                       count, seed) == CURAND_STATUS_SUCCESS,
           "the states are there");
  }
  Device<curandStateMtgp32> states;
  Device<mtgp32_kernel_params_t> constants;
};

__global__ void draw(curandStateMtgp32* states, unsigned* out, int rounds) {
  for (int round = 0; round < rounds; ++round)
    out[(blockIdx.x * rounds + round) * blockDim.x + threadIdx.x] = curand(&states[blockIdx.x]);
}

/// The generator according to its definition, word by word, without a ring buffer.
std::vector<unsigned> reference(const mtgp32_params_fast_t& p, unsigned seed, std::size_t count) {
  const int size = p.mexp / 32 + 1;
  std::vector<unsigned> words(size);
  unsigned filler = p.tbl[4] ^ (p.tbl[8] << 16);
  words[1] = filler;
  filler += filler >> 16;
  filler += filler >> 8;
  for (int i = 0; i < size; ++i)
    words[i] = i == 0 ? seed : i == 1 ? words[1] : (filler & 0xff) * 0x01010101u;
  for (int i = 1; i < size; ++i)
    words[i] ^= 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
  std::vector<unsigned> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    unsigned x = (words[i] & p.mask) ^ words[i + 1];
    x ^= x << p.sh1;
    const unsigned y = x ^ (words[i + p.pos] >> p.sh2);
    words.push_back(y ^ p.tbl[y & 15]);
    unsigned t = words[i + p.pos - 1];
    t ^= t >> 16;
    t ^= t >> 8;
    numbers.push_back(words.back() ^ p.tmp_tbl[t & 15]);
  }
  return numbers;
}

TEST(the_sequence_is_that_of_the_recursion) {
  for (const int threads : {32, 96, 256}) {
    constexpr int blocks = 3, rounds = 20;
    const States states(blocks, 1234);
    const Device<unsigned> out(static_cast<std::size_t>(blocks) * rounds * threads);
    draw<<<blocks, threads>>>(states.states.get(), out.get(), rounds);
    const auto found = out.to_host();
    for (int block = 0; block < blocks; ++block) {
      const auto expected =
          reference(mtgp32dc_params_fast_11213[block], 1234 + block + 1, rounds * threads);
      const auto* first = found.data() + static_cast<std::size_t>(block) * rounds * threads;
      expect_equal(std::vector<unsigned>(first, first + expected.size()), expected);
    }
  }
}

__global__ void draw_numbers(curandStateMtgp32* state, float* uniform, float* single, float* normal,
                             unsigned* poisson, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int i = round * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    uniform[i] = curand_uniform(state);
    single[i] = curand_mtgp32_single(state);
    normal[i] = curand_normal(state);
    poisson[i] = curand_poisson(state, 4.0);
  }
}

template <typename T>
void expect_moments(const std::vector<T>& values, double mean, double variance,
                    tap::Location place = tap::Location::current()) {
  double sum = 0, squares = 0;
  for (const T value : values) sum += value;
  const double found = sum / static_cast<double>(values.size());
  for (const T value : values) squares += (value - found) * (value - found);
  const double tolerance = 5 * std::sqrt(variance / static_cast<double>(values.size()));
  tap::expect_near(found, mean, tolerance, place);
  tap::expect_near(squares / static_cast<double>(values.size()), variance, 0.1 * variance, place);
}

TEST(distributions_have_their_moments) {
  constexpr int threads = 256, rounds = 80, count = threads * rounds;
  const States states(1, 7);
  const Device<float> uniform(count), single(count), normal(count);
  const Device<unsigned> poisson(count);
  draw_numbers<<<1, threads>>>(states.states.get(), uniform.get(), single.get(), normal.get(),
                               poisson.get(), rounds);
  expect_moments(uniform.to_host(), 0.5, 1.0 / 12);
  expect_moments(single.to_host(), 1.5, 1.0 / 12);
  expect_moments(normal.to_host(), 0, 1);
  expect_moments(poisson.to_host(), 4, 4);
  for (const float value : uniform.to_host()) expect(value > 0 && value <= 1, "it is in (0, 1]");
}

TEST(more_states_than_parameters_are_refused) {
  const Device<curandStateMtgp32> states(201);
  const Device<mtgp32_kernel_params_t> constants(1);
  expect(curandMakeMTGP32KernelState(states.get(), mtgp32dc_params_fast_11213, constants.get(), 201,
                                     1) != CURAND_STATUS_SUCCESS,
         "201 states are refused");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
