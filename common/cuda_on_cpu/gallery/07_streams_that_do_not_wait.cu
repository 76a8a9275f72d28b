// Two streams access the same array, and no event orders them.
__global__ void produce(float* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void consume(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  produce<<<1, 64, 0, first>>>(x);
  consume<<<1, 64, 0, second>>>(x, y);
  return cudaDeviceSynchronize();
}
