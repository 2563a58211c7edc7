void f() {
  a();
  z();
}
