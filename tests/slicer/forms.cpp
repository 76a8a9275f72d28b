/// \file
/// Nests to be sliced, with many ways to write loops and arrays. Each function changes `x`.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <staircase/view.hpp>
#include <vector>

using staircase::View;

namespace {

// Sizes that occur in bounds only, or also in the body.
template <typename T>
void doubled(std::span<T> x) {
#pragma staircase slice(i: 3)
  for (std::size_t i = 0; i < x.size(); i++) x[i] = x[i] * T(2);
}

void turned(std::span<const double> y, std::span<double> x) {
#pragma staircase slice(i: 4)
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] + y[x.size() - 1 - i];
}

// Two nests in one function, after a variable with the name of their counters.
double twice(std::vector<double>& x, int n) {
  int i = n + 1;
#pragma staircase slice(i: 2) buffers(2)
  for (int i = 1; i <= n; ++i) x[i - 1] = 1 + x[i - 1];
#pragma staircase slice(i: 3)
  for (int i = 0; n > i; ++i) x[i] *= 2;
  return x[0] + i;
}

// The user chooses the number of slices.
void triangle(View<double, 2> x, int n, int slices) {
#pragma staircase slice(i: slices)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) x(i, j) = x(i, j) * 2 + i;
}

// A slice reads at most one element of each row of y. A condition decides whether it reads this
// element.
void diagonals(View<double, 2> x, View<const double, 2> y, long n, long m) {
#pragma staircase slice(i: 2, j: 3)
  for (long i = 1; i < n && i < 5; ++i)
    for (long j = 1; j <= m; ++j)
      if ((i + j) % 2 == 0) x(i + j, j) = y(10 - i + 2 * j, 10 + 2 * i - j);
}

void guarded(double* x, const double* y, int n) {
#pragma staircase slice(i: 3) buffers(2)
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 1) x[i] = y[i / 2];
    if (y[i] > 0) x[i + n] = 1;
  }
}

void own(double* x, int n) {
#pragma staircase slice(i: 3)
  for (int i = 0; i < n; ++i) {
    double t[4] = {};
    for (int k = 0; k < 4; ++k) t[k] = x[4 * i + k];
    for (int k = 0; k < 4; ++k) x[4 * i + k] = t[3 - k];
  }
}

void lines(double* x, const double* y, unsigned n, unsigned m) {
#pragma staircase slice(j: 2, i: 4) buffers(2) threads(2)
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < m; ++j) x[i * m + j] = 2 * y[i * m + j];
}

void shifted(std::vector<double>& x, long first, long last) {
#pragma staircase slice(i: 3)
  for (long i = first; i < last; ++i) x[i - first] = std::sqrt(std::abs(x[i - first])) - 1;
}

void clamped(std::vector<double>& x, const std::vector<double>& y, int n) {
#pragma staircase slice(i: 3)
  for (int i = 0; i < n; ++i) x[i] = y[i > 0 ? i - 1 : 0] + y[i < 2 ? 2 * n - i : i];
}

}  // namespace
