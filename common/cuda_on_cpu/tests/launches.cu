/// \file
/// All forms of kernel launches: syntax, configurations, arguments, and launches by function
/// call.

#include <cooperative_groups.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device.hpp"

namespace cg = cooperative_groups;
using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_refusal;
using tap::random_value;
using tap::random_values;
using tap::table;

/// A device variable to which the launches of a test add. Launches add different values, so that a
/// lost, repeated or wrong launch is detected.
class Sum {
 public:
  int* get() const { return sum_.get(); }
  int read() const { return sum_.to_host()[0]; }

 private:
  Device<int> sum_{std::vector<int>{0}};
};

__global__ void add(int* sum, int value) { atomicAdd(sum, value); }
__global__ void subtract(int* sum, int value) { atomicSub(sum, value); }

// --- Threads

__global__ void add_index(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += i;
}

TEST(every_thread_of_a_line_runs_once) {
  for (const int block : {1, 31, 32, 33, 128, 1024}) {
    const int n = random_value(1, 5000);
    std::vector<int> values = random_values(n, -1000, 1000);
    Device<int> out(values);
    add_index<<<(n + block - 1) / block, block>>>(out.get(), n);
    for (int i = 0; i < n; ++i) values[i] += i;
    expect_equal(out.to_host(), values);
  }
}

struct Place {
  dim3 grid, block;
};

__global__ void write_place(unsigned* out, unsigned* extents) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 2048 + thread;
  if (block != 1 || thread != 0) return;
  const unsigned all[] = {gridDim.x,  gridDim.y,  gridDim.z,         blockDim.x,
                          blockDim.y, blockDim.z, unsigned(warpSize)};
  for (int i = 0; i < 7; ++i) extents[i] = all[i];
}

TEST(grids_and_blocks_have_three_dimensions) {
  const Place places[] = {{{3, 4, 5}, {5, 3, 2}},
                          {{2}, {1, 1024}},
                          {{1, 2}, {16, 1, 64}},
                          {{1, 1, 3}, {4, 4, 64}},
                          {{7, 1, 2}, {1}}};
  for (const auto& [grid, block] : places) {
    const unsigned threads = block.x * block.y * block.z;
    const unsigned blocks = grid.x * grid.y * grid.z;
    Device<unsigned> out(threads * blocks), extents(7);
    write_place<<<grid, block>>>(out.get(), extents.get());
    expect_equal(out.to_host(), table<unsigned>(out.size(), [=](std::size_t i) {
                   return i / threads * 2048 + i % threads;
                 }));
    expect_equal(extents.to_host(), {grid.x, grid.y, grid.z, block.x, block.y, block.z, 32});
  }
}

__global__ void write_block(unsigned* out, unsigned mask) {
  const unsigned block = blockIdx.x + blockIdx.y + blockIdx.z;  // two of the three are zero
  if (threadIdx.x == 31) out[block] = block ^ mask;
}

TEST(a_grid_is_longer_than_65535_blocks) {
  const auto mask = random_value(0u, ~0u);
  Device<unsigned> out(70001);
  write_block<<<70001, 32>>>(out.get(), mask);
  expect_equal(out.to_host(), table<unsigned>(70001, [=](unsigned i) { return i ^ mask; }));
}

TEST(a_grid_is_65535_blocks_high_and_deep) {
  for (const dim3 grid : {dim3(1, 65535), dim3(1, 1, 65535)}) {
    const auto mask = random_value(0u, ~0u);
    Device<unsigned> out(65535);
    write_block<<<grid, 32>>>(out.get(), mask);
    expect_equal(out.to_host(), table<unsigned>(65535, [=](unsigned i) { return i ^ mask; }));
  }
}

__global__ void sum_of_block(const int* in, int* out, int n) {
  __shared__ int partial[128];
  if (threadIdx.x < 128 - n) return;
  partial[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 127) return;
  int sum = 0;
  for (int i = 128 - n; i < 128; ++i) sum += partial[i];
  *out = sum;
}

TEST(threads_that_have_returned_do_not_hold_up_a_barrier) {
  for (const int n : {1, 31, 64, 100, 128}) {
    const std::vector<int> values = random_values(128, -1000, 1000);
    Device<int> in(values), out(1);
    sum_of_block<<<1, 128>>>(in.get(), out.get(), n);
    int expected = 0;
    for (int i = 128 - n; i < 128; ++i) expected += values[i];
    expect_equal(out.to_host(), {expected});
  }
}

/// One warp leaves in each iteration; the others count the remaining threads.
__global__ void leave_by_warps(int* living) {
  __shared__ int count[16];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < 16; ++round) {
    atomicAdd(&count[round], 1);
    __syncthreads();
    if (threadIdx.x == 511) living[round] = count[round];
    if (static_cast<int>(threadIdx.x / 32) == round) return;
  }
}

TEST(warps_may_leave_a_loop_of_barriers_one_after_the_other) {
  Device<int> living(16);
  leave_by_warps<<<1, 512>>>(living.get());
  expect_equal(living.to_host(), table<int>(16, [](int round) { return 512 - 32 * round; }));
}

