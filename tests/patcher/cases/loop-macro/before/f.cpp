void f() {
  FOR_EACH(it, l) { use(it); }
}
