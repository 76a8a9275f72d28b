/// \file
/// Small kernels in the form of PolyBench/C. `slice` reads this text. The test compiles it with
/// numbers that record their accesses, and with an object `Pass` in each loop.

#include "kernels.hpp"

// clang-format off
Value root(Value x) { return x * x; }

Value least(Value x, Value y) { return x < y ? x : y; }

void gemm(long n, long m, Matrix a, Matrix b, Matrix c, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      c(i, j) *= 2;
    }
    for (long k = 0; k < m; ++k) {
      for (long j = 0; j < m; ++j) {
        c(i, j) += a(i, k) * b(k, j);
      }
    }
  }
}

void two_products(long n, long m, Matrix a, Matrix b, Matrix c, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j) {
      Real sum = 0;
      for (long k = 0; k < m; ++k) {
        sum += a(i, k) * a(k, j);
      }
      b(i, j) = sum;
    }
  }
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j) {
      c(i, j) = 0;
      for (long k = 0; k < m; ++k) {
        c(i, j) = c(i, j) + b(i, k) * a(k, j);
      }
    }
  }
}

void atax(long n, long m, Matrix a, Matrix, Matrix, Vector x, Vector y, Vector z) {
  for (long i = 0; i < m; ++i) {
    y(i) = 0;
  }
  for (long i = 0; i < n; ++i) {
    z(i) = 0;
    for (long j = 0; j < m; ++j) {
      z(i) += a(i, j) * x(j);
    }
    for (long j = 0; j < m; ++j) {
      y(j) += a(i, j) * z(i);
    }
  }
}

void bicg(long n, long m, Matrix a, Matrix, Matrix, Vector x, Vector y, Vector z) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      y(j) = y(j) + z(i) * a(i, j);
      x(i) = x(i) + a(i, j) * z(j);
    }
  }
}

void mvt(long n, long, Matrix a, Matrix, Matrix, Vector x, Vector y, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j) {
      x(i) += a(j, i) * y(j);
    }
  }
}

void gemver(long n, long, Matrix a, Matrix, Matrix, Vector x, Vector y, Vector z) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j) {
      a(i, j) = a(i, j) + x(i) * y(j) + z(i) * x(j);
    }
  }
}

void syrk(long n, long m, Matrix a, Matrix, Matrix c, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j <= i; ++j) {
      c(i, j) *= 3;
    }
    for (long k = 0; k < m; ++k) {
      for (long j = 0; j <= i; ++j) {
        c(i, j) += a(i, k) * a(j, k);
      }
    }
  }
}

void symm(long n, long m, Matrix a, Matrix b, Matrix c, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      Real rest = 0;
      for (long k = 0; k < i; ++k) {
        c(k, j) += b(i, j) * a(i, k);
        rest += b(k, j) * a(i, k);
      }
      c(i, j) = 2 * c(i, j) + b(i, j) * a(i, i) + rest;
    }
  }
}

void trmm(long n, long m, Matrix a, Matrix b, Matrix, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      for (long k = i + 1; k < n; ++k) {
        b(i, j) += a(k, i) * b(k, j);
      }
      b(i, j) = 2 * b(i, j);
    }
  }
}

void trisolv(long n, long, Matrix a, Matrix, Matrix, Vector x, Vector y, Vector) {
  for (long i = 0; i < n; ++i) {
    x(i) = y(i);
    for (long j = 0; j < i; ++j) {
      x(i) -= a(i, j) * x(j);
    }
    x(i) = x(i) / a(i, i);
  }
}

void cholesky(long n, long, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < i; ++j) {
      for (long k = 0; k < j; ++k) {
        a(i, j) -= a(i, k) * a(j, k);
      }
      a(i, j) = a(i, j) / a(j, j);
    }
    for (long k = 0; k < i; ++k) {
      a(i, i) -= a(i, k) * a(i, k);
    }
    a(i, i) = root(a(i, i));
  }
}

void lu(long n, long, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long k = 0; k < n; ++k) {
    for (long j = k + 1; j < n; ++j) {
      a(k, j) = a(k, j) / a(k, k);
    }
    for (long i = k + 1; i < n; ++i) {
      for (long j = k + 1; j < n; ++j) {
        a(i, j) -= a(i, k) * a(k, j);
      }
    }
  }
}

