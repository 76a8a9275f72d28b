// The last block adds up all partial sums, but no fence makes them visible before the count.
__global__ void sum(const float* x, float* parts, unsigned* done, float* total) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = x[blockIdx.x];
  if (atomicAdd(done, 1) != gridDim.x - 1) return;
  *total = 0;
  for (int i = 0; i < gridDim.x; ++i) *total += parts[i];
}

int main() {
  float *x, *parts, *total;
  unsigned* done;
  cudaMalloc(&x, 8 * sizeof(float));
  cudaMalloc(&parts, 8 * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMalloc(&done, sizeof(unsigned));
  cudaMemset(x, 0, 8 * sizeof(float));
  cudaMemset(done, 0, sizeof(unsigned));
  sum<<<8, 32>>>(x, parts, done, total);
  return cudaDeviceSynchronize();
}
