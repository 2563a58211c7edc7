void f() {
  FOR_EACH(it, l) { drop(it); }
}
