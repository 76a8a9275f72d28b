// No block has 2048 threads: the kernel never runs, and the program says that all is well.
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  cudaMalloc(&x, 2048 * sizeof(int));
  fill<<<1, 2048>>>(x);
  cudaDeviceSynchronize();
  puts("done");
}
