// Adds two vectors on the GPU: c[i] = a[i] + b[i].
#include <cstdio>
#include <vector>

// gap: the kernel. Which word makes a function a kernel? Which index does a thread have in
// gap: the grid? Which threads have no element?
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
// end

int main() {
  const int n = 1000;
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;

  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);

  // gap: copy a and b to the device
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
  // end

  // gap: launch the kernel with 256 threads per block. How many blocks do 1000 elements need?
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  add<<<blocks, threads>>>(device_a, device_b, device_c, n);
  // end
  if (cudaError_t error = cudaGetLastError()) {
    std::printf("the launch failed: %s\n", cudaGetErrorString(error));
    return 1;
  }

  // gap: copy the sums back to c
  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
  // end

  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
  for (int i = 0; i < n; ++i)
    if (c[i] != a[i] + b[i]) {
      std::printf("element %d is %g and must be %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  std::puts("all sums are right");
}
