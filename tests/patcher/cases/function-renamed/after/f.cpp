int h(int a) {
  return a;
}
