void f() {
  // old words
  a();
}
