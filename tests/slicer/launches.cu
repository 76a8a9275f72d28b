// Loops of the host around launches, and loops in kernels, with their verdicts.

#include <cuda_runtime.h>

__global__ void scale(float* x, int n, float by) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; ++i) {  // independent
    x[i] *= by;
  }
  for (int i = 1; i < n; ++i) {  // dependent
    x[i] += x[i - 1];
  }
  float sum = 0;
  for (int i = first; i < n; ++i) {  // reduction
    sum += x[i];
  }
  for (int i = 0; i < n; ++i) {  // unknown
    __syncthreads();
    x[i] = sum;
  }
}

template <typename T>
__global__ void fill(T* x, int n) {
  for (int i = 0; i < n; ++i) {  // independent
    x[i] = 0;
  }
}

void steps(float* x, int n, float* y) {
  for (int step = 0; step < n; ++step) {  // unknown
    scale<<<n / 256, 256>>>(x, n, 2.0f);
  }
  for (int step = 0; step < n; ++step) {  // unknown
    fill<float><<<n / 256, 256, 0, nullptr>>>(x + step, 1);
  }
  for (int i = 0; i < n; ++i) {  // independent
    y[i] = i;
  }
}

__global__ void scale(float* x, int n, float by);

void lists(float* x, int n) {
  for (int step = 0; step < n; ++step) {  // unknown
    scale<<<{unsigned(n), 1}, dim3{32, 8}, 0, {}>>>(x, n, 0.5f);
  }
  for (int i = 0; i < n; ++i) {  // independent
    x[i] = 0;
  }
}
