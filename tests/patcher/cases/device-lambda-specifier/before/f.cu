void f() {
  each(n, [=] __host__ __device__(int i) mutable { p[i] = 0; });
}
