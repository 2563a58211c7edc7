int a0(int x) { int r = 0;
  r += x;
  return r; }
