void f() {
  foo(a);
  foo(b);
}
