void g(){
  f(/*why*/ true, 11); f(true /*why*/, 11);
}
