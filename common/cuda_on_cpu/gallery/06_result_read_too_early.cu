// The launch returns at once, so the host prints before the kernel has stored its result.
__global__ void answer(int* x) { *x = 42; }

int main() {
  int* x;
  cudaMallocManaged(&x, sizeof(int));
  *x = 0;
  answer<<<1, 1>>>(x);
  printf("%d\n", *x);
  return cudaDeviceSynchronize();
}
