void f() {
  call(one,
       two,
       three, four);
  next();
}
