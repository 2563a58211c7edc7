#include <vector>

int a0(const std::vector<int>& v) {
  int r = 0;
  for (int x : v) {
    r += x;
  }
  return r;
}

int a1(const std::vector<int>& v) {
  int r = 0;
  for (int x : v) {
    r += x * x;
  }
  return r;
}

int last(const std::vector<int>& v) {
  return v.back();  // the last = größte?
}
