#include <staircase/view.hpp>

using staircase::View;

// [product]
void product(View<const double, 2> a, View<const double, 2> b, View<double, 2> c, long n) {
#pragma staircase slice(i: 3, j: 5) buffers(2) threads(2)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double sum = 0;
      for (long k = 0; k < n; ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
}
// [product]
