/// \file
/// Loops that are hard to analyse, each with its verdict in a comment at its end.

#include <algorithm>
#include <bitset>
#include <complex>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <staircase/view.hpp>

#include "called.hpp"

double anything;

struct Thing {
  double* far;
  Thing* next;
  double near, own[4];
  unsigned low : 3, high : 3;
  void set(double x) { near = x; }
};

struct Other {
  explicit Other(int& number) : of(number) {}
  int& of;
};

struct Pair {
  int &one, &other;
};

union Either {
  double one, other;
};

double outside(double x);
void shift(double* to, double* from, int i) { to[i] = from[i + 1]; }
void give(double& to, int i) { to = i; }
int even(int i) {
  if (i % 2 == 1) return 0;
  return i;
}

// clang-format off
void calls(double* a, std::vector<double>& v, Thing* s, std::function<void(int)> f, int n) {
  for (int i = 0; i < n; ++i) { a[i] = outside(a[i]); }  // unknown
  for (int i = 0; i < n; ++i) { f(i); }  // unknown
  for (int i = 0; i < n; ++i) { s[i].set(i); }  // independent
  for (int i = 0; i < n; ++i) { v.push_back(i); }  // unknown
  for (int i = 0; i < n; ++i) { std::swap(a[0], a[i]); }  // unknown
  for (int i = 0; i < n; ++i) { [&](int k) { a[k] = a[k + 1]; }(i); }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = std::max(a[i], 1.0); }  // independent
  for (int i = 0; i < n; ++i) { shift(a, a, i); }  // dependent
  for (int i = 0; i < n; ++i) { shift(a + 1, a, i); }  // independent
  for (int i = 0; i < n; ++i) { a[even(i)] = 1; }  // unknown
}

void names(double* a, double** rows, std::vector<std::span<double>>& spans, Thing* s, Either* e, int n) {
  double* p = a + 1;
  double* q = a;
  double* r = a;
  r = r + 1;
  for (int i = 0; i < n; ++i) { p[i] = a[i]; }  // dependent
  for (int i = 0; i < n; ++i) { q[i] = a[i + 1]; }  // dependent
  for (int i = 0; i < n; ++i) { q[i] = 2 * a[i]; }  // independent
  for (int i = 0; i < n; ++i) { r[i] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { *r++ = i; }  // unknown
  for (int i = 0; i < n; ++i) { rows[i][0] = i; }  // unknown
  for (int i = 0; i < n; ++i) { spans[i][0] = i; }  // unknown
  for (int i = 0; i < n; ++i) { s[i].far[0] = i; }  // unknown
  for (int i = 0; i < n; ++i) { s[i].near = s[i + 1].own[2]; }  // independent
  for (int i = 0; i < n; ++i) { s[i].near = s[i + 1].near; }  // dependent
  for (int i = 0; i < n; ++i) { e[i].one = e[i + 1].other; }  // unknown
  for (int i = 0; i < n; ++i) { double* here = &a[i]; here[1] = here[0]; }  // dependent
  for (int i = 0; i < n; ++i) { double& here = a[i]; here = 2 * here; }  // independent
  double t = 0;
  double* of_t = &t;
  for (int i = 0; i < n; ++i) { *of_t = a[i]; a[i] = t; }  // dependent
  for (int i = 0; i < n; ++i) { give(t, i); a[i] = t; }  // dependent
  for (int i = 0; i < n; ++i) { anything = a[i]; }  // dependent
}

void numbers(double* a, const int* at, std::vector<double>& v, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) { a[at[i]] = i; }  // unknown
  for (int i = 0; i < n; ++i) { a[at[i]] += i; }  // reduction
  for (int i = 0; i < n; ++i) { a[i] = at[at[i]]; }  // independent
  for (int i = 0; i < n; ++i) { a[k] = i; k = 1 - k; }  // dependent
  for (int i = 0; i < n; ++i) { k += 2; a[k] = i; }  // dependent
  for (int i = 0; i < n; ++i) { a[(unsigned char)i] = i; }  // unknown
  for (int i = 0; i < n; ++i) { a[int(i * 0.5)] = i; }  // unknown
  for (int i = 0; i < n; ++i) { a[i / 2] = i; }  // dependent
  for (int i = 0; i < n; ++i) { const int h = i; a[h] = 1; }  // independent
  for (int i = 0; i < n; ++i) { int h = i; a[h] = 1; h = 0; a[h] = 2; }  // unknown
  for (int i = 0; i < n; ++i) { a[i > 0 ? i - 1 : n - 1] = i; }  // independent
  const int all = int(v.size()), rest = int(v.size()) - 1;
  for (int i = 0; i < rest; ++i) { a[i + all] = a[i]; }  // independent
  double& first = a[k];
  k = 0;
  for (int i = 0; i < n; ++i) { first += a[k]; }  // unknown
}