__global__ void rotate(int* values, int rounds) {
  __shared__ int buffer[2][256];
  buffer[0][threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    buffer[1 - round % 2][threadIdx.x] = buffer[round % 2][(threadIdx.x + 1) % 256];
    __syncthreads();
  }
  values[threadIdx.x] = buffer[rounds % 2][threadIdx.x];
}

TEST(a_barrier_stands_between_the_rounds_of_a_loop) {
  const std::vector<int> values = random_values(256, -1000000, 1000000);
  Device<int> out(values);
  rotate<<<1, 256>>>(out.get(), 300);
  expect_equal(out.to_host(), table<int>(256, [&](int i) { return values[(i + 300) % 256]; }));
}

// --- Names of kernels

template <int number, bool flag, typename T = int>
__global__ void add_parts(int* sum, T value) {
  atomicAdd(sum, static_cast<int>(number + flag + value));
}

TEST(template_arguments_hold_commas_and_angle_brackets) {
  constexpr int n = 3, m = 2;
  const Sum sum;
  // clang-format off
  add_parts<(n > m), (n < m)><<<1, 1>>>(sum.get(), 0);
  add_parts<(n >> 1), std::is_same_v<std::pair<int, int>, std::pair<int, int>>><<<1, 1>>>(
      sum.get(), 8);
  add_parts<int(sizeof(std::vector<std::vector<std::vector<int>>>) / sizeof(std::vector<int>)),
            (n != m), int><<<1, 1>>>(sum.get(), 98);
  add_parts<n<m ? 5 : 7, false><<<1, 1>>>(sum.get(), 993);
  add_parts < n == 3, false, int><<<1, 1>>>(sum.get(), 9999);
  // clang-format on
  expect_equal(sum.read(), 1 + 10 + 100 + 1000 + 10000);
}

TEST(closing_brackets_of_templates_are_no_launches) {
  const std::vector<std::vector<std::vector<int>>> nested(1 << 1, {{8 >> 2, 1 << 3}});
  const Sum sum;
  // clang-format off
  add<<<nested[1][0][0] >> 1, nested[0][0][1] >> (1 << 1)>>>(sum.get(), sizeof(
      std::pair<int, std::pair<int, std::pair<int, int>>>) >> 1);
  // clang-format on
  expect_equal(sum.read(), 1 * 2 * 8);
}

namespace outer {
namespace inner {
__global__ void add(int* sum, int value) { atomicAdd(sum, 2 * value); }
template <typename T>
__global__ void add_as(int* sum, T value) {
  atomicAdd(sum, static_cast<int>(value));
}
}  // namespace inner

template <typename T>
struct Holder {
  template <int times>
  static void run(int* sum, T value);
};

/// Launches within the namespace find its kernels.
void add_twice(int* sum, int value) {
  inner::add<<<1, 1>>>(sum, value);
  ::add<<<1, 1>>>(sum, value);
}
}  // namespace outer

/// Launches a kernel template whose argument is the parameter of the class template.
template <typename T>
template <int times>
void outer::Holder<T>::run(int* sum, T value) {
  for (int i = 0; i < times; ++i) outer::inner::template add_as<T><<<1, 1>>>(sum, value);
}

TEST(kernels_live_in_namespaces) {
  const Sum sum;
  outer::inner::add<<<1, 1>>>(sum.get(), 1);
  ::outer::inner::add<<<1, 1>>>(sum.get(), 10);
  outer::inner::add_as<double><<<1, 1>>>(sum.get(), 300.75);
  ::outer::inner::add_as<<<1, 1>>>(sum.get(), 4000.5f);
  ::add<<<1, 1>>>(sum.get(), 50000);
  outer::add_twice(sum.get(), 100000);
  outer::Holder<double>::run<3>(sum.get(), 1000000.25);
  namespace short_name = outer::inner;
  short_name::add<<<1, 1>>>(sum.get(), 10000000);
  using outer::inner::add_as;
  add_as<long><<<1, 1>>>(sum.get(), 100000000);
  expect_equal(sum.read(), 2 + 20 + 300 + 4000 + 50000 + 300000 + 3000000 + 20000000 + 100000000);
}

__global__ void overloaded(int* sum, int value) { atomicAdd(sum, value); }
__global__ void overloaded(float* sum, int value) { atomicAdd(sum, value + 0.5f); }
template <typename T>
__global__ void overloaded(T* sum, T* addend) {
  *sum += *addend;
}

TEST(overloads_are_chosen_by_the_arguments) {
  Device<int> ints(std::vector<int>{5, 7});
  Device<float> floats(std::vector<float>{0});
  overloaded<<<1, 1>>>(ints.get(), 100);
  overloaded<<<1, 1>>>(floats.get(), 3);
  overloaded<<<1, 1>>>(ints.get(), ints.get() + 1);
  expect_equal(ints.to_host(), {112, 7});
  expect_equal(floats.to_host(), {3.5f});
}

