void f() {
  begin();
  target(1);
}
