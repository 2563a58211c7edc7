void f() {
#ifdef A
 foo();
#else
 bar();
#endif
}
