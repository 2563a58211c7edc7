#define HD __host__ __device__
HD inline float f(int x) {
  return x;
}
HD inline float g(int x) {
  return x;
}
