/// \file
/// The kernels of the persistent stage of Durbin-Levinson, in shapes for small orders. The stage
/// itself uses clusters of several blocks only for large orders, which take a long time on the CPU
/// device.

#define main main_of_stage
#include "../../../stages/durbin_levinson/11_persistent_kernel/persistent_kernel.cu"
#undef main

#include "yule_walker.hpp"

using durbin_levinson::Shape;
using staircase::View;

namespace {

template <typename Shape>
void expect_solves_on_chip() {
  tap::expect_shape_solves<Shape>([](const double* r, unsigned n, double* solution) {
    durbin_levinson::on_chip<double, Shape>()(1, View<const double, 1>(r + 1, {n}),
                                              View<double, 2>(solution, {2, n}));
  });
}

}  // namespace

TEST(one_block_solves_on_chip) {
  expect_solves_on_chip<Shape<1, 32, 2>>();
  expect_solves_on_chip<Shape<1, 64, 4>>();
  expect_solves_on_chip<Shape<1, 128, 2>>();
}

TEST(a_cluster_solves_on_chip) {
  expect_solves_on_chip<Shape<2, 32, 2>>();
  expect_solves_on_chip<Shape<4, 64, 2>>();
  expect_solves_on_chip<Shape<8, 32, 2>>();
  expect_solves_on_chip<Shape<16, 32, 2>>();
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
