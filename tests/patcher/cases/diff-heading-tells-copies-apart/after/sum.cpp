int a0(const std::vector<int>& v) {
  int r = 0;
  int n = 0;
  for (int x : v) {
    ++n;
    r += x;
    check(r);
  }
  return r + n;
}

int a1(const std::vector<int>& v) {
  int r = 0;
  int n = 0;
  for (int x : v) {
    ++n;
    r += x * x;
    check(r);
  }
  return r + n;
}

int last() {
  return 1;
}
