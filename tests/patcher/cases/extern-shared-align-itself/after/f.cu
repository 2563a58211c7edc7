__global__ void k(float* p) {
  extern __shared__ __align__(32) unsigned char smem[];
  int i = 0;
  use(i);
  p[0] = 1;
}