void lines(double* a, int n, int m, int k) {
  for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) a[i * m + j] = 1; }  // independent independent
  for (int i = 0; i < n; ++i) { for (int j = 0; j <= m; ++j) a[i * m + j] = 1; }  // unknown unknown
  for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) a[i * m - j] = 1; }  // unknown unknown
  for (int i = 0; i < n; ++i) { for (int j = 1; j <= m; ++j) a[i * m - j] = 1; }  // independent independent
  for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) a[i * k + j] = 1; }  // unknown unknown
  for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) a[j * m + i * m * m] = 1; }  // independent independent
  for (int i = 0; i < n; ++i) { for (int j = 0; j < m; ++j) a[i * m + j] = a[i * m + j + m]; }  // dependent independent
}

void sizes(double* a, int n) {
  int m = n;
  for (int t = 0; t < 3; ++t) {  // dependent
    for (int i = 0; i < n; ++i) { a[i + m] = a[i]; }  // unknown
    m = 0;
  }
  const int some = int(outside(n));
  for (int i = 0; i < n; ++i) { a[i + some] = a[i]; }  // unknown
}

void own(double* a, int n) {
#pragma omp parallel
  {
    double t[8], s;
#pragma omp for
    for (int i = 0; i < n; ++i) { t[0] = a[i]; a[i] = t[0]; }  // unknown
#pragma omp for
    for (int i = 0; i < n; ++i) { s = a[i]; a[i] = s * s; }  // independent
  }
}

int leaves(double* a, int n) {
  for (int i = 0; i < n; ++i) { if (a[i] > 0) break; a[i] = 1; }  // unknown
  for (int i = 0; i < n; ++i) { if (a[i] > 0) return i; a[i] = 1; }  // unknown
  for (int i = 0; i < n; ++i) { if (i == 3) continue; a[i] = a[3]; }  // independent
  for (int i = 0; i < n; ++i) { a[i] = 1; i += 1; }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = 1; n = n - 1; }  // unknown
  for (int i = 0; i < n; ++i) { double x = a[i]; while (x > 1) { x = x / 2; } a[i] = x; }  // independent unknown
  for (int i = 0; i < n; ++i) { switch (i) { case 1: a[0] = 1; break; default: a[i] = 2; } }  // unknown
  for (int i = 0; i < n; ++i) { static double t; t += a[i]; a[i] = t; }  // unknown
  for (int i = 0; i < n; ++i) { goto out; }  // unknown
out:
  return n;
}

void updates(double* a, int n) {
  double s = 0, t[8] = {};
  for (int i = 0; i < n; ++i) { s = a[i] - s; }  // dependent
  for (int i = 0; i < n; ++i) { s += a[i]; s *= 2; }  // dependent
  for (int i = 0; i < n; ++i) { s += a[i]; a[i] = s; }  // dependent
  for (int i = 0; i < n; ++i) { a[i] = s += 1; }  // dependent
  for (int i = 0; i < n; ++i) { s = std::max(a[i], s); }  // reduction
  for (int i = 0; i < n; ++i) { if (a[i] > s) s = a[i]; }  // reduction
  for (int i = 0; i < n; ++i) { if (a[i] > 1) s += a[i]; }  // reduction
  for (int i = 0; i < n; ++i) { t[i % 8] = a[i]; a[i] = t[0]; }  // dependent
  for (int i = 0; i < n; ++i) { double own[2] = {}; own[0] = a[i]; a[i] = own[1]; }  // independent
}

