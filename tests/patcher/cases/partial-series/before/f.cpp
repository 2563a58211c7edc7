void f() {
  a();
}