using Kernel = void (*)(int*, int);
struct Choice {
  Kernel kernel;
  Kernel others[2];
};
Kernel chosen(bool adds) { return adds ? add : subtract; }

TEST(kernels_are_values) {
  const Sum sum;
  const Choice choice{add, {subtract, add}};
  const Choice* pointer = &choice;
  const Choice choices[] = {{subtract, {}}, {add, {}}};
  const std::vector<Kernel> kernels = {subtract, outer::inner::add};
  constexpr auto member = &Choice::kernel;
  const Kernel kernel = add;
  int i = 1;
  kernel<<<1, 1>>>(sum.get(), 1);
  (*kernel)<<<1, 1>>>(sum.get(), 10);
  choice.kernel<<<1, 1>>>(sum.get(), 100);
  pointer->kernel<<<1, 1>>>(sum.get(), 1000);
  pointer->others[i]<<<1, 1>>>(sum.get(), 10000);
  choices[choices[0].kernel == add ? 0 : i].kernel<<<1, 1>>>(sum.get(), 100000);
  kernels[1]<<<1, 1>>>(sum.get(), 500000);
  (choice.*member)<<<1, 1>>>(sum.get(), 10000000);
  (i > 0 ? add : subtract)<<<1, 1>>>(sum.get(), 100000000);
  kernels[0]<<<1, 1>>>(sum.get(), 100);
  (*&choice.others[0])<<<1, 1>>>(sum.get(), 11);
  expect_equal(sum.read(), 111111000);
}

TEST(a_call_may_return_the_kernel) {
  const Sum sum;
  chosen(true)<<<1, 1>>>(sum.get(), 100);
  chosen(false)<<<1, 1>>>(sum.get(), 1);
  expect_equal(sum.read(), 99);
}

template <typename AnyKernel, typename... Arguments>
void launch_value(AnyKernel kernel, dim3 grid, Arguments... arguments) {
  kernel<<<grid, 1>>>(arguments...);
}
template <Kernel kernel>
void launch_constant(int* sum, int value) {
  kernel<<<1, 1>>>(sum, value);
}

TEST(kernels_are_arguments) {
  const Sum sum;
  launch_value(add, 3, sum.get(), 1);
  launch_value(add_parts<1, true, int>, 1, sum.get(), 8);
  launch_constant<add>(sum.get(), 100);
  launch_constant<outer::inner::add>(sum.get(), 500);
  expect_equal(sum.read(), 3 + 10 + 100 + 1000);
}

// --- Contexts of launches

#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
#define LAUNCH_TWICE(kernel, sum, value) \
  do {                                   \
    LAUNCH(kernel, sum, value);          \
    LAUNCH(kernel, sum, (value)*10);     \
  } while (false)
#define ONE_THREAD <<<1, 1>>>

TEST(macros_launch) {
  const Sum sum;
  LAUNCH(add, sum.get(), 1);
  LAUNCH_TWICE(add, sum.get(), 20);
  if (sum.read() == 221) LAUNCH((add_parts<1, true>), sum.get(), 2998);
  add ONE_THREAD(sum.get(), 40000);
  expect_equal(sum.read(), 43221);
}

__global__ void add_nothing() {}
template <typename... Values>
__global__ void add_all(int* sum, Values... values) {
  (atomicAdd(sum, static_cast<int>(values)), ...);
}
template <typename... Values>
void add_pack(int* sum, Values... values) {
  add_all<<<1, 1>>>(sum, values...);
  add_all<Values..., int><<<1, 1>>>(sum, (values * 10)..., 100);
  (add<<<1, 1>>>(sum, values * 1000), ...);
}

TEST(packs_are_passed_and_folded_over) {
  const Sum sum;
  add_pack(sum.get(), 1, 2L, 3.0f);
  expect_equal(sum.read(), 6 + 60 + 100 + 6000);
  add_pack(sum.get());
  expect_equal(sum.read(), 6 + 60 + 100 + 6000 + 100);
}

void add_for(int* sum, int what) {
  if (what == 1)
    add<<<1, 1>>>(sum, 1);
  else if (what == 2)
    add<<<1, 1>>>(sum, 20);
  else
    for (int i = 0; i < 3; ++i) add<<<1, 1>>>(sum, 100);
  switch (what) {
    case 1:
      add<<<1, 1>>>(sum, 1000);
      break;
    case 2:
      add<<<1, 1>>>(sum, 2000);
      [[fallthrough]];
    default:
      add<<<1, 1>>>(sum, 4000);
  }
  do add<<<1, 1>>>(sum, 10000);
  while (false);
  what == 3 ? add<<<1, 1>>>(sum, 100000) : subtract<<<1, 1>>>(sum, 100000);
  return add<<<1, 1>>>(sum, 1000000);
}

