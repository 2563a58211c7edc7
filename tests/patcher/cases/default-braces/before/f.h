struct S {
  int run(int x, const T& t = {}) {
    return x;
  }
};