void headers(double* a, int n) {
  for (int i = 0; i < n; ++i) { a[i] = called::twice(a[i]); }  // independent
  for (int i = 0; i < n; ++i) { a[i] = called::deeper(a[i]); }  // independent
  for (int i = 0; i < n; ++i) { a[i] = called::next_of(a, i); }  // dependent
  for (int i = 0; i < n; ++i) { called::put(a[i], 1); }  // independent
  for (int i = 0; i < n; ++i) { called::put(a[0], a[i]); }  // dependent
  for (int i = 0; i < n; ++i) { a[called::half(2 * i)] = 1; }  // independent
  for (int i = 0; i < n; ++i) { a[called::half(i)] = 1; }  // dependent
  for (int i = 0; i < n; ++i) { a[i] = called::counted(a[i]); }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = called::deep(a[i]); }  // unknown
  for (int i = 0; i < n; ++i) { called::shared(a, i); }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = called::special(a, i); }  // dependent
}

template <typename T>
void unresolved(T* a, int n) {
  for (int i = 0; i < n; ++i) { a[i] = called::sum(a[i], a[i]); }  // independent
  for (int i = 0; i < n; ++i) { a[i] = called::sum(a[i], a[i], a[i]); }  // independent
  for (int i = 0; i < n; ++i) { a[i] = called::fallback(a[i]); }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = called::special(a, i); }  // unknown
}

void captured(const std::pair<double, double>& pair, double* a, int n) {
  const auto& [one, other] = pair;
  const auto both = [&] { return one + other; };
  for (int i = 0; i < n; ++i) { a[i] = one; }  // independent
  for (int i = 0; i < n; ++i) { a[i] = both(); }  // unknown
}

