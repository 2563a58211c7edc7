int f(int a, int b) {
  return a;
}
int g() { return f(1, 2); }
