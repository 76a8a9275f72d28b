// Each thread reads what its neighbour has put into shared memory, and does not wait for it.
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
