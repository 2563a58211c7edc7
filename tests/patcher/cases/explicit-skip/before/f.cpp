void f() {
  first();
  step();
  important();
  last();
}
