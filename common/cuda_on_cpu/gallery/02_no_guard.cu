// The grid has more threads than the array has elements.
__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= by;
}

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, 2, n);
  return cudaDeviceSynchronize();
}
