struct S {
  int run(int x, int y, const T& t = {}) {
    return x;
  }
};
