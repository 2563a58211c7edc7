void f() {
  a();
  c(1);
  b();
}