TEST(launches_are_expressions_anywhere) {
  const Sum one, two, three;
  add_for(one.get(), 1);
  expect_equal(one.read(), 1 + 1000 + 10000 - 100000 + 1000000);
  add_for(two.get(), 2);
  expect_equal(two.read(), 20 + 6000 + 10000 - 100000 + 1000000);
  add_for(three.get(), 3);
  expect_equal(three.read(), 300 + 4000 + 10000 + 100000 + 1000000);
  const int seven = (add<<<1, 1>>>(three.get(), 7), add_nothing<<<1, 1>>>(), 7);
  expect_equal(three.read(), 300 + 4000 + 10000 + 100000 + 1000000 + seven);
}

TEST(lambdas_launch) {
  const Sum sum;
  const auto twice = [&](int value) {
    add<<<1, 1>>>(sum.get(), value);
    [&sum, value] { add<<<1, 1>>>(sum.get(), value * 10); }();
  };
  twice(1);
  const std::function<void()> later = [&] { add<<<1, 1>>>(sum.get(), 500); };
  later();
  (*&twice)(2000);
  expect_equal(sum.read(), 11 + 500 + 22000);
}

class Solver {
 public:
  Solver(int* sum, int value) : sum_(sum), value_(value) {
    add<<<1, blocks_>>>(sum_, this->value_);
  }
  void again() const { add<<<blocks_, 1>>>(sum_, value_++); }

 private:
  int* sum_;
  mutable int value_;
  static constexpr int blocks_ = 2;
};

TEST(members_are_arguments) {
  const Sum sum;
  const Solver solver(sum.get(), 10);
  solver.again();
  solver.again();
  expect_equal(sum.read(), 20 + 20 + 22);
}

TEST(a_launch_spans_lines_and_comments) {
  const unsigned line = tap::Location::current().line();
  const Sum sum;
  // clang-format off
  add  // the kernel <<<9, 9>>>(sum, 9)
      <<<1,
         1  // one thread; >>>
         >>>(
          sum.get(),
          /* , 9 */ 1);
  add /* ( */ <<< /* <<< */ 2, 1 >>> /* ; */ (sum.get(), 10);
  // clang-format on
  expect_equal(sum.read(), 21);
  expect_equal(tap::Location::current().line() - line, 12);
}

TEST(strings_and_comments_are_no_launches) {
  const Sum sum;
  const std::string plain = "add<<<1, 1>>>(sum, 1); \"<<<\" // ";
  const std::string raw = R"cuda(add<<<1, 1>>>(sum, 1); ")" /* )cuda";
  /* add<<<1, 1>>>(sum, 1); */  // add<<<1, 1>>>(sum, 1);
  const char quote = '"';
  add<<<1, 1>>>(sum.get(), 30);  // "
  const char other = '\'';
  const int digits = 1'000'000;
  expect_equal(sum.read(), 30);
  expect_equal(plain.size() + raw.size() + (quote == '"') + (other == '\''), 64u);
  expect_equal(digits >> 6 << 3 << 1, 250000);
}

// --- Configurations

TEST(configurations_are_expressions) {
  const Sum sum;
  const int n = 1000, size = 256;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  add<<<(n + size - 1) / size, size>>>(sum.get(), 1);
  add<<<dim3(2, 2), dim3{1, 3, 1}>>>(sum.get(), 1000);
  // clang-format off
  add<<<n >> 8, n > size ? 1 : 2, 0>>>(sum.get(), 100000);
  add<<<{2, 1, 1}, {1, 2}, sizeof(std::pair<int, std::pair<int, int>>), nullptr>>>(
      sum.get(), 1000000);
  // clang-format on
  check(cudaDeviceSynchronize());
  add<<<dim3{1}, size % (1 << 5) + 1, std::min<std::size_t>(n, size), stream>>>(sum.get(),
                                                                                10000000);
  add<<<1u, static_cast<unsigned short>(1), std::size_t{0}, cudaStream_t{}>>>(sum.get(), 100000000);
  check(cudaDeviceSynchronize());
  check(cudaStreamDestroy(stream));
  expect_equal(sum.read(), 1024 + 12000 + 300000 + 4000000 + 10000000 + 100000000);
}

TEST(side_effects_happen_once) {
  const Sum sum;
  int grids = 0, arguments = 0, i = 5, j = 1, k = 1;
  const auto grid = [&] { return dim3(++grids, 1); };
  const auto argument = [&] { return ++arguments; };
  add<<<grid(), j++>>>(sum.get(), argument());
  add<<<grid(), j--, 0, nullptr>>>(sum.get(), i++ * 10);
  add<<<1, 1>>>((++k, sum.get()), i += 94);
  expect_equal(sum.read(), 1 + 2 * 2 * 50 + 100);
  expect_equal(grids, 2);
  expect_equal(arguments, 1);
  expect_equal(i, 100);
  expect_equal(j, 1);
  expect_equal(k, 2);
}

// --- Arguments

