void f() {
  b();
}
