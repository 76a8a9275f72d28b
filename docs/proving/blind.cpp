#include <cstddef>
#include <vector>

double of(double x);

// [blind]
void blind(double* a, double** rows, const int* place, std::vector<double>& found, long n) {
  for (long i = 0; i < n; ++i) a[place[i]] = 0;
  for (long i = 0; i < n; ++i) a[i] = of(a[i]);
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) rows[i][j] = 0;
  double* rest = n > 0 ? a + 1 : a;
  for (long i = 0; i < n; ++i) rest[i] = a[i];
  for (long i = 0; i < n; ++i)
    if (a[i] > 0) found.push_back(a[i]);
  for (long i = 0; i < n; ++i) {
    if (a[i] < 0) break;
    a[i] = 0;
  }
}
// [blind]
