void f() {
  a();
  b();
}
