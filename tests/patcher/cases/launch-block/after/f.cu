void f() {
  k<A<B<int>>><<<(n+255)>>8, 256, 0, s>>>(p);
  g<A<B<C<int>>>>(p);
  k<<<a > b ? a : b, 4>>>(p);
}
