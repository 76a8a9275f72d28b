// Each thread reads its neighbour's element from shared memory without waiting for the store.
__global__ void differences(const float* in, float* out) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (t > 0) out[t] = tile[t] - tile[t - 1];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 128 * sizeof(float));
  cudaMalloc(&out, 128 * sizeof(float));
  cudaMemset(in, 0, 128 * sizeof(float));
  differences<<<1, 128>>>(in, out);
  return cudaDeviceSynchronize();
}