void durbin(long n, long, Matrix, Matrix, Matrix, Vector x, Vector y, Vector z) {
  Real beta = 1, alpha = -1 * x(0);
  y(0) = alpha;
  for (long k = 1; k < n; ++k) {
    beta = (1 - alpha * alpha) * beta;
    Real sum = 0;
    for (long i = 0; i < k; ++i) {
      sum += x(k - i - 1) * y(i);
    }
    alpha = -1 * (x(k) + sum) / beta;
    for (long i = 0; i < k; ++i) {
      z(i) = y(i) + alpha * y(k - i - 1);
    }
    for (long i = 0; i < k; ++i) {
      y(i) = z(i);
    }
    y(k) = alpha;
  }
}

void gramschmidt(long n, long m, Matrix a, Matrix r, Matrix q, Vector, Vector, Vector) {
  for (long k = 0; k < n; ++k) {
    Real norm = 0;
    for (long i = 0; i < m; ++i) {
      norm += a(i, k) * a(i, k);
    }
    r(k, k) = root(norm);
    for (long i = 0; i < m; ++i) {
      q(i, k) = a(i, k) / r(k, k);
    }
    for (long j = k + 1; j < n; ++j) {
      r(k, j) = 0;
      for (long i = 0; i < m; ++i) {
        r(k, j) += q(i, k) * a(i, j);
      }
      for (long i = 0; i < m; ++i) {
        a(i, j) = a(i, j) - q(i, k) * r(k, j);
      }
    }
  }
}

void correlation(long n, long m, Matrix a, Matrix b, Matrix, Vector x, Vector, Vector) {
  for (long j = 0; j < m; ++j) {
    x(j) = 0;
    for (long i = 0; i < n; ++i) {
      x(j) += a(i, j);
    }
    x(j) = x(j) / 3;
  }
  for (long i = 0; i + 1 < m; ++i) {
    b(i, i) = 1;
    for (long j = i + 1; j < m; ++j) {
      b(i, j) = 0;
      for (long k = 0; k < n; ++k) {
        b(i, j) += a(k, i) * a(k, j);
      }
      b(j, i) = b(i, j);
    }
  }
}

void jacobi_1d(long n, long m, Matrix, Matrix, Matrix, Vector x, Vector y, Vector) {
  for (long t = 0; t < m; ++t) {
    for (long i = 1; i < n - 1; ++i) {
      y(i) = x(i - 1) + x(i) + x(i + 1);
    }
    for (long i = 1; i < n - 1; ++i) {
      x(i) = y(i);
    }
  }
}

void jacobi_2d(long n, long, Matrix a, Matrix b, Matrix, Vector, Vector, Vector) {
  for (long i = 1; i < n - 1; ++i) {
    for (long j = 1; j < n - 1; ++j) {
      b(i, j) = a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1);
    }
  }
}

void seidel_2d(long n, long m, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long t = 0; t < m; ++t) {
    for (long i = 1; i <= n - 2; ++i) {
      for (long j = 1; j <= n - 2; ++j) {
        a(i, j) = a(i - 1, j) + a(i, j - 1) + a(i, j) + a(i, j + 1) + a(i + 1, j);
      }
    }
  }
}

void fdtd_2d(long n, long m, Matrix ex, Matrix ey, Matrix hz, Vector x, Vector, Vector) {
  for (long t = 0; t < m; ++t) {
    for (long j = 0; j < n; ++j) {
      ey(0, j) = x(t);
    }
    for (long i = 1; i < n; ++i) {
      for (long j = 0; j < n; ++j) {
        ey(i, j) = ey(i, j) - (hz(i, j) - hz(i - 1, j));
      }
    }
    for (long i = 0; i < n; ++i) {
      for (long j = 1; j < n; ++j) {
        ex(i, j) = ex(i, j) - (hz(i, j) - hz(i, j - 1));
      }
    }
    for (long i = 0; i < n - 1; ++i) {
      for (long j = 0; j < n - 1; ++j) {
        hz(i, j) = hz(i, j) - (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
      }
    }
  }
}

void adi_sweep(long n, long, Matrix u, Matrix v, Matrix p, Vector, Vector, Vector) {
  for (long i = 1; i < n - 1; ++i) {
    v(0, i) = 1;
    p(i, 0) = 0;
    for (long j = 1; j < n - 1; ++j) {
      p(i, j) = u(j, i) / (p(i, j - 1) + 2);
    }
    for (long j = n - 2; j >= 1; --j) {
      v(j, i) = p(i, j) * v(j + 1, i);
    }
  }
}

void floyd_warshall(long n, long, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long k = 0; k < n; ++k) {
    for (long i = 0; i < n; ++i) {
      for (long j = 0; j < n; ++j) {
        a(i, j) = least(a(i, j), a(i, k) + a(k, j));
      }
    }
  }
}

