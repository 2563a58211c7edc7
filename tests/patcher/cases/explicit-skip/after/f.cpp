void f() {
  first();
  step();
  important();
  end();
}
