// The mask names all 32 lanes, but the lanes from n on have already returned.
__global__ void sum(const int* x, int n, int* total) {
  const int t = threadIdx.x;
  if (t >= n) return;
  int mine = x[t];
  for (int delta = 16; delta > 0; delta /= 2) mine += __shfl_down_sync(0xffffffff, mine, delta);
  if (t == 0) *total = mine;
}

int main() {
  int *x, *total;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  sum<<<1, 32>>>(x, 20, total);
  return cudaDeviceSynchronize();
}
