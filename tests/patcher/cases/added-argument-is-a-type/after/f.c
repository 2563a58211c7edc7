void f(void** state) {
  struct test_state* ts;
  ts = get_type(*state, struct test_state);

  use(ts);
}
