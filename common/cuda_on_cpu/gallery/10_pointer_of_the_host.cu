// The kernel receives the array of the host instead of the copy on the device.
__global__ void square(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

int main() {
  float* numbers = (float*)malloc(32 * sizeof(float));
  for (int i = 0; i < 32; ++i) numbers[i] = i;
  float *in, *out;
  cudaMalloc(&in, 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemcpy(in, numbers, 32 * sizeof(float), cudaMemcpyHostToDevice);
  square<<<1, 32>>>(numbers, out);
  cudaDeviceSynchronize();
  free(numbers);
}
