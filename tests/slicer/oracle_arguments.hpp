// The arguments of random functions. The generator copies this text after the functions.
#include <cstring>
#include <map>
namespace {
struct Slots {
  double d[10][352];
  int i[3][352];
  short h[352];
  unsigned char c[352];
  bool f[352];
  double s[3];
  int z;
  bool bo;
  Point pt[352];
  double mat[24][8];
  Box o[2];
  Affine af;
  Vec ve[2];
  Vec vs[64];
  std::complex<double> co;
  Matrix ma[9];
};
Slots slots;
std::vector<double> v0, w0;
std::vector<bool> vb0;
std::string str0;
struct Arguments {
  std::map<std::string, double*> d;
  std::map<std::string, int*> i;
  std::vector<double>*v, *w;
  Box *o, *oo;
  long n, m;
  int nn;
} A;

OUTSIDE void fill(const oracle::Trial& trial) {
  std::memset(&slots, 0, sizeof slots);  // the bytes between members, too
  oracle::Numbers numbers(trial.seed);
  static const double reals[] = {1, -1, 2, 0.5, 3, 0};
  const auto some = [&](long least, long most) OUTSIDE { return numbers.some(least, most); };
  const auto real = [&]() OUTSIDE { return reals[numbers.some(0, 5)]; };
  for (auto& row : slots.d)
    for (double& x : row) x = real();
  for (auto& row : slots.i)
    for (int& x : row) x = some(0, 7);
  for (short& x : slots.h) x = some(0, 9);
  for (unsigned char& x : slots.c) x = some(0, 9);
  for (bool& x : slots.f) x = some(0, 1);
  for (double& x : slots.s) x = real();
  slots.z = some(1, 5);
  slots.bo = some(0, 1);
  for (Point& p : slots.pt) p = {real(), real()};
  for (auto& row : slots.mat)
    for (double& x : row) x = real();
  for (Box& o : slots.o) {
    for (double& x : o.a) x = real();
    o.s = real();
    o.n = some(0, 3);
    o.low = 1;
    o.high = 2;
  }
  slots.af.v = real();
  slots.co = {real(), real()};
  for (Vec& v : slots.vs) v = {real(), real()};
  for (Vec& v : slots.ve) v = {real(), real()};
  for (Matrix& m : slots.ma)
    for (double& x : m.v) x = some(0, 2);
  v0.resize(352);
  w0.resize(352);
  vb0.assign(352, false);
  for (double *x = v0.data(), *y = w0.data(), *end = x + 352; x != end;) {
    *x++ = real();
    *y++ = real();
  }
  for (int b = 0; b < 40; ++b) vb0[b] = some(0, 1);
  str0 = "x";
  for (double& x : g1) x = real();
  for (auto& row : g2)
    for (double& x : row) x = real();
  for (int& x : gk) x = some(0, 7);
  gs = real();
  gi = some(0, 3);
  Box::shared = 0;
  A.v = &v0;
  A.w = &w0;
  A.o = &slots.o[0];
  A.oo = &slots.o[1];
  A.n = some(4, 7);
  A.m = some(3, 6);
  A.nn = A.n;
  if (some(0, 5) == 0) A.n = some(0, 3);
  const int by = 24;
  A.d = {{"a", slots.d[0] + by},
         {"b", slots.d[1] + by},
         {"q", slots.d[2] + by},
         {"sp", slots.d[3] + by},
         {"x", slots.d[4] + by},
         {"y", slots.d[5] + by},
         {"r1", slots.d[6] + by},
         {"mat", &slots.mat[2][0]},
         {"s", &slots.s[0]},
         {"u", &slots.s[1]},
         {"v", v0.data()},
         {"w", w0.data()},
         {"g1", g1},
         {"g2", &g2[0][0]},
         {"gs", &gs},
         {"o", slots.o[0].a},
         {"oo", slots.o[1].a}};
  A.i = {{"k", slots.i[0] + by}, {"l", slots.i[1] + by}, {"z", &slots.z}, {"gk", gk}, {"gi", &gi}};
  if (trial.one.empty()) return;
  const std::string &one = trial.one, &other = trial.other;
  const auto is_owner = [](const std::string& x) {
    return x == "g1" || x == "g2" || x == "gs" || x == "gk" || x == "gi";
  };
  if ((one == "v" && other == "w") || (one == "w" && other == "v")) {
    A.w = A.v;
    return;
  }
  if ((one == "o" && other == "oo") || (one == "oo" && other == "o")) {
    A.oo = A.o;
    return;
  }
  const auto is_fixed = [&](const std::string& x) {
    return is_owner(x) || x == "v" || x == "w" || x == "o" || x == "oo";
  };
  // A single number can be an element of an array, but an array does not fit into a small object.
  const auto is_small = [](const std::string& x) {
    return x == "s" || x == "u" || x == "z" || x == "gs" || x == "gi" || x == "g2";
  };
  const bool is_turned = is_fixed(one) || (is_small(other) && !is_small(one));
  const std::string &moved = is_turned ? other : one, &kept = is_turned ? one : other;
  if (is_fixed(moved) || (is_small(kept) && !is_small(moved))) return;
  const long shift = is_small(kept) ? 0 : is_fixed(kept) ? std::max(0L, trial.shift) : trial.shift;
  if (A.d.contains(moved) && A.d.contains(kept)) A.d[moved] = A.d[kept] + shift;
  if (A.i.contains(moved) && A.i.contains(kept)) A.i[moved] = A.i[kept] + shift;
}

void remember_all() {
  oracle::remember(v0.data(), v0.size() * sizeof(double));
  oracle::remember(w0.data(), w0.size() * sizeof(double));
  oracle::remember(&*vb0.begin()._M_p, 48);
}

OUTSIDE void collect(oracle::State& state) {
  state.add_all(&slots.d[0][0], 10 * 352);
  state.add_all(&slots.i[0][0], 3 * 352);
  state.add_all(slots.h, 352);
  state.add_all(slots.c, 352);
  state.add_all(slots.f, 352);
  state.add_all(slots.s, 3);
  state.add(slots.z);
  state.add(slots.bo);
  state.add_all(&slots.pt[0].x, 704);
  state.add_all(&slots.mat[0][0], 24 * 8);
  for (Box& o : slots.o) {
    state.add_all(o.a, 352);
    state.add(o.s);
    state.add(o.n);
    state.add(o.low);
    state.add(o.high);
  }
  state.add(slots.af.v);
  state.add(slots.co.real());
  state.add(slots.co.imag());
  state.add_all(&slots.vs[0].x, 128);
  state.add_all(&slots.ve[0].x, 4);
  state.add_all(&slots.ma[0].v[0], 36);
  state.add_all(v0.data(), 352);
  state.add_all(w0.data(), 352);
  state.add(v0.size());
  state.add_all(str0.data(), str0.size());
  state.add_all(g1, 352);
  for (int b = 0; b < 40; ++b) state.add(vb0[b]);
  state.add_all(&g2[0][0], 64);
  state.add_all(gk, 352);
  state.add(gs);
  state.add(gi);
  state.add(Box::shared);
}
}  // namespace
