int f(int a) {
  return a;
}
int g() { return f(1); }
