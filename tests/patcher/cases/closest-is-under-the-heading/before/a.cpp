void f() {
  one();
  alpha(1, 2, 3);
  beta(9);
}

void g() {
  alpha(1, 2, 3);
  beta(4, 5, 6);
  gamma(7);
}
