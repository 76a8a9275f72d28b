// Classes and functions that random functions use. The generator copies this text into each file.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <staircase/view.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
using staircase::View;

double g1[352], g2[8][8], gs;
int gi, gk[352];

struct Point {
  double x, y;
};

struct Box {
  double a[352], s;
  int n, low : 4, high : 4;
  Box& operator++() {
    ++n;
    return *this;
  }
  Box& operator+=(double x) {
    s += x;
    return *this;
  }
  Box& operator%=(double x) {
    s = s / 2 + x;
    return *this;
  }
  Box& operator<<(double x) {
    s = x;
    return *this;
  }
  Box& operator,(double x) {
    s = x;
    return *this;
  }
  double& operator[](long i) { return a[i / 2]; }
  double operator()(long i) {
    ++n;
    return a[i];
  }
  double& operator*() { return s; }
  double operator-() { return s = -s; }
  bool operator!() {
    n = n + 1;
    return n > 3;
  }
  operator double() { return ++n; }
  bool operator<(double x) {
    s = x;
    return true;
  }
  double get(long i) const { return a[i]; }
  void put(long i, double x) { a[i] = x; }
  void put_all(long i, double x) {
    a[i] = x;
    s = x;
  }
  double& at(long i) { return a[i]; }
  double& top() { return s; }
  static double shared;
};
double Box::shared;

// Another library, with the names of standard classes and functions.
namespace mine {
template <typename T>
struct vector {
  T* d;
  T& operator[](long i) const { return d[i / 2]; }
  T& at(long i) const { return d[0]; }
  long size() const { return 8; }
};
template <typename T>
struct View {
  T* d;
  View& operator=(const View& o) {
    for (int e = 0; e < 8; ++e) d[e] = o.d[e];
    return *this;
  }
  T& operator()(long i) const { return d[i % 3]; }
};
template <typename T>
struct Array {
  T d[16];
  T& operator()(long i) { return d[i % 16]; }
  T& operator()(long i, long j) { return d[(i + j) % 16]; }
};
template <typename T>
struct span {
  T* d;
  T& operator[](int i) const { return d[i & 3]; }
};
inline double max(double, double) { return gs = gs / 2 + 1; }
inline double sqrt(double x) { return gs = x; }
}  // namespace mine

struct Noisy {
  double v;
  explicit Noisy(double x) : v(x) { ++gi; }
  Noisy(const Noisy& o) : v(o.v) { ++gi; }
  ~Noisy() { gs = v; }
};
struct Filled {
  double v = ++gs;
};
struct Matrix {
  double v[4];
  Matrix operator*(const Matrix& o) const {
    return {{v[0] * o.v[0] + v[1] * o.v[2], v[0] * o.v[1] + v[1] * o.v[3],
             v[2] * o.v[0] + v[3] * o.v[2], v[2] * o.v[1] + v[3] * o.v[3]}};
  }
  Matrix& operator*=(const Matrix& o) { return *this = *this * o; }
};
struct Affine {
  double v;
  Affine operator+(const Affine& o) const { return {v / 2 + o.v}; }
  Affine& operator+=(const Affine& o) {
    v = v / 2 + o.v;
    return *this;
  }
  Affine& operator=(double x) {
    v = v / 2 + x;
    return *this;
  }
};
struct Vec {
  double x, y;
};
inline Vec operator+(const Vec& a, const Vec& b) { return {a.x + b.x, a.y + b.y}; }
inline Vec& operator+=(Vec& a, const Vec& b) {
  a.x += b.x;
  a.y += b.y;
  return a;
}

inline void put(double& to, double x) { to = x; }
inline void bump(double& to) { to = to / 2 + 1; }
inline double twice(double x) { return 2 * x; }
inline short narrow(int i) { return i; }
inline signed char tiny(long i) { return i * 60; }
inline int half(int i) { return i / 2; }
inline double first(const double* x) { return x[0]; }
inline double next(double k = ++gs) { return k; }
inline double next_of(const double* x, long i) { return x[i + 1]; }
inline double counted(double x) {
  static double calls = 0;
  return x + ++calls * 0;
}
inline double global_sum(double x) { return gs += x; }
inline double& chosen(double& x, double& y, bool b) { return b ? x : y; }
inline double* pointer(double* x) { return x; }
inline double* next_pointer(double* x) { return x + 1; }
inline void seat(double*& p, double* q) { p = q; }
inline void both(double* x, double* y, long i) { x[i] = y[i + 1]; }
inline long recursive(long i) { return i > 3 ? recursive(i - 3) : i; }
inline void thrower(long i) {
  if (i == 4) throw std::runtime_error("four");
}
template <typename T>
void set(T& to, long i) {
  to[i] = i % 2;
}
template <typename T>
T sum(T x, T y) {
  return x + y;
}
template <typename T>
void store(T* to, long i, T x) {
  to[i] = x;
}
template <typename T, typename U>
void assign_to(T&& to, U x) {
  to = x;
}
