void f() {
  other( /*why*/ 3);
}
