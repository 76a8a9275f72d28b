/// \file
/// Baseline: the explicit half steps of stage 09, and cuSPARSE's solver for interleaved systems.
///
/// gtsvInterleavedBatch solves any number of tridiagonal systems in one call, one thread each, if
/// row r of system s is at position r * systems + s. Points are therefore stored as (i, k, j) for
/// the solves along x and as (j, k, i) along y, and the kernels for the right-hand sides transpose.
/// The solver needs one matrix per system and overwrites it. All matrices are therefore written
/// again for each half step, although the options share them; this is the price of the library. Of
/// the solver's algorithms, the program selects the Thomas algorithm, because the systems are
/// diagonally dominant by rows and need no pivoting.

#include "../local_volatility.hpp"

#include <cusparse.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <staircase/error.hpp>
#include <string>

namespace local_volatility {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::rows;
using staircase::View;

/// cuSPARSE takes the numbers of rows and of systems as int. The documentation does not state
/// whether the product of both must fit into an int, too.
constexpr std::int64_t most_points = std::numeric_limits<int>::max();

/// The largest number of options with at most `most_points` grid points in total; at least one.
inline std::int64_t options_at_once(const Problem& problem) {
  const std::int64_t fit = most_points / (problem.num_x * problem.num_y);
  return std::clamp(fit, std::int64_t{1}, problem.outer);
}

// [state]
/// The data that all options share, and the arrays of the options that are priced together, as
/// arguments of kernels. A grid has fewer than 2^31 points per side; only indices into arrays of
/// points need 64 bits.
template <typename Real>
struct State {
  unsigned first, outer;  // the options priced together: first, first + 1, ...
  unsigned num_x, num_y, num_t;
  std::size_t ix, iy;
  Real dt_inv, mu_x, mu_y, var_y;
  View<double, 1> strikes, x, y;
  View<Real, 1> var_of_x, var_of_y, var_of_t;  // the factors of the variance along x
  View<Real, 2> dx, dxx, dy, dyy;              // indexed by (diagonal, i or j)
  View<Real, 1> lower, centre, upper;          // the matrices, at_x(k, i, j) or at_y(k, i, j)
  View<Real, 1> u;                             // indexed by at_x(k, i, j)
  View<Real, 1> v, result;                     // indexed by at_y(k, i, j)
  View<Real, 1> prices;

  /// The position of row i of the system (k, j) along x.
  __device__ std::size_t at_x(unsigned k, unsigned i, unsigned j) const {
    return (std::size_t{i} * outer + k) * num_y + j;
  }

  /// The position of row j of the system (k, i) along y.
  __device__ std::size_t at_y(unsigned k, unsigned i, unsigned j) const {
    return (std::size_t{j} * outer + k) * num_x + i;
  }
};
// [state]

// [setup]
template <typename Real>
__global__ void init_grid(State<Real> s, double s0, double t, double step_x, double step_y,
                          double log_alpha, Real beta, Real nu2) {
  for (unsigned g = column(); g < s.num_t; g += columns())
    s.var_of_t(g) = exp(-nu2 * Real(t * g / (s.num_t - 1)));
  for (unsigned i = column(); i < s.num_x; i += columns()) {
    s.x(i) = max(i * step_x - s.ix * step_x + s0, 1e-30);
    s.var_of_x(i) = exp(2 * beta * log(Real(s.x(i))));
  }
  for (unsigned j = column(); j < s.num_y; j += columns()) {
    s.y(j) = j * step_y - s.iy * step_y + log_alpha;
    s.var_of_y(j) = exp(2 * Real(s.y(j)));
  }
}

template <typename Real>
__global__ void init_operators(State<Real> s) {
  init_operator_in_columns<Real>(s.x, s.dx, s.dxx);
  init_operator_in_columns<Real>(s.y, s.dy, s.dyy);
}

template <typename Real>
__global__ void set_payoff(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned j = row(); j < s.num_y; j += rows())
      for (unsigned i = column(); i < s.num_x; i += columns())
        s.result(s.at_y(k, i, j)) = max(Real(s.x(i) - s.strikes(s.first + k)), Real(0));
}
// [setup]

// [stencil]
/// A row of an operator; its product with R is lower R(i - 1) + centre R(i) + upper R(i + 1).
template <typename Real>
struct Stencil {
  Real lower, centre, upper;
};

template <typename Real>
__device__ Stencil<Real> stencil(View<Real, 2> d, View<Real, 2> dd, unsigned i, Real mu, Real var) {
  const Real half = 0.5;
  return {mu * d(0, i) + half * var * dd(0, i), mu * d(1, i) + half * var * dd(1, i),
          mu * d(2, i) + half * var * dd(2, i)};
}

/// Returns row i of Lx / 2.
template <typename Real>
__device__ Stencil<Real> half_stencil_x(const State<Real>& s, unsigned g, unsigned i, unsigned j) {
  const Real half = 0.5;
  const Real var = s.var_of_y(j) * s.var_of_t(g) * s.var_of_x(i);
  const auto [lower, centre, upper] = stencil(s.dx, s.dxx, i, s.mu_x, var);
  return {half * lower, half * centre, half * upper};
}

