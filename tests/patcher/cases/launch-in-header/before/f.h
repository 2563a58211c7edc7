inline void f(float*p){ k<<<1, 256>>>(p); }
