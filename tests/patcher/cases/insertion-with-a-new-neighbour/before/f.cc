void f() {
  a();
  between(1);
  added(1, 2);
  last();
}