void strays(double* a, Thing* s, double** rows, std::vector<double*>& ends, std::vector<bool>& bits, bool c, int n) {
  double x = 0, y = 0;
  for (int i = 0; i < n; ++i) { double& r = c ? x : y; r += a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { double& r = c ? a[0] : a[1]; r = i; }  // unknown
  for (int i = 0; i < n; ++i) { const double& r = c ? x : y; a[i] = r; }  // independent
  for (int i = 0; i < n; ++i) { *rows[i] = i; }  // unknown
  for (int i = 0; i < n; ++i) { *ends[i] = i; }  // unknown
  for (int i = 0; i < n; ++i) { s[i].next->near = i; }  // unknown
  for (int i = 0; i < n; ++i) { (*s[i].next).near = i; }  // unknown
  for (int i = 0; i < n; ++i) { Thing& t = *s[i].next; t.near = i; }  // unknown
  for (int i = 0; i < n; ++i) { *s[i].far = i; }  // unknown
  for (int i = 0; i < n; ++i) { bits[i] = true; }  // unknown
  for (int i = 0; i < n; ++i) { s[i].low = s[i + 1].high; }  // unknown
  for (int i = 0; i < n; ++i) { const double* p = a + i; a[i] = 1; (void)p; }  // unknown
  double& r = a[0];
  const auto all = [&] {
    for (int i = 0; i < n; ++i) { a[i] = r; }  // unknown
  };
  all();
}

void changed(double* a, std::istream& in, std::function<void(int&)> f, int n) {
  int read = 0, set = 0, given = 0, held = 0, listed = 0, other = 0;
  double* p = a;
  in >> read;
  const auto three = [](int& x) { x = 3; };
  three(set);
  f(given);
  Other(held).of = 3;
  Pair{listed, other}.one = 3;
  const auto next = [](double*& q) { ++q; };
  next(p);
  for (int i = 0; i < n; ++i) { a[i + read] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { a[i + set] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { a[i + given] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { a[i + held] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { a[i + listed] = a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { p[i] = a[i]; }  // unknown
}

void wrapped(double* a, const staircase::View<double, 2>& v, unsigned n) {
  for (int i = 0; i < 99999; ++i) { const unsigned short h = i; a[h] = i; }  // unknown
  for (unsigned i = 0; i < n; ++i) { if (i - 5 >= n) a[0] = i; }  // dependent
  for (unsigned i = 0; i < n; ++i) { if (i - 1 < n) a[i - 1] = i; }  // independent
  for (unsigned i = 0; i < n; ++i) { const unsigned k = i - 5; if (k > n) a[0] = i; }  // dependent
  for (unsigned i = 0; i < 9; ++i) { if (i == 0 || i == 8) a[(i - 1) % 8] = i; }  // dependent
  for (unsigned i = 0; i < n; ++i) { a[std::min(i - 1, 7u)] = i; }  // dependent
  for (int i = -1; i < 1; ++i) { if (i < v.extent(0)) a[0] = i; }  // independent
  for (int i = 0; i < 2; ++i) { a[v.extent(i)] = i; }  // unknown
}

// Pointers that code outside of the loop sets to other memory.
double shared_numbers[8];
double *one_global, *other_global, *into_array = shared_numbers + 1;
double& name_of_global = anything;

void swap_globals(double* p) {
  one_global = p;
  other_global = p;
}

struct Owner {
  double own[8];
  double* into;
  double* far;
};

struct TwoViews {
  staircase::View<double, 1> one, other;
};

void seated(double* p, double* q, staircase::View<double, 1> v, staircase::View<double, 1> w, Owner& o, int n) {
  for (int i = 0; i < n; ++i) { p[i] = q[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { v(i) = w(i + 1); }  // unknown
  for (int i = 0; i < n; ++i) { one_global[i] = other_global[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { into_array[i] = shared_numbers[i]; }  // unknown
  for (int i = 0; i < n; ++i) { name_of_global = anything; }  // dependent
  for (int i = 0; i < n; ++i) { o.into[i] = o.own[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { o.far[i] = o.own[i + 1]; }  // independent
  p = q + 1;
  v = w;
  o.into = o.own;
  TwoViews both{v, v};
  for (int i = 0; i < n; ++i) { both.one(i) = both.other(i + 1); }  // unknown
}

// Operators and functions of other libraries.
struct Counter {
  long v;
  Counter& operator++() { ++v; return *this; }
  Counter& operator%=(long x) { v %= x; return *this; }
  Counter operator+(const Counter& other) const;
};

int counted_calls;
int next_call(int k = ++counted_calls) { return k; }
short narrowed(int i) { return i; }

struct Making {
  int k = ++counted_calls;
};

void classes(Counter& c, std::bitset<8>& bits, std::istream& in, std::string& s, std::vector<std::string>& all,
             std::vector<Counter>& counters, double* a, int* k, int n) {
  for (int i = 0; i < n; ++i) { ++c; a[i] = c.v; }  // dependent
  for (int i = 0; i < n; ++i) { c %= 3; }  // dependent
  for (int i = 0; i < n; ++i) { bits |= i; }  // unknown
  for (int i = 0; i < n; ++i) { in >> a[i]; }  // unknown
  for (int i = 0; i < n; ++i) { all[i] = std::move(s); }  // dependent
  for (int i = 0; i < n; ++i) { all[i] = s; }  // independent
  for (int i = 0; i < n; ++i) { s = all[i] + s; }  // dependent
  for (int i = 0; i < n; ++i) { counters[0] = counters[i] + counters[0]; }  // unknown
  for (int i = 0; i < n; ++i) { k[i] = next_call(); }  // dependent
  for (int i = 0; i < n; ++i) { k[i] = next_call(1); }  // independent
  for (int i = 0; i < n; ++i) { Making made; k[i] = made.k; }  // unknown
  for (int i = 0; i < 99999; ++i) { a[narrowed(i) + 32768] = i; }  // unknown
  for (short i = 0; i < n; ++i) { a[i] = i; }  // unknown
  for (int i = 0; i < n; ++i) { extern double anything; anything += a[i]; a[i] = anything; }  // dependent
  for (int i = 0; i < n; ++i) { asm volatile("" : "+m"(*a)); }  // unknown
  for (int i = 0; i < n; ++i) { thread_local int seen; a[i] = ++seen; }  // unknown
  for (int i = 0; i < n; ++i) { a[i] = (counted_calls = i, i); }  // dependent
}

void complex_sums(std::complex<double>& z, const std::complex<double>* y, int n) {
  for (int i = 0; i < n; ++i) { z += y[i]; }  // reduction
  for (int i = 0; i < n; ++i) { z = y[i] * z; }  // reduction
  for (int i = 0; i < n; ++i) { z = y[i] / z; }  // dependent
}

void wholes(int& s, bool& b, const double* x, const int* k, int n) {
  for (int i = 0; i < n; ++i) { s += x[i]; }  // dependent
  for (int i = 0; i < n; ++i) { s += k[i]; }  // reduction
  for (int i = 0; i < n; ++i) { b += k[i]; }  // dependent
  for (int i = 0; i < n; ++i) { b = b && k[i] > 0; }  // reduction
  for (int i = 0; i < n; ++i) { s = k[i] > s ? k[i] : s; }  // reduction
  for (int i = 0; i < n; ++i) { s = k[i] > s ? s : k[i]; }  // reduction
  for (int i = 0; i < n; ++i) { s = k[i] > s ? k[i] : n; }  // dependent
  for (int i = 0; i < n; ++i) { b ^= k[i] > 0; }  // reduction
  for (int i = 0; i < n; ++i) { b ^= k[i]; }  // dependent
}

void narrowed_extremes(unsigned char& c, const unsigned char* d, const int* k, int n) {
  for (int i = 0; i < n; ++i) { c = std::max(c, d[i]); }  // reduction
  for (int i = 0; i < n; ++i) { c = std::max<int>(c, k[i]); }  // dependent
  for (int i = 0; i < n; ++i) { if (k[i] > c) c = k[i]; }  // unknown
  for (int i = 0; i < n; ++i) { c = k[i] > c ? k[i] : c; }  // dependent
}

void counters_by_name(double* a, int n) {
  int i;
  int* of_i = &i;
  for (i = 0; i < n; ++i) { *of_i += 1; a[i] = 1; }  // unknown
}

template <typename T>
void bits_of(std::vector<T>& v, int n) {
  for (int i = 0; i < n; ++i) { v[i] = T(1); }  // unknown
}
void use_bits(std::vector<bool>& v) { bits_of(v, 8); }

// Templates that are instantiated for types that are not numbers.
template <typename V>
void put_into(V& to, int i) {
  to[i] = i % 2;
}
template <typename T>
void put_one(T* to, int i, T x) {
  to[i] = x;
}
struct Halving {
  double* p;
  double& operator[](int i) const { return p[i / 2]; }
};
struct Averaging {
  double v;
  Averaging& operator=(int x) { shared_numbers[0] += v = x; return *this; }
};
template <typename T>
struct Storing {
  void put(T* to, int i) const { to[i] = i; }
};
void made_for_others(std::vector<bool>& bits, std::vector<double>& v, Halving& h, Averaging* m, bool* b, double* a, Storing<double>& s,
                     Storing<Averaging>& t, int n) {
  for (int i = 0; i < n; ++i) { put_into(bits, i); }  // unknown
  for (int i = 0; i < n; ++i) { put_into(v, i); }  // independent
  for (int i = 0; i < n; ++i) { put_into(h, i); }  // unknown
  for (int i = 0; i < n; ++i) { put_into(m, i); }  // unknown
  for (int i = 0; i < n; ++i) { put_one(a, i, 1.0); }  // independent
  for (int i = 0; i < n; ++i) { put_one(b, i, true); }  // unknown
  for (int i = 0; i < n; ++i) { s.put(a, i); }  // independent
  for (int i = 0; i < n; ++i) { t.put(m, i); }  // unknown
}

// A class whose elements are references to elements of an array.
struct Referring {
  double* p;
  struct Element {
    double* of;
    int i;
    const Element& operator=(double x) const { of[i] = x; return *this; }
    operator double() const { return of[i]; }
  };
  Element operator()(int i) const { return {p, i}; }
};
void refers(Referring other, double* a, int n) {
  Referring made{a};
  for (int i = 0; i < n; ++i) { made(i) = a[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { other(i) = a[i + 1]; }  // independent
}

// Parameters of the form a[] are pointers, which may be set to other memory.
void seated_arrays(double a[], double b[], double c[], int n) {
  for (int i = 0; i < n; ++i) { c[i] = b[i + 1]; }  // independent
  a = b;
  for (int i = 0; i < n; ++i) { a[i] = b[i + 1]; }  // unknown
}

// Global pointers that are set to other memory through another name.
double *by_pointer, *by_reference, *by_call, *by_nothing;
void seat(double*& p, double* q) { p = q; }
void seats(double* q) {
  double** to = &by_pointer;
  *to = q;
  double*& name = by_reference;
  name = q;
  seat(by_call, q);
}
struct Leading { double* p; };
struct Initial { double* p; };
Leading leading;
Initial initial{shared_numbers};
void leads(double* q) { leading = {q}; }
void seated_by_others(double* q, int n) {
  for (int i = 0; i < n; ++i) { leading.p[i] = q[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { initial.p[i] = shared_numbers[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { by_pointer[i] = q[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { by_reference[i] = q[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { by_call[i] = q[i + 1]; }  // unknown
  for (int i = 0; i < n; ++i) { by_nothing[i] = q[i + 1]; }  // independent
}
// clang-format on
