// Half of the threads wait at one barrier, and the other half wait at another one.
__global__ void reverse(float* x) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t < 32) {
    tile[t] = x[t];
    __syncthreads();
  } else {
    tile[t] = x[t] + 1;
    __syncthreads();
  }
  x[t] = tile[63 - t];
}

int main() {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(x);
  return cudaDeviceSynchronize();
}
