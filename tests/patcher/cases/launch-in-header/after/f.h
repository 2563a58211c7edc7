inline void f(float*p){ k<<<1, 512>>>(p); }
