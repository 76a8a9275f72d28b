/// \file
/// Functions that the loops of hard.cpp call.

#pragma once

#include <algorithm>

namespace called {

inline double twice(double x) { return 2 * x; }
inline double next_of(const double* of, int i) { return of[i + 1]; }
inline void put(double& to, double x) { to = x; }
inline double counted(double x) {
  static int calls = 0;
  return ++calls * x;
}
inline double deeper(double x) { return twice(x) + 1; }
double hidden(double x);
inline double deep(double x) { return hidden(x); }

template <typename T>
T sum(T a, T b) {
  return a + b;
}
template <typename T>
T sum(T a, T b, T c) {
  return a + b + c;
}
template <typename T>
T fallback(T a, T b = 0) {
  return a + b;
}
template <typename T>
T fallback(T a) {
  return a;
}

// Unlike the primary template, the explicit specialisation returns the previous element.
template <typename T>
T special(T* of, int i) {
  return of[i];
}
template <>
inline double special<double>(double* of, int i) {
  return of[i - 1];
}

inline int half(int i) { return i / 2; }

inline void shared(double* to, int i) {
#pragma omp parallel
  to[i] += 1;
}

}  // namespace called
