#include <staircase/view.hpp>

using staircase::View;

// [first form]
/// Solves A x = b row by row.
void solve_rows(View<double, 2> a, View<double, 1> b, View<double, 1> x) {
  const std::size_t n = a.extent(0);
  for (std::size_t i = 0; i < n; ++i) {
    double s = 0;
    for (std::size_t j = 0; j < i; ++j) s += a(i, j) * x(j);
    x(i) = (b(i) - s) / a(i, i);
  }
}
// [first form]

// [second form]
/// Solves A x = b column by column.
void solve_columns(View<double, 2> a, View<double, 1> b, View<double, 1> x) {
  const std::size_t n = a.extent(0);
  for (std::size_t i = 0; i < n; ++i) {
    x(i) = b(i) / a(i, i);
    for (std::size_t j = i + 1; j < n; ++j) b(j) -= a(j, i) * x(i);
  }
}
// [second form]
