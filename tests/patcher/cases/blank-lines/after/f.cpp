void f() {
  a();
  x();

  y();
  b();
}
