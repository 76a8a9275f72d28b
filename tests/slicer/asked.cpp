// Requested transformations, with the verdicts of the JSON output.

#include <cmath>
#include <staircase/view.hpp>
#include <vector>

using staircase::View;

double unseen(double value);

void stencils(long n, long steps, View<double, 1> u, View<double, 2> w, View<double, 1> v) {
#pragma staircase interchange(t, i)  // illegal
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) u(i) = u(i - 1) + u(i) + u(i + 1);
#pragma staircase skew(i: t) interchange(t, i)  // legal legal
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) u(i) = u(i - 1) + u(i) + u(i + 1);
#pragma staircase skew(i: 2 * t)  // legal
#pragma staircase tile(t: 8, i: 8)  // legal
  for (long t = 0; t < steps; ++t)
    for (long i = 2; i < n - 2; ++i) u(i) = u(i - 2) + u(i + 2);
#pragma staircase skew(i: t) tile(t: 8, i: 8)  // legal illegal
  for (long t = 0; t < steps; ++t)
    for (long i = 2; i < n - 2; ++i) u(i) = u(i - 2) + u(i + 2);
#pragma staircase skew(t: -i)  // illegal
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) u(i) = u(i - 1) + u(i + 1);
  // The Lax scheme: row t contains time level t.
#pragma staircase tile(t: 8, i: 8)  // illegal
  for (long t = 1; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) w(t, i) = (w(t - 1, i - 1) + w(t - 1, i + 1)) / 2;
#pragma staircase skew(i: t)  // legal
#pragma staircase tile(t: 8, i: 8)  // legal
  for (long t = 1; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i) w(t, i) = (w(t - 1, i - 1) + w(t - 1, i + 1)) / 2;
  // Gauss-Seidel in two dimensions, without and with a time loop.
#pragma staircase tile(i: 8, j: 8)  // legal
  for (long i = 1; i < n - 1; ++i)
    for (long j = 1; j < n - 1; ++j)
      w(i, j) = w(i - 1, j) + w(i, j - 1) + w(i + 1, j) + w(i, j + 1);
#pragma staircase tile(t: 2, i: 8, j: 8)  // illegal
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i)
      for (long j = 1; j < n - 1; ++j)
        w(i, j) += w(i - 1, j) + w(i, j - 1) + w(i + 1, j) + w(i, j + 1);
#pragma staircase skew(i: t)  // legal
#pragma staircase skew(j: t)  // legal
#pragma staircase tile(t: 2, i: 8, j: 8)  // legal
  for (long t = 0; t < steps; ++t)
    for (long i = 1; i < n - 1; ++i)
      for (long j = 1; j < n - 1; ++j)
        w(i, j) = w(i - 1, j) + w(i, j - 1) + w(i + 1, j) + w(i, j + 1);
  // Loops that count down.
#pragma staircase interchange(i, j)  // illegal
  for (long i = n - 2; i >= 0; --i)
    for (long j = 1; j < n; ++j) w(i, j) = w(i + 1, j + 1) + w(i + 1, j - 1);
#pragma staircase interchange(i, j)  // legal
  for (long i = n - 2; i >= 0; --i)
    for (long j = n - 2; j >= 0; --j) w(i, j) = w(i + 1, j + 1) + v(j);
}

void triangles(long n, View<double, 2> a, View<double, 1> b, View<double, 1> x) {
#pragma staircase interchange(i, j)  // impossible
  for (long i = 0; i < n; ++i) {
    double s = 0;
    for (long j = 0; j < i; ++j) s += a(i, j) * x(j);
    x(i) = (b(i) - s) / a(i, i);
  }
#pragma staircase distribute  // illegal
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < i; ++j) b(i) -= a(i, j) * x(j);
    x(i) = b(i) / a(i, i);
  }
  // The update of the columns after the pivot column in Cholesky.
#pragma staircase interchange(i, j)  // legal
#pragma staircase tile(j: 16, i: 16)  // legal
  for (long i = 1; i < n; ++i)
    for (long j = 1; j <= i; ++j) a(i, j) -= a(i, 0) * a(j, 0);
#pragma staircase interchange(k, i)  // reduction
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i) {
      const double factor = a(i, k);
      x(0) += factor;
    }
}

void bodies(long n, View<double, 1> x, View<double, 1> y, View<double, 1> z) {
#pragma staircase distribute  // legal
  for (long i = 1; i < n; ++i) {
    x(i) = z(i);
    y(i) = x(i - 1);
  }
#pragma staircase distribute  // illegal
  for (long i = 1; i < n; ++i) {
    y(i) = x(i - 1);
    x(i) = z(i);
  }
#pragma staircase fuse  // legal
  for (long i = 0; i < n; ++i) x(i) = z(i);
  for (long k = 0; k < n; ++k) y(k) = x(k);
#pragma staircase fuse  // impossible
  for (long i = 0; i < n; ++i) x(i) = z(i);
  for (long i = 0; i <= n; ++i) y(i) = x(i);
#pragma staircase distribute  // illegal
  for (long i = 0; i < n; ++i) {
    const double t = x(i);
    y(i) = t * t;
  }
#pragma staircase expand(t) distribute  // legal legal
  for (long i = 0; i < n; ++i) {
    const double t = x(i);
    y(i) = t * t;
  }
  std::vector<double> row(n);
#pragma staircase expand(row) interchange(i, k)  // legal impossible
  for (long i = 0; i < n; ++i) {
    for (long k = 0; k < n; ++k) row[k] = x(i + k);
    for (long k = 0; k < n; ++k) y(i) += row[n - 1 - k];
  }
#pragma staircase expand(row)  // illegal
  for (long i = 0; i < n; ++i) {
    for (long k = 1; k < n; ++k) row[k] = x(i + k);
    for (long k = 0; k < n; ++k) y(i) += row[k];
  }
}

void blind(long n, View<double, 2> a, View<double, 1> x, const std::vector<long>& place) {
#pragma staircase interchange(i, j)  // unknown
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) x(place[i]) = x(j) * 2;
#pragma staircase interchange(i, j)  // unknown
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < i * n; ++j) a(i, j) = 0;
#pragma staircase tile(i: 4, j: 4)  // unknown
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) a(i, j) = unseen(a(i, j));
#pragma staircase distribute  // impossible
  for (long i = 0; i < n; ++i) {
    if (x(i) < 0) continue;
    a(i, 0) = x(i);
    a(i, 1) = std::sqrt(x(i));
  }
#pragma staircase distribute  // unknown
  for (long i = 0; i < n; ++i) {
    if (x(i) < 0) {
      if (x(i) < -1) continue;
      x(i) = 0;
    }
    a(i, 0) = x(i);
  }
#pragma staircase fuse  // unknown
  for (long i = 0; i < n; ++i) x(place[i]) = 0;
  for (long i = 0; i < n; ++i) a(0, i) = x(i);
  long i = 0, j = 0;
#pragma staircase interchange(i, j)  // unknown
  for (i = 0; i < n; ++i)
    for (j = 0; j < i; ++j) a(i, j) = 0;
  // The end of the second loop is no longer the end of the first.
  long m = n;
#pragma staircase fuse  // unknown
  for (long i = 0; i < m; ++i) m = place[i];
  for (long i = 0; i < m; ++i) x(i) = 0;
}
