/// \file
/// Products of small matrices for the matrix operations of warps.

#include <algorithm>
#include <cmath>

#include "cuda_on_cpu/threads.hpp"

namespace cuda_on_cpu {

// Programs are compiled for any x86-64 processor. The clone for processors with FMA uses an
// instruction instead of a call of fma.
#ifdef __x86_64__
__attribute__((target_clones("fma", "default")))
#endif
void add_product(double* c, const double* a, const double* b, int rows, int depth) {
  constexpr int columns = 8;
  for (int i = 0; i < rows; ++i) {
    double sums[columns];
    std::copy_n(c + i * columns, columns, sums);
    for (int k = 0; k < depth; ++k)
      for (int j = 0; j < columns; ++j)
        sums[j] = std::fma(a[i * depth + k], b[k * columns + j], sums[j]);
    std::copy_n(sums, columns, c + i * columns);
  }
}

}  // namespace cuda_on_cpu
