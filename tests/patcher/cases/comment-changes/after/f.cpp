void f() {
  // new words
  a();
}