/// Returns row j of Ly.
template <typename Real>
__device__ Stencil<Real> stencil_y(const State<Real>& s, unsigned j) {
  return stencil(s.dy, s.dyy, j, s.mu_y, s.var_y);
}
// [stencil]

// [transpose]
constexpr unsigned tile_size = 32;  // width and height of a block's tile in points
constexpr unsigned tile_rows = 8;   // rows of a tile that the threads of a block copy together

/// Passes a value of each point of `outer` grids from read(k, y, x) to write(k, y, x, value).
/// Neighbouring threads read neighbours in x and write neighbours in y. The rows of a tile in
/// shared memory are padded by one value, so that a warp uses all banks along a column, too.
template <typename Real, typename Read, typename Write>
__device__ void transpose(unsigned outer, unsigned height, unsigned width, Read read, Write write) {
  __shared__ Real tile[tile_size][tile_size + 1];
  const unsigned lane = threadIdx.x;
  for (unsigned k = blockIdx.z; k < outer; k += gridDim.z)
    for (unsigned y0 = blockIdx.y * tile_size; y0 < height; y0 += gridDim.y * tile_size)
      for (unsigned x0 = blockIdx.x * tile_size; x0 < width; x0 += gridDim.x * tile_size) {
        for (unsigned m = threadIdx.y; m < tile_size; m += tile_rows)
          if (y0 + m < height && x0 + lane < width) tile[m][lane] = read(k, y0 + m, x0 + lane);
        __syncthreads();
        for (unsigned m = threadIdx.y; m < tile_size; m += tile_rows)
          if (y0 + lane < height && x0 + m < width) write(k, y0 + lane, x0 + m, tile[lane][m]);
        __syncthreads();
      }
}
// [transpose]

// [time]
/// Writes a row of the matrix 1 / dt - L / 2, given the row of L / 2.
template <typename Real>
__device__ void set_row(const State<Real>& s, std::size_t p, const Stencil<Real>& half_stencil) {
  s.lower(p) = -half_stencil.lower;
  s.centre(p) = s.dt_inv - half_stencil.centre;
  s.upper(p) = -half_stencil.upper;
}

/// Computes V = Ly R and U = R / dt + Lx R / 2 + V, and the matrices along x.
template <typename Real>
__global__ void explicit_xy(State<Real> s, unsigned g) {
  const auto compute = [&](unsigned k, unsigned j, unsigned i) {
    const std::size_t p = s.at_y(k, i, j);
    const std::size_t next = std::size_t{s.outer} * s.num_x;  // offset from R(i, j) to R(i, j + 1)
    const Stencil<Real> lx = half_stencil_x(s, g, i, j), ly = stencil_y(s, j);
    const Real centre = s.result(p);
    const Real above = i > 0 ? s.result(p - 1) : 0;
    const Real below = i < s.num_x - 1 ? s.result(p + 1) : 0;
    const Real left = j > 0 ? s.result(p - next) : 0;
    const Real right = j < s.num_y - 1 ? s.result(p + next) : 0;
    const Real v = ly.lower * left + ly.centre * centre + ly.upper * right;
    s.v(p) = v;
    return s.dt_inv * centre + lx.lower * above + lx.centre * centre + lx.upper * below + v;
  };
  const auto store = [&](unsigned k, unsigned j, unsigned i, Real u) {
    const std::size_t p = s.at_x(k, i, j);
    s.u(p) = u;
    set_row(s, p, half_stencil_x(s, g, i, j));
  };
  transpose<Real>(s.outer, s.num_y, s.num_x, compute, store);
}

/// Computes the right-hand side U' / dt - V / 2 along y, in place of R, and the matrices along y.
template <typename Real>
__global__ void right_side_y(State<Real> s) {
  const Real half = 0.5;
  const auto load = [&](unsigned k, unsigned i, unsigned j) { return s.u(s.at_x(k, i, j)); };
  const auto compute = [&](unsigned k, unsigned i, unsigned j, Real u) {
    const std::size_t p = s.at_y(k, i, j);
    const auto [lower, centre, upper] = stencil_y(s, j);
    s.result(p) = s.dt_inv * u - half * s.v(p);
    set_row(s, p, Stencil<Real>{half * lower, half * centre, half * upper});
  };
  transpose<Real>(s.outer, s.num_x, s.num_y, load, compute);
}
// [time]

template <typename Real>
__global__ void read_prices(State<Real> s) {
  for (unsigned k = column(); k < s.outer; k += columns())
    s.prices(s.first + k) = s.result(s.at_y(k, s.ix, s.iy));
}

// [cusparse]
/// Throws if a call of cuSPARSE failed.
inline void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw staircase::Failure(
        staircase::Exit::exhausted,
        std::string("the device failed: ") + cusparseGetErrorString(status) + " (cuSPARSE)");
}

