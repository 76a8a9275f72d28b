/// \file
/// OpenMP pragmas that are easily mistaken for others, each with the verdict on its claim.

#include <vector>

#define PARALLEL _Pragma("omp parallel for")
#define SAY(words) _Pragma(#words)
#define PARALLEL_ON(count) SAY(omp parallel for num_threads(count))
#define QUICKLY _Pragma("GCC ivdep")
#define EACH(i, n) for (int i = 0; i < n; ++i)
#define TEXT(words) #words
#define EXPANDED(words) _Pragma(TEXT(words))
#define LANES 4
#define JOINED(one, other) one##other
#define SUMMED(sign, x) EXPANDED(omp parallel for reduction(sign : x))
#define IN_PARALLEL(i, n) SAY(omp parallel for) EACH(i, n)

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
# pragma omp parallel /* proved */ \
  for
  for (int i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for  // refuted
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) a[i] = a[i + 1];
}

void made_by_macro(double* a, int n) {
#pragma omp parallel for  // proved
  EACH(i, n) a[i] = 1;
}

double nested_macros(double* a, const double* b, int n) {
  double sum = 0;
  SUMMED(+, sum)  // proved
  for (int i = 0; i < n; ++i) sum += a[i];
  SUMMED(*, sum)  // beyond
  for (int i = 0; i < n; ++i) sum += a[i];
  EXPANDED(omp simd safelen(LANES))  // proved
  for (int i = 0; i < n; ++i) a[i + 4] = a[i];
  EXPANDED(omp JOINED(sim, d))  // refuted
  for (int i = 0; i < n; ++i) a[i + 4] = a[i];
  IN_PARALLEL(i, n) a[i] = b[i];  // proved
  IN_PARALLEL(i, n) a[i + 1] = a[i];  // refuted
  return sum;
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
#pragma omp simd  // refuted
  for (int i = 0; i < n; ++i) { of_thread = a[i]; a[i] = of_thread; }
#pragma omp parallel for simd  // refuted
  for (int i = 0; i < n; ++i) { of_thread = a[i]; a[i] = of_thread; }
#pragma omp parallel for ordered  // proved
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    a[0] += i;
  }
#pragma omp simd  // refuted
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp simd safelen(8)  // proved
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp parallel for simd safelen(8)  // refuted
  for (int i = 0; i < n; ++i) a[i + 8] = a[i];
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) bits[i] = true;
}

#define SHARED_BY s
int values_in_and_out(double* a, const int* k, int s, bool* b, int n) {
  int x = 5, y = 0, z = 0, before = 0;
#pragma omp parallel for private(x)  // beyond
  for (int i = 0; i < n; ++i) a[i] = x;
#pragma omp parallel for firstprivate(before)  // proved
  for (int i = 0; i < n; ++i) a[i] = before;
#pragma omp parallel for firstprivate(before)  // beyond
  for (int i = 0; i < n; ++i) { a[i] = before; before = i; }
#pragma omp parallel for private(y)  // beyond
  for (int i = 0; i < n; ++i) y = k[i];
#pragma omp parallel for lastprivate(z)  // beyond
  for (int i = 0; i < n; ++i) if (k[i] > 0) z = i;
#pragma omp parallel for lastprivate(z)  // proved
  for (int i = 0; i < n; ++i) { z = k[i]; a[i] = z; }
  return y + z + s;
}

int reductions(double* h, const int* k, const double* x, int s, bool all, int n) {
  double t = 0;
  _Pragma("omp parallel for reduction(&&: s)")  // beyond
  for (int i = 0; i < n; ++i) s &= k[i];
#pragma omp parallel for reduction(&& : all)  // proved
  for (int i = 0; i < n; ++i) all = all && k[i];
#pragma omp parallel for reduction(max : s)  // proved
  for (int i = 0; i < n; ++i) s = k[i] > s ? k[i] : s;
#pragma omp parallel for reduction(min : s)  // beyond
  for (int i = 0; i < n; ++i) s = k[i] > s ? k[i] : s;
#pragma omp parallel for reduction(+ : h[:10], t)  // proved
  for (int i = 0; i < n; ++i) { t += x[i]; h[k[i]] += 1; }
#pragma omp parallel for reduction(+ : t)  // beyond
  for (int i = 0; i < n; ++i) h[i] = t;
#pragma omp parallel for reduction(inscan, + : t)  // beyond
  for (int i = 0; i < n; ++i) t += x[i];
#pragma omp parallel for private(SHARED_BY)  // beyond
  for (int i = 0; i < n; ++i) { s = i; h[i] = s; }
#pragma omp parallel for linear(s)  // proved
  for (int i = 0; i < n; ++i) { h[s] = x[i]; s++; }
  return s + all + int(t);
}

void surroundings(double* a, const double* x, double s, int n) {
#pragma omp target teams distribute parallel for  // proved
  for (int i = 0; i < n; ++i) a[i] = 1;
#pragma omp teams
  {
#pragma omp parallel for  // beyond
    for (int i = 0; i < n; ++i) a[i] = a[i] + 1;
  }
#pragma omp parallel
  {
#pragma omp parallel for  // beyond
    for (int i = 0; i < n; ++i) a[i] = a[i] + 1;
#pragma omp master
    {
#pragma omp for  // beyond
      for (int i = 0; i < n; ++i) a[i] = 1;
    }
#pragma omp for nowait  // proved
    for (int i = 0; i < n; ++i) a[i] = 1;
  }
#pragma omp parallel
  {
    double own = 1;
#pragma omp for  // beyond
    for (int i = 0; i < n; ++i) own = x[i];
#pragma omp for  // beyond
    for (int i = 0; i < n; ++i) a[i] = own;
  }
#pragma omp parallel
  {
#pragma omp for nowait  // beyond
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
      s += x[i];
    }
#pragma omp single private(s)
    a[0] = s;
  }
#pragma omp critical
  {
#pragma omp parallel for  // refuted
    for (int i = 0; i < n; ++i) s += x[i];
  }
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    s = s * 2 + x[i];
  }
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) {
#pragma omp barrier
    a[i] = 1;
  }
#pragma omp simd  // proved
  for (int i = 0; i < n; ++i) a[i] = a[i + 1] + 1;
#pragma omp parallel for simd  // refuted
  for (int i = 0; i < n; ++i) a[i] = a[i + 1] + 1;
}

int counters(double* a, bool asked, int n) {
  int i, j;
#pragma omp parallel for  // proved
  for (i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for  // beyond
  for (i = 0; i < n; ++i) a[i] = 2;
  if (asked) return i;
#pragma omp parallel for lastprivate(j)  // beyond
  for (i = 0; i < n; ++i)
    if (a[i] > 0) j = i;
#pragma omp simd  // proved
  for (i = 0; i < n; ++i) a[i] = 3;
  return i + j;
}
// clang-format on
