__global__ void k(float* p) {
  extern __shared__ __align__(16) unsigned char smem[];
  p[0] = 1;
}