struct Pair {
  int a, b;
};
struct Big {
  int values[900];  // 900 of the 1024 integers that every device accepts
};
__global__ void add_pair(int* sum, Pair pair, dim3 extent) {
  atomicAdd(sum, pair.a + pair.b + static_cast<int>(extent.x));
}
__global__ void add_big(int* sum, Big big) {
  int all = 0;
  for (const int value : big.values) all += value;
  *sum += all;
}

TEST(arguments_are_copied_at_the_launch) {
  const Sum sum;
  int value = 1;
  Pair pair{10, 20};
  Big big{};
  big.values[899] = 1000;
  add<<<1, 1>>>(sum.get(), value);
  add_pair<<<1, 1>>>(sum.get(), pair, 100);
  add_big<<<1, 1>>>(sum.get(), big);
  value = pair.a = pair.b = big.values[899] = 9999;
  int* pointer = sum.get();
  add<<<1, 1>>>(pointer, [](int from) { return from; }(5000));
  pointer = nullptr;
  expect_equal(sum.read(), 1 + 130 + 1000 + 5000);
}

TEST(arguments_are_converted_as_in_a_call) {
  const Sum sum;
  add<<<1, 1>>>(sum.get(), 1.9);
  add<<<1, 1>>>(sum.get(), true);
  add<<<1, 1>>>(sum.get(), 'd');
  add_pair<<<1, 1>>>(sum.get(), {1000, 2000}, 3000);
  const short narrow = 10000;
  add<<<1, 1>>>(sum.get(), narrow);
  expect_equal(sum.read(), 1 + 1 + 100 + 6000 + 10000);
}

#ifndef STAIRCASE_CUDA_ON_CPU  // on the CPU device, each thread converts its arguments
/// An argument that counts its conversions to a pointer.
struct Handle {
  int* pointer;
  int* conversions;
  operator int*() const {
    ++*conversions;
    return pointer;
  }
};

TEST(arguments_are_converted_once_at_the_launch) {
  const Sum sum;
  int conversions = 0;
  add<<<2, 32>>>(Handle{sum.get(), &conversions}, 1);
  expect_equal(conversions, 1);
  expect_equal(sum.read(), 64);
  expect_equal(conversions, 1);
}
#endif

__global__ void add_if_null(int* sum, const int* pointer, int value) {
  if (pointer == nullptr) *sum += value;
}

TEST(null_pointers_are_arguments) {
  const Sum sum;
  add_if_null<<<1, 1>>>(sum.get(), nullptr, 1);
  add_if_null<<<1, 1>>>(sum.get(), NULL, 10);
  add_if_null<<<1, 1>>>(sum.get(), 0, 100);
  add_if_null<<<1, 1>>>(sum.get(), sum.get(), 1000);
  expect_equal(sum.read(), 111);
}

__global__ void add_default(int* sum, int value = 7, int factor = 10) { *sum += value * factor; }

TEST(arguments_have_defaults) {
  const Sum sum;
  add_default<<<1, 1>>>(sum.get());
  add_default<<<1, 1>>>(sum.get(), 9);
  add_default<<<1, 1>>>(sum.get(), 20, 100);
  expect_equal(sum.read(), 70 + 90 + 2000);
}

__global__ void add_mixed(double* sum, char a, double b, short c, float d, bool e, long long f,
                          float4 g, unsigned char h, const double* i, double (*j)(double)) {
  *sum = a + b + c + d + e + f + g.x + g.y + g.z + g.w + h + *i + (j == nullptr);
}

TEST(arguments_of_all_sizes_are_aligned) {
  const auto value = random_value(-1.0, 1.0);
  Device<double> sum(1), input(std::vector<double>{value});
  add_mixed<<<1, 1>>>(sum.get(), 3, 0.125, 5, 0.25f, true, 1LL << 40, make_float4(1, 2, 3, 4), 200,
                      input.get(), nullptr);
  const double expected = 3 + 0.125 + 5 + 0.25 + 1 + (1LL << 40) + 10 + 200 + value + 1;
  expect_equal(sum.to_host(), {expected});
}

__global__ void scaled(const double* __restrict__ in, double* __restrict__ out, double factor,
                       int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = factor * in[i];
}

TEST(pointers_are_restricted) {
  const int n = random_value(1, 3000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), out(n);
  scaled<<<3, 128>>>(in.get(), out.get(), 4.0, n);
  expect_equal(out.to_host(), table<double>(n, [&](int i) { return 4.0 * values[i]; }));
}

__device__ int last_of(const Big* big) { return big->values[899]; }
__global__ void add_constant(int* sum, const __grid_constant__ Big big) {
  if (threadIdx.x == 0) *sum += last_of(&big);
}

TEST(a_grid_constant_has_an_address) {
  const Sum sum;
  Big big{};
  big.values[899] = random_value(1, 1000000);
  add_constant<<<1, 64>>>(sum.get(), big);
  expect_equal(sum.read(), big.values[899]);
}

/// Each thread changes its own copy of the parameters.
__global__ void change_parameters(int* out, Pair pair, int value) {
  pair.a += threadIdx.x;
  for (unsigned i = 0; i < threadIdx.x; ++i) ++value;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = pair.a + pair.b + value;
}

