void f() {
#ifdef A
 foo();
#else
 foo();
#endif
}
