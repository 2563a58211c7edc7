void f() {
  if (x) {
    a();
  }
  b();
}