TEST(parameters_belong_to_a_thread) {
  Device<int> out(192);
  change_parameters<<<3, 64>>>(out.get(), {100, 1000}, 7);
  expect_equal(out.to_host(), table<int>(192, [](int i) { return 1107 + 2 * (i % 64); }));
}

// --- Kernels and the functions they call

__global__ void declared_only(int* sum, int value);
extern "C" __global__ void add_in_c(int* sum, int value) { *sum += value; }
static __global__ void add_static(int* sum, int value) { *sum += value; }
namespace {
__global__ void add_unnamed(int* sum, int value) { *sum += value; }
}  // namespace
__global__ static void __launch_bounds__(64) add_bounded(int* sum, int value) {
  atomicAdd(sum, value);
}
__global__ void __launch_bounds__(128, 2) add_bounded_twice(int* sum, int value) {
  atomicAdd(sum, value);
}
template <int threads>
__launch_bounds__(threads) __global__ void add_bounded_by(int* sum, int value) {
  atomicAdd(sum, value);
}

TEST(kernels_are_declared_in_many_ways) {
  const Sum sum;
  declared_only<<<1, 1>>>(sum.get(), 1);
  add_in_c<<<1, 1>>>(sum.get(), 10);
  add_static<<<1, 1>>>(sum.get(), 100);
  add_unnamed<<<1, 1>>>(sum.get(), 1000);
  add_bounded<<<1, 64>>>(sum.get(), 100);
  add_bounded_twice<<<1, 128>>>(sum.get(), 1000);
  add_bounded_by<32 * 2><<<1, 64>>>(sum.get(), 10000);
  expect_equal(sum.read(), 1111 + 6400 + 128000 + 640000);
}

__global__ void declared_only(int* sum, int value) { *sum += value; }

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
__device__ __noinline__ int cube(int x) { return x * x * x; }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
template <int (*function)(int)>
__device__ int applied(int x) {
  return function(x);
}
template <typename Function>
__global__ void call_functions(int* out, Function function) {
  const int x = threadIdx.x;
  const auto plus = [x](auto y) { return x + y; };
  int (*const pointer)(int) = x % 2 == 0 ? cube : fibonacci;
  out[x] = function(x) + applied<cube>(x) + plus(1) + pointer(x);
}

TEST(kernels_call_functions) {
  Device<int> out(20);
  call_functions<<<1, 20>>>(out.get(), Square{});
  int fibonacci[21] = {0, 1};
  for (int i = 2; i < 21; ++i) fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
  expect_equal(out.to_host(), table<int>(20, [&](int x) {
                 return x * x + x * x * x + x + 1 + (x % 2 == 0 ? x * x * x : fibonacci[x]);
               }));
}

/// Checks that long local arrays keep their values across a barrier.
__global__ void keep_locals(int* out) {
  int mine[64];
  for (int i = 0; i < 64; ++i) mine[i] = threadIdx.x * i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += mine[(i * 7 + threadIdx.x) % 64];
  out[threadIdx.x] = sum;
}

TEST(local_arrays_outlast_a_barrier) {
  Device<int> out(96);
  keep_locals<<<1, 96>>>(out.get());
  expect_equal(out.to_host(), table<int>(96, [](int t) { return t * 63 * 32; }));
}

__global__ void read_clocks(int* forward) {
  const clock_t outer = clock();
  const long long begin = clock64();
  __nanosleep(1000);
  const long long end = clock64();
  const auto around = static_cast<unsigned>(clock() - outer);  // clock64() modulo 2^32
  forward[threadIdx.x] = end > begin && around >= end - begin;
}

TEST(clocks_run_forward) {
  Device<int> forward(32);
  read_clocks<<<1, 32>>>(forward.get());
  expect_equal(forward.to_host(), std::vector<int>(32, 1));
}

// --- Launches by function call

TEST(cudaLaunchKernel_takes_addresses_of_arguments) {
  const Sum sum;
  int* pointer = sum.get();
  int value = 1;
  Pair pair{10, 20};
  dim3 extent(30);
  void* arguments[] = {&pointer, &value};
  void* pair_arguments[] = {&pointer, &pair, &extent};
  check(cudaLaunchKernel((void*)add, dim3(2), dim3(3), arguments, 0, nullptr));
  check(cudaLaunchKernel((const void*)add_pair, 1, 1, pair_arguments, 0, nullptr));
  value = 100;
  check(cudaLaunchKernel(reinterpret_cast<const void*>(&outer::inner::add), 1, 1, arguments, 0,
                         nullptr));
  value = 998;
  check(cudaLaunchKernel((void*)add_parts<1, true, int>, 1, 1, arguments, 0, nullptr));
  value = 10000;
  check(cudaLaunchKernel(add, 1, 1, arguments));
  value = -1;
  expect_equal(sum.read(), 6 + 60 + 200 + 1000 + 10000);
}

