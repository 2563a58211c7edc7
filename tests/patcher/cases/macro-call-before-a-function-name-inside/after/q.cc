#include "q.h"

#define NO_SANITIZE(what) __attribute__((no_sanitize(what)))

void NO_SANITIZE("address") quantize(const float* src, int n) {
  for (int i = 0; i < n; ++i) {
    put(src[i] + 1);
  }
}

int other(int n) {
  int m = n + 1;
  return m;
}
