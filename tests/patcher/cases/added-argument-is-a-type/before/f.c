void f(void** state) {
  struct test_state* ts;

  use(ts);
}
