// [claims]
void claims(double* x, double* y, const int* place, long n) {
  double sum = 0, t = 0;
#pragma omp parallel for
  for (long i = 0; i < n; ++i) sum += x[i];
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i];
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    t = x[i];
    y[i] = t * t;
  }
#pragma omp parallel for private(t)
  for (long i = 0; i < n; ++i) {
    t = x[i];
    y[i] = t * t;
  }
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[place[i]] = x[i];
#pragma omp simd
  for (long i = 1; i < n; ++i) x[i] = x[i - 1] + y[i];
}
// [claims]
