void f() {
  x = 2;
}
