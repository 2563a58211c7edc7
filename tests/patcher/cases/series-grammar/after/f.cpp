void f() {
  b();
}
