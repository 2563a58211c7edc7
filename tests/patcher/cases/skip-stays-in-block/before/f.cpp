void f() {
  if (a) {
    first();
  }
  last();
}
