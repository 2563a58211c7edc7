void f() {
  if(m==1) a();
#ifdef B
  else if(m==2) b();
#endif
  else c();
}
void g() {
  d();
}
