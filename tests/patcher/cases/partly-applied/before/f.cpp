void f() {
  b();
}
void g() {
  c();
}
