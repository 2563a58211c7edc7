namespace n {
struct S {
  S() : a(1) {}
  int get() const { return a; }
  int a;
};
int S2::get() { return 2; }
}