/// The cuSPARSE context that all calls share.
class Handle {
 public:
  Handle() { check(cusparseCreate(&handle_)); }
  ~Handle() { cusparseDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cusparseHandle_t() const { return handle_; }

 private:
  cusparseHandle_t handle_{};
};

constexpr int thomas = 0;  // cuSPARSE's code for the Thomas algorithm
constexpr auto buffer_size(double) { return cusparseDgtsvInterleavedBatch_bufferSizeExt; }
constexpr auto buffer_size(float) { return cusparseSgtsvInterleavedBatch_bufferSizeExt; }
constexpr auto gtsv(double) { return cusparseDgtsvInterleavedBatch; }
constexpr auto gtsv(float) { return cusparseSgtsvInterleavedBatch; }

/// The size in bytes of the buffer that cuSPARSE needs to solve `systems` systems of n rows.
template <typename Real>
std::size_t buffer_bytes(const Handle& handle, const State<Real>& s, int n, int systems) {
  std::size_t bytes = 0;
  check(buffer_size(Real())(handle, thomas, n, s.lower.data(), s.centre.data(), s.upper.data(),
                            s.u.data(), systems, &bytes));
  return bytes;
}

/// Solves `systems` systems of n rows in place of their right-hand sides; overwrites the matrices.
template <typename Real>
void solve_systems(const Handle& handle, const State<Real>& s, int n, int systems,
                   View<Real, 1> right_sides, void* buffer) {
  check(gtsv(Real())(handle, thomas, n, s.lower.data(), s.centre.data(), s.upper.data(),
                     right_sides.data(), systems, buffer));
}
// [cusparse]

// [solve]
/// Prices s.outer options: computes the payoffs, all time steps, and the prices.
template <typename Real>
void roll_back(const Handle& handle, const State<Real>& s, void* buffer) {
  const dim3 line(128), rows(32, 8), tile(tile_size, tile_size), of_tile(tile_size, tile_rows);
  set_payoff<<<blocks(rows, s.num_x, s.num_y, s.outer), rows>>>(s);
  check_launch();
  for (unsigned g = s.num_t - 1; g-- > 0;) {
    explicit_xy<<<blocks(tile, s.num_x, s.num_y, s.outer), of_tile>>>(s, g);
    check_launch();
    solve_systems(handle, s, s.num_x, s.outer * s.num_y, s.u, buffer);
    right_side_y<<<blocks(tile, s.num_y, s.num_x, s.outer), of_tile>>>(s);
    check_launch();
    solve_systems(handle, s, s.num_y, s.outer * s.num_x, s.result, buffer);
  }
  read_prices<<<blocks(line, s.outer), line>>>(s);
  check_launch();
}

template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  if (problem.num_x * problem.num_y > most_points)
    throw staircase::BadInput(
        "numX = " + std::to_string(problem.num_x) + " and numY = " + std::to_string(problem.num_y) +
        " make more points than cuSPARSE can count; an option may have at most " +
        std::to_string(most_points));
  const unsigned outer = problem.outer;
  const unsigned num_x = problem.num_x;
  const unsigned num_y = problem.num_y;
  const unsigned num_t = problem.num_t;
  const unsigned at_once = options_at_once(problem);
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;
  const double step_x = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / num_x;
  const double step_y = 10 * problem.nu * std::sqrt(problem.t) / num_y;

  timeline.begin("allocate");
  DeviceArray<double, 1> strikes(outer), x(num_x), y(num_y);
  DeviceArray<Real, 1> var_of_x(num_x), var_of_y(num_y), var_of_t(num_t);
  DeviceArray<Real, 2> dx(3, num_x), dxx(3, num_x), dy(3, num_y), dyy(3, num_y);
  const std::size_t points = std::size_t{at_once} * num_x * num_y;
  DeviceArray<Real, 1> lower(points), centre(points), upper(points);
  DeviceArray<Real, 1> u(points), v(points), result(points), device_prices(outer);
  State<Real> s{0,         at_once,
                num_x,     num_y,
                num_t,     std::size_t(problem.s0 / step_x),
                num_y / 2, Real((num_t - 1) / problem.t),
                0,         0,
                nu2,       strikes,
                x,         y,
                var_of_x,  var_of_y,
                var_of_t,  dx,
                dxx,       dy,
                dyy,       lower,
                centre,    upper,
                u,         v,
                result,    device_prices};
  const Handle handle;
  DeviceArray<std::byte, 1> buffer(std::max(buffer_bytes(handle, s, num_x, at_once * num_y),
                                            buffer_bytes(handle, s, num_y, at_once * num_x)));
  Prices<Real> prices(outer);

  timeline.begin("copy in");
  strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128);
  const unsigned longest = std::max({num_x, num_y, num_t});
  init_grid<<<blocks(line, longest), line>>>(s, problem.s0, problem.t, step_x, step_y,
                                             std::log(problem.alpha), beta, nu2);
  check_launch();
  init_operators<<<blocks(line, longest), line>>>(s);
  check_launch();
  for (; s.first < outer; s.first += at_once) {
    s.outer = std::min(at_once, outer - s.first);
    roll_back(handle, s, buffer.data());
  }
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_prices.copy_to(prices.data());
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(argc, argv,
                                     {
                                         .title = "cuSPARSE",
                                         .idea = "Solve with cuSPARSE's gtsvInterleavedBatch",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
