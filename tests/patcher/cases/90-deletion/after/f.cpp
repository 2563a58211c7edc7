void f() {
  a();
  c();
}
