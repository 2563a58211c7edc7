int clampv(int v) {
#if USE_FAST
  if (v > 9) {
#else
  if (v > 99) {
#endif
    v = 8;
  }
  return v; }
int other() { return 1; }