/// Launches a kernel of which only the address is known, as a library does.
cudaError_t launch_known(const void* kernel, void** arguments) {
  return cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr);
}
template <typename Kernel>
cudaError_t launch_any(Kernel kernel, void** arguments) {
  return launch_known(reinterpret_cast<const void*>(kernel), arguments);
}
/// The source takes this kernel's address before main() begins.
void (*const table_of_kernels[])(int*, int) = {outer::inner::add};

TEST(cudaLaunchKernel_takes_addresses_without_a_type) {
  const Sum sum;
  int* pointer = sum.get();
  int value = 1;
  void* arguments[] = {&pointer, &value};
  struct Task {
    const void* kernel;
    void** arguments;
  };
  const Task tasks[] = {{(const void*)add, arguments}, {(void*)add_parts<1, true, int>, arguments}};
  for (const Task& task : tasks) check(launch_known(task.kernel, task.arguments));
  value = 100;
  check(launch_known((const void*)table_of_kernels[0], arguments));
  value = 998;
  check(launch_any(add_parts<1, true, int>, arguments));
  value = 10000;
  check(launch_any(&add, arguments));
  expect_equal(sum.read(), 1 + 3 + 200 + 1000 + 10000);
  tap::expect_refusal(launch_known(&pointer, arguments), cudaErrorInvalidResourceHandle);
}

TEST(cudaLaunchCooperativeKernel_takes_addresses_of_arguments) {
  const Sum sum;
  int* pointer = sum.get();
  int value = 100;
  void* arguments[] = {&pointer, &value};
  check(cudaLaunchCooperativeKernel((void*)add, dim3(2), dim3(32), arguments, 0, nullptr));
  value = 1;
  check(cudaLaunchCooperativeKernel(add, dim3(1), dim3(1), arguments));
  expect_equal(sum.read(), 6401);
}

__global__ void write_clusters(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    out[blockIdx.y * gridDim.x + blockIdx.x] = 100 * cluster.num_blocks() + cluster.block_rank();
}
__global__ void __cluster_dims__(2, 1, 1) write_fixed_clusters(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * cluster.num_blocks() + cluster.block_rank();
}
template <typename T>
__cluster_dims__(4) __global__ void write_fixed_clusters_as(T* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * cluster.num_blocks() + cluster.block_rank();
}

TEST(a_launch_without_clusters_has_clusters_of_one_block) {
  Device<int> out(6);
  write_clusters<<<6, 32>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(6, 100));
}

TEST(kernels_fix_their_clusters) {
  Device<int> out(8), other(8);
  write_fixed_clusters<<<8, 32>>>(out.get());
  write_fixed_clusters_as<int><<<8, 32>>>(other.get());
  expect_equal(out.to_host(), table<int>(8, [](int block) { return 200 + block % 2; }));
  expect_equal(other.to_host(), table<int>(8, [](int block) { return 400 + block % 4; }));
}

TEST(cudaLaunchKernelEx_without_attributes) {
  const Sum sum;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(3);
  check(cudaLaunchKernelEx(&config, add, sum.get(), 1));
  check(cudaLaunchKernelEx(&config, add, sum.get(), 10.75));
  config.gridDim = 1;
  check(cudaLaunchKernelEx(&config, add_parts<1, true, int>, sum.get(), 98));
  expect_equal(sum.read(), 6 + 60 + 300);
}

TEST(cudaLaunchKernelEx_makes_clusters) {
  Device<int> out(16);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = 2;
  attribute[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {4, 4};
  config.blockDim = 32;
  config.attrs = attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, write_clusters, out.get()));
  expect_equal(out.to_host(),
               table<int>(16, [](int block) { return 400 + block / 4 % 2 * 2 + block % 2; }));
}

__global__ void sum_over_grid(int* values, int* out) {
  const cg::grid_group grid = cg::this_grid();
  values[grid.thread_rank()] = grid.thread_rank();
  grid.sync();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < grid.size(); ++i) sum += values[i];
  out[blockIdx.x] = sum;
}

TEST(cudaLaunchKernelEx_launches_cooperatively) {
  Device<int> values(128), out(4);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, sum_over_grid, values.get(), out.get()));
  expect_equal(out.to_host(), std::vector<int>(4, 127 * 64));
}

TEST(cudaLaunchKernelEx_takes_windows_of_the_cache) {
  const Sum sum;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeAccessPolicyWindow;
  attribute.val.accessPolicyWindow = {nullptr, 64, 1, cudaAccessPropertyPersisting,
                                      cudaAccessPropertyNormal};
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 3;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, add, sum.get(), 1));
  expect_equal(sum.read(), 6);
  attribute.val.accessPolicyWindow.num_bytes = std::size_t{1} << 40;
  tap::expect_refusal(cudaLaunchKernelEx(&config, add, sum.get(), 1), cudaErrorInvalidValue);
  expect_equal(sum.read(), 6);
}

// --- Queries

__launch_bounds__(128) __global__ void small_blocks(int* out) { *out = threadIdx.x; }
__global__ void plain_blocks(int* out) { *out = threadIdx.x; }

