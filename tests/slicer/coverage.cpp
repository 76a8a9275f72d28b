// Loops as people write them: macros, pointer arithmetic, shifts, and command-line sizes. The
// comment after each loop names its verdict. The comment after a pragma names the claim's verdict.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define N 100
#define SIZE(n) n
#define SCALE 2.0
#define NEGATED(x) -x
#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define EACH(i, n) for (long i = 0; i < n; ++i)

void bound(double* a) {
  for (int i = 0; i < N; ++i) a[i] = SCALE * a[i];  // independent
}
void bound_by_macro(double* a, int n) {
  for (int i = 1; i < LESS(SIZE(n), N); ++i) a[i] = a[i - 1];  // dependent
}
// The text of the expansion would be --x, which changes x, so the macro is not expanded.
void joined(double* a, long n, long x) {
  for (long i = 0; i < n; ++i) a[i] = NEGATED(-x);  // unknown
}
void of_macro(double* a, long n) {
  EACH(i, n) a[i] = 1;
}
void odd(double* a, long n) {
  for (long i = 1; i < n; ++i)  // independent
    if (i % 2) a[i] = a[i - 1];
}
void masked(double* a, long n) {
  for (long i = 1; i < n; ++i)  // independent
    if (i & 1) a[i] = a[i - 1];
}
void unmasked(double* a, long n) {
  for (long i = 1; i < n; ++i)  // unknown
    if (i & 2) a[i] = a[i - 1];
}
void shifted_left(double* a, long n) {
  for (long i = 0; i < n; ++i) a[i << 1] = a[(i << 1) + 1];  // independent
}
void shifted_right(double* a, long n) {
  for (long i = 0; i < n; ++i) a[i >> 1] = i;  // dependent
}
void shifted_below_zero(double* a, long n) {
  for (long i = -n; i < n; i += 2) a[n + (i >> 1)] = i;  // independent
}
void pixels(double* a, long n, long m) {
  for (long i = 0; i < n; ++i)    // independent
    for (long j = 0; j < m; ++j)  // independent
      for (long k = 0; k < 3; ++k) a[(i * m + j) * 3 + k] = 0;  // independent
}
void too_many_pixels(double* a, long n, long m) {
  for (long i = 0; i < n; ++i)    // unknown
    for (long j = 0; j < m; ++j)  // unknown
      for (long k = 0; k < 4; ++k) a[(i * m + j) * 3 + k] = 0;  // unknown
}
void halves(double* a, long n) {
  double* b = a + n;
  for (long i = 0; i < n; ++i) b[i] = a[i];  // independent
}
void overlapping_halves(double* a, long n) {
  double* b = a + n - 1;
  for (long i = 0; i < n; ++i) b[i] = a[i];  // dependent
}
void address(double* a, long n) {
  double* b = &a[1];
  for (long i = 0; i < n; ++i) b[i] = a[i];  // dependent
}
void pointer(double* a, long n) {
  for (long i = 0; i < n; ++i) *(a + i) = i;  // independent
}
void pointer_back(double* a, long n) {
  for (long i = 1; i < n; ++i) *(a + i) = *(a + i - 1);  // dependent
}
void moved_pointer(double* a, double* b, long n) {
  double* p = a + 1;
  p = b;
  for (long i = 0; i < n; ++i) p[i] = b[i + 1];  // unknown
}
void angle(double* a, long n) {
  for (long i = 0; i < n; ++i) a[i] = std::atan2(a[i], 2.0) + std::erf(a[i]) + cbrtf(1);  // independent
}
void sets_global(double* a, long n) {
  for (long i = 0; i < n; ++i) a[i] = lgamma(a[i]);  // unknown
}
void backwards(double* a, unsigned n) {
  for (unsigned i = n - 1; i < n; --i) a[i] = 1;  // independent
}
void backwards_and_on(double* a, unsigned n) {
  for (unsigned i = n - 1; i < n; --i) a[i] = a[i + 1];  // dependent
}
void backwards_without_end(double* a, unsigned long n) {
  for (unsigned i = 5; i < n; --i) a[i] = 1;  // unknown
}
void character(double* a) {
  for (int i = 0; i < 'z'; ++i) a[i] = 1;  // independent
}
void chosen(int argc, char** argv) {
  int n = 1000;
  if (argc > 1) n = std::atoi(argv[1]);
  std::vector<double> a(n);
#pragma omp parallel for  // refuted
  for (int i = 0; i < n - 1; ++i) a[i] = a[i + 1];  // dependent
}
void overwritten(int argc, char** argv) {
  int n = 1000;
  if (argc > 1) n = std::atoi(argv[1]);
  n = 1;
  std::vector<double> a(n);
#pragma omp parallel for  // beyond
  for (int i = 0; i < n - 1; ++i) a[i] = a[i + 1];  // unknown
}
double printed(const double* a, long n) {
  double x, s = 0;
#pragma omp parallel for private(x) reduction(+ : s)  // proved
  for (long i = 0; i < n; ++i) {  // reduction
    x = a[i];
    s += x;
  }
  std::printf("%f\n", s);
  return s;
}
void rows(double* b, long n, long m) {
  double a[8][8];
#pragma omp parallel for  // beyond
  for (long i = 1; i < 8; ++i)                                  // unknown
    for (long j = 0; j < 8; ++j) a[i][j] = a[i][j - 1] + b[j];  // dependent
}
void linear(const double* x, double* y, long n) {
  long j = 0;
#pragma omp parallel for linear(j)  // proved
  for (long i = 0; i < n; ++i) {    // dependent
    y[j] = x[i];
    j++;
  }
}
void linear_by_two(const double* x, double* y, long n) {
  long j = 0;
#pragma omp parallel for linear(j : 2)  // proved
  for (long i = 0; i < n; ++i) {        // dependent
    y[j] = x[i] + y[j + 1];
    j += 2;
  }
}
void linear_and_next(const double* x, double* y, long n) {
  long j = 0;
#pragma omp parallel for linear(j)  // beyond
  for (long i = 0; i < n; ++i) {    // dependent
    y[j] = x[i] + y[j + 1];
    j++;
  }
}
void linear_twice(const double* x, double* y, long n) {
  long j = 0;
#pragma omp parallel for linear(j)  // beyond
  for (long i = 0; i < n; ++i) {    // unknown
    j++;
    y[j] = x[i];
    j++;
  }
}
void ordered(double* a, long n) {
  double x = 0;
#pragma omp parallel for ordered  // proved
  for (long i = 0; i < n; ++i) {  // dependent
#pragma omp ordered
    {
      x = x * 0.5 + a[i];
      a[i] = x;
    }
  }
}
void ordered_in_part(double* a, long n) {
#pragma omp parallel for ordered  // refuted
  for (long i = 1; i < n; ++i) {  // dependent
    double x = a[i - 1];
#pragma omp ordered
    a[i] = x;
  }
}
void lanes(double* a, long n) {
#pragma omp simd safelen(4)  // proved
  for (long i = 4; i < n; ++i) a[i] = a[i - 4];  // dependent
}
void too_many_lanes(double* a, long n) {
#pragma omp simd safelen(4)  // refuted
  for (long i = 3; i < n; ++i) a[i] = a[i - 3];  // dependent
}
void on_device(double* a, double* b, long n) {
#pragma omp target map(tofrom : a[0 : n]) map(to : b[0 : n])
#pragma omp teams distribute parallel for  // proved
  for (long i = 0; i < n; ++i) a[i] = b[i];  // independent
}
void on_device_back(double* a, long n) {
#pragma omp target teams distribute parallel for map(tofrom : a[0 : n])  // refuted
  for (long i = 1; i < n; ++i) a[i] = a[i - 1];  // dependent
}
void critical_in_teams(long n, long& x) {
#pragma omp target teams distribute parallel for  // refuted
  for (long i = 0; i < n; ++i) {                  // reduction
#pragma omp critical
    x += 1;
  }
}
void teams_run_all(double* a, long n) {
#pragma omp teams
#pragma omp parallel for  // beyond
  for (long i = 0; i < n; ++i) a[i] = a[i] + 1;  // independent
}
void separate(double* a, double* b, long n) {
#pragma omp parallel
  {
#pragma omp for nowait  // proved
    for (long i = 0; i < n; ++i) a[i] = i;  // independent
#pragma omp for  // proved
    for (long i = 0; i < n; ++i) b[i] = i;  // independent
  }
}
void follows(double* a, double* b, long n) {
#pragma omp parallel
  {
#pragma omp for nowait  // beyond
    for (long i = 0; i < n; ++i) a[i] = i;  // independent
#pragma omp for  // beyond
    for (long i = 0; i < n; ++i) b[i] = a[n - 1 - i];  // independent
  }
}
#define LANES 4
void lanes_by_macro(double* a, long n) {
#pragma omp simd safelen(LANES)  // proved
  for (long i = 4; i < n; ++i) a[i] = a[i - 4];  // dependent
}
void copied(int argc, char** argv) {
  int length = 100;
  if (argc > 1) length = std::atoi(argv[1]);
  int n = length, m = length;
  std::vector<double> a(n * 2);
#pragma omp parallel for  // refuted
  for (int i = 1; i < n; ++i) a[i] = a[i - 1];  // dependent
#pragma omp parallel for  // proved
  for (int i = 0; i < n; ++i) a[i] = a[i + m];  // independent
}
void copied_and_changed(int argc, char** argv) {
  int length = 100;
  if (argc > 1) length = std::atoi(argv[1]);
  int n = length;
  length = length / 2;
  std::vector<double> a(n * 2);
#pragma omp parallel for  // beyond
  for (int i = 0; i < n; ++i) a[i] = a[i + length];  // unknown
}
void prints(double* a, long n) {
#pragma omp parallel for  // proved
  for (long i = 0; i < n; ++i) {  // unknown
    a[i] = 1;
    std::printf("%f\n", a[i]);
  }
}
void tasks(double* a, long n) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop  // proved
  for (long i = 0; i < n; ++i) a[i] = 1;  // independent
}
void tasks_of_each_thread(double* a, long n) {
#pragma omp parallel
#pragma omp taskloop  // beyond
  for (long i = 0; i < n; ++i) a[i] += 1;  // independent
}
void tasks_without_region(double* a, long n) {
#pragma omp taskloop  // beyond
  for (long i = 0; i < n; ++i) a[i] = 1;  // independent
}
double waits(const double* a, long n) {
  double s = 0;
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp for reduction(+ : s)  // proved
    for (long i = 0; i < n; ++i) s += a[i];  // reduction
  }
  return s;
}
void waits_for_others(double a[10][10]) {
  int i, j;
#pragma omp parallel for ordered(2)  // proved
  for (i = 0; i < 10; i++)    // independent
    for (j = 0; j < 10; j++)  // independent
    {
      a[i][j] = a[i][j] + 1;
#pragma omp ordered depend(sink : i - 1, j)
#pragma omp ordered depend(source)
    }
}
void waits_for_rows(double a[10][10]) {
  int i, j;
#pragma omp parallel for ordered(2)  // beyond
  for (i = 1; i < 10; i++)    // dependent
    for (j = 0; j < 10; j++)  // independent
    {
#pragma omp ordered depend(sink : i - 1, j)
      a[i][j] = a[i - 1][j] + 1;
#pragma omp ordered depend(source)
    }
}
double in_teams(const double* a, long n) {
  double s = 0;
  long i, k;
#pragma omp target map(tofrom : s)
#pragma omp teams num_teams(10) reduction(+ : s)
#pragma omp distribute  // proved
  for (k = 0; k < n; k += 256)  // dependent
#pragma omp parallel for reduction(+ : s)  // proved
    for (i = k; i < k + 256; ++i) s += a[i];  // reduction
  return s;
}
void nearest_bounds(double* a, long n, long m, long k) {
#pragma omp parallel for  // proved
  for (long i = n > m ? n : m; i < (n < k ? n : k) + 9; ++i) a[i] = i;  // independent
  for (long i = 1; i < (n < m ? (n < k ? n : k) : (m < k ? m : k)); ++i) a[i] = a[i - 1];  // dependent
}
