int g;
void f() {
  alpha(1, 2, 3);
}
int beta;
