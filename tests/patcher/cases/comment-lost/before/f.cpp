void f() {
  target( /*why*/ 3);
}
