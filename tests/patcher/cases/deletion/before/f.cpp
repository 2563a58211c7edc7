void f() {
  a();
  // about b
  b();

  c();
}