void nussinov(long n, long, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long i = n - 1; i >= 0; --i) {
    for (long j = i + 1; j < n; ++j) {
      a(i, j) = a(i, j) + a(i, j - 1);
      if (i + 1 < n) {
        a(i, j) = a(i, j) * a(i + 1, j);
      }
      for (long k = i + 1; k < j; ++k) {
        a(i, j) += a(i, k) * a(k + 1, j);
      }
    }
  }
}

void deriche_row(long n, long m, Matrix a, Matrix b, Matrix, Vector, Vector, Vector) {
  for (long i = 0; i < n; ++i) {
    Real before = 0;
    for (long j = 0; j < m; ++j) {
      b(i, j) = a(i, j) + before;
      before = b(i, j);
    }
  }
}

void doitgen(long n, long m, Matrix a, Matrix c, Matrix, Vector x, Vector, Vector) {
  for (long r = 0; r < n; ++r) {
    for (long p = 0; p < m; ++p) {
      x(p) = 0;
      for (long s = 0; s < m; ++s) {
        x(p) += a(r, s) * c(s, p);
      }
    }
    for (long p = 0; p < m; ++p) {
      a(r, p) = x(p);
    }
  }
}

void shared_scalar(long n, long, Matrix, Matrix, Matrix, Vector x, Vector y, Vector) {
  Real t = 0;
  for (long i = 0; i < n; ++i) {
    t = x(i);
    y(i) = t * t;
  }
}

void reversed(long n, long, Matrix, Matrix, Matrix, Vector x, Vector y, Vector) {
  for (long i = 0; i < n; ++i) {
    x(i) = x(n - 1 - i);
  }
  for (long i = 0; i < n / 2; ++i) {
    y(i) = y(n - 1 - i);
  }
}

void even_and_odd(long n, long, Matrix, Matrix, Matrix, Vector x, Vector y, Vector) {
  for (long i = 0; i + 1 < n; i += 2) {
    x(i) = x(i + 1);
  }
  for (long i = 0; i + 2 < n; i += 2) {
    y(i + 1) = y(i + 2) + y(i);
  }
  for (long i = 0; i < n; ++i) {
    if (i % 2 == 0) {
      x(i) = x(i / 2);
    }
  }
}

void flat(long n, long m, Flat p, Flat q) {
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      p[i * m + j] = q[j * n + i];
    }
  }
  for (long i = 1; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      p[i * m + j] = p[(i - 1) * m + j] + 1;
    }
  }
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < m; ++j) {
      q[i * m + (m - 1 - j)] += p[i * m + j];
    }
  }
}

void tiled(long n, long m, Matrix a, Matrix b, Matrix, Vector, Vector, Vector) {
  for (long i0 = 0; i0 < n; i0 += 3) {
    for (long j = 0; j < m; ++j) {
      const long last = std::min(i0 + 3, n);
      for (long i = i0; i < last; ++i) {
        b(j, i) = a(i, j);
      }
    }
  }
}

void rows_by_brackets(long n, Rows a, Rows b) {
  for (long i = 1; i < n; ++i) {
    for (long j = 1; j < n; ++j) {
      if (j == i) continue;
      a[i][j] = a[i - 1][j - 1] + b[j][i];
    }
  }
}

void skewed(long n, long m, Matrix a, Matrix, Matrix, Vector, Vector, Vector) {
  for (long t = 0; t < n; ++t) {
    for (long i = std::max(0L, t - m + 1); i <= std::min(t, n - 1); ++i) {
      a(i, t - i) = a(i, t - i) * 2 + (i > 0 ? a(i - 1, t - i) : a(i, t - i));
    }
  }
}
// clang-format on
