void f() {
  a();
  x();
  b();
  y();
  c();
}
