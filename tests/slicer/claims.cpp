/// \file
/// Pragmas of OpenMP that are easily taken for another one, each with what is said of its claim.

#include <vector>

#define PARALLEL _Pragma("omp parallel for")
#define SAY(words) _Pragma(#words)
#define PARALLEL_ON(count) SAY(omp parallel for num_threads(count))
#define QUICKLY _Pragma("GCC ivdep")
#define EACH(i, n) for (int i = 0; i < n; ++i)

double of_thread;
#pragma omp threadprivate(of_thread)

#pragma omp declare simd
double squared(double x) { return x * x; }

struct Held {
  double own[8], *far;
  void shift() {
#pragma omp parallel for  // refuted
    for (int i = 0; i < 7; ++i) own[i] = own[i + 1];
  }
};

// clang-format off
void operators(double* a, int n) {
  _Pragma("omp parallel for")  // refuted
  for (int i = 0; i < n; ++i) a[i] = a[i + 1];
  _Pragma ( "omp parallel for num_threads(2)" )  // proved
  for (int i = 0; i < n; ++i) a[i] = a[i + n];
  PARALLEL  // refuted
  for (int i = 0; i < n; ++i) a[i] = a[i + 1];
  PARALLEL_ON(4)  // proved
  for (int i = 0; i < n; ++i) a[i] = 1;
  SAY(omp parallel for private(n))  // proved
  for (int i = 0; i < 8; ++i) a[i] = 1;
#pragma omp parallel for  // refuted
  QUICKLY
  for (int i = 0; i < n; ++i) a[i] = a[i + 1];
#pragma omp parallel for  // beyond
  EACH(i, n) a[i] = 1;
# pragma omp parallel /* proved */ \
  for
  for (int i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for  // refuted
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) a[i] = a[i + 1];
}

void places(double* a, std::vector<double>& v, int n) {
#if 0
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) a[i] = 1;
#endif
#pragma omp parallel for  // beyond
  for (double& x : v) x = 1;
#pragma omp parallel for  // beyond
  { a[0] = n; }
#pragma omp parallel for  // beyond
  for (auto at = v.begin(); at != v.end(); ++at) *at = 1;
}

void counters(double* a, int n, int m) {
  int j;
#pragma omp parallel for  // refuted
  for (int i = 0; i < n; ++i) for (j = 0; j < m; ++j) a[i * m + j] = 1;
#pragma omp parallel for collapse(2)  // proved
  for (int i = 0; i < n; ++i) for (j = 0; j < m; ++j) a[i * m + j] = 1;
#pragma omp parallel for private(j)  // proved
  for (int i = 0; i < n; ++i) for (j = 0; j < m; ++j) a[i * m + j] = 1;
#pragma omp parallel for collapse(2)  // refuted
  for (int i = 0; i < n; ++i) for (j = 0; j < m; ++j) a[j] = 1;
}

void guards(double* a, double s, int n) {
#pragma omp parallel for  // proved
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    s += a[i];
#pragma omp atomic update
    s += 1;
  }
#pragma omp parallel for  // proved
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    s += a[i];
#pragma omp critical
    s += 1;
  }
#pragma omp parallel for  // refuted
  for (int i = 0; i < n; ++i) {
#pragma omp critical(one)
    s += a[i];
#pragma omp critical(other)
    s += 1;
  }
#pragma omp parallel for  // refuted
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    s += a[i];
#pragma omp atomic
    s += 1;
  }
#pragma omp parallel for  // refuted
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    s += a[i];
    s += 1;
  }
}

void clauses(double* a, std::vector<bool>& bits, int n) {
#pragma omp parallel for  // proved
  for (int i = 0; i < n; ++i) { of_thread = a[i]; a[i] = of_thread; }
#pragma omp parallel for ordered  // beyond
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    a[0] += i;
  }
#pragma omp simd  // refuted
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp simd safelen(8)  // beyond
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp parallel for simd safelen(8)  // refuted
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) bits[i] = true;
}
// clang-format on
