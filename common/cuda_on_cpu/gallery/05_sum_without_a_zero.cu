// The sum starts from uninitialised memory.
__global__ void sum(const float* x, float* total) { atomicAdd(total, x[threadIdx.x]); }

int main() {
  float *x, *total;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  sum<<<1, 256>>>(x, total);
  return cudaDeviceSynchronize();
}
