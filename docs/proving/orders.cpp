#include <staircase/view.hpp>

using staircase::View;

// [orders]
void product(long n, View<const double, 2> a, View<const double, 2> b, View<double, 2> c) {
#pragma staircase interchange(j, k)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      for (long k = 0; k < n; ++k) c(i, j) += a(i, k) * b(k, j);
}

void smooth(long n, long steps, View<double, 1> u) {
#pragma staircase tile(t: 32, i: 32)
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) u(i) = (u(i - 1) + u(i) + u(i + 1)) / 3;
#pragma staircase skew(i: t)
#pragma staircase tile(t: 32, i: 32)
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) u(i) = (u(i - 1) + u(i) + u(i + 1)) / 3;
}

double total(long n, View<const double, 2> a) {
  double sum = 0;
#pragma staircase interchange(i, j)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) sum += a(i, j);
  return sum;
}

void squares(long n, View<const double, 1> x, View<double, 1> y, View<double, 1> z) {
  double t = 0;
#pragma staircase distribute
  for (long i = 0; i < n; ++i) {
    t = x(i);
    y(i) = t * t;
  }
#pragma staircase expand(t) distribute
  for (long i = 0; i < n; ++i) {
    t = x(i);
    z(i) = t * t;
  }
#pragma staircase fuse
  for (long i = 0; i < n - 1; ++i) y(i) = x(i);
  for (long i = 0; i < n - 1; ++i) z(i) = y(i + 1);
}

void forward(long n, View<const double, 2> l, View<double, 1> x) {
#pragma staircase interchange(i, j)
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < i; ++j) x(i) -= l(i, j) * x(j);
    x(i) /= l(i, i);
  }
}
// [orders]
