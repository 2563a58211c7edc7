void f() {
  a();
  b();
  c();
}
