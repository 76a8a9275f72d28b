// A block may have at most 1024 threads. The kernel never runs, and the program prints "done".
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  cudaMalloc(&x, 2048 * sizeof(int));
  fill<<<1, 2048>>>(x);
  cudaDeviceSynchronize();
  puts("done");
}
