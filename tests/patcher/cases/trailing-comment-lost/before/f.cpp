void f() {
  a();  // why
  b();
  c();
}
