void f() {
  a();

  b();
}
