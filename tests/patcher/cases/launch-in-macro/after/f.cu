#define LAUNCH(K,...) K<<<g,b>>>(__VA_ARGS__)
void f() {
  LAUNCH((scale<float,2>), p, n, 0);
}