TEST(kernels_have_names) {
  const char* name = nullptr;
  check(cudaFuncGetName(&name, (const void*)plain_blocks));
  expect(std::string(name).find("plain_blocks") != std::string::npos,
         "the name is " + std::string(name));
  expect_refusal(cudaFuncGetName(nullptr, (const void*)plain_blocks), cudaErrorInvalidValue);
}

/// 48 bytes per thread suffice for a full SM, but only in blocks of less than 1024 threads.
struct SharedOf {
  __host__ __device__ int operator()(int threads) const {
    return threads == 1024 ? 200000 : 48 * threads;
  }
};

TEST(the_best_block_fits_the_kernel_and_its_shared_memory) {
  int grid = 0, block = 0, blocks = 0, processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const auto expect_full = [&](int most) {
    expect(block > 0 && block <= most, "a block has " + std::to_string(block) + " threads");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain_blocks, block, 0));
    expect_equal(grid, blocks * processors);
    expect(blocks * block >= 1984, std::to_string(blocks * block) + " threads are active");
  };
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain_blocks));
  expect_full(1024);
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain_blocks, 0, 700));
  expect_full(700);
  check(cudaOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, small_blocks, 0, 0,
                                                    cudaOccupancyDisableCachingOverride));
  expect_full(128);
  const SharedOf shared_of;
  check(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain_blocks, shared_of));
  expect_full(1023);
  expect_refusal(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
                     &grid, &block, plain_blocks, shared_of, 0, 2),
                 cudaErrorInvalidValue);
  int again = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain_blocks, 256, 20000));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&again, plain_blocks, 256, 20000,
                                                               cudaOccupancyDefault));
  expect_equal(again, blocks);
  expect_refusal(
      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&again, plain_blocks, 256, 0, 4),
      cudaErrorInvalidValue);
}

TEST(blocks_of_an_SM_share_its_memory) {
  for (const int blocks : {1, 2, 4, 8}) {
    std::size_t bytes = 0;
    int found = 0;
    check(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain_blocks, blocks, 256));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, plain_blocks, 256, bytes));
    expect(found >= blocks, std::to_string(found) + " blocks are active");
  }
  std::size_t bytes = 0;
  expect_refusal(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain_blocks, 3, 1024),
                 cudaErrorInvalidValue);
}

TEST(clusters_grow_if_the_program_asks_for_it) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(64);
  config.blockDim = dim3(64);
  int blocks = 0;
  check(cudaOccupancyMaxPotentialClusterSize(&blocks, plain_blocks, &config));
  expect_equal(blocks, 8);
  check(cudaFuncSetAttribute(plain_blocks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  check(cudaOccupancyMaxPotentialClusterSize(&blocks, plain_blocks, &config));
  expect_equal(blocks, 16);
}

TEST(devices_are_found_by_their_addresses) {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  for (int device = 0; device < count; ++device) {
    char id[32];
    int found = -1;
    check(cudaDeviceGetPCIBusId(id, sizeof id, device));
    check(cudaDeviceGetByPCIBusId(&found, id));
    expect_equal(found, device);
  }
  char id[8];
  int found = 0;
  expect_refusal(cudaDeviceGetPCIBusId(id, sizeof id, count), cudaErrorInvalidDevice);
  expect_refusal(cudaDeviceGetByPCIBusId(&found, "device"), cudaErrorInvalidValue);
}

TEST(devices_know_their_flags_and_links) {
  unsigned before = 0, flags = 0;
  check(cudaGetDeviceFlags(&before));
  check(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost));
  check(cudaGetDeviceFlags(&flags));
  expect_equal(flags, cudaDeviceScheduleYield | cudaDeviceMapHost);
  check(cudaSetDeviceFlags(before));
  expect_refusal(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield),
                 cudaErrorInvalidValue);
  int count = 0, device = -1, value = -1, can = 0;
  check(cudaGetDeviceCount(&count));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  check(cudaChooseDevice(&device, &properties));
  expect(device >= 0 && device < count, "the device exists");
  expect_refusal(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0),
                 cudaErrorInvalidDevice);
  std::vector<int> devices;
  for (int other = 0; other < count; ++other) devices.push_back(other);
  check(cudaSetValidDevices(devices.data(), count));
  if (count == 1) return;
  check(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  check(cudaDeviceCanAccessPeer(&can, 0, 1));
  expect_equal(value, can);
}

TEST(streams_have_numbers_of_their_own) {
  const tap::Stream one, other;
  unsigned long long first = 0, second = 0, default_stream = 0;
  check(cudaStreamGetId(one.get(), &first));
  check(cudaStreamGetId(other.get(), &second));
  check(cudaStreamGetId(nullptr, &default_stream));
  expect(first != second && first != default_stream && second != default_stream,
         "all numbers differ");
  int device = -1;
#if CUDART_VERSION >= 12080
  check(cudaStreamGetDevice(one.get(), &device));
  expect_equal(device, 0);
#endif
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
