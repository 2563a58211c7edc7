void f() {
  other[9] = 4;
}
