void f() {
  a();
  log(1, "first");
  flush(7);
  b();
}
