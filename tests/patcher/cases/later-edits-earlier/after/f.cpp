void f() {
  a();
  c();
  z();
}
