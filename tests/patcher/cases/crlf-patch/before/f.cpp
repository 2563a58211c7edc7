void f() {
  target(1);
}
