#include <algorithm>
#include <cstddef>

// [shapes]
void shapes(double* a, double* x, long n, long m) {
  for (long i = 0; i < n; ++i)  // rows of a matrix that is stored row by row
    for (long j = 0; j < m; ++j) a[i * m + j] = 2 * a[i * m + (m - 1 - j)];
  for (long i = 0; i < n; ++i)  // one column too many
    for (long j = 0; j <= m; ++j) a[i * m + j] = 0;
  for (long i = 0; i + 1 < n; i += 2) x[i] = x[i + 1];
  for (long i = 0; i < n; ++i)
    if (i >= n / 2) x[i] = x[n - 1 - i];
  for (long first = 0; first < n; first += 64)
    for (long i = first; i < std::min(first + 64, n); ++i) x[i] = first;
}
// [shapes]
