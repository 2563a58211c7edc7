namespace n {
struct S {
  S() : a(2) {}
  int get() const { return a + 1; }
  int a;
  int b = 0;
};
int S2::get() { return 3; }
}
