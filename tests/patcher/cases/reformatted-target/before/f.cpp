void f() {
  call(one,
       two,
       three);
  next();
}
