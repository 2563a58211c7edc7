void f() {
  a();
}
