void f() {
  a();
}
void g() {
  c(2);
}
