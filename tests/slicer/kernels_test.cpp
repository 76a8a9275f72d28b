/// \file
/// Compares the verdicts of `slice --check` on 31 kernels with runs that record each access.
///
/// Usage: kernels_test SLICE KERNELS INCLUDE [GTEST OPTIONS]

#include "kernels.hpp"

#include <fmt/core.h>

#include <functional>

#include "brute_force.hpp"
#include "support.hpp"

#define KERNEL(name) void name(long, long, Matrix, Matrix, Matrix, Vector, Vector, Vector)
KERNEL(gemm);
KERNEL(two_products);
KERNEL(atax);
KERNEL(bicg);
KERNEL(mvt);
KERNEL(gemver);
KERNEL(syrk);
KERNEL(symm);
KERNEL(trmm);
KERNEL(trisolv);
KERNEL(cholesky);
KERNEL(lu);
KERNEL(durbin);
KERNEL(gramschmidt);
KERNEL(correlation);
KERNEL(jacobi_1d);
KERNEL(jacobi_2d);
KERNEL(seidel_2d);
KERNEL(fdtd_2d);
KERNEL(adi_sweep);
KERNEL(floyd_warshall);
KERNEL(nussinov);
KERNEL(deriche_row);
KERNEL(doitgen);
KERNEL(shared_scalar);
KERNEL(reversed);
KERNEL(even_and_odd);
KERNEL(tiled);
KERNEL(skewed);
#undef KERNEL
void flat(long, long, Flat, Flat);
void rows_by_brackets(long, Rows, Rows);

namespace slicer::test {
namespace {

using Json = nlohmann::json;
std::string program, kernels, include;

constexpr long size = 20;

/// Runs a kernel on fresh arrays.
Recording run(const std::function<void(Real*)>& kernel) {
  recording = {};
  std::vector<Real> numbers(6 * size * size);
  recording.events.clear();
  kernel(numbers.data());
  return recording;
}

using Kernel = void (*)(long, long, Matrix, Matrix, Matrix, Vector, Vector, Vector);

Recording run(Kernel kernel, long n, long m) {
  return run([&](Real* from) {
    const auto matrix = [&](int at) { return Matrix(from + at * size * size, {size, size}); };
    const auto vector = [&](int at) { return Vector(from + (3 + at) * size * size, {size}); };
    kernel(n, m, matrix(0), matrix(1), matrix(2), vector(0), vector(1), vector(2));
  });
}

/// Runs all kernels on a small problem.
std::vector<Recording> run_all(long n, long m) {
  std::vector<Recording> runs;
  for (const Kernel kernel :
       {gemm,          two_products, atax,           bicg,      mvt,         gemver,
        syrk,          symm,         trmm,           trisolv,   cholesky,    lu,
        durbin,        gramschmidt,  correlation,    jacobi_1d, jacobi_2d,   seidel_2d,
        fdtd_2d,       adi_sweep,    floyd_warshall, nussinov,  deriche_row, doitgen,
        shared_scalar, reversed,     even_and_odd,   tiled,     skewed})
    runs.push_back(run(kernel, n, m));
  runs.push_back(run([&](Real* from) { flat(n, m, from, from + size * size); }));
  runs.push_back(run([&](Real* from) {
    rows_by_brackets(n, reinterpret_cast<Rows>(from), reinterpret_cast<Rows>(from + size * size));
  }));
  return runs;
}

Json found() {
  const auto result =
      staircase::run_process({program, "--check", kernels, "--json", "-", "--", "-I" + include});
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

/// The dependences of the loop in a line, in all recorded runs.
Depends depends_up_to(const std::vector<std::vector<Recording>>& all, int line) {
  Depends together;
  for (const auto& runs : all)
    for (const Recording& run : runs) {
      const Depends here = depends(run, line);
      together.any = together.any || here.any;
      together.not_by_updates = together.not_by_updates || here.not_by_updates;
    }
  return together;
}

std::string verdict_of(const Depends& depends) {
  return depends.not_by_updates ? "dependent" : depends.any ? "reduction" : "independent";
}

TEST(Kernels, HaveTheVerdictsThatTheirRunsShow) {
  std::vector<std::vector<Recording>> all;
  for (const long n : {2, 3, 6})
    for (const long m : {2, 5}) all.push_back(run_all(n, m));
  const Json loops = found();
  EXPECT_GT(loops.size(), 100u);
  std::map<std::string, int> verdicts;
  for (const Json& loop : loops) {
    const std::string verdict = loop.at("verdict");
    ++verdicts[verdict];
    EXPECT_EQ(verdict, verdict_of(depends_up_to(all, loop.at("line")))) << loop.dump();
  }
  // There must be enough verdicts of each kind for the test to be meaningful.
  EXPECT_GT(verdicts["independent"], 40);
  EXPECT_GT(verdicts["dependent"], 20);
  EXPECT_GT(verdicts["reduction"], 10);
}

TEST(Kernels, HavePairsThatOccur) {
  for (const Json& loop : found()) {
    if (loop.at("pair").is_null()) continue;
    const Json& pair = loop.at("pair");
    const std::string variable = loop.at("variable");
    const Values sizes = values(pair.at("sizes"));
    const long n = sizes.contains("n") ? sizes.at("n") : 4;
    const long m = sizes.contains("m") ? sizes.at("m") : 4;
    bool occurs = false;
    for (const Recording& run : run_all(n, m))
      occurs = occurs || depends(run, loop.at("line"))
                             .pairs.contains({pair.at("source").at(variable).get<long>(),
                                              pair.at("sink").at(variable).get<long>(),
                                              pair.at("kind").get<std::string>()});
    EXPECT_TRUE(occurs) << loop.dump();
  }
}

}  // namespace
}  // namespace slicer::test

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: kernels_test SLICE KERNELS INCLUDE [GTEST OPTIONS]\n");
    return 2;
  }
  slicer::test::program = argv[1];
  slicer::test::kernels = argv[2];
  slicer::test::include = argv[3];
  testing::InitGoogleTest(&argc, argv);
  return staircase::test::run_all_tests();
}
