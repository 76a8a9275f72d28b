/* Loops in C, with the verdicts behind them: see coverage.cpp. */

#include <math.h>
#include <stdlib.h>

#define LENGTH 64

void restricted(double* restrict y, int n) {
  double* a = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) a[i] = y[i];  // independent
  free(a);
}
void old(a, n) double* a;
int n;
{
  int i;
  for (i = 1; i < n; i++) a[i] = a[i - 1];  // dependent
}
void square(double a[LENGTH][LENGTH]) {
  for (int i = 0; i < LENGTH; i++)  // independent
    for (int j = 0; j < LENGTH; j++) a[i][j] = fabs(a[i][j]) + sqrtf(2) + isnan(a[i][j]);  // independent
}
/* Both pointers lead to the same bytes, and their elements have different sizes. */
void of_bytes(void* p, long n) {
  double* a = p;
  float* b = p;
  for (long i = 0; i < n; i++) a[i] = b[i];  // unknown
}
